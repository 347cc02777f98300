"""Durations as people say and read them."""

from __future__ import annotations


def clock(seconds: float) -> str:
    """Seconds as m:ss, or h:mm:ss."""
    whole = round(seconds)
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minutes}:{second:02d}"


def about(seconds: float) -> str:
    """A duration as one says it: "a few seconds", "about 40 s", "about 6 min", "about 2 h"."""
    if seconds < 8:
        return "a few seconds"
    if seconds < 100:
        return f"about {max(10, round(seconds / 10) * 10)} s"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min"
    return f"about {seconds / 3600:.1f} h"
