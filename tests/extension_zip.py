"""The zip that fits the Blender of the sandbox, built from the working tree."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from real_blender import REPOSITORY, SANDBOX

_FACTS = (
    "import bpy, importlib.util, json, sys; print('FACTS ' + json.dumps({"
    "'version': list(bpy.app.version), 'python': list(sys.version_info[:2]),"
    "'torch': importlib.util.find_spec('torch') is not None}))"
)


@dataclass(frozen=True)
class BlenderFacts:
    """What decides which zip a Blender takes.

    Attributes:
        version: (4, 3, 2).
        python: (3, 13), the Python that it was built on.
        torch: whether that Python has torch without us, as a distribution's may.
    """

    version: tuple[int, ...]
    python: tuple[int, ...]
    torch: bool

    def arguments(self) -> list[str]:
        """Arguments of scripts/fetch_wheels."""
        return ["--python", "".join(map(str, self.python)), *(["--without", "torch"] if self.torch else [])]

    def build_arguments(self) -> list[str]:
        """Arguments of scripts/build_extension."""
        official = (3, 13) if self.version >= (5, 1, 0) else (3, 11)
        own = [] if self.python == official else ["--blender", ".".join(map(str, self.version))]
        return [*self.arguments(), *own]


def blender_facts() -> BlenderFacts:
    """Ask the Blender of the sandbox."""
    command = [str(SANDBOX), "--run", "blender", "-b", "--factory-startup", "--python-expr", _FACTS]
    said = _run(command)
    facts = json.loads(next(line for line in said.splitlines() if line.startswith("FACTS"))[6:])
    return BlenderFacts(tuple(facts["version"]), tuple(facts["python"]), facts["torch"])


def build_extension_zip() -> Path:
    """Fetch the wheels that are missing and build the zip; its path."""
    facts = blender_facts()
    _run([sys.executable, str(REPOSITORY / "scripts" / "fetch_wheels"), *facts.arguments()])
    said = _run([sys.executable, str(REPOSITORY / "scripts" / "build_extension"), *facts.build_arguments()])
    return Path(said.strip().splitlines()[-1].rpartition(".zip")[0] + ".zip")


def _run(command: list[str]) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{' '.join(command)}:\n{ended.stdout}{ended.stderr}"
    return ended.stdout
