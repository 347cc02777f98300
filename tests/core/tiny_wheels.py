"""Wheels of a few hundred bytes, for tests of locking, fetching and building."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path
from types import ModuleType

from scripts.extension.lock import Wheel, sha256


def write_wheel(
    folder: Path,
    name: str,
    version: str,
    tag: str = "py3-none-any",
    needs: tuple[str, ...] = (),
    more: tuple[tuple[str, str], ...] = (),
) -> Wheel:
    """A valid wheel with one empty module, and `more` files with their content; returns its entry of a lock."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}-{version}-{tag}.whl"
    info = f"{name}-{version}.dist-info"
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    metadata += [f"Requires-Dist: {need}" for need in needs]
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "")
        archive.writestr(f"{info}/METADATA", "\n".join(metadata) + "\n")
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        for path, content in more:
            archive.writestr(path, content)
        record = [f"{path},sha256=x,1" for path in archive.namelist()]
        archive.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,"]) + "\n")
    return Wheel(name, version, file.name, sha256(file))


def blender_extension_tool() -> ModuleType:
    """Blender's own script for extensions, loaded without Blender."""
    package = importlib.util.find_spec("bpy")
    assert package is not None and package.origin is not None
    script = next(Path(package.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))
    spec = importlib.util.spec_from_file_location("blender_ext", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
