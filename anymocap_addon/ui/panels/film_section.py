"""The film of a move: its prompt, what it is filmed with and costs, what goes on at fal, its takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ...core.film.key import key_source
from ...jobs.film_survey import FilmSurvey
from ...ops.film_operators import NO_KEY, cost_words, film_known, spent_words
from ...ops.preference_values import user_folder
from ...ops.prompt_operators import open_text
from ...ops.states import SceneStates
from ..stage_look import StageLook, most_urgent, stage_look
from ..wrapped_text import draw_text
from .film_takes import draw_takes_of_move
from .stage_body import draw_button, draw_failure, draw_progress, draw_standing

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_BOX = 16
_BIG = 1.35


def film_told(states: SceneStates) -> StageLook:
    """What the header says: what is at work or failed, else how many takes there are, else how the prompt stands."""
    assert states.survey is not None
    film, prompt = states.survey.film, stage_look(states, "prompt")
    look = most_urgent([stage_look(states, name) for name in ("film", "prompt")])
    if look.word in ("running", "stopping", "queued", "failed"):
        return look
    if film is not None and film.takes:
        return StageLook("film", "ready", film.told)
    return StageLook("prompt", "ready") if film is not None and film.prompt else prompt


def draw_film(layout: UILayout, context: Context, states: SceneStates, is_next: bool) -> None:
    """Move and prompt, model and cost, requests, takes, and the way to a film from elsewhere."""
    assert states.survey is not None
    settings, film = context.scene.anymocap, states.survey.film
    row = layout.row(align=True)
    row.prop(settings, "move", text="Move")
    row.menu("ANYMOCAP_MT_moves", text="", icon="DOWNARROW_HLT")
    if film is not None and settings.move and film.move == settings.move:
        _draw_prompt(layout, context, states, film)
        draw_takes_of_move(layout, context, states, film)
        if film.prompt:
            _draw_order(layout, context, states, film, is_next)
            _draw_elsewhere(layout, context, states)
    elif not settings.move:
        draw_text(layout, context, "Name what the creature shall do, e.g. walk.", icon="INFO")
    add = layout.operator("anymocap.add_clip", text="Add Clip from a Video File", icon="ADD")
    clip = states.survey.summary(settings.move)
    if clip is None or clip.video is None:
        add.name = settings.move  # the film of this move


def _draw_prompt(layout: UILayout, context: Context, states: SceneStates, film: FilmSurvey) -> None:
    """The sentence, and the text that is made of it, to read and to edit."""
    column = layout.column(align=True)
    column.prop(context.scene.anymocap.stages.prompt, "action", text="", placeholder="What it does, in one sentence")
    look = stage_look(states, "prompt")
    if open_text(context) is not None:
        draw_text(layout, context, "The prompt is open in a text editor.", icon="TEXT")
        row = layout.row(align=True)
        row.operator("anymocap.keep_prompt", icon="CHECKMARK")
        row.operator("anymocap.drop_prompt_edit", text="", icon="X")
    elif film.edited:
        draw_text(layout, context, "The prompt was edited by hand.", icon="GREASEPENCIL")
        layout.operator("anymocap.make_prompt_anew", icon="FILE_REFRESH")
    else:
        draw_standing(layout, context, look)
        if look.running is None:
            draw_button(layout, look, "Write Prompt")
    if not film.prompt:
        return
    header, body = layout.panel("ANYMOCAP_prompt", default_closed=True)
    header.label(text=f"Prompt, {len(film.prompt.split())} words")
    if body is not None:
        for paragraph in film.prompt.splitlines():
            draw_text(body, context, paragraph)
        row = body.row(align=True)
        row.operator("anymocap.edit_prompt", text="Edit", icon="GREASEPENCIL")
        row.operator("anymocap.copy_prompt", text="Copy", icon="COPYDOWN")
        row.operator("anymocap.open_folder", text="", icon="FILE_FOLDER").folder = "PROMPTS"


def _draw_order(layout: UILayout, context: Context, states: SceneStates, film: FilmSurvey, is_next: bool) -> None:
    """What it is filmed with, what that costs, and the button; or how it goes on."""
    look = stage_look(states, "film")
    if look.running is not None or look.word == "running":
        draw_progress(layout, context, look)
        layout.operator("anymocap.withdraw_film", icon="CANCEL")
        return
    group = context.scene.anymocap.stages.film
    column = layout.column(align=True)
    model = film.model
    column.menu("ANYMOCAP_MT_film_models", text=model.label if model is not None else group.model or "Model")
    column.prop(group, "seconds", text="Length (s), 0 = 5")
    column.prop(group, "seeds", text="", placeholder="Seeds, one take each: 1 2 3")
    if model is not None and model.resolution is not None:
        column.menu("ANYMOCAP_MT_film_resolutions", text=group.resolution or model.resolution.default)
    if model is not None and model.note:
        draw_text(layout, context, model.note, icon="ERROR")
    if film.unknown:
        _draw_unknown(layout, context, film)
        return
    if film.fault:
        draw_text(layout, context, film.fault, icon="ERROR")
    if look.word == "failed":
        draw_failure(layout, context, look, film.move)
    for text in film.refused:
        draw_text(layout, context, f"fal has refused it, {text}. Change the prompt.", icon="ERROR")
    if film.going:
        count = "1 request goes" if len(film.going) == 1 else f"{len(film.going)} requests go"
        draw_text(
            layout, context, f"{count} on at fal: Fetch takes up what is paid, and sends nothing.", icon="SORTTIME"
        )
    if film.new:
        draw_text(layout, context, cost_words(film), icon="INFO")
    if film.spent_usd:
        draw_text(layout, context, spent_words(film) + ".")
    if film.new and key_source(user_folder()) == "none":
        draw_text(layout, context, NO_KEY + ".", icon="KEYINGSET")
    row = layout.row()
    row.scale_y = _BIG if is_next else 1.0
    row.operator(
        "anymocap.order_film", text="Fetch" if film.going and not film.new else "Film", icon="RENDER_ANIMATION"
    )


def _draw_unknown(layout: UILayout, context: Context, film: FilmSurvey) -> None:
    """Requests whose reply was lost: nothing is sent until the artist has looked."""
    box = layout.box()
    column = box.column(align=True)
    column.alert = True
    for one in film.unknown:
        text = f"Seed {one.seed}, sent {one.time[:16].replace('T', ' ')}: the reply was lost, fal may have taken it."
        draw_text(column, context, text, icon="QUESTION", inset=_BOX)
    draw_text(box, context, "Nothing more is sent until you have looked, so that nothing is paid twice.", inset=_BOX)
    box.operator("anymocap.settle_request", text="Say What Became of It", icon="QUESTION")
    if film.going:
        row = box.row(align=True)
        row.operator("anymocap.order_film", text="Fetch the Others", icon="IMPORT")
        row.operator("anymocap.withdraw_film", text="", icon="CANCEL")


def _draw_elsewhere(layout: UILayout, context: Context, states: SceneStates) -> None:
    """For a film that is made elsewhere: picture and prompt."""
    assert states.survey is not None
    header, body = layout.panel("ANYMOCAP_film_elsewhere", default_closed=True)
    header.label(text="Film It Elsewhere")
    if body is None:
        return
    text = "Give the reference picture and the prompt to any image-to-video service, then add its clip here."
    draw_text(body, context, text, icon="INFO")
    row = body.row(align=True)
    row.operator("anymocap.copy_prompt", icon="COPYDOWN")
    picture = row.operator("anymocap.open_file", text="Open Picture", icon="IMAGE_DATA")
    picture.filepath = str(states.survey.paths.ref_png)


class ANYMOCAP_MT_moves(bpy.types.Menu):
    """The moves of the creature."""

    bl_label = "Move"

    def draw(self, context: Context) -> None:
        film = film_known(context)
        if film is None or not film.moves:
            self.layout.label(text="None yet: type a name")
            return
        for name in film.moves:
            self.layout.operator("anymocap.choose_move", text=name).name = name


class ANYMOCAP_MT_film_models(bpy.types.Menu):
    """What a film can be made with, and what a clip costs."""

    bl_label = "Model"

    def draw(self, context: Context) -> None:
        film = film_known(context)
        if film is None:
            return
        seconds = film.choice.seconds if film.choice is not None else 5.0
        for model in film.models:
            price = model.price(seconds, model.resolution.default if model.resolution is not None else "")
            told = "price unknown" if price is None else f"${price:.2f} for {seconds:g} s"
            self.layout.operator("anymocap.choose_film_model", text=f"{model.label}, {told}").name = model.name
        if film.model is not None:
            self.layout.separator()
            self.layout.operator("wm.url_open", text="Price and Terms", icon="URL").url = film.model.terms


class ANYMOCAP_MT_film_resolutions(bpy.types.Menu):
    """The sizes that the model knows."""

    bl_label = "Resolution"

    def draw(self, context: Context) -> None:
        film = film_known(context)
        model = film.model if film is not None else None
        for word in model.resolution.words if model is not None and model.resolution is not None else ():
            self.layout.operator("anymocap.choose_film_resolution", text=word).word = word


CLASSES: tuple[type, ...] = (ANYMOCAP_MT_moves, ANYMOCAP_MT_film_models, ANYMOCAP_MT_film_resolutions)
