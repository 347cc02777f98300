"""How a Python ends that has bpy as a module.

4.2 crashes at its exit once any property had an update callback; 4.5 was seen to wait at it for ever, for a thread of
its own that nothing wakes. Both are faults of the module alone, no real Blender has them. All is done by then, so
the process leaves without Python's exit.
"""

from __future__ import annotations

# Last line of the code of a child process: what was raised before has the exit code that it should have.
END_WELL = "import os, sys; sys.stdout.flush(); sys.stderr.flush(); os._exit(0)"
