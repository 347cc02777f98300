"""The joints of a skeleton as vertices of a mesh, its bones as edges: what several bones share is one point to drag.

Blender's own tools edit it: grab, snap, X mirror, undo. Each vertex keeps the number of its joint in an attribute,
which copies and deletions leave readable.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import bpy  # isort: skip
import bmesh  # isort: skip  # comes with bpy, so after it
from mathutils import Vector

from ..core.errors import BadInputError
from ..core.rig import Point, RigSpec

NUMBER = "anymocap_joint"  # the vertices' attribute
NAMES = "anymocap_joint_names"  # on the object: JSON list of names, by number


@dataclass(frozen=True)
class JointPoint:
    """A vertex that is a joint; place in metres, the world being prep space."""

    name: str
    place: Point
    selected: bool


def make_joint_points(spec: RigSpec, name: str, collection: bpy.types.Collection) -> bpy.types.Object:
    """A mesh object in `collection` whose vertices are the joints of `spec`, drawn in front of all."""
    names = list(spec.joints)
    number = {joint: k for k, joint in enumerate(names)}
    data = bpy.data.meshes.new(name)
    edges = [(number[bone.head], number[bone.tail]) for bone in spec.bones]
    data.from_pydata([spec.joints[joint] for joint in names], edges, [])
    attribute = data.attributes.new(NUMBER, "INT", "POINT")
    attribute.data.foreach_set("value", list(range(len(names))))
    data.use_mirror_x = True
    points = bpy.data.objects.new(name, data)
    points[NAMES] = json.dumps(names)
    points.show_in_front = True
    collection.objects.link(points)
    return points


def joint_points(points: bpy.types.Object) -> list[JointPoint]:
    """The joints as they lie now, also while they are edited; in the order of the vertices.

    Raises:
        BadInputError: the vertices have lost the numbers of their joints.
    """
    data, matrix = points.data, points.matrix_world
    names = json.loads(points[NAMES])
    if points.mode == "EDIT":
        work = bmesh.from_edit_mesh(data)
        layer = work.verts.layers.int.get(NUMBER)
        found = [(v[layer], v.co, v.select) for v in work.verts] if layer is not None else None
    else:
        attribute = data.attributes.get(NUMBER)
        numbers = [item.value for item in attribute.data] if attribute is not None else [-1] * len(data.vertices)
        found = [(number, v.co, v.select) for number, v in zip(numbers, data.vertices, strict=True)]
    if found is None or any(not 0 <= number < len(names) for number, _, _ in found):
        raise BadInputError("The points are no joints any more.", hint="Show the joints again.")
    return [JointPoint(names[number], _point(matrix @ co), select) for number, co, select in found]


def joint_places(points: bpy.types.Object) -> dict[str, Point]:
    """Joint -> metres in prep space.

    Raises:
        BadInputError: a joint is there twice, or as joint_points.
    """
    places: dict[str, Point] = {}
    for joint in joint_points(points):
        if joint.name in places:
            raise BadInputError(
                f"The joint {joint.name!r} is there twice.",
                key=f"joints.{joint.name}",
                hint="Undo what copied it, or delete the copy: the skeleton's bones are given, only places change.",
            )
        places[joint.name] = joint.place
    return places


def _point(place: Vector) -> Point:
    return (round(place.x, 5), round(place.y, 5), round(place.z, 5))
