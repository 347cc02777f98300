"""Which keypoints are joined where a skeleton is drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anymocap_addon.core.joint_links import joint_links
from anymocap_addon.core.rig import RigInfo


def test_links_follow_the_bones(small_rig: RigInfo) -> None:
    links = {tuple(small_rig.keypoints[i] for i in pair) for pair in joint_links(small_rig)}
    assert ("head_tip", "head") in links and ("leg_L", "hips") in links and ("leg_L_tip", "leg_L") in links
    assert len(links) == small_rig.J - 1


def test_a_bone_without_a_keypoint_at_its_head_is_joined_at_its_tail(small_rig: RigInfo) -> None:
    """Keypoints: tail of the spine and head of the head bone, which hangs on it."""
    rig = replace(
        small_rig,
        keypoints=("spine_end", "head"),
        keypoint_bone=np.array([1, 2]),
        keypoint_end=np.array([1, 0]),
        keypoint_offset=np.zeros((2, 3)),
    )
    assert joint_links(rig) == [(1, 0)]
