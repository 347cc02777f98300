"""The film: today its prompt, and a clip that was made elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops.states import SceneStates
from ..stage_look import stage_look
from ..wrapped_text import draw_text
from .stage_body import draw_button, draw_standing

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_HOW = (
    "Give the reference picture and the prompt to an image-to-video service, then add its clip here. "
    "Ordering films from this panel comes in a later version."
)


def draw_film(layout: UILayout, context: Context, states: SceneStates, is_next: bool) -> None:
    """Move and sentence, the prompt made of them, and the way to a clip."""
    assert states.survey is not None
    settings = context.scene.anymocap
    column = layout.column(align=True)
    column.prop(settings, "clip", text="Move")
    column.prop(settings.stages.prompt, "action", text="", placeholder="What it does, in one sentence")
    look = stage_look(states, "prompt")
    draw_standing(layout, context, look)
    if look.running is None:
        draw_button(layout, look, "Write Prompt")
    row = layout.row(align=True)
    row.enabled = look.word in ("ready", "stale")
    row.operator("anymocap.copy_prompt", icon="COPYDOWN")
    if settings.clip:
        row.operator("anymocap.open_folder", text="", icon="FILE_FOLDER").folder = "PROMPTS"
    picture = layout.operator("anymocap.open_file", text="Open Reference Picture", icon="IMAGE_DATA")
    picture.filepath = str(states.survey.paths.ref_png)
    draw_text(layout, context, _HOW, icon="INFO")
    clip = states.survey.summary(settings.clip)
    add = layout.operator("anymocap.add_clip", text="Add Clip from a Video File", icon="ADD")
    if clip is None or clip.video is None:
        add.name = settings.clip  # the film of this move
