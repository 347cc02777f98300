"""The built-in lynx as data: skeleton and body parts, in metres, facing -Y, +X left, ground at z = 0.

Parts are round cones between two points (a sphere where both are the same), squeezed along the axes by `squeeze` and
blended with what came before over a `blend` of metres. Names ending in _L are mirrored.
"""

from __future__ import annotations

from dataclasses import dataclass

Point = tuple[float, float, float]

# bone: (parent, head, tail)
_CENTRE: dict[str, tuple[str | None, Point, Point]] = {
    "hips": (None, (0.0, 0.330, 0.572), (0.0, 0.190, 0.584)),
    "spine_1": ("hips", (0.0, 0.190, 0.584), (0.0, 0.030, 0.580)),
    "spine_2": ("spine_1", (0.0, 0.030, 0.580), (0.0, -0.130, 0.578)),
    "chest": ("spine_2", (0.0, -0.130, 0.578), (0.0, -0.290, 0.620)),
    "neck": ("chest", (0.0, -0.290, 0.620), (0.0, -0.405, 0.745)),
    "head": ("neck", (0.0, -0.405, 0.745), (0.0, -0.590, 0.745)),
    "tail_1": ("hips", (0.0, 0.385, 0.590), (0.0, 0.455, 0.560)),
    "tail_2": ("tail_1", (0.0, 0.455, 0.560), (0.0, 0.520, 0.510)),
    "tail_3": ("tail_2", (0.0, 0.520, 0.510), (0.0, 0.575, 0.445)),
}
_LEFT: dict[str, tuple[str, Point, Point]] = {
    "shoulder_L": ("chest", (0.050, -0.190, 0.655), (0.090, -0.290, 0.490)),
    "upper_arm_L": ("shoulder_L", (0.090, -0.290, 0.490), (0.098, -0.190, 0.350)),
    "forearm_L": ("upper_arm_L", (0.098, -0.190, 0.350), (0.098, -0.235, 0.075)),
    "hand_L": ("forearm_L", (0.098, -0.235, 0.075), (0.098, -0.3357, 0.0148)),
    "thigh_L": ("hips", (0.075, 0.320, 0.540), (0.104, 0.225, 0.345)),
    "shin_L": ("thigh_L", (0.104, 0.225, 0.345), (0.098, 0.400, 0.205)),
    "hock_L": ("shin_L", (0.098, 0.400, 0.205), (0.098, 0.355, 0.055)),
    "foot_L": ("hock_L", (0.098, 0.355, 0.055), (0.098, 0.2600, 0.0175)),
}


def mirrored(name: str) -> str:
    """The name on the right side of a left bone; centre bones keep theirs."""
    return f"{name[:-2]}_R" if name.endswith("_L") else name


def bones() -> dict[str, tuple[str | None, Point, Point]]:
    """Every bone with parent, head and tail; parents come first."""
    out = dict(_CENTRE)
    for flip in (False, True):
        for name, (parent, head, tail) in _LEFT.items():
            if flip:
                head, tail = (-head[0], *head[1:]), (-tail[0], *tail[1:])
                out[mirrored(name)] = (mirrored(parent), head, tail)
            else:
                out[name] = (parent, head, tail)
    return out


@dataclass(frozen=True)
class Part:
    """A round cone from `a` (radius `ra`) to `b` (radius `rb`)."""

    a: Point
    b: Point
    ra: float
    rb: float
    blend: float = 0.03
    squeeze: Point = (1.0, 1.0, 1.0)
    both: bool = False  # mirrored in x


def _toes(y: float) -> tuple[Part, ...]:
    """Four toes in front of a paw whose centre lies at (0.098, y)."""
    spread = ((-0.036, 0.012), (-0.0125, -0.004), (0.0125, -0.004), (0.036, 0.012))
    return tuple(
        Part((0.098 + x, y + 0.035 + dy, 0.030), (0.098 + 1.06 * x, y + dy, 0.021), 0.021, 0.0205, 0.010, both=True)
        for x, dy in spread
    )


