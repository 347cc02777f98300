"""Clips: exact frames and times, whatever the container; clear errors for what is no clip."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from anymocap_addon.core.errors import AnyMoCapError, BadInputError
from anymocap_addon.core.video import ffmpeg as ffmpeg_module
from anymocap_addon.core.video.decode import Clip, frames_at, read_clip, timing
from anymocap_addon.core.video.encode import encode, encoder
from anymocap_addon.core.video.ffmpeg import ffmpeg_program
from anymocap_addon.core.video.probe import probe

SIZE = (160, 96)


def numbered(count: int) -> list[np.ndarray]:
    """Frames whose brightness tells their number."""
    return [np.full((SIZE[1], SIZE[0], 3), 20 + 8 * index, np.uint8) for index in range(count)]


def numbers(frames: list[np.ndarray]) -> list[int]:
    """The numbers of such frames."""
    return [round((float(frame.mean()) - 20) / 8) for frame in frames]


def ffmpeg(*arguments: str | Path) -> None:
    """Run ffmpeg for a test's sake."""
    subprocess.run([ffmpeg_program(), "-y", "-loglevel", "error", *map(str, arguments)], check=True)


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    path = tmp_path / "clip.mp4"
    encode(path, numbered(24), 24.0)
    return path


def test_a_program_that_lost_its_permission_gets_it_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "binaries" / "ffmpeg-linux"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho ran\n")
    program.chmod(0o644)
    unpacked = SimpleNamespace(__file__=str(tmp_path / "__init__.py"), get_ffmpeg_exe=lambda: str(program))
    monkeypatch.setattr(ffmpeg_module, "imageio_ffmpeg", unpacked)
    assert subprocess.run([ffmpeg_program()], capture_output=True, text=True, check=True).stdout == "ran\n"


@pytest.mark.parametrize("fps", [24.0, 30000 / 1001, 12.5, 60.0])
def test_frames_and_times_come_back_exactly(tmp_path: Path, fps: float) -> None:
    path = tmp_path / "a clip – ü.mp4"
    assert encode(path, numbered(24), fps) == 24
    frames, times = read_clip(path)
    assert numbers(frames) == list(range(24))
    assert times.fps == pytest.approx(fps, rel=1e-6) and not times.variable
    np.testing.assert_allclose(times.pts, np.arange(24) / fps, atol=1e-4)


def test_colours_survive(tmp_path: Path) -> None:
    colours = np.array([[200, 40, 40], [40, 180, 60], [50, 60, 210], [128, 130, 134]], np.uint8)
    picture = np.repeat(np.repeat(colours[None], 96, 0), 40, 1)
    encode(tmp_path / "c.mp4", [picture] * 4, 24.0, crf=8)
    frames, _ = read_clip(tmp_path / "c.mp4")
    got = frames[1].reshape(96, 4, 40, 3)[20:70, :, 10:30].mean((0, 2))
    np.testing.assert_allclose(got, colours, atol=4)


def test_rotation_is_applied(tmp_path: Path, clip: Path) -> None:
    picture = np.zeros((96, 160, 3), np.uint8)
    picture[:48, :80] = 255  # upper left
    encode(tmp_path / "upright.mp4", [picture] * 4, 24.0)
    ffmpeg("-display_rotation", "-90", "-i", tmp_path / "upright.mp4", "-c", "copy", tmp_path / "turned.mp4")
    frames, _ = read_clip(tmp_path / "turned.mp4")
    assert frames[0].shape == (160, 96, 3) and abs(probe(tmp_path / "turned.mp4").rotation_deg) == 90
    corners = [float(frames[0][y, x].mean()) for y, x in ((20, 20), (20, 75), (140, 20), (140, 75))]
    assert [value > 128 for value in corners] == [False, True, False, False]  # clockwise: it moved to the right


def test_pixel_aspect_and_alpha(tmp_path: Path) -> None:
    encode(tmp_path / "a.mp4", numbered(4), 24.0)
    ffmpeg("-i", tmp_path / "a.mp4", "-vf", "setsar=2/1", tmp_path / "wide.mp4")
    assert read_clip(tmp_path / "wide.mp4")[0][0].shape == (96, 320, 3)
    source = "color=c=red@0.0:s=160x96:r=24:d=0.25,format=rgba"
    ffmpeg("-f", "lavfi", "-i", source, "-c:v", "png", tmp_path / "clear.mov")
    frames, _ = read_clip(tmp_path / "clear.mov")
    assert frames[0][40, 40].tolist() == [128, 130, 134]  # the studio's wall, not the red that alpha hides


