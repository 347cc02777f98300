"""Typed settings of stages, and the check that a set of values fits them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Literal

from ..core.errors import BadInputError
from ..core.nearest import nearest_hint

Kind = Literal["text", "name", "path", "integer", "number", "flag"]
_WANTED = {
    "text": "a text",
    "name": 'a name that can be a folder (no / \\ : * ? " < > |, not . or ..)',
    "path": "a file path",
    "integer": "a whole number",
    "number": "a finite number",
    "flag": "true or false",
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_FORBIDDEN_IN_NAMES = set('/\\:*?"<>|') | {chr(code) for code in range(32)}


@dataclass(frozen=True)
class Setting:
    """One setting of a stage.

    Attributes:
        name: Python name; the command line writes it with dashes.
        kind: what the value must be; "name" is a text that is also a folder name.
        default: used when nothing is given; None with `optional`.
        help: one sentence for the command line and the tooltip.
        unit: the unit of the value, empty for counts and words.
        minimum, maximum: inclusive range of numbers.
        choices: the only words allowed, in the order shown.
        required: there is no default; the caller must give a value.
        optional: None is allowed and means "decide from the creature".
        portable: a change of the value does not change the result (threads, processes, device).
        once: the value holds for this run only (a yes to a cost): it is neither recorded nor remembered.
    """

    name: str
    kind: Kind
    default: Any = None
    help: str = ""
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    required: bool = False
    optional: bool = False
    portable: bool = False
    once: bool = False

    @property
    def flag(self) -> str:
        """The option on the command line."""
        return "--" + self.name.replace("_", "-")

    def describe(self) -> str:
        """Help with unit, range and default."""
        parts = [self.help]
        if self.unit:
            parts.append(f"[{self.unit}]")
        if self.minimum is not None or self.maximum is not None:
            low = "" if self.minimum is None else f"{self.minimum:g}"
            high = "" if self.maximum is None else f"{self.maximum:g}"
            parts.append(f"({low}..{high})")
        if not self.required and self.default not in (None, ""):
            parts.append(f"default: {self.default}")
        return " ".join(part for part in parts if part)

    def check(self, value: Any, stage: str) -> Any:
        """Return `value` in its own type.

        Raises:
            BadInputError: wrong type, out of range, or not one of the choices.
        """
        if value is None and self.optional:
            return None
        if isinstance(value, str) and _SURROGATE.search(value):  # a terminal's bytes; no JSON file would take them
            raise BadInputError(
                f"{value!r} is no UTF-8 text.", file=stage, key=self.name, hint="Use letters that your terminal knows."
            )
        checked = self._typed(value)
        if checked is None:
            raise BadInputError(
                f"{value!r} is not {_WANTED[self.kind]}.", file=stage, key=self.name, hint=self._remedy()
            )
        if self.choices and checked not in self.choices:
            raise BadInputError(
                f"{value!r} is not one of {', '.join(self.choices)}.",
                file=stage,
                key=self.name,
                hint=self._remedy(),
            )
        too_low = self.minimum is not None and checked < self.minimum
        too_high = self.maximum is not None and checked > self.maximum
        if too_low or too_high:
            raise BadInputError(f"{value!r} is out of range.", file=stage, key=self.name, hint=self._remedy())
        return checked

    def _remedy(self) -> str:
        text = self.describe()
        return f"Give {self.flag}: {text}" if text else f"Give {self.flag} {_WANTED[self.kind]}."

    def _typed(self, value: Any) -> Any:
        """The value as its kind, or None when it cannot be that."""
        if self.kind == "flag":
            return value if isinstance(value, bool) else None
        if self.kind in ("integer", "number"):
            return self._number(value)
        if not isinstance(value, str):
            return None
        if self.kind == "name" and not _is_folder_name(value):
            return None
        return value

    def _number(self, value: Any) -> float | int | None:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        if self.kind == "number":
            return float(value)
        return int(value) if float(value).is_integer() else None


def _is_folder_name(text: str) -> bool:
    plain = text.strip(" .")
    return bool(plain) and plain == text and not _FORBIDDEN_IN_NAMES & set(text)


def check_settings(stage: str, declared: tuple[Setting, ...], given: dict[str, Any]) -> dict[str, Any]:
    """Fill in defaults and check every value.

    Args:
        stage: name of the stage, for messages.
        declared: its settings.
        given: values by setting name; what is left out takes its default.

    Returns:
        A value for every declared setting, in declared order.

    Raises:
        BadInputError: an unknown name, a missing required value, a wrong type or range.
    """
    names = [setting.name for setting in declared]
    for name in given:
        if name not in names:
            raise BadInputError("There is no such setting.", file=stage, key=name, hint=nearest_hint(name, names))
    values: dict[str, Any] = {}
    for setting in declared:
        if setting.name in given:
            values[setting.name] = setting.check(given[setting.name], stage)
        elif setting.required:
            raise BadInputError("must be given.", file=stage, key=setting.name, hint=setting._remedy())
        else:
            values[setting.name] = setting.default
    return values
