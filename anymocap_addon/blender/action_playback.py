"""An Action played on an armature for a while, and everything as it was before afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
from mathutils import Matrix, Quaternion

from ..core.errors import BadInputError
from .action_slots import action_fcurves, assign_action

# A pose bone's rotation (wxyz) as the file came, kept by prep: what an Action plays over on bones that it does not key.
# Places are left out: files whose pose and bind pose differ in them (glTF allows it) would leave the ground.
POSE_PROPERTY = "anymocap_pose"
_TURNED = 1e-4  # radians
_ROTATION_PATH = re.compile(r'pose\.bones\["(.+)"\]\.rotation_(quaternion|euler|axis_angle)$')
_EULER_ORDERS = {"XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"}


def scene_fps(scene: bpy.types.Scene) -> float:
    """Frames a second of the scene, 29.97 and the like included."""
    return float(scene.render.fps / scene.render.fps_base)


def find_action(name: str, armature: bpy.types.Object) -> bpy.types.Action:
    """The Action of that name; else the only one that importers would make of it: "Walk" finds "Rig|Walk" (FBX, packs)
    and "Walk_rig" (glTF before 4.4), in any case.

    Raises:
        BadInputError: there is none, or several fit.
    """
    if name in bpy.data.actions:
        return bpy.data.actions[name]
    wanted, suffix = name.casefold(), f"_{armature.name}".casefold()
    fitting = []
    for action in bpy.data.actions:
        plain = action.name.casefold()
        if wanted in (plain, plain.split("|")[-1], plain.removesuffix(suffix)):
            fitting.append(action)
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(sorted(a.name for a in fitting or bpy.data.actions)) or "none"
    what = f"Several Actions fit {name!r}." if fitting else f"There is no Action called {name!r}."
    raise BadInputError(what, hint=f"Actions here: {known}.")


def moving_actions(armature: bpy.types.Object) -> list[bpy.types.Action]:
    """Actions that drive this armature's pose and last: single poses say nothing about how a creature moves."""
    known = {f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"]' for bone in armature.pose.bones}

    def moves(action: bpy.types.Action) -> bool:
        return any(curve.data_path.rsplit(".", 1)[0] in known for curve in action_fcurves(action, armature))

    lasting = [a for a in bpy.data.actions if a.frame_range[1] - a.frame_range[0] >= 1]
    return [action for action in lasting if moves(action)]


def keep_pose(armature: bpy.types.Object) -> None:
    """Remember the rotations of the present pose in the armature itself, before it is brought to rest."""
    for bone in armature.pose.bones:
        turn = bone.matrix_basis.to_quaternion()
        if turn.angle > _TURNED:
            bone[POSE_PROPERTY] = list(turn)


def _kept_pose(bone: bpy.types.PoseBone) -> Matrix:
    kept = bone.get(POSE_PROPERTY)
    return Matrix() if kept is None else Quaternion(kept[:]).to_matrix().to_4x4()


@contextmanager
def playing(armature: bpy.types.Object, action: bpy.types.Action) -> Iterator[None]:
    """`action` alone drives the armature from the pose that its file came with (bones that it does not key stay
    there); Action, NLA, modes, pose and frame come back at
    the end.

    Bones whose rotation the Action keys in another mode than they have are switched to that mode meanwhile: a
    quaternion Action does nothing on a bone in Euler mode.

    Raises:
        BadInputError: the Action keys none of the armature's bones.
    """
    scene = bpy.context.scene
    modes = _keyed_modes(armature, action)
    data = armature.animation_data or armature.animation_data_create()
    before = (data.action, getattr(data, "action_slot", None), data.use_nla, armature.data.pose_position)
    frame = (scene.frame_current, scene.frame_subframe)
    pose = {b.name: _channels(b) for b in armature.pose.bones}
    placed = _channels(armature)  # Actions of FBX files key the object too
    try:
        for bone in armature.pose.bones:
            bone.rotation_mode = modes.get(bone.name, bone.rotation_mode)
            bone.matrix_basis = _kept_pose(bone)
        armature.data.pose_position = "POSE"
        data.use_nla = False
        assign_action(armature, action)
        yield
    finally:
        _restore(armature, before)
        for bone in armature.pose.bones:
            for channel, value in pose[bone.name].items():
                setattr(bone, channel, value)
        for channel, value in placed.items():
            setattr(armature, channel, value)
        scene.frame_set(frame[0], subframe=frame[1])


def _channels(bone: bpy.types.PoseBone | bpy.types.Object) -> dict[str, Any]:
    """All transform channels of a pose bone or object, the rotation of every mode included; the mode first, since
    setting it converts.
    """
    names = ("location", "scale", "rotation_quaternion", "rotation_euler", "rotation_axis_angle")
    return {"rotation_mode": bone.rotation_mode, **{name: getattr(bone, name)[:] for name in names}}


def _restore(armature: bpy.types.Object, before: tuple[bpy.types.Action | None, object, bool, str]) -> None:
    data = armature.animation_data
    data.action = before[0]
    if before[0] is not None and before[1] is not None:
        data.action_slot = before[1]
    data.use_nla = before[2]
    armature.data.pose_position = before[3]


def _keyed_modes(armature: bpy.types.Object, action: bpy.types.Action) -> dict[str, str]:
    """Bone -> rotation mode in which the Action keys it."""
    modes: dict[str, str] = {}
    keyed = False
    for curve in action_fcurves(action, armature):
        keyed = keyed or curve.data_path.startswith("pose.bones")
        found = _ROTATION_PATH.match(curve.data_path)
        bone = armature.pose.bones.get(found.group(1)) if found else None
        if found is None or bone is None:
            continue
        kind = found.group(2).upper()
        if kind == "EULER":
            modes[bone.name] = bone.rotation_mode if bone.rotation_mode in _EULER_ORDERS else "XYZ"
        else:
            modes[bone.name] = kind
    if not keyed:
        raise BadInputError(
            f"Action {action.name!r} has no keys for bones of armature {armature.name!r}.",
            hint="Choose an Action that was made for this armature.",
        )
    return modes
