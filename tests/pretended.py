"""A project whose stages have run, without running them: files of a few bytes and the records that go with them."""

from __future__ import annotations

from typing import Any

from anymocap_addon.core.file_mark import mark_file
from anymocap_addon.core.project import CreaturePaths
from anymocap_addon.core.stage_record import StageRecord, save_record
from anymocap_addon.jobs.registry import REGISTRY
from anymocap_addon.jobs.state import creature_values

CREATURE = ("prep", "rig", "ref", "dataset", "train")
RESULTS: dict[str, dict[str, Any]] = {
    "prep": {"size_m": [0.4, 1.5, 1.1]},
    "rig": {"bones": 24, "joints": 24, "painted_faces": {"tail": 9, "front_left_leg": 20}},
    "dataset": {"poses": 800},
    "train": {"median_px": 5.2},
    "detect": {"frames": 56, "sync": {"paw_agreement": 0.998}, "warnings": ["The clip does not start in the pose."]},
    "fit": {"frames": 56, "reproj_px": 3.4},
    "apply": {"first_frame": 1.0, "last_frame": 56.0},
    "report": {"reader": {"median_px": 3.6}, "fit": {"mean_pct_body": 0.9}, "has_truth": True},
}


def pretend_run(paths: CreaturePaths, stage_name: str, item: str | None = None, **changes: Any) -> StageRecord:
    """Write what a stage would leave, and its record.

    Args:
        changes: fields of the record, settings added to the defaults.
    """
    stage = REGISTRY[stage_name]
    settings = {**stage.item_settings(item), **changes.pop("settings", {})}
    outputs = stage.outputs(paths, settings)
    for path in outputs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}" if path.suffix == ".json" else stage_name.encode())
    inputs = [*stage.inputs(paths, settings), *stage.optional_inputs(paths, settings)]
    fields = {
        "stage": stage_name,
        "outcome": "done",
        "clip": item,
        "settings": {**settings, **creature_values(stage, paths)},
        "inputs": [mark_file(path, paths.root) for path in inputs if path.exists()],
        "outputs": [mark_file(path, paths.root) for path in outputs],
        "seconds": 2.0,
        "result": RESULTS.get(stage_name, {}),
        **changes,
    }
    record = StageRecord(**fields)
    save_record(paths, record)
    return record


def pretend_creature(paths: CreaturePaths, upto: str = "train") -> None:
    """A creature whose stages have run up to the one named."""
    paths.assets.mkdir(parents=True, exist_ok=True)
    paths.model().write_bytes(b"mesh")
    for name in CREATURE[: CREATURE.index(upto) + 1]:
        pretend_run(paths, name)
