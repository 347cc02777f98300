"""The models at fal that can be asked: a table (models.toml, and a project's own film_models.toml), not code."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..errors import BadInputError
from ..nearest import nearest_hint
from ..project import is_name

DEFAULT_FILM, DEFAULT_MESH = "h3-max", "tripo-h3-1"
PROJECT_FILE = "film_models.toml"
_OWN_TABLE = Path(__file__).with_name("models.toml")
_ENDPOINT = re.compile(r"[\w.-]+(/[\w.-]+)+", re.ASCII)
_SECTIONS = ("film", "mesh")

Kind = Literal["film", "mesh"]


@dataclass(frozen=True)
class Duration:
    """How long a clip is asked for: the field, the form of its value, and the seconds that the model knows."""

    field: str
    type: Literal["integer", "text", "text_s", "frames"]
    minimum: float = 0.0
    maximum: float = 0.0
    choices: tuple[float, ...] = ()
    fps: float = 0.0

    def value(self, seconds: float) -> int | str:
        """The argument for a clip of `seconds`."""
        if self.type == "frames":
            return round(seconds * self.fps) + 1
        whole = round(seconds)
        if self.type == "integer":
            return whole
        return f"{whole}s" if self.type == "text_s" else str(whole)

    def knows(self, seconds: float) -> bool:
        """Whether the model makes clips of `seconds`."""
        if self.type != "frames" and seconds != round(seconds):
            return False
        return seconds in self.choices if self.choices else self.minimum <= seconds <= self.maximum

    def words(self) -> str:
        """The seconds that the model knows, for a message."""
        if self.choices:
            return ", ".join(f"{choice:g}" for choice in self.choices)
        whole = "" if self.type == "frames" else "whole seconds, "
        return f"{whole}{self.minimum:g} to {self.maximum:g}"


@dataclass(frozen=True)
class Resolution:
    """The words for a clip's size that the model knows."""

    field: str
    words: tuple[str, ...]
    default: str


@dataclass(frozen=True)
class Model:
    """One model; models.toml says what its keys mean.

    Attributes:
        usd_per_second: US dollars a second by resolution word, under "" where they do not depend on it.
        usd_each: US dollars for one file; None where it is not known.
    """

    name: str
    kind: Kind
    label: str
    endpoint: str
    image: str
    result: tuple[str, ...]
    terms: str
    prompt: str = ""
    seed: str = ""
    loras: str = ""
    note: str = ""
    image_max_mb: float = 0.0
    duration: Duration | None = None
    resolution: Resolution | None = None
    usd_per_second: tuple[tuple[str, float], ...] = ()
    usd_each: float | None = None
    fixed: tuple[tuple[str, Any], ...] = ()

    def price(self, seconds: float, resolution: str) -> float | None:
        """Estimated US dollars for one file; None where the table has no price."""
        if self.usd_each is not None:
            return self.usd_each
        prices = dict(self.usd_per_second)
        each_second = prices.get(resolution, prices.get(""))
        return None if each_second is None else round(each_second * seconds, 4)


class ModelTable:
    """The models by kind and name."""

    def __init__(self, models: dict[tuple[Kind, str], Model]) -> None:
        self._models = models

    def names(self, kind: Kind) -> list[str]:
        """Names in the table's order."""
        return [name for of, name in self._models if of == kind]

    def find(self, kind: Kind, name: str) -> Model:
        """A model by its name, or by its endpoint.

        Raises:
            BadInputError: there is none.
        """
        for (of, known), model in self._models.items():
            if of == kind and name in (known, model.endpoint):
                return model
        raise BadInputError("There is no such model.", key=name, hint=nearest_hint(name, self.names(kind)))


def load_models(project: Path | None = None) -> ModelTable:
    """The table that came with AnyMoCap, completed by the project's own film_models.toml.

    Args:
        project: the project folder; None = without one.

    Raises:
        BadInputError: the project's file is no TOML, or says something wrong of a model; names file and key.
    """
    models = _read(_OWN_TABLE)
    own = project / PROJECT_FILE if project is not None else None
    if own is not None and own.is_file():
        models.update(_read(own))
    return ModelTable(models)


def _read(file: Path) -> dict[tuple[Kind, str], Model]:
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInputError(f"is not valid TOML: {error}.", file=file, hint="See docs/formats.md.") from error
    models: dict[tuple[Kind, str], Model] = {}
    for section, table in data.items():
        if section not in _SECTIONS or not isinstance(table, dict):
            raise BadInputError(
                "is no kind of model.", file=file, key=section, hint="Write [film.<name>] or [mesh.<name>]."
            )
        kind: Kind = "film" if section == "film" else "mesh"
        for name, entry in table.items():
            models[kind, name] = _Entry(file, f"{section}.{name}", entry).model(kind, name)
    return models


