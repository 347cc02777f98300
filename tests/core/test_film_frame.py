"""Film refuses a frame that would cut the creature off, before anything is asked of the service."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from anymocap_addon.core.creature import Creature, save_creature
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.film.frame_check import check_frame
from anymocap_addon.core.film.orders import film_orders
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.rig import RigInfo, save_rig_info
from anymocap_addon.core.room import room
from anymocap_addon.jobs.registry import REGISTRY
from tests.film_project import FilmProject


def rigged(root: Path, rig: RigInfo, layout: Layout, **changes: object) -> FilmProject:
    project = FilmProject(root)
    for file in (project.paths.rig_info, project.paths.creature_json):
        file.parent.mkdir(parents=True, exist_ok=True)
    save_rig_info(project.paths.rig_info, rig)
    save_creature(project.paths.creature_json, replace(Creature(name="c", layout=layout), **changes))
    return project


def framed(rig: RigInfo, kind: str) -> Layout:
    joints = rig.rest_joints()
    return Layout.framing(*room(rig, joints.min(0), joints.max(0), kind))


def test_a_frame_with_room_passes(tmp_path: Path, small_rig: RigInfo) -> None:
    project = rigged(tmp_path, small_rig, framed(small_rig, "jump"))
    for move in ("walk", "jump"):
        check_frame(project.paths, move)


def test_a_frame_that_cuts_the_creature_off_makes_no_order(tmp_path: Path, small_rig: RigInfo) -> None:
    project = rigged(tmp_path, small_rig, replace(framed(small_rig, "walk"), cy=3.0))
    values = REGISTRY["film"].check({"move": "walk", "yes": True})
    with pytest.raises(BadInputError, match="side view") as caught:
        film_orders(project.paths, values)
    assert "ref --room" in (caught.value.hint or "")


def test_a_jump_is_refused_where_only_a_stand_fits(tmp_path: Path, small_rig: RigInfo) -> None:
    tight = framed(small_rig, "stand")
    top = tight.ground_v - small_rig.rest_joints()[:, 2].max() / tight.m_per_px
    project = rigged(tmp_path, small_rig, replace(tight, ground_v=tight.ground_v - top + 20))
    check_frame(project.paths, "walk")
    with pytest.raises(BadInputError, match="top"):
        check_frame(project.paths, "high jump")


def test_the_start_pose_counts(tmp_path: Path, small_rig: RigInfo) -> None:
    m, edge = 0.002, 8
    low, high = small_rig.rest_joints().min(0), small_rig.rest_joints().max(0)
    w_front, w_side, rows = (int(size / m) + 2 * edge for size in high - low)
    tight = Layout(w_front + w_side, rows, w_front, w_side, rows - edge + low[2] / m, m, *((low + high) / 2)[:2])
    check_frame(rigged(tmp_path, small_rig, tight).paths, "walk")
    project = rigged(tmp_path, small_rig, tight, start_pose={"leg_L": (80.0, 0.0, 80.0)})
    with pytest.raises(BadInputError, match="would leave the picture"):
        check_frame(project.paths, "walk")
