"""The lynx's mesh object: decimated body and eyes, UVs, normals of the true surface and the painted texture."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from .builtin_anatomy import EYE_CENTRE, EYE_RADIUS
from .builtin_coat import coat_colour, eye_colour
from .builtin_surface import body_mesh, gradient, occlusion

Array = NDArray[np.float64]

CELL_M = 0.0075
BODY_TRIANGLES = 7200
FACE_TRIANGLES = 2200
TEXTURE_SIZE = 1024
BLEED_PX = 6


def build_mesh(name: str) -> bpy.types.Object:
    """The textured mesh object `name`, linked to the scene's collection, without armature."""
    body = _decimated(name)
    count = len(body.vertices)
    mesh = _with_eyes(body, name)
    mesh.polygons.foreach_set("use_smooth", np.ones(len(mesh.polygons), bool))
    points = _positions(mesh)
    normals = _surface_normals(points, count)
    mesh.normals_split_custom_set_from_vertices(normals.tolist())
    creature = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(creature)
    _unwrap(creature)
    image = _paint(mesh, points, normals, count)
    mesh.materials.append(_material(name, image))
    return creature


def _decimated(name: str) -> bpy.types.Mesh:
    """The body in two passes, the face alone and then all but the face: it keeps more of its triangles."""
    points, quads = body_mesh(CELL_M)
    fine = bpy.data.meshes.new(f"{name}_fine")
    fine.from_pydata(points.tolist(), [], quads.tolist())
    face = _face(points, 0.02)
    in_face = int(face[quads].any(1).sum())
    coarse_face = _decimate(fine, ~face, 2 * (len(quads) - in_face) + FACE_TRIANGLES)
    return _decimate(coarse_face, _face(_positions(coarse_face), 0.0), BODY_TRIANGLES)


def _face(points: Array, around: float) -> NDArray[np.bool_]:
    return (points[:, 1] < -0.48 + around) & (points[:, 2] > 0.69 - around)


def _decimate(mesh: bpy.types.Mesh, spared: NDArray[np.bool_], triangles: int) -> bpy.types.Mesh:
    """About `triangles` triangles left, mirror-symmetric; vertices in `spared` (V,) stay. Removes `mesh`."""
    holder = bpy.data.objects.new(mesh.name, mesh)
    bpy.context.scene.collection.objects.link(holder)
    group = holder.vertex_groups.new(name="decimate")
    group.add(np.flatnonzero(~spared).tolist(), 1.0, "REPLACE")
    modifier = holder.modifiers.new("decimate", "DECIMATE")
    modifier.vertex_group = group.name
    mesh.calc_loop_triangles()
    modifier.ratio = triangles / len(mesh.loop_triangles)
    modifier.use_symmetry, modifier.symmetry_axis = True, "X"
    modifier.use_collapse_triangulate = True
    evaluated = holder.evaluated_get(bpy.context.evaluated_depsgraph_get())
    result = bpy.data.meshes.new_from_object(evaluated)
    bpy.data.objects.remove(holder)
    bpy.data.meshes.remove(mesh)
    return result


