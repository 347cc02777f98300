"""A folder that is an extension repository: served as it is, or used in place through a file:// address."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from .blender_command import blender_extension

_ZIP = re.compile(r"(?P<id>[a-z_]+)-(?P<version>[^-]+)-(?P<target>.+?)(-without_[a-z]+)?\.zip")


def publish(zips: list[Path], repository: Path) -> str:
    """Put the zips into the repository in place of earlier ones for the same target, and list them anew.

    One zip for each target stays, because Blender would not know which of two to offer.

    Returns:
        The address for Blender's Preferences > Get Extensions > Repositories, when it stays on this machine.
    """
    repository.mkdir(parents=True, exist_ok=True)
    for made in zips:
        for old in repository.glob("*.zip"):
            if _target(old) == _target(made):
                old.unlink()
        partial = repository / f".{made.name}"
        partial.unlink(missing_ok=True)
        try:
            os.link(made, partial)
        except OSError:
            shutil.copyfile(made, partial)
        partial.replace(repository / made.name)
    blender_extension("server-generate", "--repo-dir", str(repository), "--html")
    return (repository / "index.json").resolve().as_uri()


def _target(file: Path) -> tuple[str, str] | None:
    match = _ZIP.fullmatch(file.name)
    return (match["id"], match["target"]) if match else None
