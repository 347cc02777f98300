"""Run inside Blender: enables, uses and disables the extension twice, and prints what each time was left behind."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

EXTENSION = "bl_ext.user_default.anymocap"
HEAVY = ("torch", "cv2", "transformers", "fal_client", "httpx")


class Tracked:
    """Stands in for a function that registers something with Blender, and remembers what it was given or gave."""

    def __init__(self, owner: Any, name: str, remember: Callable[[tuple[Any, ...], Any], Any]) -> None:
        self.seen: list[Any] = []
        real = getattr(owner, name)

        def stand_in(*arguments: Any, **keywords: Any) -> Any:
            answer = real(*arguments, **keywords)
            self.seen.append(remember(arguments, answer))
            return answer

        setattr(owner, name, stand_in)


TIMERS = Tracked(bpy.app.timers, "register", lambda arguments, _: arguments[0])
DRAWN = Tracked(bpy.types.SpaceView3D, "draw_handler_add", lambda _, handle: handle)
TAKEN = Tracked(bpy.types.SpaceView3D, "draw_handler_remove", lambda arguments, _: arguments[0])


def children() -> list[int]:
    """Processes that this one has started and that still run."""
    listed = Path("/proc/self/task").glob("*/children")
    return sorted(int(pid) for file in listed for pid in file.read_text().split())


def handlers() -> dict[str, list[str]]:
    lists = {name: getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)}
    return {name: [repr(each) for each in found] for name, found in lists.items() if isinstance(found, list)}


def blender_types() -> list[type]:
    found = [getattr(bpy.types, name) for name in dir(bpy.types)]
    return [kind for kind in found if isinstance(kind, type)]


def properties() -> dict[str, list[str]]:
    """Properties of the types that add-ons hang theirs on."""
    known = [kind for kind in blender_types() if issubclass(kind, bpy.types.ID)]
    known += [bpy.types.PoseBone, bpy.types.Bone, bpy.types.AddonPreferences]
    return {kind.__name__: sorted(kind.bl_rna.properties.keys()) for kind in known}


def drawn_into() -> dict[str, int]:
    """How many functions draw into each menu, header and panel."""
    found = {kind.__name__: getattr(getattr(kind, "draw", None), "_draw_funcs", ()) for kind in blender_types()}
    return {name: len(functions) for name, functions in found.items() if functions}


def shortcuts() -> int:
    keys = bpy.context.window_manager.keyconfigs.addon
    return sum(len(keymap.keymap_items) for keymap in keys.keymaps) if keys else 0


def snapshot() -> dict[str, Any]:
    return {
        "types": sorted(dir(bpy.types)),
        "operators": sorted(dir(bpy.ops.anymocap)),
        "handlers": handlers(),
        "properties": properties(),
        "drawn_into": drawn_into(),
        "shortcuts": shortcuts(),
        "timers": [repr(timer) for timer in TIMERS.seen if bpy.app.timers.is_registered(timer)],
        "draw_handlers": [repr(handle) for handle in DRAWN.seen if not any(handle is gone for gone in TAKEN.seen)],
        "children": children(),
        "heavy": [name for name in HEAVY if name in sys.modules],
    }


def use(project: Path) -> None:
    """Name a creature, ask every operator whether it can run, and run a stage in Blender and one in the worker."""
    bpy.context.scene.anymocap.project = str(project)
    bpy.context.scene.anymocap.creature = "lynx"
    for name in dir(bpy.ops.anymocap):
        getattr(bpy.ops.anymocap, name).poll()
    assert bpy.ops.anymocap.example() == {"FINISHED"}
    assert bpy.ops.anymocap.prompt(move="walk", action="It walks.") == {"FINISHED"}


def differences(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {key: {"before": before[key], "after": after[key]} for key in before if before[key] != after[key]}


def main(project: Path) -> None:
    found: dict[str, Any] = {"rounds": []}
    for number in range(2):
        before = snapshot()
        assert bpy.ops.preferences.addon_enable(module=EXTENSION) == {"FINISHED"}
        use(project / str(number))
        used = differences(before, snapshot())
        assert bpy.ops.preferences.addon_disable(module=EXTENSION) == {"FINISHED"}
        found["rounds"].append({"used": sorted(used), "left": differences(before, snapshot())})
    print(json.dumps(found))


main(Path(sys.argv[sys.argv.index("--") + 1]))
