"""Bring a creature into the scene of this background process: from a file, or from the objects of a .blend."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import bpy

from ..core.errors import BadInputError
from ..core.project import MESH_SUFFIXES
from .compat import call_operator, fbx_importer, importer_names_actions_after_armature
from .gltf_weights import BAD_WEIGHT, bad_glb_vertices, check_glb_weights
from .scene import append_objects

_EXPORT_AGAIN = "Export the creature again from the program that made it."
_GLB_HEADER = 12  # bytes: magic, version, length of the whole file


def import_file(path: Path, mark_bad_weights: bool = False) -> None:
    """Import `path` (glb, gltf, fbx, obj, usd, usda, usdc or usdz) into the current scene.

    Args:
        mark_bad_weights: take a .glb whose weights are not finite or all zero, which importers hide, and mark those
            vertices (see gltf_weights.BAD_WEIGHT) instead of refusing the file.

    Raises:
        BadInputError: the file is missing, empty, cut short, of another kind, or the importer refuses it.
    """
    if not path.is_file():
        raise BadInputError(
            "There is no such mesh file.",
            file=path,
            hint=f"Name a file of one of these kinds: {', '.join(s[1:] for s in MESH_SUFFIXES)}.",
        )
    if path.stat().st_size == 0:
        raise BadInputError("The mesh file is empty (0 bytes).", file=path, hint=_EXPORT_AGAIN)
    suffix = path.suffix.lower()
    if suffix not in _IMPORTERS:
        raise BadInputError(
            f"Files of the kind {suffix or 'without suffix'!r} are not read.",
            file=path,
            hint=f"Export one of these: {', '.join(s[1:] for s in MESH_SUFFIXES)}.",
        )
    try:
        _IMPORTERS[suffix](path)
    except RuntimeError as error:  # what bpy raises for any failure inside an operator
        reason = [line.strip() for line in str(error).splitlines()]
        said = [line for line in reason if line and not line.startswith(("Location:", "File ", "^"))]
        detail = said[-1] if said else "no reason given"
        raise BadInputError(f"Blender's importer cannot read it: {detail}", file=path, hint=_EXPORT_AGAIN) from error
    if suffix == ".glb":
        _look_at_weights(path, mark_bad_weights)


def _look_at_weights(path: Path, mark: bool) -> None:
    """Refuse a .glb with many bad weights, or mark them."""
    if not mark:
        check_glb_weights(path)
        return
    for name, bad in bad_glb_vertices(path).items():
        fitting = [m for m in bpy.data.meshes if m.name.partition(".")[0] == name.partition(".")[0]]
        fitting = [m for m in fitting if len(m.vertices) == len(bad)]
        if not fitting:
            raise BadInputError(
                f"Mesh {name!r} has {int(bad.sum())} vertices with bad weights that cannot be found again in Blender.",
                file=path,
                hint=_EXPORT_AGAIN,
            )
        for mesh in fitting:
            mesh.attributes.new(BAD_WEIGHT, "BOOLEAN", "POINT").data.foreach_set("value", bad)


def import_blend(path: Path, name: str) -> None:
    """Append the objects of a .blend and link them into the current scene: all of them, or with `name` the creature
    that the object of that name belongs to.

    Raises:
        BadInputError: the file is missing or broken, or holds no object called `name`.
    """
    for obj in append_objects(path, "Choose the creature's object again."):
        bpy.context.scene.collection.objects.link(obj)
    if not name:
        return
    if name not in bpy.data.objects:
        raise BadInputError(f"There is no object {name!r}.", file=path, hint=_known_objects())
    keep = {obj.name for obj in object_family(bpy.data.objects[name])}
    for obj in list(bpy.context.scene.objects):
        if obj.name not in keep:
            bpy.data.objects.remove(obj)


def snapshot_object(name: str, path: Path) -> None:
    """Write the object called `name`, what belongs to its creature and all Actions to a .blend of its own.

    The artist's objects stay as they are: this only writes.

    Raises:
        BadInputError: there is no object of that name.
    """
    obj = bpy.data.objects.get(name)
    if obj is None:
        raise BadInputError(f"There is no object {name!r} in the open scene.", hint=_known_objects())
    path.parent.mkdir(parents=True, exist_ok=True)
    blocks: set[bpy.types.ID] = {*object_family(obj), *bpy.data.actions}
    bpy.data.libraries.write(str(path), blocks, fake_user=True, compress=True)


def _known_objects() -> str:
    known = ", ".join(sorted(o.name for o in bpy.data.objects if o.type in {"MESH", "ARMATURE"})) or "none"
    return f"Meshes and armatures here: {known}."


def object_family(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The creature that `obj` belongs to: its armature, the visible meshes that follow it, and all their parents."""
    armature = obj if obj.type == "ARMATURE" else driving_armature(obj)
    if armature is not None:
        members = [armature, *(o for o in bpy.data.objects if o.type == "MESH" and driving_armature(o) == armature)]
    else:
        members = [obj, *obj.children_recursive]
    members = [o for o in members if o == obj or not hidden(o)]
    for member in list(members):
        while member.parent is not None:
            member = member.parent
            members.append(member)
    return list(dict.fromkeys(members))


