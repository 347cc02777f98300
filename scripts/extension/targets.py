"""The platforms and Pythons that a zip is made for."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass

from .errors import PackagingError

# Blender 4.2 and later need glibc 2.28 and, on Apple silicon, macOS 11. PyTorch's macOS wheels ask for macOS 14.
_LINUX_TAGS = (
    *(f"manylinux_2_{minor}_x86_64" for minor in (28, 27, 26, 25, 24, 17, 12, 5)),
    "manylinux2014_x86_64",
    "manylinux2010_x86_64",
    "manylinux1_x86_64",
    "linux_x86_64",
)
_WHEEL_PLATFORMS = {
    "linux-x64": _LINUX_TAGS,
    "windows-x64": ("win_amd64",),
    "macos-arm64": ("macosx_14_0_arm64",),  # pip adds the older ones
}
_MARKERS = {
    "linux-x64": ("posix", "linux", "Linux", "x86_64"),
    "windows-x64": ("nt", "win32", "Windows", "AMD64"),
    "macos-arm64": ("posix", "darwin", "Darwin", "arm64"),
}
# Python of Blender -> first Blender that has it, first Blender that no longer has it.
_BLENDERS = {"311": ("4.2.0", "5.1.0"), "313": ("5.1.0", "")}

PLATFORMS = tuple(_WHEEL_PLATFORMS)
PYTHONS = tuple(_BLENDERS)


@dataclass(frozen=True)
class Target:
    """One zip: a platform in Blender's words (linux-x64) and a Python without its dot (311)."""

    platform: str
    python: str

    @property
    def name(self) -> str:
        """Name of its folder of wheels and of its part of the lock."""
        return f"{self.platform}-py{self.python}"

    @property
    def zip_suffix(self) -> str:
        """How its zip's name ends, in the manner of Blender's own --split-platforms."""
        return f"{self.platform.replace('-', '_')}-py{self.python}"

    @property
    def python_version(self) -> str:
        """3.11"""
        return f"{self.python[0]}.{self.python[1:]}"

    @property
    def blender_versions(self) -> tuple[str, str]:
        """First Blender that it is for and first that it is no longer for; empty where that is not known yet."""
        return _BLENDERS[self.python]

    def pip_flags(self) -> list[str]:
        """Arguments that make pip choose wheels for this target instead of for the Python that runs it."""
        platforms = [flag for tag in _WHEEL_PLATFORMS[self.platform] for flag in ("--platform", tag)]
        abis = [flag for abi in (f"cp{self.python}", "abi3", "none") for flag in ("--abi", abi)]
        version = ["--implementation", "cp", "--python-version", self.python_version]
        return ["--only-binary=:all:", *platforms, *abis, *version]

    def markers(self) -> dict[str, str]:
        """Values of the environment markers in a wheel's requirements; pip itself would use those of its own Python."""
        os_name, sys_platform, system, machine = _MARKERS[self.platform]
        return {
            "os_name": os_name,
            "sys_platform": sys_platform,
            "platform_system": system,
            "platform_machine": machine,
            "platform_release": "",
            "platform_version": "",
            "python_version": self.python_version,
            "python_full_version": f"{self.python_version}.0",
            "implementation_name": "cpython",
            "implementation_version": f"{self.python_version}.0",
            "platform_python_implementation": "CPython",
        }

    def accepts(self, file: str) -> bool:
        """Whether a wheel's name says that it runs here: python tag, ABI and platform."""
        python, abi, where = file.removesuffix(".whl").split("-")[-3:]
        pythons, abis = python.split("."), abi.split(".")
        own = f"cp{self.python}" in pythons and abis == [f"cp{self.python}"]
        stable = "abi3" in abis and any(
            tag.startswith("cp3") and int(tag[3:]) <= int(self.python[1:]) for tag in pythons
        )
        pure = abis == ["none"] and any(tag in ("py3", f"cp{self.python}") for tag in pythons)
        return (own or stable or pure) and any(self._is_here(tag) for tag in where.split("."))

    def _is_here(self, tag: str) -> bool:
        if tag == "any":
            return True
        if self.platform == "macos-arm64":
            return tag.startswith("macosx_") and tag.endswith(("_arm64", "_universal2"))
        return tag in _WHEEL_PLATFORMS[self.platform]


def all_targets() -> list[Target]:
    """Every combination, in the order of the lock."""
    return [Target(where, python) for where in PLATFORMS for python in PYTHONS]


def chosen_targets(where: str, python: str) -> list[Target]:
    """Targets of a command line; "all" stands for all platforms or all Pythons."""
    platforms = PLATFORMS if where == "all" else (where,)
    pythons = PYTHONS if python == "all" else (python,)
    return [Target(p, v) for p in platforms for v in pythons]


def this_platform() -> str:
    """The platform that this runs on, in Blender's words.

    Raises:
        PackagingError: there are no wheels for it.
    """
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine())
    name = f"{system}-{machine}"
    if name not in PLATFORMS:
        raise PackagingError(f"There are no wheels for {name}: choose one of {', '.join(PLATFORMS)} with --platform.")
    return name
