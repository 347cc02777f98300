"""The project folder: where every file of a creature, a clip and an exam lies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .errors import BadInputError

MESH_SUFFIXES = (".glb", ".gltf", ".fbx", ".obj", ".usd", ".usda", ".usdc", ".usdz")
_LONGEST_BYTES = 160  # a name becomes part of longer ones, of at most 255 bytes
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\ud800-\udfff]')  # surrogates: bytes of a name that is no UTF-8


def check_name(name: str, what: str) -> str:
    """A name that can be a folder on every system.

    Raises:
        BadInputError: empty, a dot at an end, or a character that a file system refuses.
    """
    if not is_name(name):
        too_long = len(name) > _LONGEST_BYTES // 4
        raise BadInputError(
            f"{what} {name[:40] + '…' if too_long else name!r} cannot be a folder's name.",
            hint="Use letters, digits, spaces, '-' and '_', without a space or dot at either end, and not too many.",
        )
    return name


def is_name(name: object) -> bool:
    """Whether a name is made as `check_name` wants it; hidden folders of the system are not."""
    if not isinstance(name, str):
        return False
    short = len(name.encode("utf-8", "surrogatepass")) <= _LONGEST_BYTES
    return bool(name) and short and name.strip(" .") == name and not _FORBIDDEN.search(name)


@dataclass(frozen=True)
class ClipPaths:
    """Files of one captured clip: runs/<c>/clips/<name>/."""

    name: str
    folder: Path

    @property
    def source(self) -> Path:
        """Says which video the clip is; there is none for exam clips and clips that were named by their file alone."""
        return self.folder / "clip.json"

    @property
    def taken(self) -> Path:
        """The clip as every stage reads it; `take_json` vouches for it."""
        return self.folder / "source.mp4"

    @property
    def take_json(self) -> Path:
        return self.folder / "take.json"

    @property
    def original(self) -> Path:
        """Folder with a copy of the clip as it came, when it came from outside the project."""
        return self.folder / "original"

    @property
    def gate_json(self) -> Path:
        return self.folder / "gate.json"

    @property
    def gate_png(self) -> Path:
        return self.folder / "gate.png"

    @property
    def det(self) -> Path:
        return self.folder / "det.npz"

    @property
    def overlay(self) -> Path:
        return self.folder / "overlay.mp4"

    @property
    def preview(self) -> Path:
        return self.folder / "preview.npy"

    @property
    def preview_json(self) -> Path:
        return self.folder / "preview.json"

    @property
    def motion(self) -> Path:
        return self.folder / "motion.json"

    @property
    def joints(self) -> Path:
        return self.folder / "joints.json"

    @property
    def applied_blend(self) -> Path:
        return self.folder / "applied.blend"

    @property
    def animation_glb(self) -> Path:
        return self.folder / "render" / "animation.glb"

    @property
    def persp(self) -> Path:
        return self.folder / "render" / "persp"

    @property
    def side(self) -> Path:
        return self.folder / "render" / "side"

    @property
    def showcase(self) -> Path:
        return self.folder / "showcase.mp4"

    @property
    def report_json(self) -> Path:
        return self.folder / "report.json"

    @property
    def report_png(self) -> Path:
        return self.folder / "report.png"


@dataclass(frozen=True)
class ExamPaths:
    """Files of one exam: runs/<c>/exam/<name>/."""

    name: str
    folder: Path

    @property
    def frames(self) -> Path:
        return self.folder / "frames"

    @property
    def clip(self) -> Path:
        return self.folder / "clip.mp4"

    @property
    def truth(self) -> Path:
        return self.folder / "truth.npz"


@dataclass(frozen=True)
class CreaturePaths:
    """Files of one creature: assets/<c>/, prompts/<c>/ and runs/<c>/."""

    root: Path
    name: str

    @property
    def assets(self) -> Path:
        return self.root / "assets" / self.name

    @property
    def runs(self) -> Path:
        return self.root / "runs" / self.name

    def model(self) -> Path:
        """The creature's mesh file assets/<c>/model.*; the .glb path when there is none yet."""
        for suffix in MESH_SUFFIXES:
            path = self.assets / f"model{suffix}"
            if path.exists():
                return path
        return self.assets / "model.glb"

    @property
    def creature_json(self) -> Path:
        return self.assets / "creature.json"

    @property
    def rig_json(self) -> Path:
        return self.assets / "rig.json"

    @property
    def rig_sheet(self) -> Path:
        """The skeleton of rig.json in the mesh, on a grid in metres."""
        return self.assets / "rig_grid.png"

    @property
    def skin_json(self) -> Path:
        return self.assets / "rigged" / "skin_check.json"

    @property
    def skin_png(self) -> Path:
        """The test pose, with what the skin does not bear in red."""
        return self.assets / "rigged" / "skin_check.png"

    @property
    def bone_map(self) -> Path:
        return self.assets / "bone_map.json"

    @property
    def checkup_json(self) -> Path:
        return self.assets / "checkup.json"

    @property
    def facing_png(self) -> Path:
        """The question which way the creature faces."""
        return self.assets / "facing.png"

    @property
    def static_blend(self) -> Path:
        return self.assets / "prep" / "static.blend"

    @property
    def rigged_blend(self) -> Path:
        return self.assets / "rigged" / "rigged.blend"

    @property
    def rig_info(self) -> Path:
        return self.assets / "rigged" / "rig_info.json"

    @property
    def ref_png(self) -> Path:
        return self.runs / "ref" / "ref.png"

    @property
    def dataset(self) -> Path:
        return self.runs / "dataset"

    @property
    def dataset_sheet(self) -> Path:
        return self.runs / "dataset_samples.jpg"

    @property
    def reader_pt(self) -> Path:
        return self.runs / "reader.pt"

    @property
    def jobs(self) -> Path:
        return self.runs / "jobs"

    @property
    def stages(self) -> Path:
        return self.runs / "stages"

    @property
    def prompts(self) -> Path:
        return self.root / "prompts" / self.name

    def prompt(self, move: str) -> Path:
        """prompts/<c>/<move>.txt"""
        return self.prompts / f"{check_name(move, 'The move')}.txt"

    def prompt_made(self, move: str) -> Path:
        """prompts/<c>/<move>.json, which knows the prompt as it was made."""
        return self.prompt(move).with_suffix(".json")

    @property
    def all_videos(self) -> Path:
        return self.runs / "videos"

    def videos(self, move: str) -> Path:
        """runs/<c>/videos/<move>/"""
        return self.all_videos / check_name(move, "The move")

    def video(self, move: str, seed: int, model: str) -> Path:
        """runs/<c>/videos/<move>/s<seed>/<model>.mp4"""
        return self.videos(move) / f"s{seed}" / f"{model}.mp4"

    def clip(self, name: str) -> ClipPaths:
        """Files of the clip called `name`."""
        return ClipPaths(name, self.runs / "clips" / check_name(name, "The clip"))

    def exam(self, name: str) -> ExamPaths:
        """Files of the exam called `name`."""
        return ExamPaths(name, self.runs / "exam" / check_name(name, "The exam"))

    def stage_record(self, stage: str, clip: str | None = None) -> Path:
        """runs/<c>/stages/<stage>.json, or <stage>.<clip>.json for stages that run once a clip."""
        return self.stages / (f"{stage}.{check_name(clip, 'The clip')}.json" if clip else f"{stage}.json")


@dataclass(frozen=True)
class Project:
    """A project folder."""

    root: Path

    def __post_init__(self) -> None:
        try:
            root = Path(self.root).expanduser().resolve()
        except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: ~somebody who has no home
            raise BadInputError(
                f"The project folder {str(self.root)[:200]!r} cannot be one ({error}).", hint="Choose another folder."
            ) from error
        object.__setattr__(self, "root", root)

    def creature(self, name: str) -> CreaturePaths:
        """Files of the creature called `name`."""
        return CreaturePaths(self.root, check_name(name, "The creature"))

    def creatures(self) -> list[str]:
        """Names of the creatures that have a folder under assets/."""
        folder = self.root / "assets"
        return sorted(p.name for p in folder.iterdir() if is_name(p.name) and p.is_dir()) if folder.is_dir() else []
