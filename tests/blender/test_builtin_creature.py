"""The built-in lynx: its walk stands still where it stands, its file is whole, and its code makes it the same twice."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from anymocap_addon.blender import builtin_creature, builtin_mesh
from anymocap_addon.blender.action_playback import find_action
from anymocap_addon.blender.action_slots import assign_action
from anymocap_addon.blender.builtin_actions import add_action
from anymocap_addon.blender.builtin_gait import (
    DUTY,
    LOOK_FRAMES,
    TOUCHDOWN,
    WALK_FRAMES,
    ground_velocity,
    in_stance,
    look_around,
    walk,
)
from anymocap_addon.blender.builtin_legs import FEET
from anymocap_addon.blender.builtin_rig import build_armature
from anymocap_addon.core.creature import load_creature
from anymocap_addon.core.project import Project
from anymocap_addon.core.stage_context import StageContext


def bone_ends(armature: bpy.types.Object, frames: range) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Tails (T, 3) of the feet, and all heads and tails (T, 2 B, 3), as Blender plays them."""
    tips: dict[str, list] = {foot: [] for foot in FEET}
    everything = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        for foot in FEET:
            tips[foot].append(armature.matrix_world @ armature.pose.bones[foot].tail)
        everything.append([p[:] for b in armature.pose.bones for p in (b.head, b.tail)])
    return {foot: np.array(path) for foot, path in tips.items()}, np.array(everything)


@pytest.fixture(scope="module")
def walked() -> tuple[dict[str, np.ndarray], np.ndarray]:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature = build_armature("rig")
    assign_action(armature, add_action(armature, "walk", walk()))
    return bone_ends(armature, range(WALK_FRAMES + 1))


def test_planted_feet_ride_with_the_ground(walked):
    tips, _ = walked
    for foot, path in tips.items():
        stands = in_stance(foot)
        slide_mm = np.linalg.norm(np.diff(path, axis=0) - ground_velocity(), axis=1) * 1000
        both = stands[:-1] & stands[1:]
        assert both.sum() >= 0.9 * DUTY * WALK_FRAMES - 1
        assert slide_mm[both].max() < 0.3
        assert np.ptp(path[stands, 2]) < 1e-4 and path[:, 2].min() > 0.01
        assert path[~stands, 2].max() > path[stands, 2].max() + 0.02  # and leave it in between


def test_the_walk_is_a_lateral_sequence_that_closes(walked):
    tips, everything = walked
    assert np.abs(everything[0] - everything[-1]).max() < 1e-6
    steps = np.abs(np.diff(everything, axis=0)).max((1, 2))
    seam = np.abs((everything[1] - everything[0]) - (everything[-1] - everything[-2])).max()
    assert seam < 2.5 * np.median(np.abs(np.diff(everything, n=2, axis=0)).max((1, 2))) and steps.max() < 0.12
    foremost = {foot: float(path[:-1, 1].argmin()) / WALK_FRAMES for foot, path in tips.items()}
    for foot, phase in TOUCHDOWN.items():  # a foot is foremost about when it comes down
        assert abs((foremost[foot] - phase + 0.5) % 1 - 0.5) < 0.1


def test_looking_around_keeps_all_feet_in_place():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature = build_armature("rig")
    assign_action(armature, add_action(armature, "look_around", look_around()))
    tips, everything = bone_ends(armature, range(0, LOOK_FRAMES + 1, 4))
    assert max(np.ptp(path, axis=0).max() for path in tips.values()) < 1e-5
    assert np.abs(everything[0] - everything[-1]).max() < 1e-6
    nose = everything[:, 2 * list(armature.pose.bones.keys()).index("head") + 1]
    assert nose[:, 0].max() > 0.08 and nose[:, 0].min() < -0.08


def example(folder: Path, name: str = "lynx") -> StageContext:
    project = Project(folder)
    context = StageContext(project, project.creature(name))
    builtin_creature.run(context)
    return context


def test_the_stage_writes_a_whole_creature(tmp_path):
    context = example(tmp_path)
    creature = load_creature(context.paths.creature_json)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(context.paths.model()))
    armature = next(o for o in bpy.data.objects if o.type == "ARMATURE")
    mesh = next(o for o in bpy.data.objects if o.type == "MESH" and o.name.startswith("lynx"))
    mesh.data.calc_loop_triangles()
    assert 3000 <= len(mesh.data.loop_triangles) <= 8000
    assert mesh.data.uv_layers and bpy.data.images[0].size[0] == builtin_mesh.TEXTURE_SIZE
    weights = [sorted((g.weight for g in v.groups), reverse=True) for v in mesh.data.vertices]
    assert all(0 < len(w) <= 4 and abs(sum(w) - 1) < 1e-3 for w in weights)
    corners = np.array([v.co for v in mesh.data.vertices])
    assert np.ptp(corners[:, 1]) == pytest.approx(creature.prep.length_m, abs=1e-3)
    assert corners[:, 2].min() == pytest.approx(0, abs=0.005)
    head, tail = (armature.data.bones[n].head_local.y for n in ("head", "tail_1"))
    assert head < 0 < tail  # it faces -Y
    assert creature.facing_is_confirmed(), "it is built so: nobody is asked"
    assert len(bpy.data.actions) == 2
    assert find_action("walk", armature).frame_range[:] == (0.0, WALK_FRAMES)
    assert find_action("look_around", armature).frame_range[:] == (0.0, LOOK_FRAMES)
    named = {bone for group in creature.paint for bone in group.bones} | set(creature.feet)
    assert named <= set(armature.data.bones.keys())
    assert all(group.word in creature.prompt.colour_code for group in creature.paint)
    _normals_agree(mesh.data)


def _normals_agree(mesh: bpy.types.Mesh) -> None:
    """No sliver was folded over: faces look where the surface's own normals look."""
    corner = np.array([c.vector for c in mesh.corner_normals])
    agree = [p.normal.dot(corner[i].tolist()) > 0 for p in mesh.polygons for i in p.loop_indices]
    assert np.mean(agree) > 0.998


def test_the_same_code_makes_the_same_file(tmp_path, monkeypatch):
    monkeypatch.setattr(builtin_mesh, "CELL_M", 0.02)
    monkeypatch.setattr(builtin_mesh, "FACE_TRIANGLES", 400)
    monkeypatch.setattr(builtin_mesh, "BODY_TRIANGLES", 1500)
    monkeypatch.setattr(builtin_mesh, "TEXTURE_SIZE", 128)
    first, second = (example(tmp_path / side).paths.model().read_bytes() for side in "ab")
    assert first == second
