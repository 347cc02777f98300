"""Which frames of a capture need a look: by the clip's own distribution, so that the same rule serves a blurred and a
sharp clip.

Two scores a frame:

    error_px    mean of the worst quarter of the reprojection distances, both views and all joints in one heap. One leg
                that is read on its neighbour is a tenth of the joints: a mean over all would hide it.
    confidence  mean of the reader's confidence over both views and all joints.

A frame is bad when its error is above, or its confidence below, both of two bounds: `SPREADS` robust standard
deviations (1.4826 times the median absolute deviation) from the clip's median, and `WORSE` (`DOUBTFUL`) times that
median. The first bound asks for a frame unlike the others, the second keeps a clip whose frames are all alike free of
marks. Bad frames that are at most `JOIN` good ones apart are one run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .detections import Detections
from .errors import BadInputError
from .frame_runs import frame_runs
from .motion import Motion

Array = NDArray[np.float64]

WORST_SHARE = 0.25
SPREADS = 4.0
WORSE = 1.5
DOUBTFUL = 0.85
JOIN = 2
_SIGMA_OF_MAD = 1.4826


@dataclass(frozen=True)
class FrameScores:
    """Scores of T frames and the bounds beyond which a frame is bad.

    Attributes:
        error_px: (T,) or None where there is no motion yet; most_px: its upper bound, infinite without a motion.
        confidence: (T,) in 0..1; least_confidence: its lower bound.
    """

    error_px: Array | None
    most_px: float
    confidence: Array
    least_confidence: float

    @property
    def bad(self) -> NDArray[np.bool_]:
        """(T,) whether a frame is over its error bound or under its confidence bound."""
        doubtful = self.confidence < self.least_confidence
        return doubtful if self.error_px is None else doubtful | (self.error_px > self.most_px)


def frame_scores(det: Detections, motion: Motion | None) -> FrameScores:
    """The scores of a reading and, where there is one, of the motion that was fitted to it.

    Raises:
        BadInputError: the motion has another number of frames than the reading.
    """
    confidence = np.concatenate([det.front_conf, det.side_conf], axis=1).mean(1)
    middle, spread = _middle_and_spread(confidence)
    least = min(middle - SPREADS * spread, DOUBTFUL * middle)
    if motion is None:
        return FrameScores(None, float("inf"), confidence, least)
    if motion.T != det.T:
        raise BadInputError(
            f"The motion has {motion.T} frames and the reading {det.T}.",
            file="motion.json",
            hint="The clip was read again since: run fit again.",
        )
    distances = np.sort(np.concatenate([motion.reproj_front, motion.reproj_side], axis=1), axis=1)
    worst = max(1, round(WORST_SHARE * distances.shape[1]))
    error = distances[:, -worst:].mean(1)
    middle, spread = _middle_and_spread(error)
    return FrameScores(error, max(middle + SPREADS * spread, WORSE * middle), confidence, least)


def bad_frames(det: Detections, motion: Motion | None) -> list[range]:
    """Runs of frames that need a look, in order of time; see the module.

    Raises:
        BadInputError: as frame_scores.
    """
    return joined_runs(frame_scores(det, motion).bad)


def joined_runs(bad: NDArray[np.bool_], gap: int = JOIN) -> list[range]:
    """Runs of True in (T,), those at most `gap` frames apart as one."""
    runs: list[range] = []
    for start, end in frame_runs(bad):
        if runs and start - runs[-1].stop <= gap:
            runs[-1] = range(runs[-1].start, end)
        else:
            runs.append(range(start, end))
    return runs


def _middle_and_spread(scores: Array) -> tuple[float, float]:
    """Median and robust standard deviation of (T,) scores."""
    middle = float(np.median(scores))
    return middle, _SIGMA_OF_MAD * float(np.median(np.abs(scores - middle)))
