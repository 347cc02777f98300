"""Stages of a few milliseconds that do on purpose what real ones do by accident; for tests of jobs and cli."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from anymocap_addon.core.project import CreaturePaths
from anymocap_addon.jobs.setting import Setting
from anymocap_addon.jobs.stage import Registry, Stage, Step, Where


def _step(function: str, where: Where = "worker", sharded: bool = False) -> Step:
    return Step(where, f"steps:{function}", sharded=sharded, package="tiny_stages")


def _file(name: str) -> Any:
    def files(paths: CreaturePaths, values: dict[str, Any]) -> list[Path]:
        return [paths.runs / name]

    return files


def _source(paths: CreaturePaths, values: dict[str, Any]) -> list[Path]:
    return [paths.assets / "source.txt"]


COPY = Stage(
    "copy",
    "Copy",
    "copy the source",
    (_step("copy"),),
    (
        Setting("times", "integer", 1, "copies", "copies", 1, 9),
        Setting("word", "text", "a", "a word", choices=("a", "b")),
        Setting("shout", "flag", False, "in capitals"),
        Setting("ratio", "number", None, "a ratio", optional=True),
        Setting("threads", "integer", 0, "threads", portable=True),
    ),
    inputs=_source,
    outputs=_file("copy.txt"),
)
COUNT = Stage(
    "count",
    "Count",
    "count the letters of the copy, in parts",
    (_step("count_part", sharded=True), _step("sum_parts")),
    (Setting("processes", "integer", 0, "processes", portable=True), Setting("pause_s", "number", 0.0, "a pause")),
    inputs=_file("copy.txt"),
    outputs=_file("count.txt"),
    partial=_file("parts"),
)
SPEAK = Stage("speak", "Speak", "say where it runs", (_step("speak"),))
MISBEHAVE = Stage(
    "misbehave",
    "Misbehave",
    "go wrong in the chosen way",
    (_step("misbehave"),),
    (
        Setting("how", "text", "fail", "in which way"),
        Setting("megabytes", "integer", 1, "size of what is written", minimum=1, maximum=64),
    ),
    outputs=_file("result.bin"),
)
PER_CLIP = Stage(
    "perclip",
    "Clip",
    "one result for each clip",
    (_step("per_clip"),),
    (Setting("clip", "name", help="name of the clip", required=True), Setting("video", "path", "", "a file")),
    inputs=_file("copy.txt"),
    outputs=lambda paths, values: [paths.clip(values["clip"]).det],
    per="clip",
)
SLOW = Stage("slow", "Slow", "take so long", (_step("slow"),), (Setting("seconds", "number", 0.1, "how long", "s"),))
TINY = Registry((COPY, COUNT, SPEAK, MISBEHAVE, PER_CLIP, SLOW))


def in_blender(stage: Stage) -> Stage:
    """The same stage with its steps in a background Blender."""
    return replace(stage, steps=tuple(replace(step, where="blender") for step in stage.steps))
