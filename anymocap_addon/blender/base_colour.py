"""The colour of a mesh before any paint: texture, material colour and vertex colours, sampled at every corner."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.palette import linear_to_srgb, srgb_to_linear

Array = NDArray[np.float64]

_GREY = np.array([0.6, 0.6, 0.6])


def corner_base_colours(obj: bpy.types.Object) -> Array:
    """(L, 3) sRGB base colour at each corner of the mesh of `obj`."""
    mesh = obj.data
    count = len(mesh.loops)
    slots = np.empty(len(mesh.polygons), np.int32)
    totals = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("material_index", slots)
    mesh.polygons.foreach_get("loop_total", totals)
    of_corner = np.repeat(slots, totals)
    colours = np.tile(_GREY, (count, 1))
    for slot in np.unique(slots):
        material = obj.material_slots[slot].material if slot < len(obj.material_slots) else None
        if material is not None:
            at = np.flatnonzero(of_corner == slot)
            colours[at] = _material_colours(material, mesh, at)
    return colours


def _material_colours(material: bpy.types.Material, mesh: bpy.types.Mesh, corners: NDArray[np.int64]) -> Array:
    """(n, 3) sRGB: product of the image, the factor and the vertex colours that feed the base colour."""
    socket = _base_colour_socket(material)
    if socket is None:
        return np.tile(linear_to_srgb(np.array(material.diffuse_color[:3])), (len(corners), 1))
    if not socket.is_linked:
        return np.tile(linear_to_srgb(np.array(socket.default_value[:3])), (len(corners), 1))
    linear = np.ones((len(corners), 3))
    for node in _upstream(socket):
        if node.type == "TEX_IMAGE" and node.image is not None and node.image.size[0] > 0:
            linear *= _image_colours(node, mesh, corners)
        elif node.type == "VERTEX_COLOR":
            linear *= _vertex_colours(mesh, node.layer_name, corners)
        elif node.type in ("RGB", "MIX", "MIX_RGB"):
            linear *= _factor(node)
    return linear_to_srgb(linear)


def _base_colour_socket(material: bpy.types.Material) -> bpy.types.NodeSocket | None:
    if not material.use_nodes or material.node_tree is None:
        return None
    nodes = material.node_tree.nodes
    for kind, name in (("BSDF_PRINCIPLED", "Base Color"), ("BSDF_DIFFUSE", "Color"), ("EMISSION", "Color")):
        for node in nodes:
            if node.type == kind and name in node.inputs:
                return node.inputs[name]
    return None


def _upstream(socket: bpy.types.NodeSocket) -> list[bpy.types.Node]:
    """Nodes that feed the socket, each once."""
    found: list[bpy.types.Node] = []
    waiting = [link.from_node for link in socket.links]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.append(node)
            waiting += [link.from_node for i in node.inputs for link in i.links if i.type in ("RGBA", "VECTOR")]
    return found


def _factor(node: bpy.types.Node) -> Array:
    """(3,) constant that a colour node multiplies with: what is not linked of a multiply, or a plain colour."""
    if node.type == "RGB":
        return np.array(node.outputs[0].default_value[:3])
    if getattr(node, "blend_type", "MIX") != "MULTIPLY":
        return np.ones(3)
    free = [s for s in node.inputs if s.type == "RGBA" and s.enabled and not s.is_linked]
    return np.prod([np.array(s.default_value[:3]) for s in free], axis=0) if free else np.ones(3)


def _image_colours(node: bpy.types.Node, mesh: bpy.types.Mesh, corners: NDArray[np.int64]) -> Array:
    """(n, 3) linear colour of the image at the corners' UV, bilinear, repeated beyond its edge."""
    layer = mesh.uv_layers.get(_uv_name(node)) or mesh.uv_layers.active
    if layer is None:
        return np.ones((len(corners), 3))
    uv = np.empty(len(mesh.loops) * 2, np.float32)
    layer.data.foreach_get("uv", uv)
    image = node.image
    width, height = image.size
    pixels = np.empty(width * height * image.channels, np.float32)
    image.pixels.foreach_get(pixels)
    pixels = pixels.reshape(height, width, image.channels)
    rgb = pixels[..., :3] if image.channels >= 3 else np.repeat(pixels[..., :1], 3, -1)
    colours = _bilinear(rgb.astype(np.float64), uv.reshape(-1, 2)[corners].astype(np.float64))
    is_data = image.is_float or image.colorspace_settings.name in ("Non-Color", "Linear Rec.709", "Linear")
    return colours if is_data else srgb_to_linear(colours)


def _uv_name(node: bpy.types.Node) -> str:
    for link in node.inputs["Vector"].links if "Vector" in node.inputs else ():
        for source in [link.from_node, *[k.from_node for i in link.from_node.inputs for k in i.links]]:
            if source.type == "UVMAP":
                return str(source.uv_map)
    return ""


def _bilinear(image: Array, uv: Array) -> Array:
    """(n, 3) samples of image (H, W, 3), whose first row is at v = 0, at uv (n, 2)."""
    height, width = image.shape[:2]
    x, y = uv[:, 0] * width - 0.5, uv[:, 1] * height - 0.5
    column, row = np.floor(x).astype(int), np.floor(y).astype(int)
    fx, fy = (x - column)[:, None], (y - row)[:, None]

    def pick(r: NDArray[np.int64], c: NDArray[np.int64]) -> Array:
        return np.asarray(image[r % height, c % width])

    low = pick(row, column) * (1 - fx) + pick(row, column + 1) * fx
    high = pick(row + 1, column) * (1 - fx) + pick(row + 1, column + 1) * fx
    return np.asarray(low * (1 - fy) + high * fy)


def _vertex_colours(mesh: bpy.types.Mesh, name: str, corners: NDArray[np.int64]) -> Array:
    """(n, 3) linear vertex colours of the layer `name` (the active one without a name)."""
    attributes = mesh.color_attributes
    layer = attributes.get(name) if name else attributes.active_color
    if layer is None:
        return np.ones((len(corners), 3))
    stored = np.empty(len(layer.data) * 4, np.float32)
    layer.data.foreach_get("color", stored)
    colours = stored.reshape(-1, 4)[:, :3].astype(np.float64)
    if layer.domain == "CORNER":
        return colours[corners]
    vertex = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", vertex)
    return np.asarray(colours[vertex[corners]])
