"""What plays on an armature, remembered and brought back."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from .action_slots import assign_action


@dataclass(frozen=True)
class PlayedAction:
    """The Action of an armature with its slot (None before Blender 4.4) and mixing, and whether it poses at all."""

    action: bpy.types.Action | None
    slot_handle: int | None
    blend_type: str
    influence: float
    pose_position: str

    @staticmethod
    def of(armature: bpy.types.Object) -> PlayedAction:
        """As it is now."""
        data = armature.animation_data or armature.animation_data_create()
        slot = getattr(data, "action_slot", None)
        handle = None if slot is None else slot.handle
        position = armature.data.pose_position
        return PlayedAction(data.action, handle, data.action_blend_type, data.action_influence, position)

    def survive(self) -> None:
        """The Action that played before is kept with the file, also when nothing plays it any more."""
        if self.action is not None and self.action.users == 0:
            self.action.use_fake_user = True

    def restore(self, armature: bpy.types.Object, action: bpy.types.Action | None) -> None:
        """Bring everything back, with `action` as the Action: the one from before, or what stands for it now."""
        data = armature.animation_data
        assign_action(armature, action)
        if action is not None and self.slot_handle is not None:
            data.action_slot = next(s for s in action.slots if s.handle == self.slot_handle)
        data.action_blend_type, data.action_influence = self.blend_type, self.influence
        show_position(armature, self.pose_position)


def play_alone(armature: bpy.types.Object) -> None:
    """Let the armature's Action pose it, over all NLA strips."""
    data = armature.animation_data
    data.action_blend_type, data.action_influence = "REPLACE", 1.0
    show_position(armature, "POSE")


def show_position(armature: bpy.types.Object, position: str) -> None:
    """Show the armature's "POSE" or "REST" position."""
    if armature.data.pose_position != position:  # a linked armature takes no writing, not even of the same value
        armature.data.pose_position = position
