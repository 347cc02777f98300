"""The overlay's own shaders: the clip's frame, and round dots. Lines and plain areas use Blender's.

The 3D view's framebuffer takes linear light and stores sRGB, an offscreen stores what it is given: Blender's shaders
know which they draw into, ours are told by the uniform `linear`.
"""

from __future__ import annotations

from functools import cache

import gpu

# IEC 61966-2-1.
_TO_LINEAR = """
vec3 to_framebuffer(vec3 colour) {
  vec3 low = colour / 12.92;
  vec3 high = pow((max(colour, vec3(0.0)) + 0.055) / 1.055, vec3(2.4));
  return linear > 0.5 ? mix(low, high, vec3(greaterThan(colour, vec3(0.04045)))) : colour;
}
"""
_FRAME_VERTEX = "void main() { passed_uv = uv; gl_Position = mvp * vec4(pos, 0.0, 1.0); }"
_OUTSIDE = "if (any(lessThan(passed_uv, vec2(0.0))) || any(greaterThan(passed_uv, vec2(1.0)))) { discard; }"
_PACKED_FRAGMENT = (
    """
vec3 texel(ivec2 at) {
  ivec2 last = textureSize(image, 0) - ivec2(1);
  uint bits = floatBitsToUint(texelFetch(image, clamp(at, ivec2(0), last), 0).r);
  return vec3(float(bits & 255u), float((bits >> 8u) & 255u), float((bits >> 16u) & 255u)) / 255.0;
}
"""
    + _TO_LINEAR
    + f"void main() {{ {_OUTSIDE}"
    + """
  vec2 at = passed_uv * vec2(textureSize(image, 0)) - 0.5;
  ivec2 low = ivec2(floor(at));
  vec2 part = at - floor(at);
  vec3 upper = mix(texel(low), texel(low + ivec2(1, 0)), part.x);
  vec3 lower = mix(texel(low + ivec2(0, 1)), texel(low + ivec2(1, 1)), part.x);
  pixel = vec4(to_framebuffer(mix(upper, lower, part.y)), opacity);
}
"""
)
_PLAIN_FRAGMENT = (
    _TO_LINEAR
    + f"void main() {{ {_OUTSIDE}"
    + " pixel = vec4(to_framebuffer(texture(image, passed_uv).rgb), opacity); }"
)
# A dot is a square whose corners are at (-1, -1) to (1, 1); `core` is where its outline begins.
_DOT_VERTEX = "void main() { passed_at = at; passed_colour = colour; gl_Position = mvp * vec4(pos, 0.0, 1.0); }"
_DOT_FRAGMENT = (
    _TO_LINEAR
    + """
void main() {
  float far = length(passed_at);
  float soft = max(fwidth(far), 1e-4);
  float inside = clamp((1.0 - far) / soft, 0.0, 1.0);
  float filled = clamp((core - far) / soft + 0.5, 0.0, 1.0);
  if (inside <= 0.0) { discard; }
  vec3 colour = mix(outline.rgb, passed_colour.rgb, filled);
  pixel = vec4(to_framebuffer(colour), inside * passed_colour.a);
}
"""
)


@cache
def frame_shader(packed: bool) -> gpu.types.GPUShader:
    """Draws a clip's frame: attributes pos (region px) and uv (0..1, v downward); what lies outside 0..1 stays free.

    Args:
        packed: the texture holds the four bytes of a pixel as one float; else colours.
    """
    info = gpu.types.GPUShaderCreateInfo()
    info.push_constant("MAT4", "mvp")
    info.push_constant("FLOAT", "opacity")
    info.push_constant("FLOAT", "linear")
    info.sampler(0, "FLOAT_2D", "image")
    info.vertex_in(0, "VEC2", "pos")
    info.vertex_in(1, "VEC2", "uv")
    passed = gpu.types.GPUStageInterfaceInfo("anymocap_frame")
    passed.smooth("VEC2", "passed_uv")
    info.vertex_out(passed)
    info.fragment_out(0, "VEC4", "pixel")
    info.vertex_source(_FRAME_VERTEX)
    info.fragment_source(_PACKED_FRAGMENT if packed else _PLAIN_FRAGMENT)
    return gpu.shader.create_from_info(info)


@cache
def dot_shader() -> gpu.types.GPUShader:
    """Draws round dots with an outline: attributes pos (region px), at (-1..1 over the dot) and colour (RGBA)."""
    info = gpu.types.GPUShaderCreateInfo()
    info.push_constant("MAT4", "mvp")
    info.push_constant("VEC4", "outline")
    info.push_constant("FLOAT", "core")
    info.push_constant("FLOAT", "linear")
    info.vertex_in(0, "VEC2", "pos")
    info.vertex_in(1, "VEC2", "at")
    info.vertex_in(2, "VEC4", "colour")
    passed = gpu.types.GPUStageInterfaceInfo("anymocap_dot")
    passed.smooth("VEC2", "passed_at")
    passed.smooth("VEC4", "passed_colour")
    info.vertex_out(passed)
    info.fragment_out(0, "VEC4", "pixel")
    info.vertex_source(_DOT_VERTEX)
    info.fragment_source(_DOT_FRAGMENT)
    return gpu.shader.create_from_info(info)


@cache
def blenders(name: str) -> gpu.types.GPUShader:
    """A shader that Blender has built in."""
    return gpu.shader.from_builtin(name)


def free_shaders() -> None:
    """Let go of all of them, while there still is a context to free them in."""
    for made in (frame_shader, dot_shader, blenders):
        made.cache_clear()
