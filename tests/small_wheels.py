"""A folder of small wheels that stand for the worker's packages; torch says that it has a graphics card."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from anymocap_addon.jobs.worker_requirements import pinned_versions

FAKE_TORCH = """
__version__ = "{version}"
class version: cuda = "{cuda}" or None
class backends:
    class mps:
        is_available = staticmethod(lambda: False)
class cuda:
    is_available = staticmethod(lambda: {cards} > 0)
    device_count = staticmethod(lambda: {cards})
    @staticmethod
    def get_device_properties(number):
        class card:
            name = "Card 9"
            total_memory = 24.5e9
        return card
get_num_threads = lambda: 2
class ones:
    def __init__(self, count, device): pass
    sum = item = lambda self: self
"""


def wheel(folder: Path, name: str, version: str, files: dict[str, str]) -> None:
    """A wheel that pip installs."""
    stem = f"{name.replace('-', '_')}-{version}"
    files = {
        **files,
        f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{stem}.dist-info/RECORD"] = "".join(f"{path},,\n" for path in files)
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)


def torch_wheel(folder: Path, build: str, cards: int) -> None:
    for old in folder.glob("torch-*"):
        old.unlink()
    version = f"{pinned_versions()['torch']}+{build}"
    text = FAKE_TORCH.format(version=version, cuda="12.8" if "cu" in build else "", cards=cards)
    wheel(folder, "torch", version, {"torch/__init__.py": text})


def make_wheels(folder: Path) -> None:
    """All that is required: numpy's wheel lends the packages of this Python, the others are empty."""
    folder.mkdir()
    site = Path(np.__file__).parents[1]
    for name, version in pinned_versions().items():
        wheel(folder, name, version, {f"{name}.pth": f"{site}\n"} if name == "numpy" else {})
    torch_wheel(folder, "cu128", 1)
