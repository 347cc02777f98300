"""The sections of the panel in the order of work: each with its state in the header, open where it is next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...jobs.next_step import NextStep
from ...ops.states import SceneStates
from ..stage_look import StageLook, most_urgent, stage_look
from .apply_section import draw_apply
from .capture_section import draw_capture
from .creature_sections import draw_dataset, draw_prep, draw_reader, draw_reference, draw_rig
from .film_section import draw_film, film_told
from .takes_section import draw_takes, takes_told

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

Draw = Callable[["UILayout", "Context", SceneStates, bool], None]


@dataclass(frozen=True)
class Section:
    """One section.

    Attributes:
        stages: whose state the header shows.
        actions: next steps without a stage of their own that are done here.
        open_for: next steps that are done elsewhere but decided by what stands here.
        draw: (layout, context, states, is_next).
        told: what the header shows, where that is more than the state of `stages`.
    """

    title: str
    draw: Draw
    stages: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    open_for: tuple[str, ...] = ()
    told: Callable[[SceneStates], StageLook] | None = None


SECTIONS = (
    Section("1  Prep", draw_prep, ("prep",), ("add_mesh", "check_creature", "say_facing")),
    Section("2  Rig", draw_rig, ("rig",), ("place_joints",)),
    Section("3  Reference", draw_reference, ("ref",)),
    Section("4  Dataset", draw_dataset, ("dataset",)),
    Section("5  Reader", draw_reader, ("train",), ("test_reader", "train_again"), ("add_clip",)),
    Section("6  Film", draw_film, ("prompt", "film"), ("add_clip", "use_take"), told=film_told),
    Section("7  Capture", draw_capture, ("detect", "fit")),
    Section("8  Apply and Scrub", draw_apply, ("apply",), ("bring_in", "done")),
    Section("9  Takes", draw_takes),
)


def draw_sections(layout: UILayout, context: Context, states: SceneStates) -> None:
    """All sections, those that the next step has nothing to do with closed until the artist opens them."""
    assert states.next_step is not None
    for section in SECTIONS:
        is_next = _is_next(section, states.next_step)
        is_open = is_next or states.next_step.action in section.open_for
        # A section that becomes the next one is another panel to Blender, so that it opens by itself once.
        name = f"ANYMOCAP_{section.title.split()[0]}{'_next' if is_open else ''}"
        header, body = layout.panel(name, default_closed=not is_open)
        _draw_header(header, section, states)
        if body is not None:
            section.draw(body, context, states, is_next)


def _is_next(section: Section, step: NextStep) -> bool:
    return (step.stage in section.stages) if step.stage else (step.action in section.actions)


def _draw_header(header: UILayout, section: Section, states: SceneStates) -> None:
    header.label(text=section.title)
    side = header.row()
    side.alignment = "RIGHT"
    if section.stages:
        look = section_look(section, states)
        side.alert = look.word == "failed"
        side.label(
            text=look.figure if section.told is not None and look.word == "ready" and look.figure else look.short
        )
        side.label(icon=look.icon)  # last, so that the icons of all sections stand below each other
    else:
        side.label(text=takes_told(states))


def section_look(section: Section, states: SceneStates) -> StageLook:
    """What the header speaks of: the stage that asks most for attention."""
    if section.told is not None:
        return section.told(states)
    return most_urgent([stage_look(states, name) for name in section.stages])
