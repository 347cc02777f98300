"""Differences between Blender 4.2 and 5.x, in one place. Actions and their slots: see action_slots.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from ..core.errors import AnyMoCapError, BadInputError


def call_operator(operator: Any, **keywords: Any) -> set[str]:
    """Call a bpy operator with those of `keywords` that this Blender's version of it has."""
    known = {prop.identifier for prop in operator.get_rna_type().properties}
    result: set[str] = operator(**{key: value for key, value in keywords.items() if key in known})
    return result


def set_image_output(scene: bpy.types.Scene, file_format: str = "PNG", color_mode: str = "RGBA") -> None:
    """Still images of `file_format`; since 5.0 the media type has to be chosen first."""
    settings = scene.render.image_settings
    if hasattr(settings, "media_type"):
        settings.media_type = "IMAGE"
    settings.file_format = file_format
    settings.color_mode = color_mode


def selected_bones(armature: bpy.types.Object) -> list[str]:
    """Names of the selected, visible bones, in Object and in Pose Mode; since 5.0 the pose keeps the selection."""
    if "select" in bpy.types.PoseBone.bl_rna.properties:
        return [b.name for b in armature.pose.bones if b.select and not b.bone.hide]
    return [b.name for b in armature.data.bones if b.select and not b.hide]


def fbx_importer() -> Any:
    """The operator that reads FBX: the one in Python of Blender 5.0 fails on any file with a lamp; 5.0 also has one in
    C++.
    """
    return bpy.ops.wm.fbx_import if bpy.app.version >= (5, 0, 0) else bpy.ops.import_scene.fbx


def importer_names_actions_after_armature() -> bool:
    """Before Actions had slots (4.4) the glTF importer added the armature's name to theirs."""
    return "slots" not in bpy.types.Action.bl_rna.properties


def need_background(what: str) -> None:
    """Refuse to replace the file that an artist has open.

    Raises:
        BadInputError: this is a Blender with a window.
    """
    if not bpy.app.background:
        raise BadInputError(
            f"{what} replaces the open file, so it runs in a background process only.",
            hint="Start the stage from the panel or the command line.",
        )


def open_blend(path: Path) -> None:
    """Open a .blend file in this background process, without its interface.

    Raises:
        BadInputError: it is missing or not a .blend file that this Blender can read.
    """
    need_background(f"Opening {path.name}")
    if not path.is_file():
        raise BadInputError("There is no such file.", file=path, hint="Run the stage that makes it first.")
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    except RuntimeError as error:
        raise BadInputError(
            f"Blender cannot open it: {str(error).strip()}", file=path, hint="Run the stage that makes it again."
        ) from error


def save_blend(path: Path) -> None:
    """Save the open data as a compressed .blend at `path` without changing which file is the current one.

    Raises:
        AnyMoCapError: it cannot be written (disk full, no permission).
    """
    try:
        bpy.ops.wm.save_as_mainfile(
            filepath=str(path), compress=True, copy=True, check_existing=False, relative_remap=False
        )
    except RuntimeError as error:
        path.with_name(f"{path.name}@").unlink(missing_ok=True)  # what Blender had written so far
        raise AnyMoCapError(
            f"Blender could not write the file: {str(error).strip()}",
            file=path.parent,
            hint="Free some space, check the folder's permissions, and run the stage again.",
        ) from error


def relative_path_options() -> set[str]:
    """Options of a path property that may begin with "//" (used by ops/); before Blender 4.5 there is no such option
    and every path may.
    """
    return {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set()
