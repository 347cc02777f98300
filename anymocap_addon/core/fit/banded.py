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


def solve(system: BandedSystem, damping: float, fixed: Tensor | None = None, floor: float = 1e-6) -> Tensor | None:
    """The damped step (T, D): (H + damping * diag(H) + floor) x = -gradient.

    Args:
        fixed: mask (T, D) of unknowns that stay at zero; the others are solved for without them.

    Returns:
        None when a block is not positive definite: damp more.
    """
    frames, size = system.gradient.shape
    free = torch.ones_like(system.gradient) if fixed is None else (~fixed).to(system.gradient.dtype)
    # what is added to the diagonal: damping for the free, a one (in place of all else) for the fixed
    extra = (damping * system.here.diagonal(dim1=-2, dim2=-1) + floor) * free + (1 - free)
    right_side = -system.gradient * free
    lower: list[Tensor] = []
    # rows[t] = [A1 | A2]: factor blocks L[t, t-1] and L[t, t-2], side by side so that one product takes both off
    rows = [system.gradient.new_zeros(size, 2 * size) for _ in range(frames + 2)]
    partial = [torch.zeros_like(right_side[0]) for _ in range(2)]  # two frames before the first, then one a frame
    for t in range(frames):
        row = rows[t]
        # masks are applied block by block, while a block is in the cache
        block = system.here[t] if fixed is None else system.here[t] * torch.outer(free[t], free[t])
        block = torch.addmm(block, row, row.T, alpha=-1)
        block.diagonal().add_(extra[t])
        factor, info = torch.linalg.cholesky_ex(block)
        if int(info):
            return None
        lower.append(factor)
        wanted = [(right_side[t] - row @ torch.cat([partial[-1], partial[-2]]))[:, None]]
        if t + 1 < frames:
            after = system.after1[t].T if fixed is None else system.after1[t].T * torch.outer(free[t], free[t + 1])
            # H[t+1, t] - L[t+1, t-1] L[t, t-1]^T
            wanted.append(torch.addmm(after, row[:, :size], rows[t + 1][:, size:].T, alpha=-1))
        if t + 2 < frames:
            after = system.after2[t].T
            wanted.append(after if fixed is None else after * torch.outer(free[t], free[t + 2]))
        solved = torch.linalg.solve_triangular(factor, torch.cat(wanted, 1), upper=False)
        partial.append(solved[:, 0])
        if t + 1 < frames:
            rows[t + 1][:, :size] = solved[:, 1 : size + 1].T
        if t + 2 < frames:
            rows[t + 2][:, size:] = solved[:, size + 1 :].T
    return _back_substitute(lower, rows, partial[2:])


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
