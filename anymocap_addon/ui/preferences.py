"""The add-on's preferences."""

from __future__ import annotations

import bpy

from ..ops.preference_values import ROOT_PACKAGE, PreferenceValues

_DEFAULTS = PreferenceValues()


class ANYMOCAP_AP_preferences(bpy.types.AddonPreferences):
    """What holds for every scene of this artist."""

    bl_idname = ROOT_PACKAGE

    project_folder: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Project folder",
        description="Project of scenes that name none themselves. Empty: AnyMoCap asks for a folder",
        subtype="DIR_PATH",
    )
    worker_python: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Worker Python",
        description="Python program that trains, reads and fits, for example of an environment with CUDA. Empty: "
        "Blender's own",
        subtype="FILE_PATH",
    )
    device: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Device",
        description="Where the worker computes, when a stage does not say otherwise",
        items=[
            ("auto", "Automatic", "CUDA where the worker has it, else the processor"),
            ("cpu", "Processor", "The processor, also where there is a graphics card"),
            ("cuda", "CUDA", "An NVIDIA graphics card; the worker's torch must be a CUDA build"),
            ("mps", "Metal", "The graphics processor of a Mac"),
        ],
        default=_DEFAULTS.device,
    )
    threads: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="CPU threads",
        description="Threads of a stage; 0 takes as many as there are idle cores",
        min=0,
        max=256,
        default=_DEFAULTS.threads,
    )
    preview_rows: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Preview height",
        description="Height of the clip in the viewport; a frame of 360 rows takes 0.9 MB of disk",
        subtype="PIXEL",
        min=90,
        max=1080,
        default=_DEFAULTS.preview_rows,
    )
    weights_folder: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Weights folder",
        description="Where downloaded network weights are kept. Empty: in the extension's own folder",
        subtype="DIR_PATH",
    )


CLASSES: tuple[type, ...] = (ANYMOCAP_AP_preferences,)
