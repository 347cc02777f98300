"""What each bone of the asset creatures is, written down by hand from pictures of them (front, side, top).

One row a rule: a pattern for the whole bone name and the part; "a|b" where an anatomist could say either. The first
row that matches counts, and every captured bone must match one.
"""

from __future__ import annotations

import re

Rules = tuple[tuple[str, str], ...]


def _limb(pattern: str, part: str) -> Rules:
    """Rows for both sides: {S} in the pattern is the name's side, {side} in the part its word."""
    return tuple((pattern.replace("{S}", s), part.format(side=side)) for s, side in (("L", "left"), ("R", "right")))


_DOG: Rules = (
    *_limb(r"(Front(Shoulder|UpperLeg|LowerLeg)|IKFrontLeg|FF)\.{S}", "front_{side}_leg"),
    *_limb(r"(Back(Shoulder|Leg|UpperLeg|LowerLeg)|IKBackLeg|FFB)\.{S}", "back_{side}_leg"),
    *_limb(r"Ear\d\.{S}", "{side}_ear"),
    (r"Tail\d", "tail"),
    (r"Back|Torso2?", "spine"),
    (r"Torso3", "spine|head"),
    (r"Neck\d|Head", "head"),
)
_DINOSAUR_SPINE: Rules = (
    (r"Body|Hips|Torso", "spine"),
    (r"Back", "spine|tail"),
    (r"Shoulders", "spine|head"),
    (r"Neck|Head", "head"),
    (r"Tail\d", "tail"),
)
_TWO_LEGGED: Rules = (
    *_limb(r"Front(Leg|UpLeg|LowLeg|Foot)\.{S}", "{side}_arm"),
    *_limb(r"Back(Leg|UpLeg|LowLeg|Foot)\.{S}", "{side}_leg"),
    *_DINOSAUR_SPINE,
)
_FOUR_LEGGED: Rules = (
    *_limb(r"Front(Leg|UpLeg|LowLeg|Foot)\.{S}", "front_{side}_leg"),
    *_limb(r"Back(Leg|UpLeg|LowLeg|Foot)\.{S}", "back_{side}_leg"),
    *_DINOSAUR_SPINE,
)
_PERSON: Rules = (
    *_limb(r"(Shoulder|UpperArm|LowerArm|Hand|Fist|Palm.?|Thumb.*|Index.*|Middle.*|Ring.*|Pinky.*)\.{S}", "{side}_arm"),
    *_limb(r"(UpperLeg|MidLeg|LowerLeg|Foot|FootBack)\.{S}", "{side}_leg"),
    *_limb(r"Ear\d\.{S}", "{side}_ear"),
    (r"Body|Hips|Abdomen|Torso|Chest", "spine"),
    (r"Neck|Head", "head"),
)
# These robots' arms hang on the bone called Neck.
_ROBOT: Rules = ((r"Neck", "spine|head"), *_PERSON)
_FISH: Rules = (
    (r"Root|Spine1", "spine"),
    (r"Spine\d", "spine|tail"),
    (r"Tail", "tail"),
    (r"Face|Head", "head"),
)
_SIMPLE_FISH: Rules = ((r"Main[123]", "spine"), (r"Main4", "spine|tail"), (r"Main[56]", "tail"))
_FINS: Rules = ((r"Bone", "left_fin"), (r"Bone\.001", "right_fin"))

