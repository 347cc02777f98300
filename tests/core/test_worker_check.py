"""Any program that is chosen as the worker's Python is judged in one sentence with a remedy, without waiting here."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

import pytest

from anymocap_addon.jobs.worker_check import WorkerCheck, WorkerReport, judge
from anymocap_addon.jobs.worker_probe import MARK
from anymocap_addon.jobs.worker_requirements import pinned_versions

GOOD = {
    "python": "3.11.9",
    "modules": {
        "numpy": {"version": "1.26.4"},
        "torch": {"version": "2.13.0+cu128"},
        "cv2": {"version": "4.11.0"},
        "imageio_ffmpeg": {"version": "0.8.1"},
    },
    "threads": 8,
    "cuda_build": "12.8",
    "mps": False,
    "worker": "",
}
CARD = {"name": "Card 9", "memory_gb": 24.5}


def asked(python: str, device: str = "auto", **options: float) -> WorkerReport:
    check = WorkerCheck(python, device, **options)
    for _ in check:
        time.sleep(0.01)
    assert check.report is not None
    return check.report


def program(tmp_path: Path, text: str) -> str:
    file = tmp_path / "a python"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


def answering(tmp_path: Path, **changes: object) -> str:
    answer = tmp_path / "answer"
    answer.write_text(f"a library prints\n{MARK}{json.dumps({**GOOD, **changes})}\n")
    return program(tmp_path, f"cat '{answer}'")


def test_our_own_python_is_asked_without_waiting():
    check = WorkerCheck(device="cpu")
    rounds = sum(1 for _ in (time.sleep(0.01) for _ in check))
    report = check.report
    assert report is not None and report.ok, report
    assert rounds > 3, "it waited for the answer in one go"
    assert report.versions["python"] == sys.version.split()[0] and "processor" in report.line()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("exit 3", r"is no Python that answers \(exit code 3\)\. Name the python program"),
        ("echo hello", r"is no Python that answers \(exit code 0\)"),
        ("echo 'SyntaxError: invalid syntax' >&2; exit 1", "is an old Python; the worker needs Python 3.11 or newer"),
        ("kill -SEGV $$", r"crashed while it was asked \(exit code -11\)"),
    ],
)
def test_programs_that_are_no_python(tmp_path, text, says):
    chosen = program(tmp_path, text)
    report = asked(chosen)
    assert report.program == chosen and len(report.errors) == 1
    assert report.errors[0].hint and report.errors[0].file == chosen
    assert re.search(says, str(report.errors[0]))


def test_no_such_program_and_one_that_may_not_be_started(tmp_path):
    assert "is not a program" in str(asked(str(tmp_path / "nothing")).errors[0])
    assert "Name the Python in this folder, such as bin/python" in str(asked(str(tmp_path)).errors[0])
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF not really")
    broken.chmod(0o755)
    assert "cannot be started" in str(asked(str(broken)).errors[0])


def test_one_that_never_answers_is_ended(tmp_path):
    chosen = program(tmp_path, f"echo $$ > '{tmp_path}/pid'; exec sleep 60")
    assert "did not answer in time" in str(asked(chosen, timeout_s=0.5).errors[0])
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


def test_giving_up_ends_what_was_asked(tmp_path):
    check = WorkerCheck(program(tmp_path, f"echo $$ > '{tmp_path}/pid'; exec sleep 60"))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        next(iter(check))
        time.sleep(0.01)
    check.close()
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists() and check.report is None


def test_an_answer_is_found_among_what_libraries_print(tmp_path):
    report = asked(answering(tmp_path, cuda=[CARD]), "cuda")
    assert report.ok and not report.warnings
    assert report.line() == "Python 3.11.9, torch 2.13.0+cu128, OpenCV 4.11.0, NumPy 1.26.4, Card 9 (24.5 GB)"


def test_a_bare_python_lacks_packages(tmp_path):
    """A real Python without any of them."""
    bare = program(tmp_path, f"exec '{Path(sys.executable).resolve()}' -S \"$@\"")
    says = str(asked(bare).errors[0])
    assert says.startswith(
        f"{bare}: lacks numpy, torch, cv2, imageio_ffmpeg. Install numpy torch opencv-python-headless"
    )


def without(module: str, **found: str) -> dict:
    return {"modules": {**GOOD["modules"], module: found}}


@pytest.mark.parametrize(
    ("changes", "device", "says"),
    [
        ({"python": "3.9.2", "modules": {}}, "auto", "is Python 3.9.2; the worker needs Python 3.11 or newer"),
        (without("torch", missing="torch"), "auto", "lacks torch. Install torch into it with pip"),
        (without("cv2", missing="cv2"), "auto", "Install opencv-python-headless into it"),
        (without("torch", error="OSError: libcudart"), "auto", "cannot load torch: OSError: libcudart"),
        (without("numpy", version="1.23.5"), "auto", "has numpy 1.23.5; the worker needs 1.24 or newer"),
        ({"worker": "ImportError: no"}, "auto", "cannot load AnyMoCap's own code: ImportError: no"),
        ({}, "cuda", "torch is built for CUDA 12.8 but finds no graphics card. Install or update the NVIDIA driver"),
        ({"cuda_build": ""}, "cuda", "is a build for the processor only"),
        ({"cuda": [CARD], "cuda_error": "RuntimeError: no kernel image"}, "auto", "card does not work with this torch"),
        ({}, "mps", "Metal was asked for"),
    ],
)
def test_each_fault_has_one_sentence_and_a_remedy(changes, device, says):
    report = judge({**GOOD, **changes}, "/env/python", device)
    assert [says in str(error) for error in report.errors] == [True], report.errors
    assert report.errors[0].file == "/env/python" and report.errors[0].hint


def test_a_card_that_fails_does_not_matter_to_the_processor():
    report = judge({**GOOD, "cuda": [CARD], "cuda_error": "RuntimeError"}, "/env/python", "cpu")
    assert report.ok and report.device == "processor, 8 threads"


def test_other_versions_warn_and_do_not_refuse():
    report = judge({**GOOD, **without("torch", version="2.6.0+debian")}, "/env/python", "auto")
    assert report.ok and report.warnings == (
        f"It has torch 2.6.0+debian; AnyMoCap is tested with {pinned_versions()['torch']}.",
    )


def test_blenders_own_python_without_packages_is_told_which_zip_brings_them():
    report = judge({**GOOD, **without("torch", missing="torch")}, sys.executable, "auto", own=True)
    assert "Install the AnyMoCap zip for" in str(report.errors[0])


def test_the_probe_is_readable_by_an_old_python():
    """Whatever Python was chosen must get as far as saying its version."""
    import ast

    import anymocap_addon.jobs.worker_probe as probe

    ast.parse(Path(probe.__file__).read_text(), feature_version=(3, 6))
    assert "annotations" not in vars(probe), "from __future__ import annotations needs 3.7"
