"""The time that a running step has left: the pace since its first report, once that says something."""

from __future__ import annotations

import pytest

from anymocap_addon.jobs import serving
from anymocap_addon.jobs.serving import _Reporter


def time_left(monkeypatch: pytest.MonkeyPatch, reports: list[tuple[float, float]], total: float) -> float | None:
    """What the last of the reports (seconds, done) promises."""
    events: list[dict] = []
    reporter = _Reporter(type("Events", (), {"write": staticmethod(events.append)})())
    for now, done in reports:
        monkeypatch.setattr(serving.time, "monotonic", lambda now=now: 1000.0 + now)
        reporter({"event": "progress", "done": done, "total": total})
    return events[-1]["eta_s"]


@pytest.mark.parametrize(
    ("reports", "left"),
    [
        ([(0.0, 0)], None),
        ([(0.0, 0), (2.0, 400)], None),  # the first seconds
        ([(0.0, 0), (8.0, 1)], None),  # one slow first step of thousands
        ([(0.0, 0), (8.0, 20)], 1192.0),
        ([(0.0, 1000), (10.0, 1100)], 190.0),  # what was there before a resume is not pace
    ],
)
def test_time_left(monkeypatch, reports, left):
    assert time_left(monkeypatch, reports, 3000.0) == left
