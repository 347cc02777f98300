"""A moment in which a stop has to wait: between a paid request and the line that remembers it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name))


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back interrupts; one that came meanwhile is raised at the end as KeyboardInterrupt.

    A process that is killed is not held back: its intent's fate is then unknown. Outside the main thread, where no
    signal arrives, nothing is held back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        came.append(number)

    former = {number: signal.signal(number, remember) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
    if came:
        raise KeyboardInterrupt
