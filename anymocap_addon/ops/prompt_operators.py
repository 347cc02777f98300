"""The prompt of a move: read and edit it as a text, keep it, make it anew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..core.atomic import write_text
from ..core.errors import BadInputError
from ..core.film.orders import read_prompt
from ..core.project import is_name
from ..jobs.registry import REGISTRY
from ..jobs.stage_run import StageRun
from .file_operators import show_text
from .foreground import run_or_start
from .reported_errors import ReportsErrors
from .running import HOST
from .said_polls import NeedsCreature
from .scene_settings import creature_paths, scene_paths, wanted_settings
from .states import STATES

if TYPE_CHECKING:
    from bpy.types import Context

_FILE = "anymocap_prompt"


def prompt_text_name(move: str) -> str:
    """What the text in the editor is called."""
    return f"Prompt of {move}"


def open_text(context: Context) -> bpy.types.Text | None:
    """The text in the editor of the scene's prompt, while it is being edited.

    It is known by the prompt's file: creatures may have moves of one name, and Blender shortens long names.
    """
    paths, move = scene_paths(context.scene), context.scene.anymocap.move
    if paths is None or not is_name(move):
        return None
    file = str(paths.prompt(move))
    return next((text for text in bpy.data.texts if text.get(_FILE) == file), None)


class ANYMOCAP_OT_edit_prompt(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Read and change the prompt in a text editor; Keep Prompt in the panel writes it to its file"""

    bl_idname = "anymocap.edit_prompt"
    bl_label = "Edit Prompt"

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._edit(context))

    def _edit(self, context: Context) -> None:
        move = context.scene.anymocap.move
        file = creature_paths(context).prompt(move)
        if not file.is_file():
            raise BadInputError("There is no prompt yet.", file=file, hint="Write it first.")
        text = open_text(context)
        if text is None:  # else what was changed in it stays
            words = read_prompt(file)
            text = bpy.data.texts.new(prompt_text_name(move))
            text[_FILE] = str(file)
            text.use_fake_user = False
            text.write(words)
            text.cursor_set(0)
        show_text(context, text)


class ANYMOCAP_OT_keep_prompt(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Write the edited text to the prompt's file. Films that are there stay; new ones are made with it"""

    bl_idname = "anymocap.keep_prompt"
    bl_label = "Keep Prompt"

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        return "" if open_text(context) is not None else "The prompt is not being edited"

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._keep(context))

    def _keep(self, context: Context) -> None:
        text = open_text(context)
        assert text is not None
        words = text.as_string().strip()
        if not words:
            raise BadInputError("The text is empty.", key="prompt", hint="Write what the creature does.")
        file = creature_paths(context).prompt(context.scene.anymocap.move)
        if not _says(file, words):  # what was only read is not marked as edited
            write_text(file, words)
        bpy.data.texts.remove(text)
        STATES.refresh(context)
        self.report({"INFO"}, "Prompt kept")


def _says(file: Path, words: str) -> bool:
    return file.is_file() and file.read_text(encoding="utf-8-sig", errors="replace").strip() == words


class ANYMOCAP_OT_drop_prompt_edit(NeedsCreature, bpy.types.Operator):
    """Close the text without writing it"""

    bl_idname = "anymocap.drop_prompt_edit"
    bl_label = "Drop the Edit"

    def execute(self, context: Context) -> set[str]:
        text = open_text(context)
        if text is not None:
            bpy.data.texts.remove(text)
        return {"FINISHED"}


class ANYMOCAP_OT_make_prompt_anew(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Write the prompt anew from the creature and the sentence, over what was edited by hand"""

    bl_idname = "anymocap.make_prompt_anew"
    bl_label = "Make Prompt Anew"

    def invoke(self, context: Context, event: Any) -> set[str]:
        answer: set[str] = context.window_manager.invoke_confirm(
            self, event, title="Make the prompt anew?", message="What was edited by hand is lost."
        )
        return answer

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._make(context))

    def _make(self, context: Context) -> None:
        stage = REGISTRY["prompt"]
        settings = {**wanted_settings(context, stage), "move": context.scene.anymocap.move, "overwrite": True}
        run = StageRun(creature_paths(context), stage, settings, pool=HOST.pool, force=True)
        run_or_start(run)


CLASSES: tuple[type, ...] = (
    ANYMOCAP_OT_edit_prompt,
    ANYMOCAP_OT_keep_prompt,
    ANYMOCAP_OT_drop_prompt_edit,
    ANYMOCAP_OT_make_prompt_anew,
)
