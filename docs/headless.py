"""Fits every clip of a project that has been read, and keys the motions onto their creatures: one .blend a creature.

    blender -b --addons bl_ext.user_default.anymocap --python-exit-code 1 --python headless.py -- PROJECT FOLDER

PROJECT is a project folder, FOLDER takes the .blend files. The operators are those of the panel; called from Python in
`-b` each runs to its end. One that fails raises RuntimeError with the message that the panel would show.
"""

import sys
from pathlib import Path

import bpy

project, folder = (Path(argument).absolute() for argument in sys.argv[sys.argv.index("--") + 1 :][:2])

for creature in sorted(path.name for path in (project / "assets").iterdir() if path.is_dir()):
    clips = sorted(path.parent.name for path in (project / "runs" / creature / "clips").glob("*/det.npz"))
    if not clips:
        continue
    bpy.ops.wm.read_homefile(use_empty=True)
    scene = bpy.context.scene.anymocap
    scene.project, scene.creature = str(project), creature
    bpy.ops.anymocap.bring_in()  # the rigged creature; scene.armature is its armature now
    for clip in clips:
        scene.clip = clip
        bpy.ops.anymocap.fit(clip=clip)  # nothing is done twice: a fit that is up to date is passed over
        bpy.ops.anymocap.apply(clip=clip, armature=scene.armature.name, action_name=f"{creature} {clip}")
        print(f"{creature} {clip}: {scene.armature.animation_data.action.name}")
    folder.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{creature}.blend"))
