"""What the worker of the installed add-on finds: each package, from where, and that it works."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import anymocap_addon
from anymocap_addon.core.stage_context import StageContext
from anymocap_addon.core.video.ffmpeg import ffmpeg_program

NAMES = ("numpy", "torch", "cv2", "transformers", "fal_client", "imageio_ffmpeg", "safetensors.numpy")


def run(ctx: StageContext) -> dict[str, Any]:
    """Import them all and let each do a little."""
    modules = {name: importlib.import_module(name) for name in NAMES}
    numpy, torch, cv2 = (modules[name] for name in ("numpy", "torch", "cv2"))
    ones = torch.from_numpy(numpy.ones((4, 4), numpy.float32))
    tensors = modules["safetensors.numpy"].load(modules["safetensors.numpy"].save({"ones": ones.numpy()}))
    config = modules["transformers"].ViTConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=1, image_size=16)
    network = modules["transformers"].ViTModel(config)
    ffmpeg = subprocess.run([ffmpeg_program(), "-version"], capture_output=True, text=True, check=True)
    return {
        "files": {name: module.__file__ for name, module in modules.items()},
        "package": anymocap_addon.__file__,
        "python": sys.executable,
        "trace": float((ones @ ones).trace()),
        "resized": list(cv2.resize(tensors["ones"], (2, 3)).shape),
        "tokens": list(network(torch.zeros(1, 3, 16, 16)).last_hidden_state.shape),
        "fal": modules["fal_client"].SyncClient(key="none").key,
        "ffmpeg": ffmpeg.stdout.split()[0],
    }
