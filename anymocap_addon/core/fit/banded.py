"""Symmetric positive definite systems that couple each frame with the next two: block-pentadiagonal Cholesky."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class BandedSystem:
    """H x = -g over T frames of D unknowns.

    Attributes:
        here: (T, D, D) blocks H[t, t]. after1: (T-1, D, D) blocks H[t+1, t]. after2: (T-2, D, D) blocks H[t+2, t].
        gradient: (T, D).
    """

    here: Tensor
    after1: Tensor
    after2: Tensor
    gradient: Tensor

    def times(self, x: Tensor) -> Tensor:
        """H x, (T, D)."""
        column = x[..., None]
        product = self.here @ column
        product[1:] += self.after1 @ column[:-1]
        product[:-1] += self.after1.transpose(1, 2) @ column[1:]
        product[2:] += self.after2 @ column[:-2]
        product[:-2] += self.after2.transpose(1, 2) @ column[2:]
        return product[..., 0]


def with_fixed(system: BandedSystem, fixed: Tensor) -> BandedSystem:
    """The system whose solution is zero wherever the mask `fixed` (T, D) is True."""
    free = (~fixed).to(system.gradient.dtype)
    here = system.here * free[:, :, None] * free[:, None, :]
    here.diagonal(dim1=-2, dim2=-1).add_(1 - free)
    return BandedSystem(
        here,
        system.after1 * free[1:, :, None] * free[:-1, None, :],
        system.after2 * free[2:, :, None] * free[:-2, None, :],
        system.gradient * free,
    )


def solve(system: BandedSystem, damping: float, floor: float = 1e-6) -> Tensor | None:
    """The damped step (T, D): (H + damping * diag(H) + floor) x = -gradient.

    Returns:
        None when a block is not positive definite: damp more.
    """
    frames, size = system.gradient.shape
    here = system.here.clone()
    diagonal = here.diagonal(dim1=-2, dim2=-1)
    diagonal.mul_(1 + damping).add_(floor)
    lower: list[Tensor] = []
    # rows[t] = [A1 | A2]: factor blocks L[t, t-1] and L[t, t-2], side by side so that one product takes both off
    rows = [system.gradient.new_zeros(size, 2 * size) for _ in range(frames + 2)]
    partial: list[Tensor] = []
    for t in range(frames):
        row = rows[t]
        block = torch.addmm(here[t], row, row.T, alpha=-1)
        right = -system.gradient[t]
        if t > 0:
            before = [partial[t - 1], partial[t - 2] if t > 1 else torch.zeros_like(partial[0])]
            right = right - row @ torch.cat(before)
        factor, info = torch.linalg.cholesky_ex(block)
        if int(info):
            return None
        lower.append(factor)
        wanted = [right[:, None]]
        if t + 1 < frames:
            # H[t+1, t] - L[t+1, t-1] L[t, t-1]^T
            wanted.append(torch.addmm(system.after1[t].T, row[:, :size], rows[t + 1][:, size:].T, alpha=-1))
        if t + 2 < frames:
            wanted.append(system.after2[t].T)
        solved = torch.linalg.solve_triangular(factor, torch.cat(wanted, 1), upper=False)
        partial.append(solved[:, 0])
        if t + 1 < frames:
            rows[t + 1][:, :size] = solved[:, 1 : size + 1].T
        if t + 2 < frames:
            rows[t + 2][:, size:] = solved[:, size + 1 :].T
    return _back_substitute(lower, rows, partial)


def _back_substitute(lower: list[Tensor], rows: list[Tensor], partial: list[Tensor]) -> Tensor:
    """Solve L^T x = y from the last frame to the first."""
    frames, size = len(lower), len(partial[0])
    solution: list[Tensor] = [torch.empty(0)] * frames
    for t in range(frames - 1, -1, -1):
        right = partial[t]
        if t + 1 < frames:
            right = right - rows[t + 1][:, :size].T @ solution[t + 1]
        if t + 2 < frames:
            right = right - rows[t + 2][:, size:].T @ solution[t + 2]
        solution[t] = torch.linalg.solve_triangular(lower[t].T, right[:, None], upper=True)[:, 0]
    return torch.stack(solution)