def _with_eyes(body: bpy.types.Mesh, name: str, rings: int = 10, segments: int = 16) -> bpy.types.Mesh:
    """Body and two eyeballs as one mesh; the eyes' poles look ahead."""
    vertices = [tuple(v.co) for v in body.vertices]
    faces = [tuple(p.vertices) for p in body.polygons]
    for side in (1, -1):
        start = len(vertices)
        centre = np.array([side * EYE_CENTRE[0], *EYE_CENTRE[1:]])
        ball = [(0.0, -1.0, 0.0)]
        for ring in range(1, rings):
            angle = np.pi * ring / rings
            for segment in range(segments):
                turn = 2 * np.pi * segment / segments
                ball.append((np.sin(angle) * np.cos(turn), -np.cos(angle), np.sin(angle) * np.sin(turn)))
        ball.append((0.0, 1.0, 0.0))
        vertices += [tuple(centre + EYE_RADIUS * np.array(v)) for v in ball]
        faces += [tuple(start + i for i in face) for face in _ball_faces(rings, segments)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    mesh.update()
    bpy.data.meshes.remove(body)
    return mesh


def _ball_faces(rings: int, segments: int) -> list[tuple[int, ...]]:
    faces: list[tuple[int, ...]] = []
    last = 1 + (rings - 1) * segments
    for segment in range(segments):
        after = (segment + 1) % segments
        faces.append((0, 1 + segment, 1 + after))
        for ring in range(rings - 2):
            a, b = 1 + ring * segments, 1 + (ring + 1) * segments
            faces.append((a + segment, b + segment, b + after, a + after))
        tail = last - segments
        faces.append((last, tail + after, tail + segment))
    return faces


def _positions(mesh: bpy.types.Mesh) -> Array:
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    return points.reshape(-1, 3).astype(np.float64)


def _surface_normals(points: Array, body_count: int) -> Array:
    """Normals of the surface that the mesh stands for: decimation can't be seen in the shading."""
    eyes = points[body_count:]
    centre = np.sign(eyes[:, :1]) * np.array([[EYE_CENTRE[0], 0, 0]]) + np.array([[0, *EYE_CENTRE[1:]]])
    return np.concatenate([gradient(points[:body_count], 5e-3), (eyes - centre) / EYE_RADIUS])


def _unwrap(creature: bpy.types.Object) -> None:
    bpy.ops.object.select_all(action="DESELECT")
    creature.select_set(True)
    bpy.context.view_layer.objects.active = creature
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.uv.smart_project(angle_limit=np.radians(60), island_margin=0.004, area_weight=0.3)
    bpy.ops.object.mode_set(mode="OBJECT")


def _paint(mesh: bpy.types.Mesh, points: Array, normals: Array, body_count: int) -> bpy.types.Image:
    """The coat's colour in each texel that a triangle covers, spread outward past the seams."""
    open_sky = np.ones(len(points))
    open_sky[:body_count] = occlusion(points[:body_count], normals[:body_count])
    attributes = np.concatenate([points, normals, open_sky[:, None]], 1)
    texel, values, is_eye = _rasterised(mesh, attributes, body_count)
    length = np.linalg.norm(values[:, 3:6], axis=1, keepdims=True)
    colour = np.empty((len(texel), 3))
    skin, eye = ~is_eye, is_eye
    colour[skin] = coat_colour(values[skin, :3], values[skin, 3:6] / length[skin], values[skin, 6])
    colour[eye] = eye_colour(values[eye, :3])
    size = TEXTURE_SIZE
    pixels = np.zeros((size, size, 4), np.float32)
    pixels.reshape(-1, 4)[texel, :3] = colour
    pixels.reshape(-1, 4)[texel, 3] = 1.0
    for _ in range(BLEED_PX):
        _spread(pixels)
    pixels[..., :3] = np.where(pixels[..., 3:] > 0, pixels[..., :3], np.float32([0.8, 0.58, 0.36]))
    pixels[..., 3] = 1.0
    image = bpy.data.images.new(f"{mesh.name}_coat", size, size)
    image.pixels.foreach_set(pixels.ravel())
    image.pack()
    return image


def _rasterised(
    mesh: bpy.types.Mesh, attributes: Array, body_count: int
) -> tuple[NDArray[np.int64], Array, NDArray[np.bool_]]:
    """Texel numbers, interpolated vertex attributes there, and whether an eye covers them."""
    mesh.calc_loop_triangles()
    corners = np.array([t.loops for t in mesh.loop_triangles])
    vertex = np.array([t.vertices for t in mesh.loop_triangles])
    uv = np.empty(2 * len(mesh.loops), np.float32)
    mesh.uv_layers.active.data.foreach_get("uv", uv)
    pixel = uv.reshape(-1, 2)[corners].astype(np.float64) * TEXTURE_SIZE - 0.5
    numbers, values, eyes = [], [], []
    for triangle, ids in zip(pixel, vertex, strict=True):
        low = np.floor(triangle.min(0)).astype(int)
        high = np.ceil(triangle.max(0)).astype(int) + 1
        grid = np.stack(np.meshgrid(np.arange(low[0], high[0]), np.arange(low[1], high[1])), -1).reshape(-1, 2)
        (ax, ay), (bx, by) = triangle[1] - triangle[0], triangle[2] - triangle[0]
        area = ax * by - ay * bx
        if abs(area) < 1e-9:
            continue
        share = (grid - triangle[0]) @ np.array([[by, -ay], [-bx, ax]]) / area
        weights = np.column_stack([1 - share.sum(1), share])
        hit = (weights.min(1) >= -1e-3) & (grid.min(1) >= 0) & (grid.max(1) < TEXTURE_SIZE)
        numbers.append(grid[hit, 1] * TEXTURE_SIZE + grid[hit, 0])
        values.append(weights[hit] @ attributes[ids])
        eyes.append(np.full(int(hit.sum()), ids[0] >= body_count))
    return np.concatenate(numbers), np.concatenate(values), np.concatenate(eyes)


def _spread(pixels: NDArray[np.float32]) -> None:
    """One pixel of colour outward into what is empty: mean of the filled neighbours."""
    total, count = np.zeros_like(pixels[..., :3]), np.zeros(pixels.shape[:2], np.float32)
    for dy, dx in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)):
        moved = np.roll(pixels, (dy, dx), (0, 1))
        total += moved[..., :3] * moved[..., 3:]
        count += moved[..., 3]
    empty = (pixels[..., 3] == 0) & (count > 0)
    pixels[empty, :3] = total[empty] / count[empty, None]
    pixels[empty, 3] = 1.0


def _material(name: str, image: bpy.types.Image) -> bpy.types.Material:
    material = bpy.data.materials.new(f"{name}_coat")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    shader = next(n for n in nodes if n.type == "BSDF_PRINCIPLED")
    shader.inputs["Roughness"].default_value = 0.85
    texture = nodes.new("ShaderNodeTexImage")
    texture.image = image
    links.new(texture.outputs["Color"], shader.inputs["Base Color"])
    nodes.active = texture
    return material
