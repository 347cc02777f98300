"""From a bare mesh to a rig that can be captured: template, rig, skin check; a wing that folds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anymocap_addon.blender import skin_check, template
from anymocap_addon.core.creature import load_creature
from anymocap_addon.core.detect.simulated_reading import simulate_reading
from anymocap_addon.core.detections import Detections
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.kinematics import Skeleton
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.rig import load_rig_spec

from .stage_runs import context, run_prep, run_rig

FOLD_ERROR = 0.015  # of the body length: the mean that a captured wing may be off


def place(root: Path, creature: str, **settings: Any) -> dict[str, Any]:
    return template.run(context(root, creature, **{"template": "quadruped", "overwrite": False, **settings}))


@pytest.mark.needs_assets
def test_a_bare_cow_becomes_a_rig_whose_skin_holds(tmp_path: Path, assets_dir: Path) -> None:
    run_prep(tmp_path, "spot", assets_dir / "creatures" / "spot.glb", rotz_deg=180.0)
    placed = place(tmp_path, "spot")
    assert placed["doubtful"] == [] and placed["bones"] == 21
    paths = context(tmp_path, "spot").paths
    assert paths.rig_sheet.read_bytes().startswith(b"\x89PNG")
    rig = run_rig(tmp_path, "spot")
    assert set(rig["limbs"]) == {f"{e}_{s}_leg" for e in ("front", "back") for s in ("left", "right")} | {"tail"}
    assert set(rig["contacts"]) == {f"{e}_toe_{s}" for e in ("front", "back") for s in "LR"}
    checked = skin_check.run(context(tmp_path, "spot"))
    assert checked["findings"] == [] and checked["worst_stretch"] > 1.05, "the test pose moves the skin and it holds"
    assert checked["pose"] == {
        bone: list(angles) for bone, angles in load_creature(paths.creature_json).testpose.items()
    }
    with pytest.raises(BadInputError, match="skeleton already, with 21 bones"):
        place(tmp_path, "spot", template="biped")
    assert any(bone.name == "front_upper_L" for bone in load_rig_spec(paths.rig_json).bones), "nothing was replaced"
    place(tmp_path, "spot", template="biped", overwrite=True)
    assert any(bone.name == "upper_arm_L" for bone in load_rig_spec(paths.rig_json).bones)


@pytest.mark.needs_torch
@pytest.mark.needs_assets
def test_a_wing_that_folds_and_sweeps_is_captured(tmp_path: Path, assets_dir: Path) -> None:
    """The wings beat, then fold as far as the template's test pose says; read with a reader's noise."""
    from anymocap_addon.core.fit.fit import fit_motion  # it needs torch

    run_prep(tmp_path, "bird", assets_dir / "creatures" / "bird.fbx")
    place(tmp_path, "bird", template="bird")
    run_rig(tmp_path, "bird", mode="build")
    rig = context(tmp_path, "bird").load_rig()
    pose = load_creature(context(tmp_path, "bird").paths.creature_json).testpose
    frames, euler = 72, np.zeros((72, rig.B, 3))
    fold = (1 - np.cos(np.linspace(0, 2 * np.pi, frames))) / 2
    beat = np.radians(25.0) * np.sin(np.linspace(0, 6 * np.pi, frames))
    for bone, angles in pose.items():
        euler[:, rig.index(bone)] = fold[:, None] * np.radians(angles)
    for side in "LR":
        euler[:, rig.index(f"wing_upper_{side}"), 0] += beat
    low, high = rig.limits_rad[None, ..., 0], rig.limits_rad[None, ..., 1]
    assert (euler[:, 1:] >= low[:, 1:] - 1e-6).all() and (euler[:, 1:] <= high[:, 1:] + 1e-6).all()
    rest = np.repeat(rig.rest[:1], frames, axis=0)
    truth = np.asarray(Skeleton.of(rig).forward(rest[:, :3, 3], rest[:, :3, :3], euler).joints)
    span = truth[:, rig.keypoints.index("wing_tip_L"), 0]
    assert span.min() < 0.75 * span.max(), "the wing folds"
    layout = Layout.framing(truth.min((0, 1)), truth.max((0, 1)), 0.1 * rig.body_length)
    seen = simulate_reading(truth, layout, np.random.default_rng(0))
    read = Detections(
        rig.keypoints,
        seen.front_uv,
        seen.side_uv,
        seen.front_conf,
        seen.side_conf,
        24.0,
        np.arange(frames) / 24.0,
        np.eye(2, 3),
    )
    wing = [j for j, name in enumerate(rig.keypoints) if name.startswith("wing")]
    error = np.linalg.norm(fit_motion(rig, layout, read).joints - truth, axis=-1) / rig.body_length
    assert error.mean() < FOLD_ERROR and error[:, wing].mean() < FOLD_ERROR
    print(f"folding wing: mean {100 * error.mean():.2f} %, wings {100 * error[:, wing].mean():.2f} % of body length")
