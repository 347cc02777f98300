"""What the tiny stages do."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from typing import Any

from anymocap_addon.core.atomic import write_bytes, write_text
from anymocap_addon.core.errors import AnyMoCapError, BadInputError
from anymocap_addon.core.film.key import fal_key
from anymocap_addon.core.stage_context import StageContext


def copy(ctx: StageContext) -> dict[str, Any]:
    text = (ctx.paths.assets / "source.txt").read_text(encoding="utf-8")
    text = (text.upper() if ctx.settings["shout"] else text) * ctx.settings["times"]
    write_text(ctx.paths.runs / "copy.txt", text)
    return {"letters": len(text), "pid": os.getpid()}


def count_part(ctx: StageContext) -> dict[str, Any]:
    """One file a letter; a part that is there already is not made again."""
    k, n = ctx.shard
    text = (ctx.paths.runs / "copy.txt").read_text(encoding="utf-8")
    mine = range(k, len(text), n)
    made = 0
    for done, index in enumerate(mine):
        ctx.progress(done, len(mine), f"letter {index}")
        part = ctx.paths.runs / "parts" / f"{index}.txt"
        if not part.exists():
            time.sleep(ctx.settings["pause_s"])
            write_text(part, text[index])
            made += 1
    ctx.progress(len(mine), len(mine))
    return {"made": made, "threads": os.environ.get("OMP_NUM_THREADS")}


def sum_parts(ctx: StageContext) -> dict[str, Any]:
    parts = sorted((ctx.paths.runs / "parts").glob("*.txt"))
    ctx.metric("parts", len(parts))
    write_text(ctx.paths.runs / "count.txt", str(len(parts)))
    return {"total": len(parts)}


def speak(ctx: StageContext) -> dict[str, Any]:
    """Print in every way that a library can."""
    print('{"event": "done", "result": {"forged": true}}')
    ctypes.CDLL(None).puts(b"a C library speaks")
    os.write(1, b"raw bytes\xff\n")
    os.write(2, b"to standard error\n")
    ctx.log("through the context")
    heavy = [name for name in ("bpy", "torch", "cv2") if name in sys.modules]
    return {"pid": os.getpid(), "heavy": heavy, "python": sys.executable}


def slow(ctx: StageContext) -> dict[str, Any]:
    end = time.monotonic() + ctx.settings["seconds"]
    while time.monotonic() < end:
        ctx.progress(0, 1)
        time.sleep(0.02)
    return {"pid": os.getpid()}


def misbehave(ctx: StageContext) -> dict[str, Any]:
    return _WAYS[ctx.settings["how"]](ctx) or {}


def _fail(ctx: StageContext) -> None:
    raise AnyMoCapError("It does not work.", file=ctx.paths.runs / "thing", hint="Do another thing.")


def _bad_input(ctx: StageContext) -> None:
    raise BadInputError("The thing is bent.", file="thing.json", key="angle", hint="Straighten it.")


def _bug(ctx: StageContext) -> None:
    raise ZeroDivisionError("of all things")


def _lack_a_package(ctx: StageContext) -> None:
    raise ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn")


def _abort(ctx: StageContext) -> None:
    print("about to abort")
    sys.stdout.flush()
    os.abort()


def _exit_quietly(ctx: StageContext) -> None:
    os._exit(0)


def _polite(ctx: StageContext) -> None:
    """Runs for ever and looks at the cancel flag."""
    for done in range(10**9):
        ctx.progress(done % 100, 100)
        time.sleep(0.02)


def _busy(ctx: StageContext) -> None:
    """Runs for ever and never looks."""
    ctx.progress(0, 1, "busy")
    while True:
        time.sleep(0.05)


def _stubborn(ctx: StageContext) -> None:
    """Ignores every request to stop, like a C loop that holds the interpreter."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ctx.progress(0, 1, "stubborn")
    while True:
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            continue


def _with_child(ctx: StageContext) -> None:
    """Starts a program of its own that never ends."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    ctx.metric("child", child.pid)
    _stubborn(ctx)


def _write(ctx: StageContext) -> None:
    write_bytes(ctx.paths.runs / "result.bin", b"x" * (ctx.settings["megabytes"] << 20))


def _write_plainly(ctx: StageContext) -> None:
    """As a library does that knows nothing of our atomic files."""
    with (ctx.paths.runs / "scratch.bin").open("wb") as handle:
        handle.write(b"x" * (ctx.settings["megabytes"] << 20))


def _nothing(ctx: StageContext) -> None:
    return


def _not_a_number(ctx: StageContext) -> dict[str, Any]:
    return {"loss": float("nan")}


_WAYS = {
    "fail": _fail,
    "bad_input": _bad_input,
    "bug": _bug,
    "lack_a_package": _lack_a_package,
    "abort": _abort,
    "exit_quietly": _exit_quietly,
    "polite": _polite,
    "busy": _busy,
    "stubborn": _stubborn,
    "with_child": _with_child,
    "write": _write,
    "write_plainly": _write_plainly,
    "nothing": _nothing,
    "not_a_number": _not_a_number,
}


def per_clip(ctx: StageContext) -> dict[str, Any]:
    write_text(ctx.paths.clip(ctx.settings["clip"]).det, "read")
    return {"video": ctx.settings["video"]}


def look_at_key(ctx: StageContext) -> dict[str, Any]:
    """How long the fal key is, and whether it came any other way than by its file."""
    key = fal_key() or ""
    places = {"argument": sys.argv, "variable": list(os.environ.values()), "settings": [str(ctx.settings)]}
    return {
        "pid": os.getpid(),
        "letters": len(key),
        "elsewhere": [name for name, texts in places.items() if any(key in text for text in texts)],
    }
