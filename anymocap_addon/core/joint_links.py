"""Which keypoints are joined by a line where a skeleton is drawn."""

from __future__ import annotations

from .rig import RigInfo


def joint_links(rig: RigInfo) -> list[tuple[int, int]]:
    """Pairs of keypoint indices: each keypoint with the nearest one up the hierarchy, of a bone's two ends its head."""
    ends = list(zip(rig.keypoint_bone.tolist(), rig.keypoint_end.tolist(), strict=True))
    head = {bone: joint for joint, (bone, end) in enumerate(ends) if end == 0}
    tail = {bone: joint for joint, (bone, end) in enumerate(ends) if end == 1}
    links = []
    for joint, (bone, end) in enumerate(ends):
        above = bone if end == 1 else int(rig.parents[bone])
        while above >= 0:
            found = head.get(above, tail.get(above))
            if found is not None and found != joint:
                links.append((joint, found))
                break
            above = int(rig.parents[above])
    return links
