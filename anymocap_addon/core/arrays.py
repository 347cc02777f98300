"""Operations that numpy and torch spell differently; torch is imported only when a tensor comes in."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_numpy(array: Any) -> bool:
    """Whether `array` is numpy's (or a plain number), not a torch tensor."""
    return isinstance(array, np.ndarray | np.generic | float | int)


def stack(parts: list[Any], axis: int) -> Any:
    """Stack arrays or tensors of one shape on a new axis."""
    if is_numpy(parts[0]):
        return np.stack(parts, axis)
    import torch

    return torch.stack(parts, axis)


def concatenate(parts: list[Any], axis: int) -> Any:
    """Join arrays or tensors along an axis."""
    if is_numpy(parts[0]):
        return np.concatenate(parts, axis)
    import torch

    return torch.cat(parts, axis)


def sin_cos(angle: Any) -> tuple[Any, Any]:
    """Sine and cosine, elementwise."""
    return (np.sin(angle), np.cos(angle)) if is_numpy(angle) else (angle.sin(), angle.cos())


def identity3(like: Any) -> Any:
    """The 3 x 3 identity, of the kind, dtype and device of `like`."""
    return np.eye(3) if is_numpy(like) else like.new_tensor(np.eye(3))