def driving_armature(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The armature whose bones move `obj`: by a modifier, by parenting to a bone or the old 'armature' parenting."""
    for modifier in obj.modifiers:
        if modifier.type == "ARMATURE" and modifier.object is not None and modifier.show_viewport:
            return modifier.object
    walker = obj
    while walker.parent is not None:
        if walker.parent.type == "ARMATURE":
            return walker.parent if walker.parent_type in {"BONE", "ARMATURE"} else None
        walker = walker.parent
    return None


def hidden(obj: bpy.types.Object) -> bool:
    """True for what the artist does not show: hidden in viewport or render, in the view layer, or a bone's shape."""
    if obj.hide_viewport or obj.hide_render or any(c.name == "glTF_not_exported" for c in obj.users_collection):
        return True
    in_layer = obj.name in bpy.context.view_layer.objects
    return (in_layer and not obj.visible_get()) or obj in bone_shapes()


def bone_shapes() -> set[bpy.types.Object]:
    """Objects that armatures draw in the place of bones."""
    armatures = [o for o in bpy.data.objects if o.type == "ARMATURE"]
    return {bone.custom_shape for a in armatures for bone in a.pose.bones if bone.custom_shape is not None}


def _check_glb(path: Path) -> None:
    with path.open("rb") as handle:
        head = handle.read(_GLB_HEADER)
    if len(head) < _GLB_HEADER or head[:4] != b"glTF":
        raise BadInputError("It is not a .glb file (its first bytes are not 'glTF').", file=path, hint=_EXPORT_AGAIN)
    version, length = struct.unpack("<II", head[4:])
    size = path.stat().st_size
    if size < length:
        raise BadInputError(f"It is cut short: {size} of {length} bytes are there.", file=path, hint=_EXPORT_AGAIN)
    if version != 2:
        raise BadInputError(f"It is glTF version {version}; version 2 is needed.", file=path, hint=_EXPORT_AGAIN)


def _check_gltf(path: Path) -> None:
    try:
        data = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise BadInputError(f"It is not valid JSON: {error}.", file=path, hint=_EXPORT_AGAIN) from error
    uris = [item.get("uri", "data:") for key in ("buffers", "images") for item in data.get(key, [])]
    for uri in uris:
        if not uri.startswith("data:") and not (path.parent / uri).is_file() and "%" not in uri:
            raise BadInputError(f"Its file {uri!r} is missing.", file=path, hint="Copy it beside the .gltf file.")


def _import_gltf(path: Path) -> None:
    (_check_glb if path.suffix.lower() == ".glb" else _check_gltf)(path)
    # TEMPERANCE points bones at their children; the default guess moves meshes that hang on bones.
    options = {"disable_bone_shape": True, "bone_heuristic": "TEMPERANCE", "loglevel": 50}
    call_operator(bpy.ops.import_scene.gltf, filepath=str(path), **options)
    _plain_action_names()


def _plain_action_names() -> None:
    """Call Actions as the glTF file does."""
    if not importer_names_actions_after_armature():
        return
    armatures = [obj.name for obj in bpy.context.scene.objects if obj.type == "ARMATURE"]
    for action in bpy.data.actions:
        for name in armatures:
            plain = action.name.removesuffix(f"_{name}")
            if plain and plain != action.name and plain not in bpy.data.actions:
                action.name = plain


def _import_fbx(path: Path) -> None:
    with path.open("rb") as handle:
        if not handle.read(18).startswith(b"Kaydara FBX Binary"):
            raise BadInputError(
                "It is not a binary .fbx file.", file=path, hint="Export it as binary FBX (7.1 or later) or as .glb."
            )
    call_operator(fbx_importer(), filepath=str(path))


def _import_obj(path: Path) -> None:
    call_operator(bpy.ops.wm.obj_import, filepath=str(path))


def _import_usd(path: Path) -> None:
    call_operator(
        bpy.ops.wm.usd_import, filepath=str(path), import_cameras=False, import_lights=False, set_frame_range=False
    )


_IMPORTERS: dict[str, Callable[[Path], None]] = {
    ".glb": _import_gltf,
    ".gltf": _import_gltf,
    ".fbx": _import_fbx,
    ".obj": _import_obj,
    ".usd": _import_usd,
    ".usda": _import_usd,
    ".usdc": _import_usd,
    ".usdz": _import_usd,
}
