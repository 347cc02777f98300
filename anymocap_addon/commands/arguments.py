"""The command line's arguments, made from the stages' settings."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from ..core.checkup.prep_fixes import JUDGED
from ..core.errors import BadInputError
from ..core.project import CreaturePaths, Project
from ..jobs.setting import Setting
from ..jobs.stage import Registry, Stage

CREATURE_VARIABLE = "MOCAP_CREATURE"
_OWN_VERBS = {
    "run": "run every stage that is missing or stale",
    "status": "say in which state every stage is",
    "ledger": "what the creature has cost at fal, by day, and what is not settled",
    "demo": "the whole pipeline on the built-in creature, or on --mesh",
    "doctor": "check that everything needed is installed; with --creature, check and mend this creature",
    "batch": "many creatures and clips from one TOML file",
}


class Parser(argparse.ArgumentParser):
    """argparse whose errors are ours: one sentence, exit code 2, also as JSON."""

    def error(self, message: str) -> NoReturn:
        raise BadInputError(f"{message[:1].upper()}{message[1:]}.", hint=f"See {self.prog} --help.")


def build_parser(registry: Registry) -> Parser:
    """The parser of all verbs."""
    parser = Parser(prog="anymocap", description="Motion for any rigged creature from one two-view clip.")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=Parser)
    for stage in registry:
        verb = verbs.add_parser(stage.name, help=stage.help, description=f"{stage.label}: {stage.help}.")
        _add_common(verb)
        verb.add_argument("--force", action="store_true", help="run although the result is up to date")
        for setting in stage.settings:
            _add_setting(verb, setting)
    for name, text in _OWN_VERBS.items():
        verb = verbs.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.")
        if name != "batch":  # its file names project and creatures
            _add_common(verb)
        _ADD_OWN[name](verb)
    return parser


def verb_names(registry: Registry) -> list[str]:
    """All verbs."""
    return [*registry.names(), *_OWN_VERBS]


def _add_common(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--project", default=None, metavar="DIR", help="project folder; default: this folder")
    verb.add_argument(
        "--creature",
        default=None,
        metavar="NAME",
        help=f"creature, as NAME or assets/NAME; default: ${CREATURE_VARIABLE}, else the only one there is",
    )
    _add_json(verb)


def _add_json(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--json", action="store_true", help="print one JSON object last")


def _add_setting(verb: argparse.ArgumentParser, setting: Setting) -> None:
    text = setting.describe().replace("%", "%%")
    if setting.kind == "flag":
        verb.add_argument(
            setting.flag, dest=setting.name, action=argparse.BooleanOptionalAction, default=None, help=text
        )
        return
    convert: Callable[[str], Any] = {"integer": _number, "number": _number}.get(setting.kind, str)
    metavar = "|".join(choice or '""' for choice in setting.choices) if setting.choices else setting.kind.upper()
    verb.add_argument(setting.flag, dest=setting.name, type=convert, default=None, metavar=metavar, help=text)


def _number(text: str) -> Any:
    """A number when it is one; else the text itself, for the setting's own check to name."""
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text


def _add_run(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--clip", action="append", default=[], help="only these clips; may be given again")


def _add_demo(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--quick", action="store_true", help="fewer poses, shorter training, a shorter clip")
    verb.add_argument("--mesh", default="", metavar="FILE", help="another creature than the built-in one")
    verb.add_argument("--action", default="", metavar="NAME", help="its Action for the exam; default: a walk")


def _add_batch(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("file", type=Path, metavar="FILE.toml", help="what to do; see docs/batch.toml")
    verb.add_argument("--dry-run", action="store_true", help="show every stage with its state, and run nothing")
    _add_json(verb)


def _add_doctor(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--fix",
        nargs="*",
        default=None,
        choices=JUDGED,
        help="with --creature: let prep mend on its copy all that is safe; a fix that needs your judgement "
        "only where it is named",
    )
    verb.add_argument(
        "--confirm-facing",
        action="store_true",
        help="with --creature: it stands and faces as facing.png shows it",
    )


def _add_nothing(verb: argparse.ArgumentParser) -> None:
    return


_ADD_OWN: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "run": _add_run,
    "status": _add_run,
    "ledger": _add_nothing,
    "demo": _add_demo,
    "doctor": _add_doctor,
    "batch": _add_batch,
}


def stage_settings(stage: Stage, arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that were given; paths are meant from the current folder."""
    given: dict[str, Any] = {}
    for setting in stage.settings:
        value = getattr(arguments, setting.name)
        if value is None:
            continue
        given[setting.name] = str(Path(value).absolute()) if setting.kind == "path" and value else value
    return given


def creature_paths(arguments: argparse.Namespace) -> CreaturePaths:
    """The creature that the arguments, else the environment, else the project folder name.

    Raises:
        BadInputError: none is named and the project has none or several.
    """
    named = arguments.creature or os.environ.get(CREATURE_VARIABLE, "")
    project = Project(Path(arguments.project or _project_of(named)))
    if named:
        return project.creature(Path(named).name)
    creatures = project.creatures()
    if len(creatures) == 1:
        return project.creature(creatures[0])
    hint = f"Give --creature NAME or set {CREATURE_VARIABLE}=assets/NAME."
    if creatures:
        raise BadInputError(f"Which creature: {', '.join(creatures)}?", file=project.root, hint=hint)
    raise BadInputError("There is no creature under assets/ here.", file=project.root, hint=hint)


def _project_of(named: str) -> Path:
    """The project that an absolute .../assets/<c> lies in, else the current folder."""
    path = Path(named)
    return path.parent.parent if path.is_absolute() and path.parent.name == "assets" else Path.cwd()
