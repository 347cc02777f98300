"""The artist's changes to the capture skeleton: bones taken in or left out, and other parents."""

from __future__ import annotations

from pathlib import Path

from .bone_map import Edits, check_edits
from .capture_tree import ArmatureBones, CaptureTree
from .errors import BadInputError

_HINT = "Change it in the panel's bone list, or correct `edits` in the file."


def edited_tree(bones: ArmatureBones, tree: CaptureTree, edits: Edits, file: Path | str = "") -> CaptureTree:
    """`tree` with the edits. A bone that is left out hands its children to its captured parent.

    Raises:
        BadInputError: an unknown bone, a parent that is not captured, a cycle, no root or several.
    """
    if not edits:
        return tree
    check_edits(edits, bones.names, file)
    edit = _Edit(bones, tree, edits, file)
    parent = {b: edit.parent_of(b) for b in edit.captured}
    roots = [b for b in edit.captured if parent[b] < 0]
    if len(roots) > 1:
        names = ", ".join(bones.names[b] for b in roots)
        raise BadInputError(f"The bones {names} have no captured parent; one root is needed.", file=file, hint=_HINT)
    result = CaptureTree(folded=[b for b in tree.folded if b not in edit.captured])
    if roots:
        _collect(roots[0], parent, edit.captured, result)
    if len(result.order) < len(edit.captured) or not roots:
        lost = next((b for b in edit.captured if b not in result.parent), None)
        which = f"the parents of {bones.names[lost]!r} form a cycle" if lost is not None else "no bone is captured"
        raise BadInputError(f"With these edits {which}.", file=file, key="edits", hint=_HINT)
    result.parent = {b: parent[b] for b in result.order}
    result.moved = sorted(b for b in result.order if b != roots[0] and parent[b] != edit.ancestor(b))
    return result


class _Edit:
    def __init__(self, bones: ArmatureBones, tree: CaptureTree, edits: Edits, file: Path | str) -> None:
        self.bones, self.tree, self.edits, self.file = bones, tree, edits, file
        states = {bones.names.index(name): edit.state for name, edit in edits.items() if edit.state is not None}
        kept = {b for b in tree.order if states.get(b, "captured") == "captured"}
        added = {b for b, state in states.items() if state == "captured"}
        self.captured = sorted(kept | added)

    def ancestor(self, bone: int) -> int:
        """The nearest captured ancestor in the armature, or -1."""
        walker = int(self.bones.parents[bone])
        while walker >= 0 and walker not in self.captured:
            walker = int(self.bones.parents[walker])
        return walker

    def parent_of(self, bone: int) -> int:
        """The captured parent: as the artist says, else where it was attached, else by the armature."""
        name = self.bones.names[bone]
        wanted = self.edits[name].parent if name in self.edits else ""
        if wanted:
            index = self.bones.names.index(wanted)
            if index not in self.captured:
                raise BadInputError(
                    f"Bone {name!r} cannot hang on {wanted!r}, which is not captured.",
                    file=self.file,
                    key="edits",
                    hint=f"Capture {wanted!r} too, or choose another parent.",
                )
            return index
        if bone not in self.tree.moved:
            return self.ancestor(bone)
        host = self.tree.parent[bone]
        while host >= 0 and host not in self.captured:
            host = self.tree.parent.get(host, -1)
        return host


def _collect(bone: int, parent: dict[int, int], captured: list[int], tree: CaptureTree) -> None:
    """Pre-order walk."""
    tree.order.append(bone)
    tree.parent[bone] = parent[bone]
    for child in captured:
        if parent[child] == bone and child not in tree.parent:
            _collect(child, parent, captured, tree)
