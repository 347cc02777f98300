"""The creature in a studio, for people to look at: perspective camera, key light with soft shadow, floor with a grid.

Drawn like the training pictures (draw.py): tenths of a second a frame on software OpenGL, where EEVEE takes minutes.
"""

from __future__ import annotations

import gpu
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..core.creature import ShowcaseCamera
from .draw import PosedMeshes, Shape, vertex_buffer
from .gpu_start import start_gpu
from .sampled_target import SampledTarget, plain_state

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]

FIELD_DEG = 24.0
FILL = 0.86  # of the picture, by the bounds of the motion
KEY_AZIMUTH_DEG, KEY_ELEVATION_DEG = -38.0, 52.0  # from the camera's own direction
SHADOW_PIXELS = 1024
FACTOR = 2
FLOOR = 4.0  # half the floor's side, in radii of the motion
TOP, BOTTOM = (98, 104, 114), (168, 171, 175)  # sRGB of the backdrop's gradient

_SHADOW_VERTEX = "void main() { gl_Position = light * vec4(position, 1.0); }"
_SHADOW_FRAGMENT = "void main() { depth = vec4(gl_FragCoord.z); }"
_VERTEX = """
void main() {
  place = position;
  normal_ = normal;
  colour_ = colour;
  gl_Position = clip * vec4(position, 1.0);
}
"""
# Shadow: the share of 25 taps of the light's depth picture that lie in front. Floor: a grid line every metre division.
_FRAGMENT = """
float lit_share(vec3 at) {
  vec3 seen = (light * vec4(at, 1.0)).xyz * 0.5 + 0.5;
  if (any(lessThan(seen, vec3(0.0))) || any(greaterThan(seen, vec3(1.0)))) { return 1.0; }
  ivec2 size = textureSize(shadow, 0);
  ivec2 middle = ivec2(seen.xy * vec2(size));
  float share = 0.0;
  for (int y = -2; y <= 2; y++) {
    for (int x = -2; x <= 2; x++) {
      ivec2 tap = clamp(middle + ivec2(x, y) * 2, ivec2(0), size - 1);
      share += texelFetch(shadow, tap, 0).r < seen.z - BIAS ? 0.0 : 1.0;
    }
  }
  return share / 25.0;
}

void main() {
  vec3 n = normalize(normal_);
  float key = lit_share(place + n * studio.floor.y);
  if (studio.floor.x > 0.5) {
    vec2 line = abs(fract(place.xy / studio.floor.z + 0.5) - 0.5) * studio.floor.z / max(fwidth(place.xy), vec2(1e-6));
    float grid = 1.0 - clamp(min(line.x, line.y), 0.0, 1.0);
    vec3 base = colour_ * (0.52 + 0.48 * key) * (1.0 - 0.16 * grid);
    float away = length(place.xy - studio.centre.xy) / studio.centre.w;
    float fade = 1.0 - smoothstep(0.45, 1.0, away);
    pixel = vec4(pow(base, vec3(1.0 / 2.2)) * fade, fade);
    return;
  }
  vec3 to_eye = normalize(studio.eye.xyz - place);
  float facing = max(0.0, dot(n, studio.key.xyz));
  float sky = 0.5 + 0.5 * n.z;
  vec3 ambient = mix(vec3(0.23, 0.21, 0.20), vec3(0.44, 0.47, 0.52), sky);
  float edge = pow(1.0 - max(0.0, dot(n, to_eye)), 3.0) * sky;
  float fill = max(0.0, dot(n, to_eye)) * 0.30;
  vec3 light_ = ambient + vec3(fill) + vec3(1.06, 1.0, 0.92) * 0.95 * facing * key;
  vec3 tone = colour_ * light_ + vec3(0.10, 0.11, 0.13) * edge;
  pixel = vec4(pow(tone, vec3(1.0 / 2.2)), 1.0);
}
"""


