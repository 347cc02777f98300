"""The artist's word on body parts outdoes what was found."""

from __future__ import annotations

import pytest

from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.role_edits import edited_roles, role_choices
from anymocap_addon.core.roles import Roles, find_roles

from .skeletons import bones, dragon, quadruped


def edited(edits: dict[str, str], spec=None) -> tuple[dict[str, tuple[str, str]], Roles]:
    skeleton = bones(spec or quadruped())
    roles = edited_roles(skeleton, find_roles(skeleton), edits, "creature.json")
    return dict(zip(skeleton.names, zip(roles.role, roles.part, strict=True), strict=True)), roles


def test_an_edit_holds_for_the_bones_below_of_the_same_part_and_for_no_others() -> None:
    before, _ = edited({})
    after, roles = edited({"front_upper_L": "left_arm", "neck": "spine"})
    assert after["front_upper_L"] == after["front_lower_L"] == ("arm", "left_arm")
    assert after["neck"] == after["skull"] == ("spine", "spine")
    assert {b for b in after if after[b] != before[b]} == {"front_upper_L", "front_lower_L", "neck", "skull"}
    skeleton = bones(quadruped())
    assert roles.rank[skeleton.names.index("front_lower_L")] == 1


def test_the_next_edit_below_ends_an_edit() -> None:
    after, _ = edited({"neck": "spine", "skull": "head"})
    assert after["neck"] == ("spine", "spine") and after["skull"] == ("head", "head")


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("left_fin", ("wing", "left_fin")),
        ("mid_front_left_leg", ("leg", "mid_front_left_leg")),
        ("left_arm_2", ("arm", "left_arm_2")),
        ("detail", ("detail", "spine")),
        ("abdomen", ("tail", "abdomen")),
    ],
)
def test_words_of_parts(word: str, meaning: tuple[str, str]) -> None:
    assert edited({"wing1_L": word}, dragon())[0]["wing1_L"] == meaning


def test_every_choice_is_understood() -> None:
    for word in role_choices():
        assert edited({"tail1": word})[0]["tail1"][0]


@pytest.mark.parametrize(
    ("edits", "says"),
    [
        ({"front_uper_L": "left_leg"}, "front_upper_L"),
        ({"tail1": "tial"}, "tail"),
        ({"hips": "left_leg"}, "spine"),
    ],
)
def test_what_does_not_fit_is_told_with_the_remedy(edits: dict[str, str], says: str) -> None:
    with pytest.raises(BadInputError) as caught:
        edited(edits)
    assert says in str(caught.value) and "roles" in str(caught.value.key)


def test_the_root_stays_the_root() -> None:
    assert edited({"hips": "tail"})[0]["hips"] == ("root", "tail")
