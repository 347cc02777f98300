"""The command line: `python -m anymocap_addon VERB …` and `blender --command anymocap VERB …`."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from .commands.arguments import build_parser, creature_paths, stage_settings
from .commands.batch import batch
from .commands.checkup import check_creature
from .commands.demo import demo
from .commands.doctor import doctor
from .commands.drive import drive
from .commands.ledger import ledger
from .commands.run_all import run_all
from .commands.status import status
from .core.errors import AnyMoCapError, BadInputError, CancelledError
from .jobs.pool import Pool
from .jobs.registry import REGISTRY
from .jobs.stage import Registry
from .jobs.stage_run import StageRun


def main(argv: list[str], registry: Registry = REGISTRY, pool: Pool | None = None) -> int:
    """Do what one command line says.

    Args:
        argv: the arguments after the program's name.
        pool: of an enabled extension, whose workers follow its preferences; it is closed here.

    Returns:
        0 only when the verb did what it says, 2 for bad input, 1 otherwise.
    """
    as_json = "--json" in argv
    pool = pool or Pool()
    try:
        arguments = build_parser(registry).parse_args(argv)
        answer = _answer(registry, arguments, pool)
    except SystemExit as leaving:  # --help
        return leaving.code if isinstance(leaving.code, int) else 1
    except AnyMoCapError as error:
        _say_error(error, as_json)
        return error.exit_code
    except KeyboardInterrupt:
        _say_error(CancelledError("Stopped."), as_json)
        return 1
    finally:
        pool.close()
    if as_json:
        print(json.dumps(answer, ensure_ascii=False), flush=True)
    return 0 if answer["ok"] else 1


def _answer(registry: Registry, arguments: argparse.Namespace, pool: Pool) -> dict[str, Any]:
    """What the verb did, as data."""
    verb = arguments.verb
    if verb == "doctor" and arguments.creature:
        fix, confirm = arguments.fix, arguments.confirm_facing
        return {"verb": verb, **check_creature(registry, creature_paths(arguments), pool, fix, confirm)}
    if verb == "doctor" and (arguments.fix is not None or arguments.confirm_facing):
        raise BadInputError("Which creature?", key="--creature", hint="Give doctor --creature NAME with it.")
    if verb == "doctor":
        return {"verb": verb, **doctor(pool)}
    if verb == "demo":
        return {"verb": verb, "ok": True, **demo(registry, arguments, pool)}
    if verb == "batch":
        return {"verb": verb, **batch(registry, arguments.file, pool, arguments.dry_run)}
    paths = creature_paths(arguments)
    if verb == "status":
        return {"verb": verb, "ok": True, **status(registry, paths, arguments.clip)}
    if verb == "ledger":
        return {"verb": verb, "ok": True, **ledger(paths)}
    if verb == "run":
        return {"verb": verb, "ok": True, "stages": run_all(registry, paths, arguments.clip, pool)}
    stage = registry[verb]
    run = StageRun(
        paths,
        stage,
        stage_settings(stage, arguments),
        pool=pool,
        registry=registry,
        force=arguments.force,
    )
    result = drive(run, f"{stage.label} {run.item or ''}".strip())
    for path in result.outputs:
        print(path)
    return {
        "verb": verb,
        "ok": True,
        "creature": paths.name,
        "skipped": result.skipped,
        "seconds": result.seconds,
        "outputs": [str(path) for path in result.outputs],
        "figures": result.figures,
    }


def _say_error(error: AnyMoCapError, as_json: bool) -> None:
    print(f"error: {error}", file=sys.stderr, flush=True)
    if as_json:
        described = {
            "kind": type(error).__name__,
            "message": error.message,
            "file": error.file,
            "key": error.key,
            "hint": error.hint,
        }
        print(json.dumps({"ok": False, "error": described}, ensure_ascii=False), flush=True)
