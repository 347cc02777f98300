"""Whether a Python can be the worker: it is started, asked what it has, and judged in an artist's words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import AnyMoCapError, BadInputError
from .launch import PACKAGE_FOLDER, WORKER_SCRIPT, python_command
from .worker_packages import missing_packages_error
from .worker_probe import LEAST_PYTHON, MARK
from .worker_requirements import pinned_versions

PROBE_SCRIPT = Path(__file__).resolve().parent / "worker_probe.py"
TIMEOUT_S = 180.0  # torch's first import from a cold disk takes most of a minute
_LEAST = {"numpy": (1, 24), "torch": (2, 0)}
_PACKAGE_OF = {"cv2": "opencv-python-headless", "imageio_ffmpeg": "imageio-ffmpeg"}
_LABELS = {"python": "Python", "torch": "torch", "cv2": "OpenCV", "numpy": "NumPy"}
_SETUP = 'Choose another Python, or press "Set up GPU worker".'
Answer = dict[str, Any]


@dataclass(frozen=True)
class WorkerReport:
    """What was found.

    Attributes:
        program: the interpreter's file.
        versions: of python, numpy, torch, cv2 and imageio_ffmpeg, as far as they are there.
        device: what it computes on, in words, for example "NVIDIA H200, 139.0 GB".
        errors: why it cannot be the worker; empty when it can.
        warnings: what differs from what the tests ran with.
    """

    program: str
    versions: dict[str, str]
    device: str
    errors: tuple[AnyMoCapError, ...]
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.errors

    def line(self) -> str:
        """Versions and device in one line."""
        found = [f"{label} {self.versions[name]}" for name, label in _LABELS.items() if name in self.versions]
        return ", ".join([*found, self.device] if self.device else found)


class WorkerCheck:
    """A check at work. Iterate it: it yields None until the Python has answered and never blocks; then `report` is set.

    Args:
        python: the interpreter; empty = this process's own. $ANYMOCAP_PYTHON wins.
        device: what will be asked of it: auto, cpu, cuda or mps.
        environment: variables that it gets besides ours.
        timeout_s: it is ended when it takes longer.
    """

    def __init__(
        self,
        python: str = "",
        device: str = "auto",
        environment: Mapping[str, str] | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self.report: WorkerReport | None = None
        self._python, self._device, self._timeout_s = python, device, timeout_s
        self._environment = {**(environment or {}), **os.environ}
        self._events = self._run()

    def __iter__(self) -> Iterator[None]:
        return self._events

    def close(self) -> None:
        """Give it up; the Python that was asked is ended."""
        self._events.close()

    def _run(self) -> Generator[None, None, None]:
        argument = {"worker": str(WORKER_SCRIPT), "package": str(PACKAGE_FOLDER)}
        try:
            command = python_command(PROBE_SCRIPT, argument, self._python)
        except BadInputError as error:
            self.report = WorkerReport(error.file or "", {}, "", (error,))
            return
        # Files and not pipes: a pipe that nobody reads stops the child, and one that is read stops the window.
        with tempfile.TemporaryDirectory(prefix="anymocap-") as folder:
            out, err = Path(folder) / "out", Path(folder) / "err"
            code = yield from self._ask(command, out, err)
            self.report = self._judge(command[0], code, _text(out), _text(err))

    def _ask(self, command: list[str], out: Path, err: Path) -> Generator[None, None, int | OSError | None]:
        """Exit code, None when it took too long, or why it could not be started."""
        with out.open("wb") as stdout, err.open("wb") as stderr:
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=stdout,
                    stderr=stderr,
                    env=self._environment,
                    start_new_session=sys.platform != "win32",
                )
            except OSError as error:
                return error
            ends = time.monotonic() + self._timeout_s
            try:
                while process.poll() is None:
                    if time.monotonic() > ends:
                        return None
                    yield None
                return process.returncode
            finally:
                process.kill()
                process.wait()

    def _judge(self, program: str, code: int | OSError | None, out: str, err: str) -> WorkerReport:
        lines = [line for line in out.splitlines() if line.startswith(MARK)]
        if not lines:
            return WorkerReport(program, {}, "", (_silent(program, code, err),))
        answer: Answer = json.loads(lines[-1].removeprefix(MARK))
        return judge(answer, program, self._device, own=program == sys.executable)


def judge(answer: Answer, program: str, device: str, own: bool = False) -> WorkerReport:
    """What the answer of worker_probe.py means.

    Args:
        answer: see worker_probe.main.
        program: the interpreter that was asked.
        device: auto, cpu, cuda or mps.
        own: it is this process's own Python, whose packages the extension brings.
    """
    modules: dict[str, dict[str, str]] = answer.get("modules", {})
    versions = {name: found["version"] for name, found in modules.items() if "version" in found}
    versions = {"python": answer["python"], **versions}
    errors = [
        *_python_errors(answer, program),
        *_module_errors(modules, program, own),
        *_worker_errors(answer, program, modules),
        *_device_errors(answer, program, device, versions),
    ]
    return WorkerReport(program, versions, _device_words(answer, device), tuple(errors), tuple(_warnings(versions)))


def _silent(program: str, code: int | OSError | None, err: str) -> AnyMoCapError:
    if isinstance(code, OSError):
        reason = code.strerror or str(code)
        return BadInputError(f"cannot be started: {reason}.", file=program, hint="Name a Python interpreter.")
    if code is None:
        return AnyMoCapError("did not answer in time.", file=program, hint=f"Is its disk reachable? {_SETUP}")
    if "SyntaxError" in err:
        return _too_old(program, "an old Python")
    said = [line for line in err.strip().splitlines() if "sys_path" not in line]  # our own argument says nothing
    last = f" It says: {said[-1][:100].rstrip('.')}." if said else ""
    if code < 0 or code > 255:
        return AnyMoCapError(f"crashed while it was asked (exit code {code}).{last}", file=program, hint=_SETUP)
    return BadInputError(
        f"is no Python that answers (exit code {code}).{last}",
        file=program,
        hint="Name the python program itself, such as bin/python (Scripts/python.exe on Windows) of an environment.",
    )


def _too_old(program: str, what: str) -> BadInputError:
    least = ".".join(map(str, LEAST_PYTHON))
    return BadInputError(f"is {what}; the worker needs Python {least} or newer.", file=program, hint=_SETUP)


def _python_errors(answer: Answer, program: str) -> list[AnyMoCapError]:
    version = answer["python"]
    return [_too_old(program, f"Python {version}")] if _numbers(version) < LEAST_PYTHON else []


def _module_errors(modules: dict[str, dict[str, str]], program: str, own: bool) -> Iterator[AnyMoCapError]:
    missing = [name for name, found in modules.items() if "missing" in found]
    if missing and own:
        yield missing_packages_error(missing)
    elif missing:
        names = " ".join(_PACKAGE_OF.get(name, name) for name in missing)
        yield BadInputError(
            f"lacks {', '.join(missing)}.", file=program, hint=f"Install {names} into it with pip. {_SETUP}"
        )
    for name, found in modules.items():
        if "error" in found:
            yield BadInputError(
                f"cannot load {name}: {found['error']}.",
                file=program,
                hint=f"Install {_PACKAGE_OF.get(name, name)} again. {_SETUP}",
            )
        least = _LEAST.get(name)
        if least and "version" in found and _numbers(found["version"]) < least:
            wanted = ".".join(map(str, least))
            yield BadInputError(
                f"has {name} {found['version']}; the worker needs {wanted} or newer.",
                file=program,
                hint=f"Update {name} in it with pip. {_SETUP}",
            )


def _worker_errors(answer: Answer, program: str, modules: dict[str, dict[str, str]]) -> list[AnyMoCapError]:
    """The worker's own code needs numpy, which is said already where it is the reason."""
    reason = answer.get("worker", "")
    if not reason or "version" not in modules.get("numpy", {}):
        return []
    hint = f"Install the AnyMoCap extension again. {_SETUP}"
    return [AnyMoCapError(f"cannot load AnyMoCap's own code: {reason}.", file=program, hint=hint)]


