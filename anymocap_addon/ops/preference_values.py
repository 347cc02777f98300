"""What the preferences say, for whoever needs it, also where the add-on has none (a test, bpy as a module)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..core.film.key import USER_FOLDER_VARIABLE
from ..jobs.pool import Pool

if TYPE_CHECKING:
    from bpy.types import Context

ROOT_PACKAGE = __package__.rpartition(".")[0]
_WEIGHTS = "weights"


@dataclass(frozen=True)
class PreferenceValues:
    """The preferences as plain values; the defaults are those of the properties.

    Attributes:
        project_folder: project of scenes that name none; empty = the artist is asked.
        worker_python: program of the Python that trains, reads and fits; empty = Blender's own.
        device: auto, cpu, cuda or mps.
        threads: CPU threads of a stage; 0 = as many as are idle.
        preview_rows: height of the clip in the viewport, px.
        weights_folder: absolute folder of downloaded network weights; empty where there is none.
    """

    project_folder: str = ""
    worker_python: str = ""
    device: str = "auto"
    threads: int = 0
    preview_rows: int = 360
    weights_folder: str = ""


def stored_preferences(context: Context | None = None) -> Any:
    """The AddonPreferences, or None where Blender does not hold the package as an enabled add-on."""
    addon = (context or bpy.context).preferences.addons.get(ROOT_PACKAGE)
    return addon.preferences if addon is not None else None


def user_folder() -> Path | None:
    """The extension's own folder outside the installed files; None where the package is no extension.

    It may not exist yet: who writes into it makes it, so that a draw may ask for it.
    """
    if not ROOT_PACKAGE.startswith("bl_ext."):
        return None
    return Path(bpy.utils.extension_path_user(ROOT_PACKAGE))


def preference_values(context: Context | None = None) -> PreferenceValues:
    """The preferences now. Cheap enough for a draw: no file is read."""
    stored = stored_preferences(context)
    if stored is None:
        return PreferenceValues()
    return PreferenceValues(
        project_folder=stored.project_folder,
        worker_python=bpy.path.abspath(stored.worker_python),
        device=stored.device,
        threads=stored.threads,
        preview_rows=stored.preview_rows,
        weights_folder=_weights_folder(stored.weights_folder),
    )


def _weights_folder(chosen: str) -> str:
    if chosen:
        return str(bpy.path.abspath(chosen))
    own = user_folder()
    return str(own / _WEIGHTS) if own is not None else ""


def worker_environment() -> dict[str, str]:
    """Variables of the worker: where the fal key lies (never the key) and where libraries keep downloaded weights."""
    variables: dict[str, str] = {}
    own = user_folder()
    if own is not None:
        variables[USER_FOLDER_VARIABLE] = str(own)
    weights = preference_values().weights_folder
    if weights:
        variables.update(TORCH_HOME=str(Path(weights) / "torch"), HF_HOME=str(Path(weights) / "huggingface"))
    if not getattr(bpy.app, "online_access", True):
        variables["HF_HUB_OFFLINE"] = "1"
    return variables


def host_pool() -> Pool:
    """A pool whose workers follow the preferences, whenever these change; beside a window they give way to it."""
    return Pool(
        worker_python=lambda: preference_values().worker_python,
        environment=worker_environment,
        polite=not bpy.app.background,
    )
