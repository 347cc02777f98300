"""Body parts of real creatures against a table written by hand, with their bones' names and without them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import pytest

from anymocap_addon.blender.compat import open_blend
from anymocap_addon.blender.prep import armatures_of, rest_bounds, rest_only
from anymocap_addon.blender.rig import role_bones
from anymocap_addon.blender.rig_adopt import adopt, main_armature
from anymocap_addon.core.film.body_words import body_count
from anymocap_addon.core.rest_bones import Bones
from anymocap_addon.core.roles import find_roles

from .creature_parts import PARTS, TURNS, expected
from .stage_runs import context, run_prep

pytestmark = pytest.mark.needs_assets

# Creatures whose rigs geometry alone cannot read: the snake's mouth hangs on its root, far from the head; the crab is
# a head with four bones; a robot's eye; one name more or less of a neck.
NAMELESS_SHARE = 0.95


@pytest.fixture(scope="module")
def skeletons(tmp_path_factory: pytest.TempPathFactory, assets_dir: Path) -> dict[str, Bones]:
    root = tmp_path_factory.mktemp("parts")
    return {name: _skeleton(root, assets_dir, name) for name in PARTS}


def _skeleton(root: Path, assets_dir: Path, name: str) -> Bones:
    file = next(f for folder in ("creatures", "zoo") for f in (assets_dir / folder).glob(f"{name}.*"))
    run_prep(root, name, file, rotz_deg=TURNS.get(name, 0.0))
    open_blend(context(root, name).paths.static_blend)
    meshes = [o for o in bpy.context.scene.objects if o.type == "MESH"]
    armature = main_armature(meshes, armatures_of(meshes))
    rest_only(armature)
    return role_bones(adopt(armature, meshes), *rest_bounds(meshes))


@pytest.mark.parametrize("name", PARTS)
def test_every_bone_gets_its_part(skeletons: dict[str, Bones], name: str) -> None:
    bones = skeletons[name]
    parts = dict(zip(bones.names, find_roles(bones).part, strict=True))
    wrong = {bone: part for bone, part in parts.items() if part not in expected(name, bone)}
    assert not wrong


def test_geometry_alone_finds_nearly_all_parts(skeletons: dict[str, Bones]) -> None:
    right = total = 0
    for name, bones in skeletons.items():
        nameless = replace(bones, names=tuple(f"b{i}" for i in range(len(bones.names))))
        found = find_roles(nameless).part
        right += sum(part in expected(name, bone) for bone, part in zip(bones.names, found, strict=True))
        total += len(found)
    assert right >= NAMELESS_SHARE * total, f"{right} of {total}"


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("Wolf", "one head, two ears, four legs and one tail"),
        ("Spider", "one head, eight legs and one abdomen"),
        ("Wasp", "one head, six legs, two wings and one abdomen"),
        ("Koi", "one head and one tail"),
        ("Snake", "one head and one tail"),
        ("bird", "one head, two wings and one tail"),
        ("RobotExpressive", "one head, two arms and two legs"),
    ],
)
def test_the_prompt_counts_them(skeletons: dict[str, Bones], name: str, count: str) -> None:
    bones = skeletons[name]
    roles = find_roles(bones)
    assert body_count(bones.names, roles.part, roles.role) == f"one body with exactly {count}"