BODY: tuple[Part, ...] = (
    # trunk
    Part((0.0, -0.205, 0.545), (0.0, -0.060, 0.548), 0.150, 0.143, 0.0, (0.83, 1.0, 1.0)),
    Part((0.0, -0.060, 0.548), (0.0, 0.190, 0.572), 0.143, 0.114, 0.03, (0.85, 1.0, 1.0)),
    Part((0.0, 0.190, 0.572), (0.0, 0.335, 0.568), 0.114, 0.114, 0.03, (0.90, 1.0, 1.0)),
    Part((0.0, -0.230, 0.500), (0.0, -0.285, 0.570), 0.105, 0.095, 0.07, (0.88, 1.0, 1.0)),
    # neck and its ruff
    Part((0.0, -0.245, 0.610), (0.0, -0.420, 0.750), 0.120, 0.096, 0.07, (0.92, 1.0, 1.0)),
    Part((0.0, -0.320, 0.595), (0.0, -0.415, 0.695), 0.082, 0.072, 0.07, (1.05, 1.0, 1.0)),
    # shoulders and haunches
    Part((0.052, -0.185, 0.630), (0.080, -0.280, 0.500), 0.070, 0.070, 0.05, (0.8, 1.0, 1.0), both=True),
    Part((0.080, -0.280, 0.500), (0.098, -0.190, 0.355), 0.070, 0.052, 0.05, (0.9, 1.0, 1.0), both=True),
    Part((0.098, -0.190, 0.355), (0.098, -0.235, 0.090), 0.050, 0.036, 0.03, both=True),
    Part((0.062, 0.320, 0.530), (0.092, 0.255, 0.380), 0.112, 0.078, 0.05, (0.76, 1.0, 1.0), both=True),
    Part((0.092, 0.255, 0.375), (0.100, 0.330, 0.275), 0.074, 0.052, 0.04, (0.80, 1.0, 1.0), both=True),
    Part((0.100, 0.320, 0.285), (0.098, 0.398, 0.205), 0.050, 0.034, 0.03, (0.9, 1.0, 1.0), both=True),
    Part((0.098, 0.398, 0.205), (0.098, 0.355, 0.070), 0.033, 0.036, 0.03, both=True),
    # paws
    Part((0.098, -0.235, 0.060), (0.098, -0.295, 0.040), 0.042, 0.043, 0.03, (1.1, 1.0, 0.95), both=True),
    Part((0.098, 0.355, 0.052), (0.098, 0.302, 0.038), 0.040, 0.042, 0.03, (1.1, 1.0, 0.95), both=True),
    *_toes(-0.318),
    *_toes(0.279),
    # tail
    Part((0.0, 0.370, 0.585), (0.0, 0.455, 0.560), 0.052, 0.042, 0.04),
    Part((0.0, 0.455, 0.560), (0.0, 0.520, 0.510), 0.042, 0.042, 0.03),
    Part((0.0, 0.520, 0.510), (0.0, 0.562, 0.462), 0.042, 0.034, 0.03),
    # skull, muzzle, chin, cheeks
    Part((0.0, -0.445, 0.795), (0.0, -0.495, 0.793), 0.112, 0.104, 0.05, (1.04, 1.0, 0.93)),
    Part((0.0, -0.530, 0.790), (0.0, -0.600, 0.766), 0.050, 0.033, 0.030),
    Part((0.026, -0.565, 0.738), (0.024, -0.603, 0.740), 0.043, 0.035, 0.025, both=True),
    Part((0.0, -0.560, 0.708), (0.0, -0.592, 0.707), 0.040, 0.027, 0.025),
    Part((0.066, -0.485, 0.750), (0.118, -0.452, 0.705), 0.074, 0.044, 0.04, (1.0, 0.75, 1.0), both=True),
    Part((0.108, -0.452, 0.715), (0.166, -0.428, 0.615), 0.046, 0.011, 0.03, (1.0, 0.65, 1.0), both=True),
    Part((0.0, -0.630, 0.765), (0.0, -0.636, 0.767), 0.020, 0.017, 0.008, (1.25, 0.9, 0.85)),
    Part((0.030, -0.560, 0.832), (0.062, -0.535, 0.836), 0.026, 0.026, 0.025, both=True),
    # eyelids
    Part((0.0490, -0.5720, 0.8020), (0.0490, -0.5720, 0.8020), 0.0285, 0.0285, 0.015, both=True),
    # ears and tufts
    Part((0.066, -0.440, 0.868), (0.108, -0.424, 0.972), 0.060, 0.015, 0.02, (1.0, 0.5, 1.0), both=True),
    Part((0.106, -0.424, 0.962), (0.126, -0.408, 1.045), 0.015, 0.006, 0.015, both=True),
)

# carved out of the body: the hollows of the ears and the slits of the eyes
HOLLOWS: tuple[Part, ...] = (
    Part((0.074, -0.480, 0.898), (0.100, -0.456, 0.950), 0.034, 0.010, 0.012, (1.0, 0.8, 1.0), both=True),
    Part((0.037, -0.606, 0.797), (0.064, -0.596, 0.807), 0.013, 0.012, 0.006, (1.0, 1.6, 1.0), both=True),
)

EYE_CENTRE: Point = (0.0490, -0.5720, 0.8020)
EYE_RADIUS = 0.0250
EYE_LOOK: Point = (0.18, -1.0, -0.02)
