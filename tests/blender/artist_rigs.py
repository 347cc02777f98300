"""Rigs as artists build them, made by code: IK legs with poles, ORG/DEF/MCH layers with FK and IK, twist bones."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

Point = tuple[float, float, float]
Rows = dict[str, tuple[Point, Point, str | None]]  # name -> head, tail, parent


def armature_of(rows: Rows, name: str = "rig", connected: tuple[str, ...] = ()) -> bpy.types.Object:
    """An armature with these bones, active in the scene."""
    data = bpy.data.armatures.new(name)
    armature = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, (head, tail, parent) in rows.items():
        bone = data.edit_bones.new(bone_name)
        bone.head, bone.tail = head, tail
        bone.parent = data.edit_bones[parent] if parent else None
        bone.use_connect = bone_name in connected
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def constrain(
    armature: bpy.types.Object, bone: str, kind: str, target: str = "", **values: Any
) -> bpy.types.Constraint:
    """A constraint on `bone` that reads the bone `target` of the same armature."""
    constraint = armature.pose.bones[bone].constraints.new(kind)
    if kind == "ARMATURE":
        entry = constraint.targets.new()
        entry.target, entry.subtarget = armature, target
    elif target:
        constraint.target, constraint.subtarget = armature, target
    for key, value in values.items():
        setattr(constraint, key, value)
    return constraint


def skin(armature: bpy.types.Object, weights: dict[str, float] | None = None) -> bpy.types.Object:
    """A box about each deforming bone, skinned to it alone; `weights` names the bones, None = all that deform."""
    chosen = [b for b in armature.data.bones if (b.name in weights if weights is not None else b.use_deform)]
    points: list[Any] = []
    faces: list[tuple[int, ...]] = []
    groups: dict[str, list[int]] = {}
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (0.05, 0.5, 0.95) for z in (-1, 1)], float)
    sides = [(0, 2, 3, 1), (2, 4, 5, 3), (6, 7, 9, 8), (8, 9, 11, 10), (0, 1, 7, 6), (4, 10, 11, 5)]
    sides += [(0, 6, 8, 2), (2, 8, 10, 4), (1, 3, 9, 7), (3, 5, 11, 9)]
    for bone in chosen:
        matrix = np.array(bone.matrix_local)
        first = len(points)
        local = corners * (0.12 * bone.length, bone.length, 0.12 * bone.length)
        points.extend(local @ matrix[:3, :3].T + matrix[:3, 3])
        faces += [tuple(first + i for i in side) for side in sides]
        groups[bone.name] = list(range(first, first + len(corners)))
    mesh = bpy.data.meshes.new("skin")
    mesh.from_pydata([tuple(p) for p in points], [], faces)
    obj = bpy.data.objects.new("skin", mesh)
    bpy.context.scene.collection.objects.link(obj)
    for name, members in groups.items():
        obj.vertex_groups.new(name=name).add(members, 1.0, "REPLACE")
    obj.parent = armature
    obj.modifiers.new("Armature", "ARMATURE").object = armature
    return obj


def ik_quadruped(pole: bool = True, turning: bool = False) -> bpy.types.Object:
    """Body, neck, head, tail and four legs of two bones whose paws hang on the root as IK targets, with poles."""
    rows: Rows = {"Root": ((0, 0, 0), (0, 0.3, 0), None)}
    rows |= {
        "Body": ((0, 0.4, 0.6), (0, -0.4, 0.62), "Root"),
        "Neck": ((0, -0.4, 0.62), (0, -0.6, 0.8), "Body"),
        "Head": ((0, -0.6, 0.8), (0, -0.85, 0.78), "Neck"),
        "Tail": ((0, 0.4, 0.6), (0, 0.8, 0.5), "Body"),
    }
    feet = []
    for side, x in (("L", 0.12), ("R", -0.12)):
        for end, y, knee in (("Front", -0.35, 0.06), ("Back", 0.35, -0.06)):
            upper, lower, paw, post = (f"{end}{part}.{side}" for part in ("Upper", "Lower", "Paw", "Pole"))
            rows[upper] = ((x, y, 0.55), (x, y + knee, 0.3), "Body")
            rows[lower] = ((x, y + knee, 0.3), (x, y, 0.06), upper)
            rows[paw] = ((x, y, 0.06), (x, y - 0.1, 0.01), "Root")
            rows[post] = ((x, y + np.sign(knee) * 0.5, 0.3), (x, y + np.sign(knee) * 0.6, 0.3), "Root")
            feet.append((upper, lower, paw, post))
    connected = tuple(lower for _, lower, _, _ in feet)
    armature = armature_of(rows, "Dog", connected)
    for _, lower, paw, post in feet:
        values: dict[str, Any] = {"chain_count": 2, "use_rotation": turning}
        if pole:
            values |= {"pole_target": armature, "pole_subtarget": post, "pole_angle": pole_angle(armature, lower, post)}
        constrain(armature, lower, "IK", paw, **values)
        armature.data.bones[post].use_deform = False
    armature.data.bones["Root"].use_deform = False
    return armature


def pole_angle(armature: bpy.types.Object, lower: str, post: str) -> float:
    """The pole angle with which a chain of two bones stays at rest, as riggers tune it by hand."""
    bones = armature.data.bones
    tip, first = bones[lower], bones[lower].parent
    base = np.array(first.head_local)
    way = np.array(tip.tail_local) - base
    way /= np.linalg.norm(way)
    step = np.array(bones[post].head_local) - base
    matrix = np.array(first.matrix_local)[:3, :3]
    flat = matrix - np.outer(way, way @ matrix)
    x, z, aim = flat[:, 0], flat[:, 2], step - way * (way @ step)
    # aim is parallel to x cos a + z sin a
    a, b = np.linalg.lstsq(np.stack([x, z], 1), aim, rcond=None)[0]
    return float(np.arctan2(b, a))


def layered_quadruped(ik: float = 0.0) -> bpy.types.Object:
    """Layers as Rigify makes them: DEF bones copy ORG bones; these copy the FK controls and, as far as the property
    `ik` of the root says, a mechanism chain that IK bends. The FK legs hang on a socket that a mechanism turns. The paw
    control of the IK turns the paw, and the spine's controls sit in a torso control.
    """
    rows: Rows = {"root": ((0, 0, 0), (0, 0.3, 0), None), "torso": ((0, 0.4, 0.6), (0, 0.1, 0.6), "root")}
    spine: Rows = {
        "spine": ((0, 0.4, 0.6), (0, 0, 0.62), None),
        "chest": ((0, 0, 0.62), (0, -0.4, 0.62), "spine"),
        "neck": ((0, -0.4, 0.62), (0, -0.6, 0.8), "chest"),
        "head": ((0, -0.6, 0.8), (0, -0.85, 0.78), "neck"),
        "tail": ((0, 0.4, 0.6), (0, 0.8, 0.5), "spine"),
    }
    legs: Rows = {}
    for side, x in (("L", 0.12), ("R", -0.12)):
        for end, y, knee, host in (("front", -0.35, 0.06, "chest"), ("back", 0.35, -0.06, "spine")):
            legs[f"{end}_thigh.{side}"] = ((x, y, 0.55), (x, y + knee, 0.3), host)
            legs[f"{end}_shin.{side}"] = ((x, y + knee, 0.3), (x, y, 0.06), f"{end}_thigh.{side}")
            legs[f"{end}_paw.{side}"] = ((x, y, 0.06), (x, y - 0.1, 0.01), f"{end}_shin.{side}")
    for name, (head, tail, parent) in (spine | legs).items():
        rows[f"DEF-{name}"] = (head, tail, f"DEF-{parent}" if parent else "root")
        rows[f"ORG-{name}"] = (head, tail, f"ORG-{parent}" if parent else "root")
    for name, (head, tail, parent) in spine.items():
        rows[f"{name}_fk"] = (head, tail, f"{parent}_fk" if parent else "torso")
    for name, (head, tail, parent) in legs.items():
        part, side = name.split(".")
        if part.endswith("thigh"):
            rows[f"MCH-{name}_socket"] = (head, tail, "root")
            rows[f"MCH-{name}_ik"] = (head, tail, f"ORG-{parent}")
            mid, (hx, hy, _) = np.array(tail), head
            post = (hx, float(hy + np.sign(mid[1] - hy) * 0.5), 0.3)
            rows[f"{name}_pole"] = (post, (post[0], post[1], 0.4), "root")
        if part.endswith("shin"):
            rows[f"MCH-{name}_ik"] = (head, tail, f"MCH-{parent}_ik")
        if part.endswith("paw"):
            rows[f"{name}_ik"] = (head, tail, "root")
        rows[f"{name}_fk"] = (head, tail, f"MCH-{name}_socket" if part.endswith("thigh") else f"{parent}_fk")
    armature = armature_of(rows, "Layers")
    armature.pose.bones["root"]["ik"] = ik
    for bone in armature.data.bones:
        bone.use_deform = bone.name.startswith("DEF-")
    for name in spine | legs:
        constrain(armature, f"DEF-{name}", "COPY_TRANSFORMS", f"ORG-{name}")
        constrain(armature, f"ORG-{name}", "COPY_TRANSFORMS", f"{name}_fk")
    for name, (_, _, parent) in legs.items():
        stem, side = name.split(".")
        if stem.endswith("thigh"):
            held = constrain(armature, f"MCH-{name}_socket", "CHILD_OF", f"ORG-{parent}")
            held.inverse_matrix = armature.data.bones[f"ORG-{parent}"].matrix_local.inverted()
        if stem.endswith("shin"):
            thigh, paw = f"{stem.split('_')[0]}_thigh.{side}", f"{stem.split('_')[0]}_paw.{side}"
            tip = f"MCH-{name}_ik"
            angle = pole_angle(armature, tip, f"{thigh}_pole")
            pole = {"pole_target": armature, "pole_subtarget": f"{thigh}_pole", "pole_angle": angle}
            constrain(armature, tip, "IK", f"{paw}_ik", chain_count=2, **pole)
        chain_end = f"{name}_ik" if stem.endswith("paw") else f"MCH-{name}_ik"
        follow = constrain(armature, f"ORG-{name}", "COPY_TRANSFORMS", chain_end, name="to IK")
        _drive(follow, armature)
    return armature


def _drive(constraint: bpy.types.Constraint, armature: bpy.types.Object) -> None:
    """Its influence is the property `ik` of the root."""
    driver = constraint.driver_add("influence").driver
    variable = driver.variables.new()
    variable.targets[0].id = armature
    variable.targets[0].data_path = 'pose.bones["root"]["ik"]'
    driver.type = "SUM"
