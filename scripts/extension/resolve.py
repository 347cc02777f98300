"""Making the lock: pip resolves for each target, and what Blender ships is taken out again."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .errors import PackagingError
from .lock import REPOSITORY, Wheel, shipped_by_blender
from .targets import Target

REQUIREMENTS = REPOSITORY / "requirements" / "extension.txt"
CONSTRAINTS = REPOSITORY / "requirements" / "constraints.txt"
# The default index's Linux wheel of torch brings CUDA, 3 GB of it; the CPU build is another version.
_CPU_BUILD = {("linux-x64", "torch"): "+cpu"}
HEAVY = "torch"
_PIP = Path(__file__).resolve().parent / "pip_elsewhere.py"


@dataclass
class Resolver:
    """Resolves one target after the other.

    Attributes:
        old: the lock's present wheels by target name: what pip cannot find here stays as it is.
        said: sentences for the person who runs it.
    """

    old: dict[str, list[Wheel]]
    said: list[str] = field(default_factory=list)
    _needs: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # requirements by (name, version)

    def wheels(self, target: Target) -> list[Wheel]:
        """All wheels of one target.

        Raises:
            PackagingError: pip found no set of wheels and the lock has none to keep.
        """
        roots = root_requirements(target)
        wheels = self._report(target, roots)
        reached = self._reached(target, roots, wheels)
        if lost := reached - set(wheels):
            raise PackagingError(f"{target.name}: pip leaves out {', '.join(sorted(lost))}.")
        light = self._reached(target, [root for root in roots if canonicalize_name(root.name) != HEAVY], wheels)
        return [replace(wheels[name], only_for="" if name in light else HEAVY) for name in sorted(reached)]

    def _report(self, target: Target, roots: list[Requirement]) -> dict[str, Wheel]:
        """What pip finds, and what stays as it was because pip cannot find it."""
        try:
            return self._read(pip_report(target, roots))
        except PackagingError as error:
            kept = self._keep(target, roots, error)
        rest = [root for root in roots if canonicalize_name(root.name) not in kept]
        for wheel in kept.values():
            rest += self._requirements(target, wheel)
            self.said.append(f"{target.name}: pip finds no {wheel.file} here; its entry stays as it was.")
        return {**self._read(pip_report(target, rest)), **kept}

    def _keep(self, target: Target, roots: list[Requirement], error: PackagingError) -> dict[str, Wheel]:
        """Roots that pip cannot find but the lock has; what they need is known from another target."""
        kept = {}
        for wheel in self.old.get(target.name, []):
            wanted = [root for root in roots if canonicalize_name(root.name) == wheel.name]
            exact = any(str(root.specifier) == f"=={wheel.version}" for root in wanted)
            if exact and (wheel.name, wheel.version) in self._needs and not _reachable(target, wanted[0]):
                kept[wheel.name] = wheel
        if not kept:
            raise error
        return kept

    def _read(self, report: dict[str, Any]) -> dict[str, Wheel]:
        wheels: dict[str, Wheel] = {}
        for item in report["install"]:
            name, version = canonicalize_name(item["metadata"]["name"]), item["metadata"]["version"]
            self._needs[name, version] = item["metadata"].get("requires_dist", [])
            file = unquote(urlsplit(item["download_info"]["url"]).path).rpartition("/")[2]
            wheels[name] = Wheel(name, version, file, item["download_info"]["archive_info"]["hashes"]["sha256"])
        return wheels

    def _requirements(self, target: Target, wheel: Wheel, extras: frozenset[str] = frozenset()) -> list[Requirement]:
        """What a wheel needs on the target, without what Blender ships."""
        shipped = shipped_by_blender(target)
        needed = []
        for text in self._needs[wheel.name, wheel.version]:
            need = Requirement(text)
            applies = need.marker is None or any(
                need.marker.evaluate({**target.markers(), "extra": extra}) for extra in ("", *extras)
            )
            if applies and canonicalize_name(need.name) not in shipped:
                need.marker = None
                needed.append(need)
        return needed

    def _reached(self, target: Target, roots: list[Requirement], wheels: dict[str, Wheel]) -> set[str]:
        """Names of the roots and of all that they need, one through the other."""
        seen: dict[str, set[str]] = {}
        waiting = list(roots)
        while waiting:
            need = waiting.pop()
            name = canonicalize_name(need.name)
            if name in seen and need.extras <= seen[name]:
                continue
            seen[name] = seen.get(name, set()) | need.extras
            if name in wheels:
                waiting += self._requirements(target, wheels[name], frozenset(need.extras))
        return set(seen)


def root_requirements(target: Target) -> list[Requirement]:
    """The pins of requirements/extension.txt for a target, without what Blender ships."""
    roots = []
    for requirement in pins(REQUIREMENTS):
        name = canonicalize_name(requirement.name)
        if name in shipped_by_blender(target):
            continue
        build = _CPU_BUILD.get((target.platform, name), "")
        roots.append(Requirement(f"{requirement}{build}"))
    return roots


def pins(file: Path) -> list[Requirement]:
    """The requirements of a file and of the files that it includes with -r."""
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        text = line.partition("#")[0].strip()
        if text.startswith("-r "):
            found += pins(file.parent / text[3:].strip())
        elif text and not text.startswith("-"):
            found.append(Requirement(text))
    return found


def pip_report(target: Target, roots: list[Requirement], *flags: str) -> dict[str, Any]:
    """pip's installation report for a target: what it would install, from where, with which hash.

    Raises:
        PackagingError: it finds no such set.
    """
    with tempfile.TemporaryDirectory() as folder:
        report, constraints = Path(folder) / "report.json", Path(folder) / "constraints.txt"
        constraints.write_text("\n".join(_constraints(target)), encoding="utf-8")
        command = [
            *(sys.executable, str(_PIP), json.dumps(target.markers())),
            *("install", "--dry-run", "--ignore-installed", "--quiet"),
            *("--report", str(report), "--target", folder, "-c", str(constraints)),
            *(*target.pip_flags(), *flags, *map(str, roots)),
        ]
        ended = subprocess.run(command, capture_output=True, text=True)
        if ended.returncode:
            raise PackagingError(f"{target.name}: {_reason(ended.stderr)}{_cpu_hint(target, roots)}")
        content: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return content


def _constraints(target: Target) -> list[str]:
    """The versions that our tests run with, and Blender's for what Blender ships."""
    shipped = shipped_by_blender(target)
    tested = [str(pin) for pin in pins(CONSTRAINTS) if canonicalize_name(pin.name) not in shipped]
    return tested + [f"{name}=={version}" for name, version in shipped.items()]


def _reachable(target: Target, requirement: Requirement) -> bool:
    try:
        pip_report(target, [requirement], "--no-deps")
    except PackagingError:
        return False
    return True


def _reason(stderr: str) -> str:
    errors = [line for line in stderr.splitlines() if line.startswith("ERROR:")]
    return "pip says: " + " ".join(errors or stderr.strip().splitlines()[-1:])


def _cpu_hint(target: Target, roots: list[Requirement]) -> str:
    if not any((target.platform, canonicalize_name(root.name)) in _CPU_BUILD for root in roots):
        return ""
    return f" {CPU_INDEX_HINT}"


CPU_INDEX_HINT = (
    "The CPU build of torch for Linux is not on the default index: set PIP_EXTRA_INDEX_URL to PyTorch's own CPU index, "
    "or PIP_FIND_LINKS to a folder that holds the wheel."
)
