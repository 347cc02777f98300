"""The add-on's preferences."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import bpy

from ..jobs.cores import usable_cores
from ..jobs.launch import chosen_python
from ..ops.preference_values import ROOT_PACKAGE, PreferenceValues, preference_values
from ..ops.stored_key import WORDS, current_source, entered, refusal, shown
from ..ops.worker_lack import worker_lack
from ..ops.worker_operators import setup_reason
from ..ops.worker_tasks import TASKS
from .wrapped_text import draw_text

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_INSET_PX = 90  # of a text in one of our boxes, in Blender's box of the add-on
_BYTES_MB = 16 / 9 * 4 / 1e6  # of one picture, times its rows squared
_PROJECT = (
    "A new scene is offered this folder; the folder that a scene names itself wins. When this is empty, the panel asks "
    "for one, and once the .blend is saved offers the folder mocap beside it."
)
_PYTHON = "Empty: Blender's own, with the packages of the extension, which compute on the processor or a Mac's Metal."
_GPU = (
    "Makes an environment with the CUDA build of PyTorch in the extension's folder: about 3 GB to download, 8 GB of "
    "disk. Stopped, it goes on from there."
)
_INDEX = "Empty: pip's own. An address, or a folder of wheels for a computer without internet."
_KEY = (
    "Only filming needs it. It stays in a file that only you can read, never in a .blend, the preferences' file or a "
    "log."
)
_DEFAULTS = PreferenceValues()


_cores = functools.cache(usable_cores)  # a draw reads no file


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
    package_index: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Package index",
        description="Address of a package index that has the CUDA build of torch, or a folder of wheels. Empty: pip's "
        "own, which has it on Linux but not on Windows",
    )
    fal_key: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="fal key",
        description="Paste the key of your fal.ai account; shown as dots, kept in a file of its own",
        get=shown,
        set=entered,
        options={"SKIP_SAVE"},
    )
    weights_folder: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Weights folder",
        description="Where downloaded network weights are kept. Empty: in the extension's own folder",
        subtype="DIR_PATH",
    )

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        for title, icon, section in (
            ("Project", "FILE_FOLDER", self._draw_project),
            ("Worker", "PREFERENCES", self._draw_worker),
            ("Film", "RENDER_ANIMATION", self._draw_film),
            ("Storage", "DISK_DRIVE", self._draw_storage),
        ):
            _section(layout, title, icon, context, section)

    def _draw_project(self, layout: UILayout, context: Context) -> None:
        layout.prop(self, "project_folder")
        _explain(layout, context, _PROJECT)

    def _draw_worker(self, layout: UILayout, context: Context) -> None:
        named = chosen_python()
        row = layout.row(align=True)
        row.enabled = not named
        row.prop(self, "worker_python", text="Python")
        _explain(layout, context, f"{named} is named by $ANYMOCAP_PYTHON, which wins." if named else _PYTHON)
        column = layout.column(align=True)
        column.prop(self, "device")
        column.prop(self, "threads")
        _explain(layout, context, f"0: as many as there are idle cores, of the {_cores()} here.")
        self._draw_check(layout, context)
        layout.separator(type="LINE")
        self._draw_setup(layout, context)

    def _draw_check(self, layout: UILayout, context: Context) -> None:
        report = TASKS.report(preference_values(context))
        split = layout.split(factor=0.4)
        split.column()
        column = split.column()
        column.operator("anymocap.check_worker", text="Check the worker", icon="VIEWZOOM")
        if TASKS.check is not None:
            _explain(layout, context, "Asking it; torch takes some seconds to load.", "SORTTIME")
        elif report is None and (lack := worker_lack(context)):
            _explain(layout, context, lack, "ERROR", alert=True)
        elif report is None:
            _explain(layout, context, "Not checked in this session.", "QUESTION")
        elif report.ok:
            _explain(layout, context, report.line(), "CHECKMARK")
            for warning in report.warnings:
                _explain(layout, context, warning, "INFO")
        else:
            for error in report.errors:
                _explain(layout, context, str(error), "ERROR", alert=True)

    def _draw_setup(self, layout: UILayout, context: Context) -> None:
        if TASKS.setup is not None:
            row = layout.row(align=True)
            row.progress(factor=TASKS.fraction, text=TASKS.note)
            row.operator("anymocap.cancel_gpu_worker", text="", icon="X")
            return
        layout.prop(self, "package_index")
        _explain(layout, context, _INDEX)
        split = layout.split(factor=0.4)
        split.column()
        split.operator("anymocap.setup_gpu_worker", text="Set up GPU worker", icon="IMPORT")
        _explain(layout, context, TASKS.note or _GPU)
        if reason := setup_reason(context):
            _explain(layout, context, reason, "INFO")
        if TASKS.setup_error is not None:
            _explain(layout, context, str(TASKS.setup_error), "ERROR", alert=True)
            if TASKS.log is not None and TASKS.log.exists():
                row = layout.row()
                row.alignment = "RIGHT"
                row.operator("anymocap.open_file", text="Open log", icon="TEXT").filepath = str(TASKS.log)

    def _draw_film(self, layout: UILayout, context: Context) -> None:
        source = current_source()
        row = layout.row(align=True)
        row.enabled = source != "environment"
        row.prop(self, "fal_key")
        if source == "stored":
            row.operator("anymocap.forget_fal_key", text="", icon="X")
        _explain(layout, context, f"{WORDS[source]}.", "CHECKMARK" if source != "none" else "INFO")
        if refusal():
            _explain(layout, context, refusal(), "ERROR", alert=True)
        _explain(layout, context, _KEY)

    def _draw_storage(self, layout: UILayout, context: Context) -> None:
        layout.prop(self, "preview_rows")
        megabytes = self.preview_rows**2 * _BYTES_MB
        _explain(layout, context, f"The clip beside the creature: {megabytes:.1f} MB of disk a frame.")
        layout.prop(self, "weights_folder")
        own = preference_values(context).weights_folder
        _explain(layout, context, "Downloaded networks." if self.weights_folder else f"Empty: {own or 'none'}")


def _section(
    layout: UILayout, title: str, icon: str, context: Context, draw: Callable[[UILayout, Context], None]
) -> None:
    box = layout.box()
    box.label(text=title, icon=icon)
    draw(box, context)


def _explain(layout: UILayout, context: Context, text: str, icon: str = "NONE", alert: bool = False) -> None:
    """A sentence under the fields, in their column."""
    split = layout.split(factor=0.4)
    split.column()
    column = split.column()
    column.alert = alert
    column.active = alert or icon != "NONE"
    label_px = 0.4 * context.region.width / context.preferences.system.ui_scale
    draw_text(column, context, text, icon, inset=_INSET_PX + int(label_px))


CLASSES: tuple[type, ...] = (ANYMOCAP_AP_preferences,)
