"""The check-up's fixes of what an armature shows: its rest position only, scaled bones."""

from __future__ import annotations

from .fixed_objects import Objects, armatures_among


def show_pose(objects: Objects) -> list[str]:
    """Armatures show their pose instead of their rest position."""
    resting = [a for a in armatures_among(objects) if a.data.pose_position == "REST"]
    for armature in resting:
        armature.data.pose_position = "POSE"
    return [f"{armature.name} shows its pose." for armature in resting]


def clear_bone_scale(objects: Objects) -> list[str]:
    """Bones get the scale 1 in the pose."""
    notes = []
    for armature in armatures_among(objects):
        scaled = [b for b in armature.pose.bones if max(abs(s - 1) for s in b.scale) > 1e-3]
        for bone in scaled:
            bone.scale = (1, 1, 1)
        if scaled:
            notes.append(f"{len(scaled)} bones of {armature.name} are no longer scaled.")
    return notes
