"""Draws posed meshes with a small shader of our own: the fast way to a picture of a creature.

Blender poses and skins (its evaluated meshes are the truth); only the rasterising is ours. A Workbench frame costs what
its screen-space passes cost, whatever is in it; these pictures need none of them. Edges are smoothed by averaging boxes
of finer pixels, motion blur by averaging sub-poses, each moved by a part of a pixel: means of premultiplied colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import gpu
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..core.dataset.lights import LIGHTS, ViewLights
from ..core.errors import AnyMoCapError, BadInputError
from ..core.layout import Layout
from .gpu_start import start_gpu
from .sampled_target import SampledTarget, plain_state
from .scene import PAINT

Floats = NDArray[np.float32]

GAMMA = 2.2

# Half-Lambert (a light reaches a little round the edge) so that no limb is ever black; one highlight. Lit by vertex:
# the meshes are cut finely for their colours anyway, and pixels are what software OpenGL is slow at.
_MESH_VERTEX = """
void main() {
  vec3 light = lights.ambient.rgb;
  for (int i = 0; i < 4; i++) {
    light += lights.colour[i].rgb * max(0.0, dot(normal, lights.direction[i].xyz) * 0.75 + 0.25);
  }
  vec3 halfway = normalize(lights.direction[0].xyz + lights.eye.xyz);
  float shine = lights.eye.w * pow(max(0.0, dot(normal, halfway)), 24.0);
  lit = pow(colour * light + vec3(shine), vec3(1.0 / 2.2));
  gl_Position = clip * vec4(position, 1.0);
}
"""
_MESH_FRAGMENT = "void main() { pixel = vec4(lit, 1.0); }"


@dataclass(frozen=True)
class View:
    """A camera and its place in the picture.

    Attributes:
        clip: (4, 4) world metres -> clip space.
        left, top, width, height: the place in pixels, from the picture's upper left corner.
        eye: (3,) unit vector from the creature to the camera.
    """

    clip: NDArray[np.float64]
    left: int
    top: int
    width: int
    height: int
    eye: tuple[float, float, float]


def layout_views(layout: Layout, rows: int) -> tuple[View, View]:
    """The two views of the layout for a picture `rows` high, front left and side right, where Layout.project has them.

    Each picture is centred on its view; its width is the view's, rounded to whole pixels.
    """
    scale = rows / layout.height
    per_m = scale / layout.m_per_px
    depth = 1.0 / (50.0 * layout.height * layout.m_per_px)
    up = [0.0, 0.0, 2 * per_m / rows, 1 - 2 * layout.ground_v / layout.height]
    widths = round(layout.w_front * scale), round(layout.w_side * scale)
    x, y = 2 * per_m / widths[0], -2 * per_m / widths[1]
    last = [0.0, 0.0, 0.0, 1.0]
    front = np.array([[x, 0, 0, -x * layout.cx], up, [0, depth, 0, -depth * layout.cy], last])
    side = np.array([[0, y, 0, -y * layout.cy], up, [depth, 0, 0, -depth * layout.cx], last])
    return (
        View(front, 0, 0, widths[0], rows, (0.0, -1.0, 0.0)),
        View(side, widths[0], 0, widths[1], rows, (-1.0, 0.0, 0.0)),
    )


@dataclass(frozen=True)
class Shape:
    """The distinct corners of all meshes in one pose: (C, 3) world positions and unit normals."""

    position: Floats
    normal: Floats


class PosedMeshes:
    """Reads the meshes as Blender has evaluated them; topology and colours are read once.

    Corners that share vertex, colour and (at first reading) normal are drawn as one.

    Attributes:
        triangles: (T, 3) indices of corners.
        colour: (C, 3) linear RGB of each corner.
    """

    def __init__(self, meshes: Sequence[bpy.types.Object], depsgraph: bpy.types.Depsgraph) -> None:
        if not meshes:
            raise BadInputError("The rigged file has no mesh to draw.", hint="Run the rig stage again.")
        self.meshes = list(meshes)
        self._depsgraph = depsgraph
        vertex_of, triangles, colours, normals = [], [], [], []
        self._loops: list[int] = []
        vertices = loops = 0
        for mesh in self.meshes:
            data = mesh.evaluated_get(depsgraph).data
            count = len(data.loops)
            vertex_of.append(_read(data.loops, "vertex_index", count, np.int32) + vertices)
            data.calc_loop_triangles()
            triangles.append(_read(data.loop_triangles, "loops", 3 * len(data.loop_triangles), np.int32) + loops)
            colours.append(_paint(mesh.name, data))
            normals.append(_read(data.corner_normals, "vector", 3 * count, np.float32).reshape(-1, 3))
            vertices += len(data.vertices)
            loops += count
            self._loops.append(count)
        key = np.column_stack(
            [np.concatenate(vertex_of), np.rint(np.concatenate(colours) * 500), np.rint(np.concatenate(normals) * 50)]
        ).astype(np.int32)
        _, kept, corner_of = np.unique(key, axis=0, return_index=True, return_inverse=True)
        self._kept = kept
        self._vertex_of = np.concatenate(vertex_of)[kept]
        self.colour = np.concatenate(colours)[kept]
        self.triangles = np.ascontiguousarray(corner_of[np.concatenate(triangles)].reshape(-1, 3).astype(np.int32))

    def capture(self) -> Shape:
        """The shape as it is posed now; the caller updates the view layer first.

        Raises:
            BadInputError: a mesh whose modifiers give it another topology in another pose.
        """
        positions, normals = [], []
        for mesh, loops in zip(self.meshes, self._loops, strict=True):
            posed = mesh.evaluated_get(self._depsgraph)
            data = posed.data
            if len(data.loops) != loops:
                raise BadInputError(
                    f"Mesh {mesh.name!r} changes its number of corners with the pose.",
                    hint="Apply or remove its modifiers other than the armature's.",
                )
            world = np.array(posed.matrix_world, np.float32)
            position = _read(data.vertices, "co", 3 * len(data.vertices), np.float32).reshape(-1, 3)
            normal = _read(data.corner_normals, "vector", 3 * loops, np.float32).reshape(-1, 3)
            positions.append(position @ world[:3, :3].T + world[:3, 3])
            normals.append(normal @ np.linalg.inv(world[:3, :3]))  # normals follow the inverse transpose
        normal = np.concatenate(normals)[self._kept]
        length = np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
        return Shape(np.concatenate(positions)[self._vertex_of], normal / length)

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest corner (3,) as posed now, metres."""
        position = self.capture().position.astype(np.float64)
        return position.min(0), position.max(0)


