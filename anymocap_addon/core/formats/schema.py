"""A validator for the subset of JSON Schema that the files of AnyMoCap use.

The schemas are data (`schemas/<name>.json`), readable by other tools. Blender ships no JSON Schema library and an
extension should not bring one for this, so the keywords we use are checked here, with messages that name the file,
the key, the value and the remedy. Keywords: type, properties, required, additionalProperties (a schema), items,
minItems, maxItems, minimum, exclusiveMinimum, maximum, enum, const, description, anyOf, $ref to "#/definitions/…".
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import BadInputError

SCHEMA_FOLDER = Path(__file__).parent / "schemas"

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list | tuple),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v),
    "null": lambda v: v is None,
}


_NUMBER = {"type": "number"}


def _plain_numbers(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether all are finite numbers: most of a motion is rows of them, and one look at a row is five times faster."""
    return all(type(value) in (float, int) for value in values) and all(map(math.isfinite, values))


def schema_names() -> list[str]:
    """Names of all schemas, sorted."""
    return sorted(path.stem for path in SCHEMA_FOLDER.glob("*.json"))


@cache
def load_schema(name: str) -> dict[str, Any]:
    """The schema called `name`, as a dict."""
    schema: dict[str, Any] = json.loads((SCHEMA_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return schema


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


class _Check:
    def __init__(self, schema: dict[str, Any], file: Path | str | None) -> None:
        self.schema = schema
        self.file = file

    def fail(self, key: str, problem: str, rule: dict[str, Any]) -> BadInputError:
        meaning = rule.get("description", "")
        hint = f"Expected: {meaning}" if meaning else "See docs/formats.md."
        return BadInputError(problem, file=self.file, key=key or "(top level)", hint=hint)

    def value(self, value: Any, rule: dict[str, Any], key: str) -> None:
        if "$ref" in rule:
            definition = self.schema["definitions"][rule["$ref"].rsplit("/", 1)[1]]
            rule = {**definition, **{k: v for k, v in rule.items() if k != "$ref"}}
        if "anyOf" in rule:
            self.any_of(value, rule, key)
        self.kind(value, rule, key)
        self.bounds(value, rule, key)
        if isinstance(value, dict):
            self.properties(value, rule, key)
        if isinstance(value, list | tuple):
            self.items(value, rule, key)

    def any_of(self, value: Any, rule: dict[str, Any], key: str) -> None:
        for choice in rule["anyOf"]:
            try:
                self.value(value, choice, key)
            except BadInputError:
                continue
            return
        raise self.fail(key, f"is {_shown(value)}, which has none of the allowed forms.", rule)

    def kind(self, value: Any, rule: dict[str, Any], key: str) -> None:
        wanted = rule.get("type")
        if wanted is None:
            return
        names = [wanted] if isinstance(wanted, str) else list(wanted)
        if not any(_TYPES[name](value) for name in names):
            raise self.fail(key, f"is {_shown(value)}, not of type {' or '.join(names)}.", rule)

    def bounds(self, value: Any, rule: dict[str, Any], key: str) -> None:
        if "const" in rule and value != rule["const"]:
            raise self.fail(key, f"is {_shown(value)}, not {_shown(rule['const'])}.", rule)
        if "enum" in rule and value not in rule["enum"]:
            allowed = ", ".join(map(str, rule["enum"]))
            raise self.fail(key, f"is {_shown(value)}, not one of: {allowed}.", rule)
        if not _TYPES["number"](value):
            return
        if "minimum" in rule and value < rule["minimum"]:
            raise self.fail(key, f"is {value}, less than {rule['minimum']}.", rule)
        if "exclusiveMinimum" in rule and value <= rule["exclusiveMinimum"]:
            raise self.fail(key, f"is {value}; it must be more than {rule['exclusiveMinimum']}.", rule)
        if "maximum" in rule and value > rule["maximum"]:
            raise self.fail(key, f"is {value}, more than {rule['maximum']}.", rule)

    def properties(self, value: dict[str, Any], rule: dict[str, Any], key: str) -> None:
        prefix = f"{key}." if key else ""
        for name in rule.get("required", ()):
            if name not in value:
                raise self.fail(f"{prefix}{name}", "is missing.", rule.get("properties", {}).get(name, {}))
        known = rule.get("properties", {})
        other = rule.get("additionalProperties")
        for name, item in value.items():
            if name in known:
                self.value(item, known[name], f"{prefix}{name}")
            elif isinstance(other, dict):
                self.value(item, other, f"{prefix}{name}")

    def items(self, value: list[Any] | tuple[Any, ...], rule: dict[str, Any], key: str) -> None:
        if len(value) < rule.get("minItems", 0):
            raise self.fail(key, f"has {len(value)} entries, fewer than {rule['minItems']}.", rule)
        if len(value) > rule.get("maxItems", len(value)):
            raise self.fail(key, f"has {len(value)} entries, more than {rule['maxItems']}.", rule)
        if rule.get("items") == _NUMBER and _plain_numbers(value):
            return
        if isinstance(rule.get("items"), dict):
            for index, item in enumerate(value):
                self.value(item, rule["items"], f"{key}[{index}]")


def validate(data: Any, schema: str, file: Path | str | None) -> None:
    """Hold `data` to the schema called `schema`.

    Raises:
        BadInputError: names the file, the key, the value and what was expected.
    """
    definition = load_schema(schema)
    _Check(definition, file).value(data, definition, "")