PARTS: dict[str, Rules] = {
    "Casual": _PERSON,
    "Cat": (
        (r"Bone(\.001)?", "spine"),
        (r"Bone\.00[23]", "head"),
        (r"Bone\.00[4567]", "tail"),
        (r"Bone\.(008|009|010)", "back_left_leg"),
        (r"Bone\.(011|012|013)", "back_right_leg"),
        (r"Bone\.(014|015|016)", "front_right_leg"),
        (r"Bone\.(017|018|019)", "front_left_leg"),
    ),
    "Cow": _DOG,
    "Crab": ((r"Body", "spine"), (r"Mouth|Head\d?|Eyebrow\.[LR]", "head")),
    "Fox": (
        *((rf"b_{Side}(UpperArm|ForeArm|Hand)_\d+", f"front_{Side.lower()}_leg") for Side in ("Left", "Right")),
        *((rf"b_{Side}(Leg|Foot)\d+_\d+", f"back_{Side.lower()}_leg") for Side in ("Left", "Right")),
        (r"b_(Hip|Spine\d+)_\d+", "spine"),
        (r"b_(Neck|Head)_\d+", "head"),
        (r"b_Tail\d+_\d+", "tail"),
    ),
    "Husky": _DOG,
    "Koi": _SIMPLE_FISH,
    "Leela": _PERSON,
    "Manta_ray": (*_limb(r"(Top|Mid|Bottom)Flipper\.{S}", "{side}_fin"), *_FISH),
    "RobotExpressive": _PERSON,
    "Snake": (
        (r"Root|Body|Chest", "spine"),
        (r"Neck|Head|Mouth|LowerMouth|Tongue\d", "head"),
        (r"Tail\d?", "tail"),
    ),
    "Spider": (
        *_limb(r"Front(Leg\d?|Foot2?)\.{S}", "front_{side}_leg"),
        *_limb(r"MidFront(Leg\d?|Foot)\.{S}", "mid_front_{side}_leg"),
        *_limb(r"MidBack(Leg\d?|Foot)\.{S}", "mid_back_{side}_leg"),
        *_limb(r"Back(Leg\d?|Foot)\.{S}", "back_{side}_leg"),
        (r"Body|Thorax", "spine"),
        (r"Head", "head"),
        (r"Abdomen", "abdomen"),
    ),
    "Trex": _TWO_LEGGED,
    "Wasp": (
        *_limb(r"TopLeg\d\.{S}", "front_{side}_leg"),
        *_limb(r"MidLeg\d\.{S}", "mid_{side}_leg"),
        *_limb(r"BottomLeg\d\.{S}", "back_{side}_leg"),
        *_limb(r"Wing\.{S}", "{side}_wing"),
        (r"Thorax", "spine"),
        (r"Neck", "spine|head"),
        (r"Head", "head"),
        (r"Abdomen\d?|Sting", "abdomen"),
    ),
    "Wolf": _DOG,
    "bird": (
        (r"Bone\.00[67]", "left_wing"),
        (r"Bone\.00[89]", "right_wing"),
        (r"Bone", "spine"),
        (r"Bone\.00[12]", "spine|head"),
        (r"Bone\.00[345]", "tail"),
    ),
    "Alpaca": _DOG,
    "Character": _PERSON,
    "CuteShark": _SIMPLE_FISH,
    "Donkey": _DOG,
    "Enemy_2Legs": (
        *_limb(r"(Leg\d|Foot)\.{S}", "{side}_leg"),
        (r"Body", "spine"),
        (r"Head|Eye", "head"),
    ),
    "Enemy_Flying": (
        *_limb(r"(Shoulder|UpperArm|LowerArm|Hand)\.{S}", "{side}_arm"),
        (r"Head", "spine|head"),
        (r"Eye", "head"),
    ),
    "Fish1": (*_FINS, *_FISH),
    "Mike": _ROBOT,
    "Parasaurolophus": _TWO_LEGGED,
    "QuaterniusFox": _DOG,
    "Shark": (*_FINS, *_FISH),
    "ShibaInu": _DOG,
    "Stan": _ROBOT,
    "Stegosaurus": _FOUR_LEGGED,
    "Triceratops": _FOUR_LEGGED,
}
# Turns that bring creatures to face -Y, in degrees; all others already do.
TURNS = {"Cat": -90.0, "Wasp": -90.0, "Triceratops": -90.0}


def expected(creature: str, bone: str) -> tuple[str, ...]:
    """The parts that are right for a bone.

    Raises:
        KeyError: no row of the creature's rules matches the bone.
    """
    for pattern, part in PARTS[creature]:
        if re.fullmatch(pattern, bone):
            return tuple(part.split("|"))
    raise KeyError(f"{creature}: {bone}")
