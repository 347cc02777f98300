"""The TOML file of a batch: creatures and clips, the stages that each goes through and their settings."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import BadInputError
from ..core.film.filmed_clips import expected_clips
from ..core.film.takes import film_files
from ..core.formats import check_stamp, load_schema, validate
from ..core.nearest import nearest_hint
from ..core.project import CreaturePaths, Project, check_name
from .stage import Registry, Stage

SCHEMA = "batch_file"
# Keys that an artist looks for at the creature or clip itself: the stage and setting that they stand for.
SHORT_KEYS = {
    "mesh": ("prep", "mesh"),
    "object": ("prep", "object"),
    "video": ("detect", "video"),
    "action": ("prompt", "action"),
}

Table = dict[str, Any]
Given = dict[str, Table]


@dataclass(frozen=True)
class BatchStep:
    """One stage of an entry with the settings that the file gives; the others stay as they last were."""

    stage: Stage
    given: Table
    item: str | None


@dataclass(frozen=True)
class BatchEntry:
    """What is done for a creature itself (clip is None), or for one of its clips or moves (clip is its name).

    Attributes:
        take_of: the move whose film makes this clip; empty for a clip that comes from elsewhere.
    """

    paths: CreaturePaths
    clip: str | None
    steps: tuple[BatchStep, ...]
    take_of: str = ""

    @property
    def title(self) -> str:
        """ "fox" or "fox walk"."""
        return f"{self.paths.name} {self.clip or ''}".strip()


@dataclass(frozen=True)
class Batch:
    """A checked batch file; a creature's own entry stands before those of its clips."""

    file: Path
    project: Project
    entries: tuple[BatchEntry, ...]


def load_batch(file: Path, registry: Registry) -> Batch:
    """Read and check a batch file; nothing is run and no mesh or clip is looked at.

    Raises:
        BadInputError: it is missing, no TOML, of another version, or a key, name or setting in it is wrong.
    """
    data = _toml(file)
    check_stamp(data.get("schema"), SCHEMA, file)
    reader = _BatchReader(file, registry, data)
    reader.check_keys()
    validate(data, SCHEMA, file)
    return reader.read()


def _toml(file: Path) -> Table:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        reason = "is a folder" if file.is_dir() else "may not be read" if file.exists() else "does not exist"
        raise BadInputError(f"The batch file {reason}.", file=file, hint="Name a .toml file.") from error
    except UnicodeDecodeError as error:
        raise BadInputError("is not UTF-8 text.", file=file, hint="Save it as UTF-8.") from error
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits, and lists in lists in lists
        hint = "See docs/batch.toml for an example."
        if "\\" in text:
            hint = "In \"…\" a backslash begins an escape: write paths as C:/clips/walk.mp4 or 'C:\\clips\\walk.mp4'."
        raise BadInputError(f"is not valid TOML: {error}.", file=file, hint=hint) from error


