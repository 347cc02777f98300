"""Stage `apply`: a fitted motion as an Action on the armature, and the joints that Blender then has.

With a setting `armature` the motion goes onto that armature of the open scene, wherever the artist has put it: keys are
relative to the armature object, whose own transform, scale and parents are left alone. Without one (in a background
process only) rigged.blend is opened and applied.blend saved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.atomic import replacing
from ..core.errors import AnyMoCapError, BadInputError
from ..core.formats import write_json_file
from ..core.motion import Motion, load_motion
from ..core.project import ClipPaths
from ..core.rig import RigInfo
from ..core.stage_context import StageContext
from .action_playback import scene_fps
from .action_slots import assign_action
from .armature_space import prep_similarity, read_joints
from .compat import save_blend
from .export_glb import export_glb
from .isolated import isolated_scene
from .keyframes import key_frames, own_action, write_keys
from .pose import local_basis
from .scene import open_rigged

Array = NDArray[np.float64]

TOLERANCE_MM = 1.0  # more, and something other than the keys moves the bones


@dataclass(frozen=True)
class Applied:
    """What was keyed: the Action, the scene frames (T,) of its keys, joints (T, J, 3) m, and whether an Action of the
    wanted name was somebody's own and kept.
    """

    action: bpy.types.Action
    frames: Array
    joints: Array
    max_error_mm: float
    kept: bool


def run(ctx: StageContext) -> dict[str, Any]:
    """The apply stage: see the module.

    Raises:
        BadInputError: no such armature, a motion of another rig, an armature that cannot be keyed.
        AnyMoCapError: the bones do not follow the keys; says what moves them. The armature is then as it was.
    """
    clip = ctx.paths.clip(ctx.settings["clip"])
    motion, rig = load_motion(clip.motion), ctx.load_rig()
    check_motion(motion, rig, clip)
    ctx.progress(0, 3, "keys")
    live = bool(ctx.settings["armature"])
    armature = live_armature(ctx.settings["armature"]) if live else _rigged_armature(ctx, motion)
    name = ctx.settings["action_name"] or f"{motion.creature}_{motion.move}"
    applied = apply_motion(armature, rig, motion, name, float(ctx.settings["start_frame"]))
    ctx.progress(1, 3, "joints and GLB")
    _write_joints(clip, motion, rig, applied)
    export_glb(clip.animation_glb, armature)
    ctx.progress(2, 3, "saving")
    if not live:
        _frame_range(applied.frames)
        with replacing(clip.applied_blend) as temporary:
            save_blend(temporary)
    ctx.metric("max_error_mm", applied.max_error_mm)
    ctx.progress(3, 3)
    return {
        "action": applied.action.name,
        "frames": motion.T,
        "first_frame": float(applied.frames[0]),
        "last_frame": float(applied.frames[-1]),
        "max_error_mm": applied.max_error_mm,
        "kept_edited_action": applied.kept,
        "joints": str(clip.joints),
        "animation_glb": str(clip.animation_glb),
        "applied_blend": "" if live else str(clip.applied_blend),
    }


def check_motion(motion: Motion, rig: RigInfo, clip: ClipPaths) -> None:
    """Hold the motion to the rig.

    Raises:
        BadInputError: it has other bones or joints.
    """
    for key, ours, theirs in (("bones", rig.bones, motion.bones), ("joint_names", rig.keypoints, motion.joint_names)):
        if ours != theirs:
            odd = next(iter(set(theirs) ^ set(ours)), "their order")
            raise BadInputError(
                f"The motion was fitted on another rig: {odd!r} differs.",
                file=clip.motion,
                key=key,
                hint="Run detect and fit again, with a reader that was trained on this rig.",
            )


def live_armature(name: str) -> bpy.types.Object:
    """The armature object `name` of the open scene, fit to be keyed.

    Raises:
        BadInputError: it is not there, not in this view layer, linked, in Edit Mode or in NLA tweak mode.
    """
    armature = bpy.data.objects.get(name)
    known = ", ".join(sorted(o.name for o in bpy.data.objects if o.type == "ARMATURE")) or "none"
    if armature is None or armature.type != "ARMATURE":
        raise BadInputError(f"There is no armature {name!r}.", key="armature", hint=f"Armatures here: {known}.")
    if armature.name not in bpy.context.view_layer.objects:
        raise BadInputError(
            f"Armature {name!r} is not in the view layer.",
            key="armature",
            hint="Unhide its collection, or switch scene.",
        )
    if not armature.is_editable:
        raise BadInputError(
            f"Armature {name!r} is linked from another file.", key="armature", hint="Make a library override of it."
        )
    if armature.mode == "EDIT":
        raise BadInputError(f"Armature {name!r} is in Edit Mode.", key="armature", hint="Leave Edit Mode first.")
    if armature.animation_data is not None and armature.animation_data.use_tweak_mode:
        raise BadInputError(
            f"Armature {name!r} is in the NLA's tweak mode.", key="armature", hint="Leave tweak mode first (Tab)."
        )
    return armature


def apply_motion(
    armature: bpy.types.Object, rig: RigInfo, motion: Motion, name: str, start_frame: float = 1.0
) -> Applied:
    """Key `motion` on the armature as Action `name` and measure the joints that Blender makes of it.

    Motion frame t is keyed at start_frame + t * scene fps / motion fps.

    Raises:
        BadInputError: the armature is not the rig's.
        AnyMoCapError: a joint is more than TOLERANCE_MM off motion.json; a new Action is removed again.
    """
    basis = local_basis(rig, armature, motion.trans, motion.root_R, motion.euler)
    frames = key_frames(motion.T, motion.fps, scene_fps(bpy.context.scene), start_frame)
    data = armature.animation_data or armature.animation_data_create()
    before = (data.action, getattr(data, "action_slot", None), armature.data.pose_position)
    mixing = (data.action_blend_type, data.action_influence)
    known = {action.name for action in bpy.data.actions}
    action, kept = own_action(armature, name)
    armature.data.pose_position = "POSE"
    write_keys(armature, action, basis, frames)
    data.action_blend_type, data.action_influence = "REPLACE", 1.0
    joints = measured_joints(armature, rig, frames)
    error_mm = float(np.linalg.norm(joints - motion.joints, axis=-1).max() * 1000)
    if error_mm > TOLERANCE_MM:
        reason = _disturbed(armature, rig, joints, motion)
        assign_action(armature, before[0])
        if before[0] is not None and before[1] is not None:
            data.action_slot = before[1]
        armature.data.pose_position = before[2]
        data.action_blend_type, data.action_influence = mixing
        if action.name not in known:
            bpy.data.actions.remove(action)
        raise reason
    bpy.context.view_layer.update()
    return Applied(action, frames, joints, error_mm, kept)


def measured_joints(armature: bpy.types.Object, rig: RigInfo, frames: Array) -> Array:
    """(T, J, 3) keypoints in prep-space metres at scene frames (T,), from Blender's evaluated pose."""
    similarity = prep_similarity(rig, armature)
    joints = np.empty((len(frames), rig.J, 3))
    with isolated_scene([armature]) as scene:
        layer = scene.view_layers[0]
        for t, frame in enumerate(frames):
            whole = int(np.floor(frame))
            scene.frame_set(whole, subframe=float(min(frame - whole, 0.99999)))
            joints[t] = read_joints(armature.evaluated_get(layer.depsgraph), rig, similarity)
    return joints


