"""Fixtures and hooks of the tests that have bpy as a module."""

from __future__ import annotations

import os
import sys

import bpy  # noqa: F401  # before anything that must not meet it
import pytest

_status = 0


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Keep the exit code for pytest_unconfigure."""
    global _status
    _status = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """See bpy_end: all is reported by now."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(_status)
