"""What the settings of the stages are called in the panel, with their units, and which of them it shows."""

from __future__ import annotations

from ..core.creature import Prep

# stage -> setting -> label; in the order shown. What is not here is decided elsewhere (the Scene, the preferences).
SETTING_LABELS: dict[str, dict[str, str]] = {
    "prep": {
        "length_m": f"Length (m), 0 = as before or {Prep.length_m:g}",
        "axis": "Measured along",
        "rotz_deg": "Turn about Z (°)",
        "up": "Up in the file",
        "mesh": "Mesh file",
        "object": "Object",
    },
    "rig": {"mode": "Armature", "weights": "Skin"},
    "ref": {"room": "Room for", "reach_m": "Room all round (m), 0 = by what it does"},
    "dataset": {"poses": "Poses", "rows": "Picture height (px)", "seed": "Seed", "processes": "Processes, 0 = all"},
    "train": {
        "preset": "Length",
        "steps": "Steps, 0 = as Length says",
        "device": "Device",
        "threads": "Threads, 0 = all",
        "seed": "Seed",
    },
    "prompt": {"action": "Sentence"},
    "detect": {"video": "Video", "threads": "Threads, 0 = all"},
    "fit": {"solver": "Solver", "plants": "Hold planted feet", "device": "Device"},
    "apply": {
        "mode": "Keys go to",
        "onto": "Onto",
        "bones": "Bones",
        "action_name": "Name of the Action",
        "overwrite": "Overwrite edited keys",
    },
    "report": {"kind": "Score against"},
}
