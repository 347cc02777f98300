"""Drives a Blender window like a user: Blender runs this file as `--python scenario.py -- NAME OPTIONS`.

NAME is a module of the folder scenarios. Its `play(user)` is a generator: each value it yields is the number of
seconds to wait while Blender draws and handles events. OPTIONS is JSON: `pictures`, the folder of screenshots and of
result.json, `time_limit_s`, and whatever else the scenario reads. An exception that leaves `play` ends Blender with
exit code 1, too long a scenario with 4, and one after which Blender's process holds what belongs to the worker with 5.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy

EXTENSION = "bl_ext.user_default.anymocap"
CATEGORY = "AnyMoCap"
HEAVY = ("torch", "cv2", "transformers", "fal_client", "httpx")
Steps = Generator[float, None, Any]

_PATIENCE = 3.0
_MOVE_S = 0.02
_EVENT_S = 0.06
_ROW_PX = 9
_COLUMNS = (0.4, 0.83, 0.96)  # where buttons stand in the panel, as parts of its width


class User:
    """Somebody at the window: moves the mouse, clicks, types, looks.

    Attributes:
        options: what the test asked for.
        result: what the scenario measured; the test reads it from result.json.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.result: dict[str, Any] = {}
        self.pictures = Path(options["pictures"])
        self.pictures.mkdir(parents=True, exist_ok=True)
        self._shots = 0
        self._places: dict[str, tuple[int, int]] = {}

    # What there is to see.

    def window(self) -> bpy.types.Window:
        return bpy.context.window_manager.windows[0]

    def area(self, kind: str = "VIEW_3D") -> bpy.types.Area:
        return next(area for area in self.window().screen.areas if area.type == kind)

    def region(self, kind: str = "WINDOW", area: str = "VIEW_3D") -> bpy.types.Region:
        return next(region for region in self.area(area).regions if region.type == kind)

    def over(self, region: str = "WINDOW", area: str = "VIEW_3D") -> Any:
        """Context override for operators that need the mouse to be somewhere."""
        window = self.window()
        return bpy.context.temp_override(
            window=window, screen=window.screen, area=self.area(area), region=self.region(region, area)
        )

    def module(self, name: str) -> Any:
        """A module of the extension, by its name inside the package."""
        return importlib.import_module(f"{EXTENSION}.{name}")

    def shot(self, name: str) -> None:
        """Keep a picture of the screen as NN_name.png."""
        self._shots += 1
        target = self.pictures / f"{self._shots:02d}_{name}.png"
        subprocess.run(["import", "-window", "root", str(target)], check=True)

    # What a user does.

    def until(self, condition: Callable[[], Any], limit_s: float, what: str) -> Steps:
        """Wait until something is true; AssertionError says what did not come.

        Args:
            limit_s: what it may take on an idle machine of two cores; a busy one gets more.
        """
        began = time.monotonic()
        while not condition():
            assert time.monotonic() - began < _PATIENCE * limit_s, f"not within {limit_s} s: {what}"
            yield 0.1
        return time.monotonic() - began

    def move(self, x: int, y: int) -> Steps:
        self._event("MOUSEMOVE", "NOTHING", x, y)
        yield _MOVE_S

    def click_at(self, x: int, y: int, **modifiers: bool) -> Steps:
        self._event("MOUSEMOVE", "NOTHING", x, y)
        yield _EVENT_S
        self._event("LEFTMOUSE", "PRESS", x, y, **modifiers)
        yield _EVENT_S
        self._event("LEFTMOUSE", "RELEASE", x, y, **modifiers)
        yield _EVENT_S

    def drag(self, start: tuple[int, int], end: tuple[int, int], steps: int = 8) -> Steps:
        """Press at one place, move, release at another."""
        yield from self.move(*start)
        self._event("LEFTMOUSE", "PRESS", *start)
        yield _EVENT_S
        for k in range(1, steps + 1):
            x, y = (round(a + (b - a) * k / steps) for a, b in zip(start, end))
            self._event("MOUSEMOVE", "NOTHING", x, y)
            yield _EVENT_S
        self._event("LEFTMOUSE", "RELEASE", *end)
        yield _EVENT_S

    def press(self, key: str, area: str = "VIEW_3D", **modifiers: bool) -> Steps:
        """A key with the mouse in the middle of an area."""
        x, y = self.middle(area)
        yield from self.move(x, y)
        self._event(key, "PRESS", x, y, **modifiers)
        yield _EVENT_S
        self._event(key, "RELEASE", x, y, **modifiers)
        yield 0.3

    def middle(self, area: str = "VIEW_3D") -> tuple[int, int]:
        region = self.region("WINDOW", area)
        return region.x + region.width // 2, region.y + region.height // 2

    def open_panel(self, category: str = CATEGORY) -> Steps:
        """Show our tab of the sidebar."""
        self.area().spaces[0].show_region_ui = True
        yield 0.4
        self.region("UI").active_panel_category = category
        self.region("UI").tag_redraw()
        yield 0.5

    def find(self, operator: str) -> Steps:
        """Window coordinates of the button of an operator ("anymocap.prep"), or None when none is to be seen."""
        if operator in self._places:
            yield from self.move(*self._places[operator])
            if self._is_over(operator):
                return self._places[operator]
        region = self.region("UI")
        for part in _COLUMNS:
            x = region.x + int(region.width * part)
            for y in range(region.y + region.height - 30, region.y + 10, -_ROW_PX):
                yield from self.move(x, y)
                if self._is_over(operator):
                    self._places[operator] = x, y
                    return x, y
        return None

    def click(self, operator: str) -> Steps:
        """Click the button of an operator in the sidebar."""
        place = yield from self.find(operator)
        assert place, f"no button {operator} in the panel"
        yield from self.click_at(*place)

    def scroll_panel(self, clicks: int) -> Steps:
        """Turn the wheel over the sidebar; down shows what stands below."""
        region = self.region("UI")
        x, y = region.x + region.width // 3, region.y + region.height // 2
        yield from self.move(x, y)
        for _ in range(abs(clicks)):
            self._event("WHEELDOWNMOUSE" if clicks > 0 else "WHEELUPMOUSE", "PRESS", x, y)
            yield _EVENT_S
        yield 0.5

    def show_section(self, *numbers: int) -> Steps:
        """Open sections of the panel (1 Prep … 9 Takes) as if each were the next step, which opens by itself.

        Blender tells nobody where a fold is, so that there is no way to click it.
        """
        sections = self.module("ui.panels.sections")
        if not hasattr(self, "_is_next"):
            self._is_next = sections._is_next
        wanted = {f"{number}" for number in numbers}
        sections._is_next = lambda section, step: (
            section.title.split()[0] in wanted if wanted else self._is_next(section, step)
        )
        self.region("UI").tag_redraw()
        yield 0.5

    def redraw_ms(self, count: int = 3) -> float:
        """What one redraw of the whole window takes."""
        began = time.perf_counter()
        with self.over():
            bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=count)
        return (time.perf_counter() - began) * 1000 / count

    def heartbeat(self, seconds: float) -> Steps:
        """Gaps in ms between the calls of a timer that asks for one each 10 ms."""
        beats: list[float] = []

        def beat() -> float:
            beats.append(time.perf_counter())
            return 0.01

        bpy.app.timers.register(beat, persistent=True)
        yield seconds
        bpy.app.timers.unregister(beat)
        return [(b - a) * 1000 for a, b in itertools.pairwise(beats)]

    @property
    def settings(self) -> Any:
        """What the scene at the window holds."""
        return self.window().scene.anymocap

    def states(self) -> Any:
        """What the panel knows: ops.states.SceneStates, or None."""
        return self.module("ops.states").STATES.of(SimpleNamespace(scene=self.window().scene))

    def word(self, stage: str) -> str:
        """What the panel says of a stage: missing, ready, stale, running, stopped, failed …"""
        states = self.states()
        if states is None or states.survey is None:
            return ""
        return self.module("ui.stage_look").stage_look(states, stage).word

    def running(self, stage: str) -> Any:
        """The latest run of a stage of this creature and clip in this Blender."""
        paths = self.module("ops.scene_settings").scene_paths(self.window().scene)
        item = None if self.module("jobs.registry").REGISTRY[stage].per == "creature" else self.settings.clip
        return self.module("ops.running").HOST.of(paths, stage, item)

    def fraction(self, stage: str) -> float:
        """How much of a stage is done."""
        running = self.running(stage)
        return running.fraction if running is not None else 0.0

    def worker_pids(self, stage: str) -> list[int]:
        """Processes that a stage at work has."""
        run = self.running(stage).run
        return [process["pid"] for process in run.job.read()["processes"]] if run is not None and run.job else []

    def start_training(self) -> Steps:
        """Press the button that trains, and wait until steps are done."""
        yield from self.show_section(5)
        yield from self.until(lambda: self.word("train"), 20, "the panel knows the project")
        yield from self.click("anymocap.train")
        yield from self.until(
            lambda: self.running("train") and self.running("train").fraction > 0, 90, "training steps"
        )
        return self.worker_pids("train")[-1]

    def _is_over(self, operator: str) -> bool:
        window = self.window()
        over = bpy.context.temp_override(
            window=window, screen=window.screen, area=self.area(), region=self.region("UI")
        )
        with over:
            if not bpy.ops.ui.copy_python_command_button.poll():
                return False
            bpy.ops.ui.copy_python_command_button()
            return bpy.context.window_manager.clipboard.startswith(f"bpy.ops.{operator}(")

    def _event(self, kind: str, value: str, x: int, y: int, **modifiers: bool) -> None:
        self.window().event_simulate(type=kind, value=value, x=x, y=y, **modifiers)

    def save_result(self, **more: Any) -> None:
        """Write result.json, for a test that goes on after Blender has ended."""
        self.result.update(more)
        (self.pictures / "result.json").write_text(json.dumps(self.result), encoding="utf-8")


def play(name: str, options: dict[str, Any]) -> None:
    """Let a timer play a scenario to its end, and Blender with it."""
    user = User(options)
    steps = importlib.import_module(f"scenarios.{name}").play(user)
    deadline = time.monotonic() + options["time_limit_s"]

    def end(code: int) -> None:
        user.save_result()
        if code:
            user.shot("when_it_failed")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # what a timer raises does not reach Blender's exit code

    def tick() -> float:
        try:
            if time.monotonic() > deadline:
                print(f"scenario {name}: over its limit of {options['time_limit_s']} s", file=sys.stderr)
                end(4)
            return float(next(steps))
        except StopIteration:
            loaded = [name for name in HEAVY if name in sys.modules]
            print(f"scenario {name}: Blender has loaded {loaded}" if loaded else "", file=sys.stderr)
            end(5 if loaded else 0)
        except BaseException:
            traceback.print_exc()
            end(1)
        raise AssertionError("os._exit returned")

    bpy.app.timers.register(tick, first_interval=1.0, persistent=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    _name, _options = sys.argv[sys.argv.index("--") + 1 :]
    play(_name, json.loads(_options))
