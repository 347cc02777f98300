"""Choose, add and forget clips."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..core.clip_source import add_clip, known_clips, suggested_name
from ..core.errors import AnyMoCapError
from ..core.video.file_types import PICTURE_SUFFIXES, VIDEO_SUFFIXES
from .creature_operators import folder_name
from .picked_file import PicksFile
from .said_polls import NeedsCreature
from .scene_settings import creature_paths
from .states import STATES

if TYPE_CHECKING:
    from bpy.types import Context

_CLIP_FILES = ";".join(f"*{suffix}" for suffix in (*VIDEO_SUFFIXES, *PICTURE_SUFFIXES))


class ANYMOCAP_OT_choose_clip(NeedsCreature, bpy.types.Operator):
    """Work on this clip"""

    bl_idname = "anymocap.choose_clip"
    bl_label = "Choose Clip"
    bl_options = {"UNDO", "INTERNAL"}

    name: bpy.props.StringProperty(name="Clip")  # type: ignore[valid-type]

    def execute(self, context: Context) -> set[str]:
        if self.name not in known_clips(creature_paths(context)):
            self.report({"ERROR"}, f"There is no clip {self.name!r} of this creature.")
            return {"CANCELLED"}
        context.scene.anymocap.clip = self.name
        STATES.refresh(context)
        return {"FINISHED"}


class ANYMOCAP_OT_add_clip(PicksFile, NeedsCreature, bpy.types.Operator):
    """Add a clip from a video, a GIF or numbered pictures (choose any one of them, or their folder) that show the
    creature from the front on the left and from its side on the right. The files stay where they are"""

    bl_idname = "anymocap.add_clip"
    bl_label = "Add Clip"
    bl_options = {"UNDO"}

    filepath: bpy.props.StringProperty(subtype="FILE_PATH")  # type: ignore[valid-type]
    filter_glob: bpy.props.StringProperty(default=_CLIP_FILES, options={"HIDDEN"})  # type: ignore[valid-type]
    name: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Name", description="Name of the clip; empty = the file's name", options={"SKIP_SAVE"}
    )

    def execute(self, context: Context) -> set[str]:
        file = Path(bpy.path.abspath(self.filepath))
        name = self.name.strip() or folder_name(suggested_name(file))
        try:
            add_clip(creature_paths(context), name, file)
        except AnyMoCapError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        context.scene.anymocap.clip = name
        STATES.refresh(context)
        return {"FINISHED"}


class ANYMOCAP_OT_forget_clip(NeedsCreature, bpy.types.Operator):
    """Take a clip that was added by mistake off the list; its video file stays"""

    bl_idname = "anymocap.forget_clip"
    bl_label = "Forget Clip"
    bl_options = {"UNDO"}

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        states = STATES.of(context)
        clip = states.survey.summary(context.scene.anymocap.clip) if states and states.survey else None
        if clip is None:
            return "Choose a clip first"
        if clip.is_test or clip.has_motion:
            return "It holds results: open its folder and delete that to lose them for good"
        return ""

    def execute(self, context: Context) -> set[str]:
        settings, paths = context.scene.anymocap, creature_paths(context)
        files = paths.clip(settings.clip)
        left = [path.name for path in files.folder.iterdir() if path != files.source]
        if left:
            self.report({"ERROR"}, f"It holds results ({', '.join(sorted(left)[:3])}): delete its folder by hand.")
            return {"CANCELLED"}
        files.source.unlink(missing_ok=True)
        files.folder.rmdir()
        clips = known_clips(paths)
        settings.clip = clips[0] if clips else ""
        STATES.refresh(context)
        return {"FINISHED"}


CLASSES: tuple[type, ...] = (ANYMOCAP_OT_choose_clip, ANYMOCAP_OT_add_clip, ANYMOCAP_OT_forget_clip)
