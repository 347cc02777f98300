"""The stages of AnyMoCap: the one table from which command line, operators and status are made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core.checkup.orientation import UPS
from ..core.clip_source import clip_video, numbered_pictures, original_video
from ..core.film.models import PROJECT_FILE
from ..core.film.takes import film_files
from ..core.project import ClipPaths, CreaturePaths
from ..core.rig_template import template_names
from ..core.room import ROOMS
from .setting import Setting
from .stage import Registry, Stage, Step

Values = dict[str, Any]

CLIP = Setting("clip", "name", help="name of the clip", required=True)
SEED = Setting("seed", "integer", 0, "seed of the random choices", minimum=0)
THREADS = Setting("threads", "integer", 0, "threads, 0 = all cores", minimum=0, maximum=256, portable=True)
PROCESSES = Setting(
    "processes",
    "integer",
    0,
    "background processes, 0 = one for each core",
    minimum=0,
    maximum=64,
    portable=True,
)


# What every stage that costs money asks. A yes holds for one run.
PAYING = (
    Setting("yes", "flag", False, "pay for what is new; without it the cost is told and nothing is sent", once=True),
    Setting(
        "ceiling",
        "number",
        None,
        "most that this creature may cost a day, 0 = no ceiling; left out = creature.json",
        "US dollars",
        0.0,
        100000.0,
        optional=True,
        portable=True,
    ),
    Setting(
        "on_unknown",
        "text",
        "ask",
        "what to do with requests of which nobody knows whether fal took them",
        choices=("ask", "resend", "forget"),
        once=True,
    ),
    Setting("request", "text", "", "id of such a request that was found in the fal account: follow it", once=True),
    Setting("withdraw", "flag", False, "send nothing; drop what still waits in fal's queue, fetch the rest", once=True),
    Setting("poll", "number", 3.0, "time between two looks at fal's queue", "s", 0.01, 60.0, portable=True),
)


def _clip(paths: CreaturePaths, values: Values) -> ClipPaths:
    return paths.clip(values["clip"])


def _mesh(paths: CreaturePaths, values: Values) -> Path:
    return Path(paths.root, values["mesh"]) if values["mesh"] else paths.model()


def _video(paths: CreaturePaths, values: Values) -> Path:
    if values.get("video"):
        return Path(paths.root, values["video"])
    return clip_video(paths, values["clip"])


def _original(paths: CreaturePaths, values: Values) -> list[Path]:
    """A pattern of pictures is no file: its folder stands for it."""
    named = Path(paths.root, values["video"]) if values.get("video") else original_video(paths, values["clip"])
    if named is None:
        return []
    return [named.parent if numbered_pictures(named) else named]


EXAMPLE = Stage(
    name="example",
    label="Example creature",
    help="write the built-in creature: a textured quadruped with a walk",
    steps=(Step("blender", "blender.builtin_creature:run"),),
    outputs=lambda paths, _: [paths.assets / "model.glb", paths.creature_json],
    automatic=False,
)

MESH = Stage(
    name="mesh",
    label="Mesh from a picture",
    help="have a mesh made from one picture at fal (costs money)",
    steps=(Step("worker", "core.film.mesh:run"),),
    settings=(
        Setting("picture", "path", help="picture of the creature: alone, whole, in its rest pose", required=True),
        Setting("model", "text", "", "model of the model table; empty = the default"),
        SEED,
        *PAYING,
    ),
    inputs=lambda paths, values: [Path(paths.root, values["picture"])] if values["picture"] else [],
    outputs=lambda paths, _: [paths.assets / "model.glb"],
    automatic=False,
    paid=True,
)

CHECKUP = Stage(
    name="checkup",
    label="Check-up",
    help="look whether the creature can be captured as it is, and what to mend",
    steps=(Step("blender", "blender.checkup:run"),),
    settings=(
        Setting("mesh", "path", "", "mesh file; empty = as prep took it, else assets/<c>/model.*"),
        Setting("object", "text", "", "object to take out of the .blend; empty = all meshes"),
    ),
    inputs=lambda paths, values: [Path(paths.root, values["mesh"])] if values["mesh"] else [],
    creature_keys=("prep", "facing_confirmed"),
    outputs=lambda paths, _: [paths.checkup_json],
    automatic=False,
)

PREP = Stage(
    name="prep",
    label="Prep",
    help="bring the mesh to real size, facing -Y, on the ground",
    steps=(Step("blender", "blender.prep:run"),),
    settings=(
        Setting("mesh", "path", "", "mesh file (glb, gltf, fbx, obj, usd, blend); empty = assets/<c>/model.*"),
        Setting(
            "object",
            "text",
            "",
            "object to take out of the .blend or the open scene; empty = all meshes",
        ),
        Setting("length_m", "number", 0.0, "length along the axis; 0 = creature.json (first 1.5)", "m", 0.0, 1000.0),
        Setting(
            "rotz_deg",
            "number",
            None,
            "turn about Z that makes it face -Y; left out = creature.json",
            "degrees",
            -360.0,
            360.0,
            optional=True,
        ),
        Setting("axis", "text", "", "axis of the length; empty = creature.json", choices=("", "x", "y", "z")),
        Setting(
            "up", "text", "", "the file's axis that points up; empty = creature.json (first z)", choices=("", *UPS)
        ),
    ),
    inputs=lambda paths, values: [_mesh(paths, values)],
    creature_keys=("prep",),
    outputs=lambda paths, _: [paths.static_blend],
    gather="blender.prep:gather",
)

TEMPLATE = Stage(
    name="template",
    label="Template",
    help="place a skeleton in a mesh that has none, and draw it on a grid in metres",
    steps=(Step("blender", "blender.template:run"),),
    settings=(
        Setting("template", "text", "quadruped", "which body plan", choices=template_names()),
        Setting(
            "overwrite", "flag", False, "replace the skeleton that there is, with what was changed in it", once=True
        ),
    ),
    inputs=lambda paths, _: [paths.static_blend],
    outputs=lambda paths, _: [paths.rig_json, paths.rig_sheet],
    automatic=False,
)

GRID = Stage(
    name="grid",
    label="Grid picture",
    help="draw the skeleton of rig.json in the mesh, on a grid in metres",
    steps=(Step("blender", "blender.rig_grid:run"),),
    inputs=lambda paths, _: [paths.static_blend, paths.rig_json],
    outputs=lambda paths, _: [paths.rig_sheet],
    automatic=False,
)

RIG = Stage(
    name="rig",
    label="Rig",
    help="adopt the armature that came with the mesh, or build one from rig.json",
    steps=(Step("blender", "blender.rig:run"),),
    settings=(
        Setting("mode", "text", "auto", "where the armature comes from", choices=("auto", "adopt", "build")),
        Setting("weights", "text", "auto", "how the skin is bound", choices=("auto", "proxy", "rigid")),
    ),
    inputs=lambda paths, _: [paths.static_blend],
    optional_inputs=lambda paths, _: [paths.rig_json],
    creature_keys=("name", "prep", "paint", "feet", "contacts", "rigid", "roles"),
    bone_edits=True,
    outputs=lambda paths, _: [paths.rigged_blend, paths.rig_info],
)

SKIN = Stage(
    name="skin",
    label="Skin check",
    help="put the creature into its test pose and look where its skin tears or stays behind",
    steps=(Step("blender", "blender.skin_check:run"),),
    inputs=lambda paths, _: [paths.rigged_blend, paths.rig_info],
    creature_keys=("testpose",),
    outputs=lambda paths, _: [paths.skin_json, paths.skin_png],
    automatic=False,
)

REF = Stage(
    name="ref",
    label="Reference",
    help="draw the reference frame: the creature from the front and from its side",
    steps=(Step("blender", "blender.ref:run"),),
    settings=(
        Setting("room", "text", "", "what the frame leaves room for; empty = the creature's own", choices=("", *ROOMS)),
        Setting("reach_m", "number", 0.0, "room all round; 0 = by what it does", "m", 0.0, 1000.0),
        Setting("reframe", "flag", False, "frame it anew although creature.json has a layout", once=True),
    ),
    inputs=lambda paths, _: [paths.rigged_blend, paths.rig_info],
    creature_keys=("layout", "start_pose", "testpose"),
    outputs=lambda paths, _: [paths.ref_png],
)

PROMPT = Stage(
    name="prompt",
    label="Prompt",
    help="write the prompt of a move from creature.json and one sentence",
    steps=(Step("worker", "core.film.prompt:run"),),
    settings=(
        Setting("move", "name", help="name of the move", required=True),
        Setting("action", "text", help="one sentence: what the creature does", required=True),
        Setting("overwrite", "flag", False, "make it anew although it was edited by hand", once=True),
    ),
    optional_inputs=lambda paths, _: [paths.rig_info],
    creature_keys=("name", "prompt", "paint"),
    outputs=lambda paths, values: [paths.prompt(values["move"])],
    per="move",
    automatic=False,
)

FILM = Stage(
    name="film",
    label="Film",
    help="have a video model at fal make clips of a move (costs money)",
    steps=(Step("worker", "core.film.film:run"),),
    settings=(
        Setting("move", "name", help="name of the move", required=True),
        Setting("model", "text", "", "model of the model table; empty = creature.json, else the default"),
        Setting("seeds", "text", "", 'one take each, e.g. "1 2 3" or "1-3"; empty = creature.json, else 1'),
        Setting("seconds", "number", 0.0, "length of a clip, 0 = creature.json, else 5", "s", 0.0, 60.0),
        Setting("resolution", "text", "", "a word of the model; empty = creature.json, else about 720 rows"),
        Setting("at_once", "integer", 2, "requests at the same time", minimum=1, maximum=20, portable=True),
        *PAYING,
    ),
    inputs=lambda paths, values: [paths.prompt(values["move"]), paths.ref_png],
    optional_inputs=lambda paths, _: [paths.root / PROJECT_FILE],
    creature_keys=("film",),
    outputs=film_files,
    per="move",
    automatic=False,
    paid=True,
)

DATASET = Stage(
    name="dataset",
    label="Dataset",
    help="draw random poses from both sides with their true joints",
    steps=(
        Step("blender", "blender.dataset:run", sharded=True, weight=0.97),
        Step("worker", "core.dataset.sheet:run", weight=0.03),
    ),
    settings=(
        Setting("poses", "integer", 800, "number of poses", minimum=8, maximum=100000),
        Setting("rows", "integer", 360, "height of a picture", "px", 64, 1440),
        PROCESSES,
        SEED,
    ),
    inputs=lambda paths, _: [paths.rigged_blend, paths.rig_info, paths.ref_png],
    creature_keys=("layout", "start_pose"),
    # The last pose stands for the folder: without it the check sheet vouches for pictures that are gone.
    outputs=lambda paths, values: [
        paths.dataset_sheet,
        paths.dataset / f"{values['poses'] - 1:05d}_meta.json",
    ],
)

TRAIN = Stage(
    name="train",
    label="Reader",
    help="train the keypoint reader of this creature",
    steps=(Step("worker", "core.reader.training:run"),),
    settings=(
        Setting("preset", "text", "default", "how long to train", choices=("quick", "default", "long")),
        Setting("steps", "integer", 0, "training steps, 0 = as the preset says", minimum=0, maximum=1000000),
        Setting("backbone", "text", "unet", "network", choices=("unet",)),
        Setting(
            "device",
            "text",
            "auto",
            "where to train",
            choices=("auto", "cpu", "cuda", "mps"),
            portable=True,
        ),
        THREADS,
        SEED,
    ),
    inputs=lambda paths, _: [paths.dataset_sheet],
    creature_keys=("layout",),
    outputs=lambda paths, _: [paths.reader_pt],
)

EXAM = Stage(
    name="exam",
    label="Exam clip",
    help="render a motion whose truth is known as a two-view clip",
    steps=(
        Step("blender", "blender.exam_render:run", sharded=True, weight=0.9),
        Step("worker", "core.exam.clip:run", weight=0.1),
    ),
    settings=(
        CLIP,
        Setting("kind", "text", "random", "which motion", choices=("random", "action")),
        Setting("action", "text", "", "name of the creature's own Action, for kind action"),
        Setting("frames", "integer", 0, "number of frames, 0 = as the motion needs", minimum=0, maximum=10000),
        Setting("fps", "number", 24.0, "frame rate of the clip", "1/s", 1.0, 240.0),
        SEED,
        Setting("faults", "text", "typical", "faults of generated video", choices=("none", "typical", "hard")),
        Setting("lag_frames", "number", 0.0, "the front view lags by this", "frames", -24.0, 24.0),
    ),
    inputs=lambda paths, _: [paths.rigged_blend, paths.rig_info, paths.ref_png],
    creature_keys=("layout", "start_pose"),
    outputs=lambda paths, values: [
        paths.exam(values["clip"]).clip,
        paths.exam(values["clip"]).truth,
    ],
    partial=lambda paths, values: [paths.exam(values["clip"]).frames],
    per="clip",
    automatic=False,
)

TAKE = Stage(
    name="take",
    label="Take in",
    help="bring a video file or numbered pictures into the form that all stages read",
    steps=(Step("worker", "core.video.take:run"),),
    settings=(
        CLIP,
        Setting("video", "path", "", "video file, folder of numbered pictures or walk_####.png; empty = as added"),
        Setting(
            "rate", "number", 0.0, "frame rate; 0 = the file's own, 24 for pictures", "frames a second", 0.0, 1000.0
        ),
        THREADS,
    ),
    inputs=_original,
    outputs=lambda paths, values: [_clip(paths, values).taken, _clip(paths, values).take_json],
    per="clip",
    only_with=lambda paths, values: [_clip(paths, values).source],
)

GATE = Stage(
    name="gate",
    label="Gate",
    help="look whether a clip is worth reading, and refuse it with reasons and a picture",
    steps=(Step("worker", "core.gate.gate:run"),),
    settings=(CLIP, Setting("allow", "flag", False, "read the clip although it is refused"), THREADS),
    inputs=lambda paths, values: [clip_video(paths, values["clip"]), paths.ref_png],
    creature_keys=("layout", "paint"),
    outputs=lambda paths, values: [_clip(paths, values).gate_json, _clip(paths, values).gate_png],
    per="clip",
    only_with=lambda paths, values: [_clip(paths, values).source],
)

DETECT = Stage(
    name="detect",
    label="Read",
    help="read the keypoints of a clip",
    steps=(Step("worker", "core.detect.detect:run"),),
    settings=(
        CLIP,
        Setting("video", "path", "", "clip file; empty = the one that was added, or the exam clip"),
        THREADS,
    ),
    inputs=lambda paths, values: [_video(paths, values), paths.reader_pt, paths.ref_png],
    optional_inputs=lambda paths, _: [paths.rig_info],
    creature_keys=("layout", "fix_front_swaps"),
    outputs=lambda paths, values: [_clip(paths, values).det, _clip(paths, values).overlay],
    per="clip",
)

PREVIEW = Stage(
    name="preview",
    label="Preview",
    help="store the clip's frames at the size at which the overlay shows them",
    steps=(Step("worker", "core.video.preview:run"),),
    settings=(
        CLIP,
        Setting("rows", "integer", 360, "height of a frame", "px", 64, 2160),
        THREADS,
    ),
    # det.npz names the video: a clip that changed is read again before.
    inputs=lambda paths, values: [_clip(paths, values).det],
    outputs=lambda paths, values: [_clip(paths, values).preview, _clip(paths, values).preview_json],
    per="clip",
)

FIT = Stage(
    name="fit",
    label="Fit",
    help="fit the skeleton's motion to the keypoints",
    steps=(Step("worker", "core.fit.fit:run"),),
    settings=(
        CLIP,
        Setting("solver", "text", "lm", "second or first order solver", choices=("lm", "adam")),
        Setting("plants", "flag", True, "hold planted feet still in a second fit"),
        Setting("device", "text", "cpu", "where to fit", choices=("cpu", "cuda"), portable=True),
    ),
    inputs=lambda paths, values: [_clip(paths, values).det, paths.rig_info],
    creature_keys=("layout", "start_pose", "fix_front_swaps"),
    outputs=lambda paths, values: [_clip(paths, values).motion],
    per="clip",
)


def _applied(paths: CreaturePaths, values: Values) -> list[Path]:
    """A motion on an armature of the open scene is saved with the artist's own file."""
    clip = _clip(paths, values)
    saved = [] if values["armature"] else [clip.applied_blend]
    measured = [clip.joints, clip.animation_glb] if values["bones"] == "all" else []
    return [*saved, *measured]


