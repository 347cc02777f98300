"""Stage `apply`: a fitted motion as an Action on the armature, and the joints that Blender then has.

With a setting `armature` the motion goes onto that armature of the open scene, wherever the artist has put it: keys are
relative to the armature object, whose own transform, scale and parents are left alone. Without one (in a background
process only) rigged.blend is opened and applied.blend saved.

The keys go onto the captured bones, or onto the controls that move them: see apply_ways.py. They replace those of the
motion's own Action, or go onto a new one, or onto one that an NLA strip plays; for the
whole rig, or for the selected bones alone. An Action that somebody made or edited is kept unless the settings say
otherwise. What fails leaves the armature and its Actions as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.atomic import replacing
from ..core.errors import BadInputError
from ..core.formats import write_json_file
from ..core.motion import Motion, load_motion
from ..core.project import ClipPaths
from ..core.rig import RigInfo
from ..core.stage_context import StageContext
from .action_playback import scene_fps
from .action_strip import place_strip
from .apply_ways import Way, choose_way, key_motion, keyed_bones
from .armature_space import Similarity, prep_similarity
from .bake import give_influence_back
from .compat import save_blend, selected_bones
from .export_glb import export_glb
from .keyframes import key_frames
from .measured import bone_error_mm, bones_disturbed, disturbed, measured_joints
from .own_actions import Bones, TakenAction, give_back, own_name, settle, stamp, take_action
from .played_action import PlayedAction
from .pose import LocalBasis
from .scene import open_rigged

Array = NDArray[np.float64]

TOLERANCE_MM = 1.0  # more, and something other than the keys moves the bones


@dataclass(frozen=True)
class ApplyOptions:
    """How the keys go onto the armature.

    Attributes:
        mode: "replace" the motion's own Action, a "new" one, or an NLA "strip" that plays its own Action.
        bones: only these bones get keys; None = the whole rig.
        overwrite: an own Action that was edited since is overwritten too.
        motion: "creature/clip", the mark on the Action.
        onto: see apply_ways.WAYS.
    """

    mode: str = "replace"
    bones: Bones = None
    overwrite: bool = False
    motion: str = ""
    onto: str = "auto"


@dataclass(frozen=True)
class Applied:
    """What was keyed: the Action, the scene frames (T,) of its keys, joints (T, J, 3) m (None for some bones only),
    whether an Action of the wanted name was somebody's own and kept, the way (deform, controls or bake), and the bones
    with keys.
    """

    action: bpy.types.Action
    frames: Array
    joints: Array | None
    max_error_mm: float
    kept: bool
    onto: str
    keyed: tuple[str, ...]


def run(ctx: StageContext) -> dict[str, Any]:
    """The apply stage: see the module.

    Raises:
        BadInputError: no such armature, a motion of another rig, an armature that cannot be keyed, no bone selected.
        AnyMoCapError: the bones do not follow the keys; says what moves them. The armature is then as it was.
    """
    clip = ctx.paths.clip(ctx.settings["clip"])
    motion, rig = load_motion(clip.motion), ctx.load_rig()
    check_motion(motion, rig, clip)
    ctx.progress(0, 3, "keys")
    live = bool(ctx.settings["armature"])
    armature = live_armature(ctx.settings["armature"]) if live else _rigged_armature(ctx, motion)
    options = _options(ctx, armature, rig, motion_mark(motion, clip))
    name = ctx.settings["action_name"] or action_name(armature, motion, clip)
    with applying(armature, rig, motion, name, float(ctx.settings["start_frame"]), options) as applied:
        ctx.progress(1, 3, "joints and GLB")
        if applied.joints is not None:
            _write_joints(clip, motion, rig, applied, applied.joints)
            export_glb(clip.animation_glb, armature)
    ctx.progress(2, 3, "saving")
    if not live:
        _frame_range(applied.frames)
        with replacing(clip.applied_blend) as temporary:
            save_blend(temporary)
    ctx.metric("max_error_mm", applied.max_error_mm)
    _tell(ctx, armature, applied, options)
    ctx.progress(3, 3)
    return _result(clip, applied, live)


def action_name(armature: bpy.types.Object, motion: Motion, clip: ClipPaths) -> str:
    """Name of the Action to key where none is wanted: the armature's present one when it was keyed from this clip (the
    artist may have renamed it), else creature and move.
    """
    return own_name(armature, motion_mark(motion, clip)) or f"{motion.creature}_{motion.move}"


def motion_mark(motion: Motion, clip: ClipPaths) -> str:
    """How an Action says what it was keyed from."""
    return f"{motion.creature}/{clip.name}"


def _options(ctx: StageContext, armature: bpy.types.Object, rig: RigInfo, mark: str) -> ApplyOptions:
    onto = ctx.settings["onto"]
    bones = chosen_bones(armature, rig, onto) if ctx.settings["bones"] == "selected" else None
    return ApplyOptions(ctx.settings["mode"], bones, ctx.settings["overwrite"], mark, onto)


def chosen_bones(armature: bpy.types.Object, rig: RigInfo, onto: str) -> frozenset[str]:
    """The selected bones of the armature that can get keys.

    Raises:
        BadInputError: none of them is selected, or see choose_way.
    """
    bones = frozenset(selected_bones(armature)) & keyed_bones(choose_way(armature, rig, onto), rig)
    if not bones:
        raise BadInputError(
            f"No captured bone of armature {armature.name!r}, and no control of one, is selected.",
            key="bones",
            hint="Select bones in Pose Mode, or apply to all.",
        )
    return bones


def _tell(ctx: StageContext, armature: bpy.types.Object, applied: Applied, options: ApplyOptions) -> None:
    if applied.kept:
        ctx.log(f"An Action of that name was edited since, or is not AnyMoCap's; kept. New: {applied.action.name!r}.")
    playing = armature.animation_data.action
    if options.mode == "strip" and playing is not None:
        ctx.log(f"Action {playing.name!r} plays over the strip: push it down or unlink it to see the strip.")


def _result(clip: ClipPaths, applied: Applied, live: bool) -> dict[str, Any]:
    whole = applied.joints is not None
    return {
        "action": applied.action.name,
        "frames": len(applied.frames),
        "first_frame": float(applied.frames[0]),
        "last_frame": float(applied.frames[-1]),
        "max_error_mm": applied.max_error_mm,
        "kept_edited_action": applied.kept,
        "onto": applied.onto,
        "keyed_bones": len(applied.keyed),
        "joints": str(clip.joints) if whole else "",
        "animation_glb": str(clip.animation_glb) if whole else "",
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
    bpy.context.view_layer.update()  # what was linked since the last one is not listed yet
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
    armature: bpy.types.Object,
    rig: RigInfo,
    motion: Motion,
    name: str,
    start_frame: float = 1.0,
    options: ApplyOptions | None = None,
) -> Applied:
    """As `applying`, for a caller that has nothing to do meanwhile."""
    with applying(armature, rig, motion, name, start_frame, options or ApplyOptions()) as applied:
        return applied


@contextmanager
def applying(
    armature: bpy.types.Object, rig: RigInfo, motion: Motion, name: str, start_frame: float, options: ApplyOptions
) -> Iterator[Applied]:
    """Key `motion` on the armature as Action `name`, and measure the joints that Blender makes of it.

    Motion frame t is keyed at start_frame + t * scene fps / motion fps. Inside the block the Action is the armature's;
    after it, it is so or an NLA strip plays it. An error inside leaves Actions and armature as they were.

    Raises:
        BadInputError: the armature is not the rig's.
        AnyMoCapError: a joint is more than TOLERANCE_MM off motion.json.
    """
    prep_similarity(rig, armature)  # refuses a foreign armature before anything is touched
    frames = key_frames(motion.T, motion.fps, scene_fps(bpy.context.scene), start_frame)
    before = PlayedAction.of(armature)
    give_influence_back(armature, before.action, bpy.data.actions.get(name))
    bpy.context.view_layer.update()  # influences that drivers set decide about the way
    way = choose_way(armature, rig, options.onto)
    taken = take_action(armature, name, options.bones, always_new=options.mode == "new", overwrite=options.overwrite)
    try:
        basis = key_motion(way, armature, taken.action, rig, motion, frames, options.bones)
        joints, error_mm = _held(armature, rig, motion, basis, frames, options.bones, way)
        stamp(taken.action, armature, options.motion, options.bones)
        yield Applied(taken.action, frames, joints, error_mm, taken.kept, way.onto, basis.bones)
    except BaseException:
        _undone(armature, taken, before)
        raise
    settle(taken)
    if options.mode == "strip":
        place_strip(armature, taken.action)
        before.restore(armature, None if before.action == taken.action else before.action)
    before.survive()
    bpy.context.view_layer.update()


def _held(
    armature: bpy.types.Object,
    rig: RigInfo,
    motion: Motion,
    basis: LocalBasis,
    frames: Array,
    bones: Bones,
    way: Way,
) -> tuple[Array | None, float]:
    """Hold what Blender makes of the keys to the motion: joints (T, J, 3) (None for some bones) and the error in mm."""
    similarity: Similarity = prep_similarity(rig, armature)
    if bones is not None:
        error_mm = bone_error_mm(armature, basis, similarity, frames, bones)
        if error_mm > TOLERANCE_MM:
            raise bones_disturbed(armature, error_mm)
        return None, error_mm
    joints = measured_joints(armature, rig, similarity, frames)
    error_mm = float(np.linalg.norm(joints - motion.joints, axis=-1).max() * 1000)
    if error_mm > TOLERANCE_MM:
        raise disturbed(armature, rig, joints, motion, way.onto, way.doubts)
    return joints, error_mm


def _undone(armature: bpy.types.Object, taken: TakenAction, before: PlayedAction) -> None:
    played_taken = before.action == taken.action
    replaced = give_back(taken)
    before.restore(armature, replaced if played_taken else before.action)


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


def _write_joints(clip: ClipPaths, motion: Motion, rig: RigInfo, applied: Applied, joints: Array) -> None:
    write_json_file(
        clip.joints,
        "joints",
        {
            "creature": motion.creature,
            "move": motion.move,
            "fps": motion.fps,
            "names": list(rig.keypoints),
            "joints": np.round(joints, 7).tolist(),
            "max_error_mm": applied.max_error_mm,
        },
    )
