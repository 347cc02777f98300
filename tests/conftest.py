"""Fixtures that every layer of tests shares."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

from anymocap_addon.core.rig import RigInfo

REPOSITORY = Path(__file__).resolve().parent.parent
ASSETS = Path(os.environ.get("ANYMOCAP_ASSETS", REPOSITORY.parent / "shared" / "assets"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests whose need is not there are skipped, and counted as skipped."""
    lacks = {}
    if not ASSETS.is_dir():
        lacks["needs_assets"] = f"no asset folder at {ASSETS} (set ANYMOCAP_ASSETS)"
    if importlib.util.find_spec("torch") is None:
        lacks["needs_torch"] = "no torch in this environment"
    for item in items:
        for need, reason in lacks.items():
            if item.get_closest_marker(need):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def assets_dir() -> Path:
    """Folder of real creatures and clips; for tests marked needs_assets."""
    return ASSETS


@pytest.fixture
def small_rig() -> RigInfo:
    """A six-bone creature: hips, spine, head and two legs of one bone, mirrored in x; facing -Y, 1 m long."""
    spec = {
        "hips": (-1, (0.0, 0.2, 0.5), (0.0, 0.0, 0.5)),
        "spine": (0, (0.0, 0.0, 0.5), (0.0, -0.3, 0.55)),
        "head": (1, (0.0, -0.3, 0.55), (0.0, -0.5, 0.65)),
        "leg_L": (0, (0.1, 0.2, 0.45), (0.12, 0.2, 0.0)),
        "leg_R": (0, (-0.1, 0.2, 0.45), (-0.12, 0.2, 0.0)),
        "tail": (0, (0.0, 0.25, 0.5), (0.0, 0.5, 0.4)),
    }
    rest, lengths = [], []
    for _, head, tail in spec.values():
        along = np.subtract(tail, head)
        length = float(np.linalg.norm(along))
        y = along / length
        x = np.cross(y, [0.0, 0.0, 1.0] if abs(y[2]) < 0.9 else [0.0, 1.0, 0.0])
        x /= np.linalg.norm(x)
        matrix = np.eye(4)
        matrix[:3, :3] = np.stack([x, y, np.cross(x, y)], 1)
        matrix[:3, 3] = head
        rest.append(matrix)
        lengths.append(length)
    bones = tuple(spec)
    parents = np.array([parent for parent, _, _ in spec.values()])
    leaves = [2, 3, 4, 5]
    half = np.radians(60.0)
    return RigInfo(
        creature="small",
        armature="Armature",
        to_prep=np.eye(4),
        bones=bones,
        parents=parents,
        armature_parents=tuple(bones[p] if p >= 0 else None for p in parents),
        rest=np.array(rest),
        lengths=np.array(lengths),
        limits_rad=np.tile(np.array([-half, half]), (6, 3, 1)),
        keypoints=(*bones, *(f"{bones[b]}_tip" for b in leaves)),
        keypoint_bone=np.array([*range(6), *leaves]),
        keypoint_end=np.array([0] * 6 + [1] * 4),
        contacts=(7, 8),
        pairs=np.array([[3, 4], [7, 8]]),
        joint_groups={"spine": (0, 1, 2, 6), "left_leg": (3, 7), "right_leg": (4, 8), "tail": (5, 9)},
        bone_groups={"left_leg": ("leg_L",), "right_leg": ("leg_R",)},
        body_length=1.0,
    )
