"""A creature and one or all of its Actions as a GLB, by Blender's own exporter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy

from ..core.atomic import replacing
from .compat import call_operator
from .isolated import isolated_scene


def export_glb(path: Path, armature: bpy.types.Object, *, all_actions: bool = False, jpeg: bool = False) -> None:
    """Write armature, the meshes that it drives and its active Action (or all Actions in the file), atomically.

    Keys are sampled on the scene's frames, time starts at 0, and vertex colours (the limb paint) stay out. Nothing in
    the open scene changes, neither frame nor selection nor mode.

    Args:
        all_actions: every Action of the file becomes an animation of its own, under its name.
        jpeg: textures as JPEG instead of as they are; smaller for painted coats.
    """
    members = [armature, *driven_meshes(armature)]
    parents = {p for member in members for p in _ancestors(member)} - set(members)
    with isolated_scene([*members, *sorted(parents, key=lambda o: o.name)]) as scene:
        for member in members:  # parents are there for their transform, the selection keeps them out of the file
            member.select_set(True, view_layer=scene.view_layers[0])
        override = {"scene": scene, "view_layer": scene.view_layers[0]}
        with _same_scenes_shown(), bpy.context.temp_override(**override), replacing(path) as temporary:
            _export(temporary, all_actions, jpeg, armature)


@contextmanager
def _same_scenes_shown() -> Iterator[None]:
    """The exporter makes its scene the window's; when that is removed the window would show any other one."""
    shown = [(window, window.scene) for window in bpy.context.window_manager.windows]
    try:
        yield
    finally:
        for window, scene in shown:
            window.scene = scene


def driven_meshes(armature: bpy.types.Object) -> list[bpy.types.Object]:
    """Mesh objects of the view layer with an armature modifier of `armature`, by name."""
    meshes = [
        o
        for o in bpy.context.view_layer.objects
        if o.type == "MESH" and any(m.type == "ARMATURE" and m.object == armature for m in o.modifiers)
    ]
    return sorted(meshes, key=lambda o: o.name)


def _ancestors(obj: bpy.types.Object) -> list[bpy.types.Object]:
    return [] if obj.parent is None else [obj.parent, *_ancestors(obj.parent)]


def _export(path: Path, all_actions: bool, jpeg: bool, armature: bpy.types.Object) -> None:
    action = armature.animation_data.action if armature.animation_data else None
    call_operator(
        bpy.ops.export_scene.gltf,
        filepath=str(path),
        export_format="GLB",
        use_active_scene=True,
        use_selection=True,
        export_apply=False,
        export_yup=True,
        export_animations=True,
        export_animation_mode="ACTIONS" if all_actions else "ACTIVE_ACTIONS",
        # Until 4.4 "all actions of a single armature" comes before the mode, and would merge them all into one.
        export_anim_single_armature=all_actions,
        export_nla_strips_merged_animation_name=action.name if action else "Animation",
        export_force_sampling=True,
        export_anim_slide_to_zero=True,
        export_frame_range=False,
        export_optimize_animation_size=False,
        export_reset_pose_bones=True,
        export_rest_position_armature=True,
        export_skins=True,
        export_influence_nb=4,
        export_all_influences=False,
        export_morph=True,
        export_vertex_color="NONE",
        export_image_format="JPEG" if jpeg else "AUTO",
        export_jpeg_quality=92,
        export_extras=False,
        export_cameras=False,
        export_lights=False,
    )
