"""What the source gate allows: one table. docs/gate.md says where each number comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GateLimits:
    """A figure beyond its limit refuses the clip. Lengths are layout px, levels are of 255 after the wall is matched.

    Attributes:
        divider_px: how far the divider may move from where it was, or lie from where the layout has it.
        divider_strength: least contrast of the divider, as a share of its contrast in the first frames.
        wall_levels: how much the wall's colour may change, or differ between the views.
        border_share: share of the picture's border that may differ from wall and floor.
        floor_px: how far the floor's edge may move in either view.
        height_gap_px: how far the heights of both silhouettes may differ, as a mean over the frames.
        height_misfit: the same without a constant and without a lag that the fit repairs, as a share of how far the
            heights vary in time.
        height_misfit_px: and in px, at least.
        lag_frames: a view may be late by less than this.
        lag_gain: how much better the heights must fit with the lag than with one that the fit repairs, as a share, for
            it to be believed.
        lag_gain_px: and in px, at least.
        colour_left: least share of a limb's usual coloured area.
        colour_chroma: least share of a limb colour's usual strength.
        swap_score: 1 where two limbs' colours lie where the other's were, -1 where they were.
        swap_score_hidden: the same of a limb that the reference hides, whose place the first frames have to tell.
        cut_off_px: length of the creature's outline that may touch the picture's edge or the divider.
        colour_distance: how far the colours may be from the reference frame's, 0 (same) to 1.
        area_factor: how much larger or smaller the silhouette may be than in the reference frame.
        still_levels: a frame differs from the one before by less than this: it stands still.
        still_share: longest standstill as a share of the clip.
        jump_factor: how much more a frame may differ from the one before than its neighbours do.
        jump_alone: the same against the whole rest of the clip: a cut happens once, a stride comes again.
        jump_levels: and by how much at least, to be a cut.
    """

    divider_px: float = 5.0
    divider_strength: float = 0.4
    wall_levels: float = 10.0
    border_share: float = 0.15
    floor_px: float = 5.0
    height_gap_px: float = 7.5
    height_misfit: float = 0.45
    height_misfit_px: float = 2.0
    lag_frames: float = 2.0
    lag_gain: float = 0.2
    lag_gain_px: float = 1.0
    colour_left: float = 0.12
    colour_chroma: float = 0.6
    swap_score: float = 0.5
    swap_score_hidden: float = 0.8
    cut_off_px: float = 10.0
    colour_distance: float = 0.45
    area_factor: float = 1.9
    still_levels: float = 0.25
    still_share: float = 0.25
    jump_factor: float = 1.75
    jump_alone: float = 1.3
    jump_levels: float = 4.0


LIMITS = GateLimits()