APPLY = Stage(
    name="apply",
    label="Apply",
    help="key the motion onto the armature",
    steps=(Step("here", "blender.apply:run"),),
    settings=(
        CLIP,
        Setting("armature", "text", "", "armature object of the open scene; empty = the creature's own, saved apart"),
        Setting("start_frame", "integer", 1, "first frame", "frame", -100000, 1000000),
        Setting("action_name", "text", "", "name of the Action; empty = creature and move"),
        Setting(
            "mode",
            "text",
            "replace",
            "where the keys go: the clip's own Action, a new one, or an NLA strip that plays its own",
            choices=("replace", "new", "strip"),
        ),
        Setting("bones", "text", "all", "which bones get keys", choices=("all", "selected")),
        Setting(
            "onto",
            "text",
            "auto",
            "what is keyed: the deform bones, the IK targets and controls that move them, or the deform bones with "
            "their constraints held off; auto = controls where the rig is driven by them",
            choices=("auto", "deform", "controls", "bake"),
        ),
        Setting("overwrite", "flag", False, "overwrite the clip's own Action even when its keys were edited since"),
    ),
    inputs=lambda paths, values: [paths.rigged_blend, paths.rig_info, _clip(paths, values).motion],
    outputs=_applied,
    per="clip",
)

SHOWCASE = Stage(
    name="showcase",
    label="Showcase",
    help="make the film that compares clip and fitted creature",
    steps=(
        Step("blender", "blender.showcase_render:run", sharded=True, weight=0.85),
        Step("worker", "core.showcase:run", weight=0.15),
    ),
    settings=(CLIP,),
    inputs=lambda paths, values: [
        paths.rigged_blend,
        paths.rig_info,
        _clip(paths, values).motion,
        _clip(paths, values).det,
    ],
    creature_keys=("layout", "showcase"),
    outputs=lambda paths, values: [_clip(paths, values).showcase],
    partial=lambda paths, values: [_clip(paths, values).persp, _clip(paths, values).side],
    per="clip",
)

REPORT = Stage(
    name="report",
    label="Report",
    help="score the capture and draw its report",
    steps=(Step("worker", "core.report.report:run"),),
    settings=(
        CLIP,
        Setting(
            "kind",
            "text",
            "auto",
            "score against the truth of the exam clip, or without a truth",
            choices=("auto", "exam", "clip"),
        ),
    ),
    inputs=lambda paths, values: [
        _clip(paths, values).det,
        _clip(paths, values).motion,
        paths.rig_info,
    ],
    optional_inputs=lambda paths, values: [
        paths.exam(values["clip"]).truth,
        _clip(paths, values).joints,
    ],
    creature_keys=("layout",),
    outputs=lambda paths, values: [_clip(paths, values).report_json, _clip(paths, values).report_png],
    per="clip",
)

REGISTRY = Registry(
    (
        MESH,
        EXAMPLE,
        CHECKUP,
        PREP,
        TEMPLATE,
        GRID,
        RIG,
        SKIN,
        REF,
        PROMPT,
        FILM,
        DATASET,
        TRAIN,
        EXAM,
        TAKE,
        GATE,
        DETECT,
        PREVIEW,
        FIT,
        APPLY,
        SHOWCASE,
        REPORT,
    )
)
