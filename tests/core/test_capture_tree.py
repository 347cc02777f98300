"""Which bones are captured: control bones out, IK feet back on their legs, one root for armatures without one."""

from __future__ import annotations

import numpy as np
import pytest

from anymocap_addon.core.capture_tree import ArmatureBones, find_capture_tree
from anymocap_addon.core.errors import BadInputError

Point = tuple[float, float, float]
Rows = list[tuple[str, str | None, Point, float]]  # name, parent, head, weight


def armature(rows: Rows, skin: dict[str, tuple[Point, Point]]) -> ArmatureBones:
    """Bones and, for those that move skin, the line from start to end that their vertices lie on."""
    names = [row[0] for row in rows]
    clouds = []
    for name in names:
        start, end = skin.get(name, ((0, 0, 0), (0, 0, 0)))
        steps = np.linspace(0, 1, 11)[:, None]
        clouds.append(np.array(start) + steps * np.subtract(end, start) if name in skin else np.zeros((0, 3)))
    heads = np.array([row[2] for row in rows], float)
    return ArmatureBones(
        names=tuple(names),
        parents=np.array([names.index(row[1]) if row[1] is not None else -1 for row in rows], np.int64),
        heads=heads,
        tails=heads + np.array([0.0, 0.0, 0.01]),  # glTF: made up
        mass=np.array([row[3] for row in rows]),
        skin=tuple(clouds),
        size=1.5,
    )


def hierarchy(bones: ArmatureBones) -> dict[str, str | None]:
    tree = find_capture_tree(bones)
    at = dict(zip(tree.order, range(len(tree.order))))
    assert all(tree.parent[b] == -1 or at[tree.parent[b]] < at[b] for b in tree.order)
    return {bones.names[b]: bones.names[p] if (p := tree.parent[b]) >= 0 else None for b in tree.order}


def ik_wolf(foot_parent: str | None, stray: float = 0.0) -> ArmatureBones:
    rows: Rows = [("Root", None, (0, 0, 0), stray), ("Pole.L", "Root", (0.1, -1, 0.4), 0.0)]
    rows += [("Back", "Root", (0, 0.2, 0.6), 50), ("Chest", "Back", (0, -0.2, 0.6), 50)]
    skin = {"Back": ((0, 0.2, 0.6), (0, -0.2, 0.6)), "Chest": ((0, -0.2, 0.6), (0, -0.6, 0.7))}
    for side, x in (("L", 0.1), ("R", -0.1)):
        upper, lower, foot, toe = (f"{name}.{side}" for name in ("Upper", "Lower", "Foot", "Toe"))
        rows += [(upper, "Chest", (x, -0.2, 0.55), 20), (lower, upper, (x, -0.2, 0.3), 20)]
        rows += [(foot, foot_parent, (x, -0.22, 0.05), 10), (toe, foot, (x, -0.3, 0.0), 5)]
        skin |= {upper: ((x, -0.2, 0.55), (x, -0.2, 0.3)), lower: ((x, -0.2, 0.3), (x, -0.2, 0.06))}
        skin |= {foot: ((x, -0.22, 0.05), (x, -0.3, 0.0)), toe: ((x, -0.3, 0.0), (x, -0.35, 0.0))}
    return armature(rows, skin)


@pytest.mark.parametrize("foot_parent", ["Root", None])
def test_ik_feet_return_to_their_own_leg(foot_parent: str | None) -> None:
    found = hierarchy(ik_wolf(foot_parent))
    assert found["Back"] is None and "Root" not in found and "Pole.L" not in found
    assert found["Foot.L"] == "Lower.L" and found["Foot.R"] == "Lower.R" and found["Toe.R"] == "Foot.R"


def test_stray_weights_do_not_make_a_control_bone_the_root() -> None:
    bones = ik_wolf("Root", stray=1.0)
    tree = find_capture_tree(bones)
    assert bones.names[tree.order[0]] == "Back" and [bones.names[b] for b in tree.folded] == ["Root"]
    assert hierarchy(ik_wolf("Root", stray=30.0))["Root"] is None  # a root that moves much of the skin is the root


def test_limbs_that_hang_on_an_unweighted_root_stay_there() -> None:
    rows: Rows = [("root", None, (0, 0, 0.5), 0.0)]
    rows += [("spine", "root", (0, 0, 0.5), 50), ("skull", "spine", (0, -0.5, 0.6), 30)]
    rows += [("leg.L", "root", (0.1, 0.1, 0.45), 20), ("leg.R", "root", (-0.1, 0.1, 0.45), 20)]
    skin = {"spine": ((0, 0, 0.5), (0, -0.5, 0.6)), "skull": ((0, -0.5, 0.6), (0, -0.8, 0.6))}
    skin |= {"leg.L": ((0.1, 0.1, 0.45), (0.1, 0.1, 0.0)), "leg.R": ((-0.1, 0.1, 0.45), (-0.1, 0.1, 0.0))}
    found = hierarchy(armature(rows, skin))
    assert found["root"] is None and found["leg.L"] == found["leg.R"] == found["spine"] == "root"


def test_an_armature_without_a_root_gets_the_middle_one() -> None:
    rows: Rows = [("tail", None, (0, 0.3, 0.5), 30), ("body", None, (0, 0.25, 0.5), 20)]
    rows += [("neck", None, (0, -0.2, 0.55), 25)]
    rows += [("wing.L", None, (0.1, 0, 0.55), 20), ("wing.R", None, (-0.1, 0, 0.55), 20)]
    bones = armature(rows, {"tail": ((0, 0.3, 0.5), (0, 0.7, 0.5)), "body": ((0, 0.25, 0.5), (0, -0.2, 0.55))})
    tails = bones.tails.copy()
    tails[1] = (0, -0.2, 0.55)
    found = hierarchy(ArmatureBones(**{**vars(bones), "tails": tails}))
    assert found == {"body": None, "tail": "body", "neck": "body", "wing.L": "body", "wing.R": "body"}


def test_nothing_that_moves_is_an_error() -> None:
    with pytest.raises(BadInputError, match="moves any vertex"):
        find_capture_tree(armature([("a", None, (0, 0, 0), 0.0)], {}))