def _read(collection: bpy.types.bpy_prop_collection, name: str, size: int, dtype: type) -> NDArray[Any]:
    values: NDArray[Any] = np.empty(size, dtype)
    collection.foreach_get(name, values)
    return values


def _paint(name: str, data: bpy.types.Mesh) -> Floats:
    """Linear RGB (C, 3) of the colour attribute that the rig stage painted."""
    attribute = data.color_attributes.get(PAINT)
    if attribute is None:
        raise BadInputError(f"Mesh {name!r} has no colour attribute {PAINT!r}.", hint="Run the rig stage again.")
    values = _read(attribute.data, "color_srgb", 4 * len(attribute.data), np.float32).reshape(-1, 4)[:, :3]
    if attribute.domain == "POINT":
        values = values[_read(data.loops, "vertex_index", len(data.loops), np.int32)]
    return np.power(np.clip(values, 0.0, 1.0), GAMMA).astype(np.float32)


class Drawer:
    """Draws shapes of the same meshes into one picture of one or more views."""

    def __init__(self, meshes: PosedMeshes, views: Sequence[View], factor: int = 2) -> None:
        """
        Args:
            meshes: whose topology and colours are drawn.
            views: where; together they span the picture.
            factor: pixels are averages of this many samples, squared.
        """
        start_gpu()
        self.views = tuple(views)
        self.factor = factor
        self.width = max(view.left + view.width for view in views)
        self.height = max(view.top + view.height for view in views)
        self._shader = _mesh_shader()
        self._index = gpu.types.GPUIndexBuf(type="TRIS", seq=meshes.triangles)
        self._colour = vertex_buffer({"colour": meshes.colour})
        self._target = SampledTarget(self.width, self.height, factor)

    def draw(self, shapes: Sequence[Shape], lights: Sequence[ViewLights]) -> NDArray[np.uint8]:
        """The average of the shapes, (height, width, 4) RGBA with straight alpha on a transparent backdrop.

        Args:
            shapes: one, or `factor` squared sub-poses of a blurred picture.
            lights: one for each view.
        """
        if len(shapes) not in (1, self.factor**2):
            raise ValueError(f"{len(shapes)} shapes cannot be drawn; 1 or {self.factor**2} can")
        blocks = [_light_block(light, view) for light, view in zip(lights, self.views, strict=True)]
        self._draw_samples(shapes, blocks)
        bottom, top = self._rows(shapes)
        picture = np.zeros((self.height, self.width, 4), np.uint8)
        if bottom < top:
            rows = self._target.average(bottom, top, tiles=len(shapes) > 1)
            picture[self.height - top : self.height - bottom] = _straight_alpha(rows)
        return picture

    def free(self) -> None:
        """Give the card's memory back."""
        self._target.free()

    def _draw_samples(self, shapes: Sequence[Shape], blocks: Sequence[gpu.types.GPUUniformBuf]) -> None:
        tiles = len(shapes) > 1
        scale = 1 if tiles else self.factor
        with self._target.bind():
            plain_state("LESS")
            gpu.state.active_framebuffer_get().clear(color=(0, 0, 0, 0), depth=1.0)
            self._shader.bind()
            for number, shape in enumerate(shapes):
                batch = self._batch(shape)
                line, column = divmod(number, self.factor) if tiles else (0, 0)
                jitter = ((column + 0.5) / self.factor - 0.5, (line + 0.5) / self.factor - 0.5) if tiles else (0.0, 0.0)
                for view, block in zip(self.views, blocks, strict=True):
                    left = view.left + column * self.width
                    bottom = self.height - view.top - view.height + line * self.height
                    gpu.state.viewport_set(left * scale, bottom * scale, view.width * scale, view.height * scale)
                    self._shader.uniform_block("lights", block)
                    self._shader.uniform_float("clip", Matrix(_moved(view, jitter).tolist()))
                    batch.draw(self._shader)

    def _batch(self, shape: Shape) -> gpu.types.GPUBatch:
        buffer = vertex_buffer({"position": shape.position, "normal": shape.normal})
        batch = gpu.types.GPUBatch(type="TRIS", buf=buffer, elem=self._index)
        batch.vertbuf_add(self._colour)
        return batch

    def _rows(self, shapes: Sequence[Shape]) -> tuple[int, int]:
        """The rows, counted from below, that any shape touches: the rest of the picture stays empty."""
        low, high = self.height, 0
        for view in self.views:
            base = self.height - view.top - view.height
            for shape in shapes:
                w = shape.position @ view.clip[3, :3] + view.clip[3, 3]
                y = (shape.position @ view.clip[1, :3] + view.clip[1, 3]) / w
                rows = base + (np.array([y.min(), y.max()]) + 1) / 2 * view.height
                low, high = min(low, int(np.floor(rows[0])) - 1), max(high, int(np.ceil(rows[1])) + 1)
        return max(low, 0), min(high, self.height)


