"""All checks of the source gate on one clip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..creature import PaintGroup
from ..layout import Layout
from ..video.align import Alignment, Picture, align
from .camera import check_camera
from .clip import FIRST_FRAMES, GateClip, gate_clip
from .colours import check_colours, read_palette
from .cut import check_cut
from .finding import Finding
from .inside import check_inside
from .limits import LIMITS, GateLimits
from .motion import check_motion
from .same import check_same
from .split import check_split
from .step import check_step

NO_STUDIO = "the picture does not show the two views of the reference frame: no floor, no line between two views"


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the gate says of a clip.

    Attributes:
        findings: one a check, in the order of the checks.
        alignment: of the clip to the reference frame.
        clip: the clip as the checks saw it; None when it shows no two views at all.
    """

    findings: tuple[Finding, ...]
    alignment: Alignment
    clip: GateClip | None = None

    @property
    def refused(self) -> bool:
        """Whether any check refuses the clip."""
        return any(finding.refused for finding in self.findings)

    @property
    def reasons(self) -> list[str]:
        """All reasons, the checks' order."""
        return [reason for finding in self.findings for reason in finding.reasons]

    def record(self) -> dict[str, Any]:
        """As plain values, for gate.json."""
        return {
            "refused": self.refused,
            "reasons": self.reasons,
            "checks": [finding.record() for finding in self.findings],
            "alignment": self.alignment.method,
        }


def judge(
    pictures: Sequence[Picture],
    ref: Picture,
    layout: Layout,
    paint: tuple[PaintGroup, ...],
    fps: float,
    limits: GateLimits = LIMITS,
    progress: Callable[[float], None] = lambda share: None,
) -> Verdict:
    """Judge a clip.

    Args:
        pictures: (H, W, 3) uint8 RGB, at least three, as decoded.
        ref: ref.png, (720, 1280, 3). paint: the limbs' colours.
        progress: told the share done.
    """
    alignment = align(ref, pictures[:FIRST_FRAMES], layout)
    if alignment.method == "size":
        lost = Finding("split", {"divider_px": 0.0, "divider_strength": 0.0}, (NO_STUDIO,))
        return Verdict((lost,), alignment)
    clip = gate_clip(pictures, ref, layout, alignment, fps)
    progress(0.5)
    palette = read_palette(clip, paint)
    progress(0.6)
    findings = (
        check_split(clip, limits), check_camera(clip, limits), check_step(clip, palette, limits),
        check_colours(clip, palette, limits), check_inside(clip, limits), check_same(clip, limits),
        check_motion(clip, limits), check_cut(clip, limits),
    )  # fmt: skip
    progress(0.9)
    return Verdict(findings, alignment, clip)
