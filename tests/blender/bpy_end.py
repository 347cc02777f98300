"""How a Python ends that has bpy 4.2 as a module: it crashes at its exit once any property had an update callback.

That is a fault of this module alone, no real Blender has it. All is done by then, so the process leaves
without Python's exit.
"""

from __future__ import annotations

# Last line of the code of a child process: what was raised before has the exit code that it should have.
END_WELL = "import os, sys; sys.stdout.flush(); sys.stderr.flush(); os._exit(0)"
