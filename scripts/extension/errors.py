"""What a packaging script tells in one sentence instead of a traceback."""

from __future__ import annotations


class PackagingError(Exception):
    """A failure with its cause and remedy in words."""
