"""Which part may import which, read from the source; and that light modules load nothing heavy."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "anymocap_addon"
LAYERS = ("core", "blender", "jobs", "ops", "ui")  # each may import itself and what stands before it
ABOVE_OPS = {"registration"}
BESIDE_OPS = {"commands", "cli", "__main__"}
HEAVY = ("torch", "cv2", "transformers", "fal_client", "httpx", "imageio_ffmpeg", "scipy", "matplotlib")
LIGHT = (
    "errors atomic formats layout creature rig project motion detections roles kinematics stage_context stage_record "
    "clip_clock bad_frames triangulation capture_view preview_frames joint_links confidence_colour space_marks "
    "voxel_solid extremities midline rig_template template_fit "
    "film.key film.models film.takes film.ledger film.spending film.arguments film.fal_address "
    "checkup.checkup checkup.file checkup.facing_picture "
    "film.order film.orders film.standing film.place film.filmed_clips film.prompt film.body_words"
).split()


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)


def imports_of(path: Path) -> list[tuple[int, str]]:
    """(line, absolute dotted name) of every import anywhere in the file; ours begin with anymocap_addon."""
    package = ["anymocap_addon", *path.relative_to(PACKAGE).parts[:-1]]
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            found.append((node.lineno, name))
            found += [(node.lineno, f"{name}.{alias.name}") for alias in node.names]
    return found


def layer_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downward(path):
    layer = layer_of(path)
    for line, name in imports_of(path):
        where = f"{path.relative_to(PACKAGE)}:{line} imports {name}"
        parts = name.split(".")
        if parts[0] != "anymocap_addon":
            if layer in ("core", "jobs", *BESIDE_OPS):
                assert parts[0] not in ("bpy", "bpy_extras", "mathutils", "gpu", "bmesh"), where
            if layer != "core":
                assert parts[0] not in HEAVY, where
            continue
        if len(parts) < 2:
            continue
        target = parts[1]
        if layer in LAYERS:
            if target in LAYERS:
                assert LAYERS.index(target) <= LAYERS.index(layer), where
            else:
                assert target not in ABOVE_OPS | BESIDE_OPS, where
        elif layer in BESIDE_OPS:
            assert target not in ("ops", "ui", "blender"), where


def test_imports_inside_the_package_are_relative():
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            for name in names:
                assert not name.startswith("anymocap_addon"), f"{path.relative_to(PACKAGE)}:{node.lineno}: {name}"


def loaded_by(code: str) -> set[str]:
    """Top-level modules that a fresh Python has loaded after the code."""
    before = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})"
    after = "print(*{name.split('.')[0] for name in sys.modules})"
    command = [sys.executable, "-I", "-c", f"{before}; {code}; {after}"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(ended.stdout.split())


def test_light_modules_command_line_and_jobs_load_nothing_heavy():
    core = [f"anymocap_addon.core.{name}" for name in LIGHT]
    others = ["anymocap_addon.cli", "anymocap_addon.jobs.serving", "anymocap_addon.jobs.step_run"]
    loaded = loaded_by("import " + ", ".join(core + others))
    assert "numpy" in loaded
    assert not loaded & {*HEAVY, "bpy", "mathutils"}


def test_no_module_is_a_drawer_for_everything():
    for path in modules():
        assert path.stem not in ("utils", "util", "helpers", "common", "misc"), path


def test_no_background_blender_resets_the_preferences():
    """That makes Blender delete the wheels of all installed extensions (tests/installed see it happen)."""
    for path in modules():
        calls = [
            node.func.attr
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        ]
        assert not {"read_factory_settings", "read_factory_userpref", "read_userpref"} & set(calls), path


def test_only_the_compat_module_asks_for_blenders_version():
    asking = [path.name for path in modules() if re.search(r"app\.version\b(?!_)", path.read_text(encoding="utf-8"))]
    assert asking == ["compat.py"]