class _BatchReader:
    def __init__(self, file: Path, registry: Registry, data: Table) -> None:
        self._file, self._registry, self._data = file.absolute(), registry, data
        self._shapes = load_schema(SCHEMA)["definitions"]

    def check_keys(self) -> None:
        """Before the schema is asked: to it a misspelt key is a stage's, with a value of the wrong type.

        Raises:
            BadInputError: names the key, and the known one that is nearest.
        """
        self._check_keys(self._data, load_schema(SCHEMA)["properties"], "")
        for where, creature in _tables(self._data.get("creature"), "creature"):
            self._check_keys(creature, self._keys("creature"), where)
            for shape in ("clip", "move"):
                for place, table in _tables(creature.get(shape), f"{where}: {shape}"):
                    self._check_keys(table, self._keys(shape), place)

    def read(self) -> Batch:
        """The checked content of a file that keeps to the schema and has no unknown key."""
        data = self._data
        defaults = self._defaults(data.get("defaults", {}))
        wanted = self._stages(data.get("stages"), self._registry, "stages")
        try:
            project = Project(self._path(data.get("project", "")))
        except BadInputError as error:
            raise BadInputError(error.message, file=self._file, key="project", hint=error.hint) from error
        self._check_names(data["creature"], "creature", "The creature")
        entries: list[BatchEntry] = []
        for table in data["creature"]:
            entries += self._creature(project, table, defaults, wanted)
        return Batch(self._file, project, tuple(entries))

    def _creature(self, project: Project, table: Table, defaults: Given, wanted: list[str] | None) -> list[BatchEntry]:
        where = f"creature {table['name']!r}"
        given = self._given(table, "creature", where)
        own = self._stages(table.get("stages"), self._registry, f"{where}: stages")
        listed = own if own is not None else wanted
        parts = [*table.get("clip", []), *table.get("move", [])]
        of_clips = [name for part in parts for name in part.get("stages", [])]
        self._check_used(given, None if own is None else own + of_clips, where)
        paths = project.creature(table["name"])
        settings = _over(defaults, given)
        stages = [s for s in self._chosen(listed, given, paths, None) if s.per == "creature"]
        entries = [BatchEntry(paths, None, self._steps(stages, settings, None, where, paths))]
        clips = table.get("clip", [])
        self._check_names(clips, f"{where}: clip", "The clip")
        moves = table.get("move", [])
        self._check_names(moves, f"{where}: move", "The move")
        for move in moves:
            entries += self._move(paths, move, settings, listed, where)
        return entries + [self._clip(paths, clip, settings, given, listed, where) for clip in clips]

    def _move(
        self, paths: CreaturePaths, table: Table, settings: Given, listed: list[str] | None, where: str
    ) -> list[BatchEntry]:
        """The move's own entry (prompt, film), and one for each take that the film will have."""
        name = table["name"]
        where = f"{where}: move {name!r}"
        given = self._given(table, "move", where)
        own = self._stages(table.get("stages"), self._per_clip(), f"{where}: stages")
        self._check_used(given, own, where)
        wanted = own if own is not None else listed
        values = _over(settings, given)

        def chosen(per: str) -> list[Stage]:
            stages = [stage for stage in self._registry if stage.per == per]
            if wanted is not None:
                return [stage for stage in stages if stage.name in wanted]
            # of a clip that is not there yet nobody can tell by its files what runs by itself
            return [stage for stage in stages if per == "move" or stage.automatic]

        entries = [BatchEntry(paths, name, self._steps(chosen("move"), values, name, where, paths))]
        stages = chosen("clip")
        for clip in self._takes(paths, name, values.get("film", {}), where) if stages else []:
            entries.append(BatchEntry(paths, clip, self._steps(stages, values, clip, where, paths), take_of=name))
        return entries

    def _takes(self, paths: CreaturePaths, move: str, film: Table, where: str) -> list[str]:
        """Names of the clips that the film of a move makes."""
        values = {**self._registry["film"].item_settings(move), **film}
        try:
            return expected_clips(paths, film_files(paths, values), move)
        except BadInputError as error:
            raise self._wrong(f"{where}: film", error.message, error.hint) from error

    def _clip(
        self, paths: CreaturePaths, table: Table, settings: Given, asked: Given, listed: list[str] | None, where: str
    ) -> BatchEntry:
        where = f"{where}: clip {table['name']!r}"
        given = self._given(table, "clip", where)
        own = self._stages(table.get("stages"), self._per_clip(), f"{where}: stages")
        self._check_used(given, own, where)
        chosen = self._chosen(own if own is not None else listed, {**asked, **given}, paths, table["name"])
        stages = [stage for stage in chosen if stage.per != "creature"]
        steps = self._steps(stages, _over(settings, given), table["name"], where, paths)
        return BatchEntry(paths, table["name"], steps)

    def _steps(
        self, stages: list[Stage], settings: Given, clip: str | None, where: str, paths: CreaturePaths
    ) -> tuple[BatchStep, ...]:
        steps = []
        for stage in stages:
            given = dict(settings.get(stage.name, {}))
            if stage.per != "creature":
                given.setdefault(stage.per, clip)
            item = stage.item(given)
            self._check_payment(stage, given, where)
            recorded = paths.stage_record(stage.name, item).exists()
            for setting in stage.settings:
                if setting.required and setting.name not in given and not recorded:
                    raise self._wrong(f"{where}: {stage.name}: {setting.name}", "must be given.", setting.describe())
            steps.append(BatchStep(stage, given, item))
        return tuple(steps)

    def _check_payment(self, stage: Stage, given: Table, where: str) -> None:
        """A file is run again and again with nobody there: its yes has a limit, and nothing in it pays twice."""
        where = f"{where}: {stage.name}"
        if given.get("on_unknown") == "resend" or given.get("request"):
            raise self._wrong(
                f"{where}: {'request' if given.get('request') else 'on_unknown'}",
                "is the answer to one question and cannot stand in a file.",
                f"Run `{stage.name}` by itself for it.",
            )
        if given.get("yes") and not given.get("ceiling"):
            raise self._wrong(
                f"{where}: ceiling", "is missing: a file that pays needs a limit.", "Write US dollars a day, e.g. 5.0."
            )

    def _chosen(self, listed: list[str] | None, asked: Given, paths: CreaturePaths, item: str | None) -> list[Stage]:
        """The stages in pipeline order: those listed, else what runs by itself and what has settings of its own."""
        if listed is not None:
            return [stage for stage in self._registry if stage.name in listed]
        return [s for s in self._registry if s.starts_by_itself(paths, item) or s.name in asked]

    def _per_clip(self) -> list[str]:
        return [stage.name for stage in self._registry if stage.per != "creature"]

    def _keys(self, shape: str) -> list[str]:
        """Keys of a creature's or a clip's table."""
        fixed = [key for key in self._shapes[shape]["properties"] if self._is_here(key)]
        return fixed + (self._registry.names() if shape == "creature" else self._per_clip())

    def _is_here(self, key: str) -> bool:
        """A short key stands for a stage; a registry without that stage has no such key."""
        return key not in SHORT_KEYS or SHORT_KEYS[key][0] in self._registry

    def _defaults(self, tables: Table) -> Given:
        self._check_keys(tables, self._registry.names(), "defaults")
        return {name: self._settings(name, table, f"defaults: {name}") for name, table in tables.items()}

    def _given(self, table: Table, shape: str, where: str) -> Given:
        """Settings by stage that stand in the table of a creature or clip."""
        named = {name: value for name, value in table.items() if name in self._registry and name not in SHORT_KEYS}
        tables = {name: dict(value) for name, value in named.items()}  # `mesh` is prep's file, not the stage
        for key in self._shapes[shape]["properties"]:
            if key not in SHORT_KEYS or key not in table:
                continue
            stage, setting = SHORT_KEYS[key]
            if setting in tables.setdefault(stage, {}):
                raise self._wrong(f"{where}: {key}", f"is given twice: here and as {stage}.{setting}.", "Keep one.")
            tables[stage][setting] = table[key]
        return {name: self._settings(name, values, f"{where}: {name}") for name, values in tables.items()}

    def _settings(self, name: str, values: Table, where: str) -> Table:
        declared = {setting.name: setting for setting in self._registry[name].settings}
        checked: Table = {}
        for key, value in values.items():
            if key not in declared or key == "clip":
                hint = "It is the clip's name." if key == "clip" else nearest_hint(key, declared)
                raise self._wrong(f"{where}: {key}", "There is no such setting.", hint)
            setting = declared[key]
            try:
                checked[key] = setting.check(value, name)
            except BadInputError as error:
                raise self._wrong(f"{where}: {key}", error.message, f"Expected: {setting.describe()}") from error
            if setting.kind == "path" and value:
                checked[key] = str(self._path(value))
        return checked

    def _stages(self, names: list[str] | None, known: Iterable[Any], where: str) -> list[str] | None:
        allowed = [getattr(stage, "name", stage) for stage in known]
        for name in names or []:
            if name not in allowed:
                raise self._wrong(where, f"{name!r} is no stage that can stand here.", nearest_hint(name, allowed))
        return names

    def _check_used(self, given: Given, listed: list[str] | None, where: str) -> None:
        for name in given:
            if listed is not None and name not in listed:
                raise self._wrong(f"{where}: {name}", "has settings but is not among `stages`.", "Add it there.")

    def _check_keys(self, table: Table, known: Iterable[str], where: str) -> None:
        allowed = list(known)
        for key in table:
            if key not in allowed:
                raise self._wrong(
                    f"{where}: {key}" if where else key, "There is no such key.", nearest_hint(key, allowed)
                )

    def _check_names(self, tables: list[Table], where: str, what: str) -> None:
        """Names are folders, and two names that differ in case only are one folder on Windows and macOS."""
        seen: set[str] = set()
        for table in tables:
            name = table["name"]
            try:
                check_name(name, what)
            except BadInputError as error:
                raise self._wrong(f"{where}: name", error.message, error.hint) from error
            if name.casefold() in seen:
                raise self._wrong(where, f"{name!r} is there twice.", "Give each its own name.")
            seen.add(name.casefold())

    def _path(self, text: str) -> Path:
        try:
            return Path(self._file.parent, Path(text).expanduser())
        except RuntimeError as error:  # ~somebody who has no home
            raise self._wrong(text, f"cannot be a path ({error}).", "Name it in full.") from error

    def _wrong(self, key: str, message: str, hint: str) -> BadInputError:
        return BadInputError(message, file=self._file, key=key, hint=hint)


def _tables(value: Any, what: str) -> Iterator[tuple[str, Table]]:
    """The tables in what should be a list of them, each with the words that name its place."""
    for index, table in enumerate(value if isinstance(value, list) else []):
        if isinstance(table, dict):
            name = table.get("name")
            yield (f"{what} {name!r}" if isinstance(name, str) else f"{what}[{index}]"), table


def _over(below: Given, above: Given) -> Given:
    """Settings by stage; those of `above` win one by one."""
    return {name: {**below.get(name, {}), **above.get(name, {})} for name in [*below, *above]}