def _moved(view: View, pixels: tuple[float, float]) -> NDArray[np.float64]:
    """The view's clip matrix with the picture moved by a part of a pixel."""
    move = np.eye(4)
    move[:2, 3] = 2 * pixels[0] / view.width, 2 * pixels[1] / view.height
    return move @ view.clip


def _straight_alpha(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Divide premultiplied colours by alpha where it is partial, in place."""
    partial = (picture[..., 3] > 0) & (picture[..., 3] < 255)
    pixels = picture[partial].astype(np.float32)
    pixels[:, :3] *= 255.0 / pixels[:, 3:]
    picture[partial] = np.minimum(pixels + 0.5, 255.0).astype(np.uint8)
    return picture


def vertex_buffer(attributes: dict[str, Floats]) -> gpu.types.GPUVertBuf:
    layout = gpu.types.GPUVertFormat()
    for name, values in attributes.items():
        layout.attr_add(id=name, comp_type="F32", len=values.shape[1], fetch_mode="FLOAT")
    buffer = gpu.types.GPUVertBuf(layout, len(next(iter(attributes.values()))))
    for name, values in attributes.items():
        if values.dtype != np.float32:  # the buffer's own check is of the size only
            raise AnyMoCapError(f"Vertex attribute {name} has dtype {values.dtype}, not float32.")
        buffer.attr_fill(name, np.ascontiguousarray(values))
    return buffer


def _light_block(lights: ViewLights, view: View) -> gpu.types.GPUUniformBuf:
    block = np.zeros((2 * LIGHTS + 2, 4), np.float32)
    block[:LIGHTS, :3] = lights.direction
    block[LIGHTS : 2 * LIGHTS, :3] = lights.colour
    block[2 * LIGHTS, :3] = lights.ambient
    block[2 * LIGHTS + 1] = (*view.eye, lights.gloss)
    return gpu.types.GPUUniformBuf(gpu.types.Buffer("FLOAT", block.size, block.ravel()))


def _mesh_shader() -> gpu.types.GPUShader:
    info = gpu.types.GPUShaderCreateInfo()
    info.typedef_source("struct ViewLights { vec4 direction[4]; vec4 colour[4]; vec4 ambient; vec4 eye; };")
    info.uniform_buf(0, "ViewLights", "lights")
    info.push_constant("MAT4", "clip")
    for slot, name in enumerate(("position", "normal", "colour")):
        info.vertex_in(slot, "VEC3", name)
    passed = gpu.types.GPUStageInterfaceInfo("anymocap_mesh")
    passed.smooth("VEC3", "lit")
    info.vertex_out(passed)
    info.fragment_out(0, "VEC4", "pixel")
    info.vertex_source(_MESH_VERTEX)
    info.fragment_source(_MESH_FRAGMENT)
    return gpu.shader.create_from_info(info)
