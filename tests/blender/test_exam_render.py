"""Exam frames: true joints, pictures by Workbench that agree with the drawing, shards, resuming, Actions."""

from __future__ import annotations

from pathlib import Path

import bpy
import cv2
import numpy as np
import pytest

from anymocap_addon.blender import exam_render
from anymocap_addon.blender.draw import Drawer, PosedMeshes, layout_views
from anymocap_addon.blender.posed import PosedCreature, open_for_drawing
from anymocap_addon.blender.showcase_render import flank_lights
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.exam.truth import load_truth
from anymocap_addon.core.kinematics import Skeleton, quaternion_to_matrix
from anymocap_addon.core.rig import RigInfo

from .small_creature import context, framed, write_small_creature

RANDOM = {"clip": "random", "kind": "random", "frames": 4, "fps": 12.0, "seed": 2}


@pytest.fixture
def project(tmp_path: Path, small_rig: RigInfo) -> Path:
    write_small_creature(tmp_path, small_rig, framed(small_rig))
    return tmp_path


def _frames(folder: Path) -> list[np.ndarray]:
    return [cv2.imread(str(file))[..., ::-1] for file in sorted(folder.glob("*.png"))]


def test_truth_and_pictures_agree(project: Path, small_rig: RigInfo) -> None:
    for shard in ((1, 2), (0, 2)):
        assert exam_render.run(context(project, "exam", RANDOM, shard))["rendered"] == 2
    ctx = context(project, "exam", RANDOM)
    files, layout = ctx.paths.exam("random"), ctx.layout()
    truth = load_truth(files.truth)
    pose = Skeleton.of(small_rig).forward(truth.trans, quaternion_to_matrix(truth.root_quat), truth.euler)
    np.testing.assert_allclose(truth.joints, pose.joints, atol=2e-5)
    assert truth.names == small_rig.keypoints and truth.fps == 12.0 and truth.action == ""
    frames = _frames(files.frames)
    assert len(frames) == 4 and {frame.shape for frame in frames} == {(720, 1280, 3)}
    creature = PosedCreature(open_for_drawing(ctx))
    meshes = PosedMeshes(creature.meshes, bpy.context.evaluated_depsgraph_get())
    drawer = Drawer(meshes, layout_views(layout, 720))
    root_R = quaternion_to_matrix(truth.root_quat)
    for frame in creature.play(truth.trans, root_R, truth.euler):
        drawn = drawer.draw([meshes.capture()], [flank_lights()] * 2)[..., 3] > 127
        rendered = np.abs(frames[frame].astype(int) - layout.studio()).max(2) > 14
        assert (drawn & rendered).sum() / (drawn | rendered).sum() > 0.95


def test_resumes_and_starts_over_for_another_motion(project: Path) -> None:
    exam_render.run(context(project, "exam", RANDOM))
    folder = context(project, "exam").paths.exam("random").frames
    before = {file.name: file.read_bytes() for file in folder.glob("*.png")}
    (folder / "00003.png").write_bytes(before["00003.png"][:500])
    assert exam_render.run(context(project, "exam", RANDOM))["rendered"] == 1
    assert {file.name: file.read_bytes() for file in folder.glob("*.png")} == before
    assert exam_render.run(context(project, "exam", {**RANDOM, "frames": 2, "seed": 3}))["rendered"] == 2
    assert len(list(folder.glob("*.png"))) == 2


def _give_action(root: Path) -> None:
    """A nod of half a second that ends as it began, kept in rigged.blend."""
    paths = context(root, "exam").paths
    bpy.ops.wm.open_mainfile(filepath=str(paths.rigged_blend))
    armature = bpy.data.objects["Armature"]
    bone = armature.pose.bones["head"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (7, 0.5), (13, 0.0)):
        bone.rotation_euler = (angle, 0, 0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    armature.animation_data.action.name = "Nod"
    armature.animation_data.action.use_fake_user = True
    bpy.ops.wm.save_mainfile()


def test_an_action_is_looped_to_two_seconds(project: Path, small_rig: RigInfo) -> None:
    _give_action(project)
    settings = {"clip": "nod", "kind": "action", "action": "nod", "fps": 4.0}
    ctx = context(project, "exam", settings)
    result = exam_render.run(ctx)
    truth = load_truth(ctx.paths.exam("nod").truth)
    assert result["action"] == truth.action == "Nod"
    assert truth.T == 8 == result["frames"]  # four cycles of 12 frames at 24 a second
    head = small_rig.index("head")
    assert truth.euler[:, head, 0].max() == pytest.approx(0.5, abs=1e-3)
    np.testing.assert_allclose(truth.euler[:4, head, 0], truth.euler[4:8, head, 0], atol=1e-5)


def test_an_unknown_action_is_refused_by_name(project: Path) -> None:
    with pytest.raises(BadInputError, match="has no Action"):
        exam_render.run(context(project, "exam", {"clip": "a", "kind": "action"}))
    _give_action(project)
    with pytest.raises(BadInputError, match=r"'Gallop'.*Nod"):
        exam_render.run(context(project, "exam", {"clip": "a", "kind": "action", "action": "Gallop"}))