def _rigged_armature(ctx: StageContext, motion: Motion) -> bpy.types.Object:
    if not bpy.app.background:
        raise BadInputError(
            "No armature is chosen.", key="armature", hint="Choose the creature's armature in the panel."
        )
    armature = open_rigged(ctx.paths).armature
    render = bpy.context.scene.render
    render.fps = max(1, round(motion.fps))
    render.fps_base = render.fps / motion.fps
    return armature


def _frame_range(frames: Array) -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = int(np.floor(frames[0])), int(np.ceil(frames[-1]))
    scene.frame_set(scene.frame_start)


def _write_joints(clip: ClipPaths, motion: Motion, rig: RigInfo, applied: Applied) -> None:
    write_json_file(
        clip.joints,
        "joints",
        {
            "creature": motion.creature,
            "move": motion.move,
            "fps": motion.fps,
            "names": list(rig.keypoints),
            "joints": np.round(applied.joints, 7).tolist(),
            "max_error_mm": applied.max_error_mm,
        },
    )


def _disturbed(armature: bpy.types.Object, rig: RigInfo, joints: Array, motion: Motion) -> AnyMoCapError:
    """Why the bones don't follow their keys, as well as it can be told."""
    off_mm = np.linalg.norm(joints - motion.joints, axis=-1).max(0) * 1000
    worst = int(off_mm.argmax())
    bones = [armature.pose.bones[name] for name in rig.bones]
    active = [(bone.name, c.type.replace("_", " ").title()) for bone in bones for c in bone.constraints if not c.mute]
    constrained = [f"{bone} ({kind})" for bone, kind in active]
    drivers = [d.data_path for d in armature.animation_data.drivers if not d.mute]
    if constrained:
        cause, hint = f"Constraints move its bones: {', '.join(constrained[:6])}.", "Mute them, then apply again."
    elif drivers:
        cause, hint = f"Drivers move its bones: {', '.join(drivers[:4])}.", "Mute them, then apply again."
    else:
        cause, hint = (
            "Something besides the keys moves its bones.",
            "Check NLA tracks, parents of bones and their scale.",
        )
    return AnyMoCapError(
        f"Armature {armature.name!r} does not follow its keys: joint {rig.keypoints[worst]!r} is "
        f"{off_mm[worst]:.1f} mm off. {cause}",
        hint=hint,
    )
