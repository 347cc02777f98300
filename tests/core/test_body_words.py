"""The prompt counts what the rig's roles know, in English, for every kind of body; the artist's own words stay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anymocap_addon.core.creature import Creature, PaintGroup, PromptWords
from anymocap_addon.core.film.body_words import body_count, part_words
from anymocap_addon.core.film.prompt import compose_prompt
from anymocap_addon.core.rest_bones import Bones
from anymocap_addon.core.rig import RigInfo
from anymocap_addon.core.roles import find_roles

from .skeletons import Spec, biped, bones, both_sides, dragon, quadruped, spider

FISH: Spec = {
    "b0": (None, (0, -0.4, 0.5), (0, 0.0, 0.5)),
    "b1": ("b0", (0, 0.0, 0.5), (0, 0.3, 0.5)),
    "b2": ("b1", (0, 0.3, 0.5), (0, 0.6, 0.5)),
    **both_sides({"fin": ("b0", (0.08, -0.2, 0.45), (0.2, -0.1, 0.4))}),
}
SNAKE: Spec = {
    "body": (None, (0, 0, 0.05), (0, -0.3, 0.05)),
    "neck": ("body", (0, -0.3, 0.05), (0, -0.5, 0.1)),
    "head": ("neck", (0, -0.5, 0.1), (0, -0.6, 0.1)),
    **{f"tail{i}": (f"tail{i - 1}" if i else "body", (0, 0.3 * i, 0.05), (0, 0.3 * i + 0.3, 0.05)) for i in range(4)},
}


def rigged(skeleton: Bones) -> tuple[RigInfo, Creature]:
    """A rig with the skeleton's roles, and its creature with every limb painted."""
    roles = find_roles(skeleton)
    B = len(skeleton.names)
    limbs = roles.limb_bones(skeleton.names)
    rig = RigInfo(
        creature="c", armature="A", to_prep=np.eye(4), bones=skeleton.names, parents=skeleton.parents,
        armature_parents=(None,) * B, rest=np.tile(np.eye(4), (B, 1, 1)), lengths=np.ones(B),
        limits_rad=np.zeros((B, 3, 2)), keypoints=(), keypoint_bone=np.zeros(0, np.int64),
        keypoint_end=np.zeros(0, np.int64), contacts=(), pairs=np.zeros((0, 2), np.int64), joint_groups={},
        bone_groups=limbs, body_length=1.0, bone_roles=roles.role, bone_parts=roles.part,
    )  # fmt: skip
    colours = "red blue yellow green pink cyan lime teal orange purple".split()
    paint = tuple(PaintGroup(name, colours[i], (1, 0, 0), members) for i, (name, members) in enumerate(limbs.items()))
    return rig, Creature(name="c", paint=paint)


@pytest.mark.parametrize(
    ("skeleton", "count", "coloured"),
    [
        (bones(quadruped(), rename=True), "one head, two ears, four legs and one tail", "Its legs and tail are"),
        (bones(biped(), rename=True), "one head, two arms and two legs", "Its arms and legs are"),
        (bones(spider(), rename=True), "one head, eight legs and one abdomen", "Its legs and abdomen are"),
        (bones(FISH, flat=("fin",)), "one head, two fins and one tail", "Its fins and tail are"),
        (bones(SNAKE), "one head and one tail", "Its tail is"),
        (bones(dragon(), rename=True, flat=("wing",)), "four legs, two wings and one tail", "wings and tail are"),
    ],
    ids=["quadruped", "biped", "spider", "fish", "snake", "dragon"],
)
def test_every_kind_of_body_is_counted(skeleton: Bones, count: str, coloured: str) -> None:
    rig, creature = rigged(skeleton)
    text = compose_prompt(creature, "It moves.", rig)
    assert f"{count}. No limb" in text
    assert f"{coloured} colour-coded: " in text


def test_limbs_are_told_from_front_to_back_and_left_before_right() -> None:
    rig, creature = rigged(bones(quadruped()))
    told = compose_prompt(creature, "It walks.", rig)
    places = ["front left leg", "front right leg", "back left leg", "back right leg", "tail"]
    code = told.split("colour-coded: ")[1].split(".")[0].split(", ")
    assert [part.rsplit(" ", 1)[0] for part in code] == places
    assert sorted(part.rsplit(" ", 1)[1] for part in code) == sorted(group.word for group in creature.paint)


def test_the_artists_own_words_stay() -> None:
    rig, creature = rigged(bones(quadruped()))
    words = PromptWords(noun="dog", count="a hound with three legs", limbs="paws", colour_code="all of them white")
    text = compose_prompt(replace(creature, prompt=words), "It walks.", rig)
    assert "in each view: a hound with three legs." in text and "four" not in text
    assert "Its paws are colour-coded: all of them white." in text


def test_a_creature_without_paint_keeps_its_pattern() -> None:
    rig, creature = rigged(bones(SNAKE))
    text = compose_prompt(replace(creature, paint=()), "It winds.", rig)
    assert "colour-coded" not in text and "Its colours and their pattern stay" in text


def counted(skeleton: Bones) -> str:
    roles = find_roles(skeleton)
    return body_count(skeleton.names, roles.part, roles.role)


def test_horns_are_no_ears_where_names_know() -> None:
    spec = {name.replace("ear", "horn"): bone for name, bone in quadruped().items()}
    assert "two horns" in counted(bones(spec))
    spec = {name.replace("ear", "Antennae"): bone for name, bone in quadruped().items()}
    assert "two antennae" in counted(bones(spec))


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("mid_front_left_leg", "mid-front left leg"),
        ("left_arm_2", "second left arm"),
        ("right_leg_14", "number 14 right leg"),
        ("tail", "tail"),
        ("left_wing", "left wing"),
    ],
)
def test_parts_as_they_are_said(part: str, said: str) -> None:
    assert part_words(part) == said
