"""Run by the Python that is to be the worker's: says in one line of JSON what it is and has.

Whatever Python is chosen runs this, so nothing here needs a newer one than 3.6, and what fails is part of the answer.
"""

import importlib
import importlib.util
import json
import pathlib
import platform
import sys

MARK = "anymocap-worker:"
LEAST_PYTHON = (3, 11)
_PACKAGE = "anymocap_addon"  # what worker.py calls it
MODULES = ("numpy", "torch", "cv2", "imageio_ffmpeg")


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".strip().splitlines()[0]


def _module(name: str) -> "dict[str, str]":
    try:
        module = importlib.import_module(name)
        if name == "imageio_ffmpeg" and _PACKAGE in sys.modules:
            # The stages' own way to it: Blender unpacks the program without the permission to run it.
            importlib.import_module(f"{_PACKAGE}.core.video.ffmpeg").ffmpeg_program()
    except ModuleNotFoundError as error:
        return {"missing": error.name or name}
    except Exception as error:
        return {"error": _reason(error)}
    return {"version": str(module.__version__)}


def _devices() -> "dict[str, object]":
    torch = importlib.import_module("torch")
    found: "dict[str, object]" = {  # noqa: UP037
        "threads": torch.get_num_threads(),
        "cuda_build": torch.version.cuda or "",
        "mps": torch.backends.mps.is_available(),
    }
    try:
        if torch.cuda.is_available():
            found["cuda"] = [
                {"name": card.name, "memory_gb": round(card.total_memory / 1e9, 1)}
                for card in map(torch.cuda.get_device_properties, range(torch.cuda.device_count()))
            ]
            torch.ones(2, device="cuda").sum().item()  # a card that this build has no code for fails only here
    except Exception as error:
        found["cuda_error"] = _reason(error)
    return found


def _worker(script: str, package: str) -> str:
    """The worker's own code starts: empty, or why not."""
    try:
        spec = importlib.util.spec_from_file_location("worker", script)
        if spec is None or spec.loader is None:
            return f"no script {script}"
        worker = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(worker)
        worker.import_package(pathlib.Path(package))
        importlib.import_module(f"{worker.PACKAGE}.jobs.serving")
    except Exception as error:
        return _reason(error)
    return ""


def main(argument: "dict[str, str]") -> None:
    """Print the answer."""
    answer: "dict[str, object]" = {"python": platform.python_version(), "program": sys.executable}  # noqa: UP037
    if sys.version_info >= LEAST_PYTHON:
        known = set(sys.path)
        sys.path[:0] = [entry for entry in argument["sys_path"] if entry not in known]
        answer["worker"] = _worker(argument["worker"], argument["package"])
        modules = {name: _module(name) for name in MODULES}
        answer["modules"] = modules
        if "version" in modules["torch"]:
            answer.update(_devices())
    print(f"\n{MARK}{json.dumps(answer)}")


if __name__ == "__main__":
    main(json.loads(sys.argv[-1]))
