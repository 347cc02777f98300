"""Any video file or numbered pictures become one form of clip: frames counted, told apart by their brightness."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from anymocap_addon.core.clip_source import added_video, clip_video
from anymocap_addon.core.detect.detect import shown_times
from anymocap_addon.core.errors import AnyMoCapError, BadInputError
from anymocap_addon.core.formats import read_json
from anymocap_addon.core.layout import WALL
from anymocap_addon.core.project import Project
from anymocap_addon.core.stage_context import StageContext
from anymocap_addon.core.video import take
from anymocap_addon.core.video.decode import read_clip
from anymocap_addon.core.video.encode import encode
from anymocap_addon.core.video.ffmpeg import ffmpeg_program
from anymocap_addon.core.video.probe import probe

COUNT, SIZE = 12, (96, 64)


def numbered(count: int = COUNT, size: tuple[int, int] = SIZE) -> list[np.ndarray]:
    """Frames whose left half tells their number; the right half is black."""
    frames = []
    for index in range(count):
        frame = np.zeros((size[1], size[0], 3), np.uint8)
        frame[:, : size[0] // 2] = 30 + 15 * index
        frames.append(frame)
    return frames


def numbers(frames: list[np.ndarray]) -> list[int]:
    return [round((float(frame[8:-8, 4 : frame.shape[1] // 2 - 8].mean()) - 30) / 15) for frame in frames]


def ffmpeg(*arguments: Any) -> None:
    subprocess.run([ffmpeg_program(), "-y", "-loglevel", "error", *map(str, arguments)], check=True)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """The frames as a file that loses nothing."""
    folder = tmp_path / "raw"
    folder.mkdir()
    for index, frame in enumerate(numbered()):
        cv2.imwrite(str(folder / f"{index:03d}.png"), frame)
    path = tmp_path / "raw.mkv"
    ffmpeg("-r", 24, "-i", folder / "%03d.png", "-c:v", "ffv1", path)
    return path


def taken(tmp_path: Path, video: Path | str, **settings: Any) -> tuple[list[np.ndarray], Any, dict[str, Any]]:
    """Take the video in; returns frames, timing and take.json."""
    project = Project(tmp_path / "prö ject")
    ctx = StageContext(
        project, project.creature("fox"), {"clip": "walk", "video": str(video), "threads": 1, **settings}
    )
    result = take.run(ctx)
    files = ctx.paths.clip("walk")
    assert clip_video(ctx.paths, "walk") == files.taken == Path(result["video"])
    frames, timing = read_clip(files.taken, 1)
    told = read_json(files.take_json, "take")
    assert len(frames) == told["frames"] and timing.fps == pytest.approx(told["fps"]) and not timing.variable
    assert not list(files.folder.glob(".writing-*"))
    return frames, timing, told


def is_plain(path: Path) -> bool:
    info = probe(path)
    even = info.width % 2 == info.height % 2 == 0
    square = (info.width, info.height) == (info.coded_width, info.coded_height)
    return (info.codec, info.pixel_format) == ("h264", "yuv420p") and even and square and not info.has_audio


CODECS = {
    "hevc.mp4": ["-c:v", "libx265", "-crf", 8, "-x265-params", "log-level=none", "-tag:v", "hvc1"],
    "hevc10.mp4": ["-c:v", "libx265", "-crf", 8, "-pix_fmt", "yuv420p10le", "-x265-params", "log-level=none"],
    "h264_10.mp4": ["-c:v", "libx264", "-crf", 8, "-pix_fmt", "yuv420p10le"],
    "vp9.webm": ["-c:v", "libvpx-vp9", "-crf", 8, "-b:v", 0],
    "av1.mkv": ["-c:v", "libaom-av1", "-crf", 10, "-cpu-used", 8],
    "prores.mov": ["-c:v", "prores_ks", "-profile:v", 3],
    "mpeg4.avi": ["-c:v", "mpeg4", "-q:v", 2],
    "full_range.mp4": ["-c:v", "libx264", "-crf", 8, "-pix_fmt", "yuvj420p"],
}


@pytest.mark.parametrize("name", CODECS)
def test_every_codec_gives_every_frame_once(tmp_path: Path, raw: Path, name: str) -> None:
    ffmpeg("-i", raw, *CODECS[name], tmp_path / name)
    frames, timing, told = taken(tmp_path, tmp_path / name)
    assert numbers(frames) == list(range(COUNT))
    assert timing.fps == 24 and told["source_frames"] == COUNT and "shown_s" not in told and not told["copied"]
    assert is_plain(tmp_path / "prö ject" / "runs" / "fox" / "clips" / "walk" / "source.mp4")


def test_a_clip_that_is_so_already_is_copied_bit_by_bit_and_loses_its_sound(tmp_path: Path) -> None:
    encode(tmp_path / "silent.mp4", numbered(), 24.0)
    ffmpeg(
        "-i", tmp_path / "silent.mp4", "-f", "lavfi", "-i", "sine", "-c:v", "copy", "-shortest", tmp_path / "loud.mp4"
    )
    assert probe(tmp_path / "loud.mp4").has_audio
    frames, _, told = taken(tmp_path, tmp_path / "loud.mp4")
    assert told["copied"] and told["original"]["has_audio"]
    before, _ = read_clip(tmp_path / "silent.mp4", 1)
    assert all((a == b).all() for a, b in zip(before, frames, strict=True))
    assert is_plain(tmp_path / "prö ject" / "runs" / "fox" / "clips" / "walk" / "source.mp4")


def test_rotation_and_pixel_aspect_are_applied(tmp_path: Path) -> None:
    encode(tmp_path / "flat.mp4", numbered(), 24.0)
    ffmpeg("-display_rotation", 90, "-i", tmp_path / "flat.mp4", "-c", "copy", tmp_path / "turned.mp4")
    frames, _, told = taken(tmp_path, tmp_path / "turned.mp4")
    assert frames[0].shape == (SIZE[0], SIZE[1], 3) and not told["copied"] and told["original"]["rotation_deg"] == 90
    assert frames[5][-20:].mean() > 90 > 20 > frames[5][:20].mean(), "the bright half was left, so it is below now"
    ffmpeg("-i", tmp_path / "flat.mp4", "-vf", "setsar=3/2", "-crf", 8, tmp_path / "wide.mp4")
    shutil.rmtree(tmp_path / "prö ject")
    frames, _, _ = taken(tmp_path, tmp_path / "wide.mp4")
    assert frames[0].shape == (SIZE[1], 144, 3) and numbers(frames) == list(range(COUNT))


def test_odd_sizes_are_padded_and_not_scaled(tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    for index, frame in enumerate(numbered(size=(97, 63))):
        cv2.imwrite(str(folder / f"{index:03d}.png"), frame)
    ffmpeg("-r", 24, "-i", folder / "%03d.png", "-c:v", "ffv1", tmp_path / "odd.mkv")
    frames, _, told = taken(tmp_path, tmp_path / "odd.mkv")
    assert frames[0].shape == (64, 98, 3) and told["padded"] == [1, 1] and numbers(frames) == list(range(COUNT))


def test_alpha_lies_on_the_wall_grey(tmp_path: Path, raw: Path) -> None:
    cut = "format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='if(lt(X,48),255,0)'"
    ffmpeg("-i", raw, "-vf", cut, "-c:v", "qtrle", tmp_path / "alpha.mov")
    frames, _, told = taken(tmp_path, tmp_path / "alpha.mov")
    assert told["original"]["has_alpha"] and numbers(frames) == list(range(COUNT))
    assert np.abs(frames[3][8:-8, 60:-8].mean((0, 1)) - WALL).max() < 3


def test_fields_are_woven_and_no_frame_is_doubled(tmp_path: Path, raw: Path) -> None:
    # Each frame of the file holds two moments, half a frame apart.
    weave = "scale=96:64,interlace=scan=tff:lowpass=0"
    ffmpeg("-i", raw, "-vf", weave, "-c:v", "mpeg2video", "-flags", "+ilme+ildct", "-q:v", 1, tmp_path / "tv.mpg")
    assert probe(tmp_path / "tv.mpg").interlaced
    frames, _, told = taken(tmp_path, tmp_path / "tv.mpg")
    assert told["original"]["interlaced"] and len(frames) == told["source_frames"]
    left = np.array([frame[8:-8, 4:40].astype(float) for frame in frames[1:-1]])
    comb = np.abs(np.diff(left, axis=1)).mean()
    assert comb < 3, "no comb: the rows of both fields show one moment"


def test_a_late_start_begins_at_zero(tmp_path: Path, raw: Path) -> None:
    ffmpeg(
        "-i", raw, "-output_ts_offset", 1.5, "-c:v", "libx264", "-crf", 8, "-pix_fmt", "yuv420p", tmp_path / "late.mkv"
    )
    frames, timing, told = taken(tmp_path, tmp_path / "late.mkv")
    assert numbers(frames) == list(range(COUNT)) and timing.pts[0] == 0
    assert told["source_frames"] == COUNT


def test_a_variable_rate_is_laid_on_even_steps_and_its_true_times_are_kept(tmp_path: Path, raw: Path) -> None:
    # Frames 6 and later come 2 frames late: a hole of two steps.
    late = "setpts='(N+2*gte(N,6))/24/TB'"
    ffmpeg("-i", raw, "-vf", late, "-fps_mode", "vfr", "-c:v", "libx264", "-crf", 8, "-pix_fmt", "yuv420p",
           "-video_track_timescale", 24000, tmp_path / "vfr.mp4")  # fmt: skip
    frames, timing, told = taken(tmp_path, tmp_path / "vfr.mp4")
    assert timing.fps == pytest.approx(24, rel=1e-3) and len(frames) == COUNT + 2 and told["source_frames"] == COUNT
    assert numbers(frames)[:6] == list(range(6)) and numbers(frames)[8:] == list(range(6, COUNT))
    assert set(numbers(frames)) == set(range(COUNT)), "no frame is lost"
    shown = np.array(told["shown_s"])
    assert len(shown) == len(frames) and len(set(shown)) == COUNT and any("varies" in text for text in told["warnings"])
    paths = Project(tmp_path / "prö ject").creature("fox")
    read = shown_times(paths.clip("walk"), clip_video(paths, "walk"))
    assert read is not None and np.allclose(read, shown)


def test_a_gif_is_as_even_as_hundredths_of_a_second_allow(tmp_path: Path, raw: Path) -> None:
    ffmpeg("-i", raw, tmp_path / "walk.gif")
    frames, timing, _ = taken(tmp_path, tmp_path / "walk.gif")
    assert numbers(frames) == list(range(COUNT)) and timing.fps == pytest.approx(24, rel=0.02)


def test_another_rate_can_be_asked_for(tmp_path: Path, raw: Path) -> None:
    frames, timing, _ = taken(tmp_path, raw, rate=12.0)
    assert numbers(frames) == list(range(COUNT)) and timing.fps == 12


@pytest.mark.parametrize("form", ["folder", "pattern", "printf", "one of them"])
def test_numbered_pictures_in_the_order_of_their_numbers(tmp_path: Path, form: str) -> None:
    folder = tmp_path / "bilder ü"
    folder.mkdir()
    for index, frame in enumerate(numbered()):
        deep = frame.astype(np.uint16) * 257
        picture = np.dstack([deep, np.full(deep.shape[:2], 65535, np.uint16)]) if index % 2 else frame
        (folder / f"walk_{index + 5}.png").write_bytes(cv2.imencode(".png", picture)[1].tobytes())
    (folder / "cover.png").write_bytes(b"no picture")
    named = {"folder": folder, "pattern": folder / "walk_##.png", "printf": folder / "walk_%d.png",
             "one of them": folder / "walk_5.png"}[form]  # fmt: skip
    frames, timing, told = taken(tmp_path, named)
    assert numbers(frames) == list(range(COUNT)) and timing.fps == 24 and told["original"]["pictures"] == COUNT
    kept = tmp_path / "prö ject" / "runs" / "fox" / "clips" / "walk" / "original"
    assert len(list(kept.rglob("walk_*.png"))) == COUNT


def test_a_missing_number_is_a_hole_in_time(tmp_path: Path) -> None:
    folder = tmp_path / "shots"
    folder.mkdir()
    for index, frame in enumerate(numbered()):
        if index != 4:
            cv2.imwrite(str(folder / f"{index:04d}.png"), frame)
    frames, timing, told = taken(tmp_path, folder, rate=25.0)
    assert len(frames) == COUNT and timing.fps == 25 and told["original"]["missing"] == 1
    assert numbers(frames)[5:] == list(range(5, COUNT)) and numbers(frames)[4] in (3, 5)
    assert any("no picture" in text for text in told["warnings"])


def test_the_original_is_kept_and_stands_in_when_it_is_gone(tmp_path: Path) -> None:
    encode(tmp_path / "download.mp4", numbered(), 24.0)
    data = (tmp_path / "download.mp4").read_bytes()
    taken(tmp_path, tmp_path / "download.mp4")
    paths = Project(tmp_path / "prö ject").creature("fox")
    assert added_video(paths, "walk") == tmp_path / "download.mp4" and (tmp_path / "download.mp4").read_bytes() == data
    assert (paths.clip("walk").original / "download.mp4").read_bytes() == data
    (tmp_path / "download.mp4").unlink()
    frames, _, told = taken(tmp_path, tmp_path / "download.mp4", rate=12.0)
    assert numbers(frames) == list(range(COUNT)) and told["fps"] == 12


def test_what_is_no_clip_is_refused_and_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encode(tmp_path / "a.mp4", numbered(), 24.0)
    taken(tmp_path, tmp_path / "a.mp4")
    source = tmp_path / "prö ject" / "runs" / "fox" / "clips" / "walk" / "source.mp4"
    before = source.read_bytes()
    with pytest.raises(BadInputError, match="There is a clip 'walk' already"):
        encode(tmp_path / "b.mp4", numbered(), 24.0)
        taken(tmp_path, tmp_path / "b.mp4")
    monkeypatch.setattr(take, "_is_whole", lambda *_: False)
    with pytest.raises(AnyMoCapError, match="does not have the 12 frames that were expected"):
        taken(tmp_path, tmp_path / "a.mp4")
    assert source.read_bytes() == before and not list(source.parent.glob(".writing-*"))
    monkeypatch.undo()
    project = Project(tmp_path / "other")
    for video, says in (("", "There is no clip"), (tmp_path / "gone.mp4", "no such video file"),
                        (tmp_path, "no numbered pictures")):  # fmt: skip
        ctx = StageContext(project, project.creature("fox"), {"clip": "walk", "video": str(video)})
        with pytest.raises(BadInputError, match=says):
            take.run(ctx)
        shutil.rmtree(project.root, ignore_errors=True)