class _Entry:
    """One table of the file, its keys taken out one by one, so that what is left over is a mistake."""

    def __init__(self, file: Path, key: str, data: Any) -> None:
        self._file, self._key = file, key
        if not isinstance(data, dict):
            raise self._wrong("", "is no table.")
        self._data: dict[str, Any] = dict(data)

    def model(self, kind: Kind, name: str) -> Model:
        if not is_name(name):
            raise self._wrong("", "cannot be a file's name.")
        endpoint = self.text("endpoint")
        if not _ENDPOINT.fullmatch(endpoint):
            raise self._wrong("endpoint", f"is {endpoint!r}, which is no endpoint such as owner/model/image-to-video.")
        model = Model(
            name=name,
            kind=kind,
            label=self.text("label", name),
            endpoint=endpoint,
            image=self.text("image"),
            result=self.texts("result"),
            terms=self.text("terms", f"https://fal.ai/models/{endpoint}"),
            prompt=self.text("prompt") if kind == "film" else self.text("prompt", ""),
            seed=self.text("seed", ""),
            loras=self.text("loras", ""),
            note=self.text("note", ""),
            image_max_mb=self.number("image_max_mb", 0.0) or 0.0,
            duration=self.duration(),
            resolution=self.resolution(),
            usd_per_second=self.prices(),
            usd_each=self.number("usd_each", None),
            fixed=tuple(self.table("fixed").items()),
        )
        self.nothing_left()
        known = model.resolution.words if model.resolution else ()
        for word, _ in model.usd_per_second:
            if word and word not in known:
                raise self._wrong(f"usd_per_second.{word}", f"is no resolution of this model ({', '.join(known)}).")
        return model

    def duration(self) -> Duration | None:
        if "duration" not in self._data:
            return None
        entry = _Entry(self._file, f"{self._key}.duration", self._data.pop("duration"))
        kind = entry.text("type")
        types: tuple[Literal["integer", "text", "text_s", "frames"], ...] = ("integer", "text", "text_s", "frames")
        if kind not in types:
            raise entry._wrong("type", f"is {kind!r}, not one of {', '.join(types)}.")
        found = Duration(
            field=entry.text("field"),
            type=types[types.index(kind)],
            minimum=entry.number("minimum", 0.0) or 0.0,
            maximum=entry.number("maximum", 0.0) or 0.0,
            choices=entry.numbers("choices"),
            fps=entry.number("fps", 0.0) or 0.0,
        )
        entry.nothing_left()
        if not found.choices and not 0 < found.minimum <= found.maximum:
            raise entry._wrong("", "has neither choices nor a minimum and a maximum in seconds.")
        if found.type == "frames" and found.fps <= 0:
            raise entry._wrong("fps", "is missing: frames are counted by it.")
        return found

    def resolution(self) -> Resolution | None:
        if "resolution" not in self._data:
            return None
        entry = _Entry(self._file, f"{self._key}.resolution", self._data.pop("resolution"))
        words = entry.texts("words")
        default = entry.text("default", words[0])
        if default not in words:
            raise entry._wrong("default", f"is {default!r}, not one of {', '.join(words)}.")
        found = Resolution(entry.text("field"), words, default)
        entry.nothing_left()
        return found

    def prices(self) -> tuple[tuple[str, float], ...]:
        if not isinstance(self._data.get("usd_per_second"), dict):
            one = self.number("usd_per_second", None)
            return () if one is None else (("", one),)
        entry = _Entry(self._file, f"{self._key}.usd_per_second", self._data.pop("usd_per_second"))
        return tuple((word, entry.number(word, None) or 0.0) for word in list(entry._data))

    def text(self, key: str, default: str | None = None) -> str:
        value = self._data.pop(key, default)
        if value is None:
            raise self._wrong(key, "is missing.")
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self._wrong(key, f"is {value!r}, not a text.")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._data.pop(key, None)
        if not isinstance(value, list) or not value or not all(isinstance(word, str) and word for word in value):
            raise self._wrong(key, "is missing, or no list of texts.")
        return tuple(value)

    def number(self, key: str, default: float | None) -> float | None:
        value = self._data.pop(key, default)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
            raise self._wrong(key, f"is {value!r}, not a number of 0 or more.")
        return float(value)

    def numbers(self, key: str) -> tuple[float, ...]:
        value = self._data.pop(key, [])
        if not isinstance(value, list) or not all(type(one) in (int, float) and one > 0 for one in value):
            raise self._wrong(key, "is no list of numbers above 0.")
        return tuple(float(one) for one in value)

    def table(self, key: str) -> dict[str, Any]:
        value = self._data.pop(key, {})
        if not isinstance(value, dict):
            raise self._wrong(key, "is no table.")
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise self._wrong(key, "holds a date, a nan or an inf, which cannot be sent.") from None
        return value

    def nothing_left(self) -> None:
        for key in self._data:
            raise self._wrong(key, "is not known here.")

    def _wrong(self, key: str, problem: str) -> BadInputError:
        where = f"{self._key}.{key}" if key else self._key
        return BadInputError(problem, file=self._file, key=where, hint="See docs/formats.md, film_models.toml.")