def test_a_variable_rate_is_seen_and_frames_are_found_by_time(tmp_path: Path, clip: Path) -> None:
    path = tmp_path / "uneven.mkv"
    ffmpeg("-i", clip, "-vf", "setpts=N/24/TB+gte(N\\,12)*0.5/TB", "-fps_mode", "passthrough", path)
    frames, times = read_clip(path)
    assert len(frames) == 24 and times.variable and times.fps == pytest.approx(24, rel=0.03)
    assert times.pts[12] - times.pts[11] == pytest.approx(0.5 + 1 / 24, abs=2e-3)
    shown = numbers(list(frames_at(path, np.array([0.0, 11 / 24, 0.6, 0.9, 23 / 24 + 0.5, 99.0]))))
    assert shown == [0, 11, 11, 12, 23, 23]


def test_claimed_rates_are_checked() -> None:
    assert timing(np.arange(50) / 24, 1000.0).fps == pytest.approx(24.0)
    assert timing(np.arange(120) * 1001 / 30000, 29.97).fps == pytest.approx(30000 / 1001, rel=1e-9)
    assert timing(np.round(np.arange(120) / 24, 3), 24.0).fps == 24.0  # a clock of milliseconds
    assert timing(np.arange(100) / 29.5, 29.5).fps == pytest.approx(29.5)
    assert timing(np.delete(np.arange(60) / 24, 30), 24.0).variable  # one frame is missing


def test_files_that_are_no_clip_are_named(tmp_path: Path, clip: Path) -> None:
    empty, junk, head = tmp_path / "empty.mp4", tmp_path / "junk.mp4", tmp_path / "head.mp4"
    empty.write_bytes(b"")
    junk.write_bytes(bytes(range(256)) * 4)
    head.write_bytes(clip.read_bytes()[:900])
    sound = tmp_path / "sound.wav"
    ffmpeg("-f", "lavfi", "-i", "sine=d=0.1", sound)
    cases = {
        empty: "zero bytes",
        junk: "cannot be read",
        head: "cut in its header",
        tmp_path / "none.mp4": "does not exist",
        tmp_path: "folder",
        sound: "no video",
    }
    for path, words in cases.items():
        with pytest.raises(BadInputError, match=words) as caught:
            list(Clip(path))
        assert path.name in str(caught.value)


def test_too_few_frames(tmp_path: Path) -> None:
    encode(tmp_path / "one.mp4", numbered(1), 24.0)
    clip = Clip(tmp_path / "one.mp4")
    assert numbers(list(clip)) == [0]
    with pytest.raises(BadInputError, match=r"has 1 frame; a motion needs at least 3"):
        clip.require_frames()


def test_a_clip_cut_in_the_middle_gives_what_is_there(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    encode(tmp_path / "whole.mp4", rng.integers(0, 255, (48, 96, 160, 3), np.uint8), 24.0)
    data = (tmp_path / "whole.mp4").read_bytes()
    (tmp_path / "cut.mp4").write_bytes(data[: len(data) // 2])
    whole, cut = Clip(tmp_path / "whole.mp4"), Clip(tmp_path / "cut.mp4")
    originals, rest = list(whole), list(cut)
    assert whole.lost_frames == 0
    assert 10 < len(rest) < 40 and cut.lost_frames == 48 - len(rest)
    np.testing.assert_array_equal(rest[: len(rest) - 8], originals[: len(rest) - 8])


def test_a_broken_encoding_leaves_the_old_file(tmp_path: Path, clip: Path) -> None:
    before = clip.read_bytes()
    with pytest.raises(RuntimeError), encoder(clip, SIZE, 24.0) as out:
        out.write(numbered(1)[0])
        raise RuntimeError("the step failed")
    with pytest.raises(AnyMoCapError, match="without frames"):
        encode(clip, [], 24.0)
    assert clip.read_bytes() == before and [path.name for path in tmp_path.iterdir()] == [clip.name]


def test_stopping_early_ends_the_decoder(clip: Path) -> None:
    reading = iter(Clip(clip))
    next(reading)
    reading.close()
    again = Clip(clip)
    assert len(list(again)) == 24 and again.complete


@pytest.mark.needs_assets
@pytest.mark.parametrize(
    ("name", "size", "frames", "fps"),
    [
        ("01_dog.mp4", (1280, 720), 289, 30000 / 1001),
        ("av1_video.mkv", (640, 360), 125, 25.0),
        ("bt709_full_range.mp4", (1280, 720), 30, 30.0),
        ("h264_10bits.mp4", (200, 200), 30, 30.0),
        ("h265_10bits.mp4", (200, 200), 30, 30.0),
        ("h265_video.mp4", (128, 128), 10, 10.0),
        ("nasa_13013.mp4", (480, 270), 390, 30000 / 1001),
    ],
)
def test_real_clips(assets_dir: Path, name: str, size: tuple[int, int], frames: int, fps: float) -> None:
    clip = Clip(assets_dir / "clips" / name)
    shapes = {picture.shape for picture in clip}
    assert shapes == {(size[1], size[0], 3)} and len(clip.times) == frames and clip.lost_frames == 0
    assert clip.timing().fps == pytest.approx(fps, rel=1e-6) and not clip.timing().variable