class PortraitDrawer:
    """Draws shapes of one creature as pictures of one fixed camera."""

    def __init__(
        self, meshes: PosedMeshes, size: tuple[int, int], camera: ShowcaseCamera, bounds: tuple[Array, Array]
    ) -> None:
        """
        Args:
            size: width and height of the pictures, px.
            camera: whence, and how near.
            bounds: lowest and highest point (3,) of the whole motion, metres; they fill the picture at zoom 1.
        """
        start_gpu()
        self.width, self.height = size
        self._reach = float(np.linalg.norm(bounds[1] - bounds[0])) / 2
        centre = (bounds[0] + bounds[1]) / 2
        self.clip, eye = perspective(bounds, size, camera)
        key = _direction(camera.azimuth_deg + KEY_AZIMUTH_DEG, KEY_ELEVATION_DEG)
        self._light = _light_view(key, centre, 1.6 * self._reach)
        self._shadow_shader, self._shader = _shadow_shader(), _studio_shader()
        self._index = gpu.types.GPUIndexBuf(type="TRIS", seq=meshes.triangles)
        self._colour = vertex_buffer({"colour": meshes.colour})
        self._floor = self._floor_batch(centre)
        self._shadow = gpu.types.GPUOffScreen(SHADOW_PIXELS, SHADOW_PIXELS, format="RGBA32F")
        self._target = SampledTarget(self.width, self.height, FACTOR)
        self._blocks = [self._block(eye, key, centre, floor) for floor in (True, False)]
        self._backdrop = _gradient(self.width, self.height)

    def draw(self, shape: Shape) -> Picture:
        """(height, width, 3) RGB."""
        buffer = vertex_buffer({"position": shape.position, "normal": shape.normal})
        batch = gpu.types.GPUBatch(type="TRIS", buf=buffer, elem=self._index)
        batch.vertbuf_add(self._colour)
        with self._shadow.bind():
            plain_state("LESS")
            gpu.state.viewport_set(0, 0, SHADOW_PIXELS, SHADOW_PIXELS)
            gpu.state.active_framebuffer_get().clear(color=(1, 1, 1, 1), depth=1.0)
            self._shadow_shader.bind()
            self._shadow_shader.uniform_float("light", self._light)
            batch.draw(self._shadow_shader)
        with self._target.bind():
            plain_state("LESS")
            gpu.state.viewport_set(0, 0, self.width * FACTOR, self.height * FACTOR)
            gpu.state.active_framebuffer_get().clear(color=(0, 0, 0, 0), depth=1.0)
            self._shader.bind()
            self._shader.uniform_float("clip", Matrix(self.clip.tolist()))
            self._shader.uniform_float("light", self._light)
            self._shader.uniform_sampler("shadow", self._shadow.texture_color)
            for block, part in zip(self._blocks, (self._floor, batch), strict=True):
                self._shader.uniform_block("studio", block)
                part.draw(self._shader)
        rgba = self._target.average(0, self.height)
        alpha = rgba[..., 3:].astype(np.uint16)
        return (rgba[..., :3] + ((255 - alpha) * self._backdrop + 127) // 255).clip(0, 255).astype(np.uint8)

    def free(self) -> None:
        """Give the card's memory back."""
        self._shadow.free()
        self._target.free()

    def _floor_batch(self, centre: Array) -> gpu.types.GPUBatch:
        half = FLOOR * self._reach
        corners = centre + np.array([[-half, -half, 0], [half, -half, 0], [half, half, 0], [-half, half, 0]])
        corners[:, 2] = 0.0
        shade = np.full((4, 3), 0.36, np.float32)
        up = np.tile(np.array([0, 0, 1], np.float32), (4, 1))
        buffer = vertex_buffer({"position": corners.astype(np.float32), "normal": up, "colour": shade})
        index = gpu.types.GPUIndexBuf(type="TRIS", seq=np.array([[0, 1, 2], [0, 2, 3]], np.int32))
        return gpu.types.GPUBatch(type="TRIS", buf=buffer, elem=index)

    def _block(self, eye: Array, key: Array, centre: Array, floor: bool) -> gpu.types.GPUUniformBuf:
        spacing = 10.0 ** np.round(np.log10(self._reach)) / 2
        rows = np.zeros((4, 4), np.float32)
        rows[0, :3], rows[1, :3] = eye, key
        rows[2] = (*centre, FLOOR * self._reach)
        rows[3] = (float(floor), 0.006 * self._reach, spacing, 0.0)
        return gpu.types.GPUUniformBuf(gpu.types.Buffer("FLOAT", rows.size, rows.ravel()))


def perspective(bounds: tuple[Array, Array], size: tuple[int, int], camera: ShowcaseCamera) -> tuple[Array, Array]:
    """World -> clip space (4, 4) of the camera that holds the bounds' eight corners, and its place (3,).

    The camera looks at the bounds' middle from the azimuth (from the front, -Y, towards the right flank, -X).
    """
    towards = _direction(camera.azimuth_deg, camera.elevation_deg)
    right = np.cross([0.0, 0.0, 1.0], towards)
    right /= np.linalg.norm(right)
    turn = np.stack([right, np.cross(towards, right), towards])
    centre = (bounds[0] + bounds[1]) / 2
    corners = np.array(np.meshgrid(*np.stack(bounds, 1))).reshape(3, -1).T
    offset = (corners - centre) @ turn.T
    tangent = np.tan(np.radians(FIELD_DEG / 2)) * np.array([size[0] / size[1], 1.0])
    distance = float((np.abs(offset[:, :2]) / (FILL * tangent) + offset[:, 2:]).max()) / camera.zoom
    eye = centre + towards * distance
    view = np.eye(4)
    view[:3, :3], view[:3, 3] = turn, -turn @ eye
    near, far = 0.05 * distance, 20.0 * distance
    lens = np.zeros((4, 4))
    lens[0, 0], lens[1, 1] = 1 / tangent
    lens[2, 2], lens[2, 3] = -(far + near) / (far - near), -2 * far * near / (far - near)
    lens[3, 2] = -1.0
    return lens @ view, eye


def _direction(azimuth_deg: float, elevation_deg: float) -> Array:
    """Unit vector towards the front (-Y), turned to the right flank (-X) and up."""
    azimuth, elevation = np.radians([azimuth_deg, elevation_deg])
    return np.array([-np.sin(azimuth) * np.cos(elevation), -np.cos(azimuth) * np.cos(elevation), np.sin(elevation)])


def _light_view(key: Array, centre: Array, radius: float) -> Matrix:
    """World -> the light's clip space: orthographic, `radius` metres around the centre."""
    right = np.cross([0.0, 0.0, 1.0], key)
    right /= np.linalg.norm(right)
    turn = np.stack([right, np.cross(key, right), -key])
    matrix = np.eye(4)
    matrix[:3, :3] = turn / radius
    matrix[:3, 3] = -matrix[:3, :3] @ centre
    return Matrix(matrix.tolist())


def _gradient(width: int, height: int) -> NDArray[np.uint16]:
    share = np.linspace(0, 1, height)[:, None, None]
    colour = np.array(TOP) * (1 - share) + np.array(BOTTOM) * share
    return np.broadcast_to(np.rint(colour), (height, width, 3)).astype(np.uint16)


def _shadow_shader() -> gpu.types.GPUShader:
    info = gpu.types.GPUShaderCreateInfo()
    info.push_constant("MAT4", "light")
    info.vertex_in(0, "VEC3", "position")
    info.fragment_out(0, "VEC4", "depth")
    info.vertex_source(_SHADOW_VERTEX)
    info.fragment_source(_SHADOW_FRAGMENT)
    return gpu.shader.create_from_info(info)


def _studio_shader() -> gpu.types.GPUShader:
    info = gpu.types.GPUShaderCreateInfo()
    info.define("BIAS", "0.003")
    info.typedef_source("struct Studio { vec4 eye; vec4 key; vec4 centre; vec4 floor; };")
    info.uniform_buf(0, "Studio", "studio")
    info.push_constant("MAT4", "clip")
    info.push_constant("MAT4", "light")
    info.sampler(0, "FLOAT_2D", "shadow")
    for slot, name in enumerate(("position", "normal", "colour")):
        info.vertex_in(slot, "VEC3", name)
    passed = gpu.types.GPUStageInterfaceInfo("anymocap_studio")
    for name in ("place", "normal_", "colour_"):
        passed.smooth("VEC3", name)
    info.vertex_out(passed)
    info.fragment_out(0, "VEC4", "pixel")
    info.vertex_source(_VERTEX)
    info.fragment_source(_FRAGMENT)
    return gpu.shader.create_from_info(info)
