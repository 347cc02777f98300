"""The worker's packages are found, or missed, without importing them."""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES

import pytest

from anymocap_addon.jobs.worker_packages import is_worker_package, missing_packages, missing_packages_error


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A site-packages folder of our own, the only place to import from."""
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    for name in ("torch", "cv2", "imageio_ffmpeg"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def install(site, name, *files):
    (site / name).mkdir(exist_ok=True)
    for file in ("__init__.py", *files):
        (site / name / file).write_text("raise RuntimeError('imported')")


def test_all_are_missing_in_a_bare_python(site):
    assert missing_packages() == ["torch", "cv2", "imageio_ffmpeg"]


def test_packages_that_fit_are_found_and_not_imported(site):
    install(site, "torch", f"_C{EXTENSION_SUFFIXES[0]}")
    install(site, "cv2", f"cv2{EXTENSION_SUFFIXES[-1]}")
    install(site, "imageio_ffmpeg")
    assert missing_packages() == []


def test_a_package_for_another_python_counts_as_missing(site):
    install(site, "torch", "_C.cpython-37m-x86_64-linux-gnu.so")
    assert "torch" in missing_packages()


def test_what_a_removed_package_leaves_counts_as_missing(site):
    (site / "imageio_ffmpeg" / "binaries").mkdir(parents=True)
    assert "imageio_ffmpeg" in missing_packages()


def test_the_error_names_packages_python_and_remedy():
    text = str(missing_packages_error(["torch", "cv2"]))
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"Python {python} ({sys.executable}) lacks torch, cv2." in text
    assert "Install the AnyMoCap zip for" in text and "preferences" in text


def test_only_packages_of_the_zip_are_worker_packages():
    assert is_worker_package("transformers") and is_worker_package("torch.nn")
    assert not is_worker_package("torchaudio") and not is_worker_package(None)
