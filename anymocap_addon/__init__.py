"""AnyMoCap: motion for any rigged creature from one two-view clip.

Importing the package needs no bpy: the worker and the command line import it in a plain Python.
"""

from __future__ import annotations


def register() -> None:
    """Called by Blender when the extension is enabled."""
    from .registration import register_all

    register_all()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    from .registration import unregister_all

    unregister_all()
