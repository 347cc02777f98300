"""What ended well can be poor: the bounds, in words with the remedy, in every place that says how good it is."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from pretended import pretend_creature, pretend_run
from tiny_stages import COPY

from anymocap_addon.cli import main
from anymocap_addon.commands import batch
from anymocap_addon.commands.batch_table import print_rows
from anymocap_addon.core.formats import read_json
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.core.stage_record import StageRecord
from anymocap_addon.jobs.batch_result import BatchRow
from anymocap_addon.jobs.clip_summary import is_test_of, summarise_clip
from anymocap_addon.jobs.quality import doubt, grade
from anymocap_addon.jobs.stage import Registry
from anymocap_addon.jobs.stage_figure import stage_doubt

POOR = {
    "train": {"median_px": 212.5},
    "detect": {"frames": 51, "sync": {"paw_agreement": 0.88}, "confidence_mean": 0.01, "warnings": []},
    "fit": {"frames": 51, "reproj_px": 187.8},
    "report": {"reader": {"median_px": 207.0}, "fit": {"mean_pct_body": 34.4}},
}


@pytest.fixture
def paths(tmp_path: Path) -> CreaturePaths:
    paths = Project(tmp_path).creature("fox")
    pretend_creature(paths)
    return paths


def poor_capture(paths: CreaturePaths, clip: str, *stages: str, is_test: bool = False) -> None:
    if is_test:
        paths.exam(clip).folder.mkdir(parents=True)
    for stage in stages:
        pretend_run(paths, stage, clip, result=POOR[stage], started="2026-01-02T00:00:00")


@pytest.mark.parametrize(
    ("px", "word"), [(3.6, "good"), (7.0, "good"), (7.1, "usable"), (15.0, "usable"), (15.1, "doubtful")]
)
def test_a_reader_is_graded_by_its_median_error(px, word):
    assert grade(px) == word and grade(math.nan) == "doubtful"


@pytest.mark.parametrize(
    ("stage", "good", "poor"),
    [
        ("train", {"median_px": 15.0}, {"median_px": 15.1}),
        ("detect", {"confidence_mean": 0.35}, {"confidence_mean": 0.34}),
        ("fit", {"reproj_px": 15.0}, {"reproj_px": 15.1}),
        ("report", {"reader": {"median_px": 15.0}, "fit": {"mean_pct_body": 3.0}}, {"reader": {"median_px": 15.1}}),
        ("report", {"reader": {"median_px": None}}, {"reader": {"median_px": 4.0}, "fit": {"mean_pct_body": 3.1}}),
    ],
)
def test_a_bound_is_passed_or_not(stage, good, poor):
    assert doubt(stage, good) == "" and doubt(stage, poor).endswith(".")
    assert doubt(stage, {}) == "", "a figure that another version did not write speaks against nothing"


def test_a_doubt_names_figure_and_remedy():
    assert stage_doubt(StageRecord("train", "done", result=POOR["train"])) == (
        "212 px off on unseen poses: too far off to read a clip. Train longer (length: long) or draw more poses."
    )
    assert stage_doubt(StageRecord("detect", "done", result=POOR["detect"])).startswith(
        "51 frames, feet agree 88 %, confidence 1 %: the reader hardly knows"
    )
    assert stage_doubt(StageRecord("fit", "done", result=POOR["fit"])).startswith("51 frames, 188 px from the reading:")
    assert stage_doubt(StageRecord("train", "failed", result=POOR["train"])) == "" == stage_doubt(None)


def test_a_clip_carries_what_speaks_against_it(paths):
    poor_capture(paths, "walk", "detect", "fit")
    clip = summarise_clip(paths, "walk")
    assert [text.split(":")[0] for text in clip.doubts] == [
        "51 frames, feet agree 88 %, confidence 1 %",
        "51 frames, 188 px from the reading",
    ]
    assert clip.concerns == clip.doubts and clip.score == ""
    for stage in ("detect", "fit", "report"):
        pretend_run(paths, stage, "good")
    good = summarise_clip(paths, "good")
    assert good.doubts == () and good.concerns == good.warnings
    assert good.score == "3.6 px off, fit 0.9 % of the body: good"


def test_a_test_shows_no_figure_as_the_readers_before_it_is_scored(paths):
    poor_capture(paths, "test", "detect", "fit", is_test=True)
    clip = summarise_clip(paths, "test")
    assert clip.is_test and clip.score == "" and not any("px" in figure for figure in clip.figures)
    pretend_run(paths, "report", "test", result=POOR["report"], started="2026-01-02T00:00:00")
    clip = summarise_clip(paths, "test")
    assert clip.score.startswith("207 px off, fit 34.4 % of the body: too far off to read a clip. Train longer")
    assert is_test_of(clip, None) and is_test_of(clip, StageRecord("train", "done", started="2026-01-01T00:00:00"))
    assert not is_test_of(clip, StageRecord("train", "done", started="2026-01-03T00:00:00")), "trained again since"


def test_a_row_of_a_batch_is_done_and_says_that_it_is_doubtful(capsys):
    poor, fine = BatchRow("fox", "walk", "done"), BatchRow("fox", None, "ready")
    poor.note_doubts({"detect": POOR["detect"], "fit": {"frames": 51, "reproj_px": 3.4}})
    fine.note_doubts({"train": {"median_px": 5.2}})
    assert poor.state == "done" and poor.doubtful and poor.message.startswith("doubtful: 51 frames, feet agree 88 %")
    assert (fine.message, fine.doubtful) == ("", False)
    print_rows([poor, fine])
    out = capsys.readouterr().out
    assert "  doubtful: 51 frames" in out and out.endswith("1 done, 1 ready, 1 of them doubtful\n")


@pytest.mark.parametrize(("px", "note"), [(212.5, "doubtful: 212 px off on unseen poses: too far off"), (5.2, "")])
def test_a_batch_with_a_poor_reader_is_done_and_says_so(paths, monkeypatch, px, note):
    (paths.assets / "source.txt").write_text("ambling", encoding="utf-8")
    file = paths.root / "night.toml"
    file.write_text('stages = ["train"]\n[[creature]]\nname = "fox"\n', encoding="utf-8")
    ended = SimpleNamespace(figures={"median_px": px}, skipped=False)
    monkeypatch.setattr(batch, "drive", lambda run, title: ended)
    assert main(["batch", str(file)], Registry((replace(COPY, name="train"),))) == 0
    [entry] = read_json(paths.root / "night.batch.json", "batch")["entries"]
    assert entry["state"] == "done" and entry["message"].startswith(note) and bool(entry["message"]) == bool(note)