def _device_errors(answer: Answer, program: str, device: str, versions: dict[str, str]) -> list[AnyMoCapError]:
    if "torch" not in versions:
        return []
    broken = answer.get("cuda_error", "")
    if broken and device in ("auto", "cuda"):
        hint = "Update the graphics driver, or choose the device Processor."
        return [BadInputError(f"The graphics card does not work with this torch: {broken}.", file=program, hint=hint)]
    if device == "cuda" and not answer.get("cuda"):
        if answer.get("cuda_build"):
            what = f"torch is built for CUDA {answer['cuda_build']} but finds no graphics card."
            hint = "Install or update the NVIDIA driver, or choose the device Automatic."
        else:
            what = f"CUDA was asked for, but torch {versions['torch']} is a build for the processor only."
            hint = 'Press "Set up GPU worker", choose a Python with a CUDA build, or the device Automatic.'
        return [BadInputError(what, file=program, hint=hint)]
    if device == "mps" and not answer.get("mps"):
        hint = "Choose the device Automatic."
        return [BadInputError("Metal was asked for, which only a Mac's graphics has.", file=program, hint=hint)]
    return []


def _device_words(answer: Answer, device: str) -> str:
    if "threads" not in answer:
        return ""
    if answer.get("cuda") and device in ("auto", "cuda"):
        return ", ".join(f"{card['name']} ({card['memory_gb']:g} GB)" for card in answer["cuda"])
    if device == "mps" and answer.get("mps"):
        return "Metal"
    return f"processor, {answer['threads']} threads"


def _warnings(versions: dict[str, str]) -> Iterator[str]:
    tested = pinned_versions()
    for name in ("torch", "cv2"):
        wanted = tested[_PACKAGE_OF.get(name, name)]
        if name in versions and _numbers(versions[name]) != _numbers(wanted):
            yield f"It has {name} {versions[name]}; AnyMoCap is tested with {wanted}."


def _numbers(version: str) -> tuple[int, ...]:
    """The first two numbers of a version."""
    parts = version.split("+")[0].split(".")[:2]
    return tuple(int("".join(c for c in part if c.isdigit()) or 0) for part in parts)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")
