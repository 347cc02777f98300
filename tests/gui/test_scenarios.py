"""A window of a real Blender, driven by clicks and keys. Pictures of each scenario are kept in build/gui/<scenario>."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import imageio_ffmpeg
import pytest
from fal_server import FalServer
from film_project import KEY
from real_blender import PICTURES, RealBlender, wait

import anymocap_addon
from anymocap_addon.jobs.alive import process_alive


def test_try_the_example(blender: RealBlender) -> None:
    played = blender.play("first_time", 400)
    assert len(played.result["scrubbed"]) == 2


def test_from_prep_to_apply_by_clicks(blender: RealBlender, tmp_path: Path) -> None:
    blender.play("whole_way", 600, project=tmp_path / "project")


def test_a_skeleton_is_placed_dragged_written_and_tried(blender: RealBlender, tmp_path: Path) -> None:
    blender.play("skeleton", 200, project=tmp_path / "project")


def test_undo_takes_away_exactly_the_action(blender: RealBlender, project: Path) -> None:
    played = blender.play("undo", 240, blend=project / "scene.blend")
    assert len(played.result["actions"]) == 1


def test_the_overlay_is_scrubbed_moved_and_resized(blender: RealBlender, project: Path) -> None:
    assert blender.play("overlay", 300, blend=project / "scene.blend").result["fault"] == ""


def test_training_is_shown_cancelled_resumed_and_survives_a_crash(blender: RealBlender, project: Path) -> None:
    result = blender.play("training", 400, blend=project / "scene.blend").result
    # What a slow redraw takes is the screen's; the rest of a gap is ours.
    assert result["heartbeat_p95_ms"] < result["redraw_ms"] + 20.0, result
    assert "Traceback" not in result["crash"]


def test_disabling_ends_what_runs(blender: RealBlender, project: Path) -> None:
    blender.play("disable", 400, blend=project / "scene.blend")


def test_a_job_survives_another_file_scene_and_window(blender: RealBlender, project: Path) -> None:
    blender.play("reload", 400, blend=project / "scene.blend")


def test_what_happens_to_the_armature_while_its_motion_is_fitted(blender: RealBlender, project: Path) -> None:
    blender.play("armature", 400, blend=project / "scene.blend")


def test_a_killed_blender_takes_its_worker_along_and_the_job_goes_on(blender: RealBlender, project: Path) -> None:
    process = blender.start_scenario("killed", 300, blend=project / "scene.blend")
    ended = wait(process, 340)
    died = time.monotonic()
    assert ended.code == 137, ended.output
    first = json.loads((PICTURES / "killed" / "result.json").read_text(encoding="utf-8"))
    while process_alive(first["worker"]):
        assert time.monotonic() - died < 3.0, "the worker outlives its Blender"
        time.sleep(0.05)
    second = blender.play("after_the_kill", 300, blend=project / "scene.blend").result
    assert second["done"] >= first["done"] > 0


def test_the_preferences_keep_a_key_out_of_blenders_files(blender: RealBlender) -> None:
    result = blender.play("preferences", 240).result
    assert "Python" in result["worker"]
    folder = Path(result["kept_in"]).parents[4]
    assert (folder / "config" / "userpref.blend").is_file(), "the searched folder is Blender's user folder"
    holding = [path for path in folder.rglob("*") if path.is_file() and result["key"].encode() in path.read_bytes()]
    assert holding == [Path(result["kept_in"])]


def test_a_film_is_paid_once_whatever_happens(
    blender: RealBlender, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FalServer() as server:
        monkeypatch.setenv("ANYMOCAP_FAL_URL", server.url)
        monkeypatch.setenv("FAL_KEY", KEY)
        account = server.account(KEY)
        account.films = films(tmp_path)
        account.queue_looks, account.work_looks = 6, 6
        process = blender.start_scenario("film", 400, blend=project / "scene.blend", server=server.url, key=KEY)
        ended = wait(process, 540)
        assert ended.code == 137, ended.output[-6000:]
        first = json.loads((PICTURES / "film" / "result.json").read_text(encoding="utf-8"))
        assert first["verdicts"] == ["good", "refused"] and first["reasons"], first
        assert [len(account.jobs), account.posts] == [5, 5], "seeds 1 and 2, the lost one, the withdrawn one, the last"
        assert [job.cancelled for job in account.jobs] == [False, False, False, True, False]
        second = blender.play("film_fetched", 300, blend=project / "scene.blend").result
        assert second["seeds"] == [1, 2, 3, 5], second
        assert account.posts == 5, "what went on is fetched, not sent again"


def films(folder: Path) -> list[bytes]:
    """A film of the lynx that walks, and one in which it stands still."""
    walking = Path(anymocap_addon.__file__).parent / "example" / "clip.mp4"
    still = folder / "still.mp4"
    command = [
        imageio_ffmpeg.get_ffmpeg_exe(),
        "-v",
        "error",
        "-i",
        str(walking),
        "-vf",
        "loop=60:1:0",
        "-frames:v",
        "60",
    ]
    subprocess.run([*command, str(still)], check=True)
    return [walking.read_bytes(), still.read_bytes()]
