"""Check the worker's Python, and set up one with CUDA."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import bpy

from ..core.errors import AnyMoCapError, BadInputError
from ..jobs.worker_setup import setup_refusal
from .preference_values import preference_values, stored_preferences, user_folder
from .said_polls import SaidPoll
from .stored_key import ANYMOCAP_OT_forget_fal_key
from .worker_tasks import TASKS

if TYPE_CHECKING:
    from bpy.types import Context

_LOOK_EVERY_S = 0.03


def _to_end() -> None:
    """In a Blender without a window no timer fires."""
    while TASKS.step():
        time.sleep(_LOOK_EVERY_S)


class ANYMOCAP_OT_check_worker(bpy.types.Operator):
    """Start the worker's Python and ask what it has: versions, graphics card"""

    bl_idname = "anymocap.check_worker"
    bl_label = "Check"

    def invoke(self, context: Context, event: Any) -> set[str]:
        TASKS.start_check()
        return {"FINISHED"}

    def execute(self, context: Context) -> set[str]:
        TASKS.start_check()
        _to_end()
        report = TASKS.report(preference_values(context))
        if report is None or not report.ok:
            self.report({"ERROR"}, " ".join(str(error) for error in report.errors) if report else "No answer.")
            return {"CANCELLED"}
        self.report({"INFO"}, report.line())
        return {"FINISHED"}


def setup_reason(context: Context) -> str:
    """Why no GPU worker can be set up now; empty when it can."""
    if user_folder() is None:
        return "Only the installed extension has a folder for it."
    stored = stored_preferences(context)
    online = getattr(bpy.app, "online_access", True)
    by_command_line = not online and getattr(bpy.app, "online_access_override", False)
    return setup_refusal(stored.package_index if stored else "", online, by_command_line)


class ANYMOCAP_OT_setup_gpu_worker(SaidPoll, bpy.types.Operator):
    """Make an environment with the CUDA build of torch in the extension's own folder and let it do the work.
    Needs an NVIDIA graphics card, about 8 GB of disk and a download of about 3 GB; goes on where it was stopped"""

    bl_idname = "anymocap.setup_gpu_worker"
    bl_label = "Set up GPU worker"

    @classmethod
    def why_not(cls, context: Context) -> str:
        return "It is at work." if TASKS.setup is not None else setup_reason(context)

    def invoke(self, context: Context, event: Any) -> set[str]:
        answer: set[str] = context.window_manager.invoke_confirm(
            self,
            event,
            title="Set up a GPU worker",
            message="Downloads about 3 GB and takes about 8 GB of disk. Blender stays usable.",
            confirm_text="Set up",
        )
        return answer

    def execute(self, context: Context) -> set[str]:
        own, stored = user_folder(), stored_preferences(context)
        try:
            if own is None or stored is None:
                raise BadInputError("Only the installed extension can set up a worker.")
            TASKS.start_setup(own, stored.package_index)
        except AnyMoCapError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if bpy.app.background:
            _to_end()
            if TASKS.setup_error is not None:
                self.report({"ERROR"}, str(TASKS.setup_error))
                return {"CANCELLED"}
        return {"FINISHED"}


class ANYMOCAP_OT_cancel_gpu_worker(bpy.types.Operator):
    """Stop the setup; what was downloaded stays, and the next setup goes on from there"""

    bl_idname = "anymocap.cancel_gpu_worker"
    bl_label = "Cancel"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return TASKS.setup is not None

    def execute(self, context: Context) -> set[str]:
        if TASKS.setup is not None:
            TASKS.setup.cancel()
        return {"FINISHED"}


CLASSES: tuple[type, ...] = (
    ANYMOCAP_OT_check_worker,
    ANYMOCAP_OT_setup_gpu_worker,
    ANYMOCAP_OT_cancel_gpu_worker,
    ANYMOCAP_OT_forget_fal_key,
)


def unregister() -> None:
    """End what is at work."""
    TASKS.close()
