"""Reading a clip: aligned frames -> the joints of both views with confidences."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import BadInputError
from ..layout import Layout
from .heatmaps import make_grid
from .predict import predict, shrink
from .store import TrainedReader, load_reader

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]
CHUNK = 4


@dataclass(frozen=True)
class Reading:
    """front_uv, side_uv (T, J, 2) layout px; front_conf, side_conf (T, J): the chance of an error below 10 px."""

    front_uv: Array
    side_uv: Array
    front_conf: Array
    side_conf: Array


class Reader:
    """A trained reader, ready to read clips."""

    def __init__(self, trained: TrainedReader, threads: int = 1) -> None:
        self.trained = trained
        self.threads = max(1, threads)
        self._grid = make_grid(trained.layout, trained.network.kind, trained.input_width, len(trained.names))

    @staticmethod
    def load(path: Path, threads: int = 1) -> Reader:
        """The reader in a reader.pt.

        Raises:
            BadInputError: missing, truncated, or not a reader.
        """
        return Reader(load_reader(path), threads)

    @property
    def names(self) -> tuple[str, ...]:
        """(J) keypoint names."""
        return self.trained.names

    @property
    def layout(self) -> Layout:
        """The layout that frames must be aligned to."""
        return self.trained.layout

    def read(self, frames: Iterable[Picture], progress: Callable[[int], None] | None = None) -> Reading:
        """Read aligned frames.

        Args:
            frames: (720, 1280, 3) uint8 RGB pictures whose pixels are the layout's.
            progress: is told the number of frames read so far.

        Raises:
            BadInputError: no frames, or one of another size.
        """
        points, masses = [], []
        done = 0
        for uv, mass in self._chunks(iter(frames)):
            points.append(uv)
            masses.append(mass)
            done += len(uv)
            if progress is not None:
                progress(done)
        if not points:
            raise BadInputError("The clip has no frames.", hint="Make or choose another clip.")
        uv, mass = np.concatenate(points), np.concatenate(masses)
        joints = len(self.names)
        front, side = self.trained.calibrations
        return Reading(uv[:, :joints], uv[:, joints:], front.apply(mass[:, :joints]), side.apply(mass[:, joints:]))

    def _chunks(self, frames: Iterator[Picture]) -> Iterator[tuple[Array, Array]]:
        """Chunks of frames go through the network on `threads` threads, a few ahead, in order."""
        waiting: deque[Future[tuple[Array, Array]]] = deque()
        before = torch.get_num_threads()
        # One thread an operation and a few chunks at once: less waiting than many threads in each operation.
        torch.set_num_threads(1)
        try:
            with ThreadPoolExecutor(self.threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
                while chunk := list(islice(frames, CHUNK)):
                    waiting.append(pool.submit(self._read_chunk, chunk))
                    if len(waiting) > 2 * self.threads:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
        finally:
            torch.set_num_threads(before)

    def _read_chunk(self, chunk: list[Picture]) -> tuple[Array, Array]:
        for frame in chunk:
            self._check(frame)
        small = [shrink(frame, self.layout, self._grid.frame) for frame in chunk]
        return predict(self.trained.network, torch.from_numpy(np.stack(small)), self._grid)

    def _check(self, frame: Picture) -> None:
        wanted = (self.layout.height, self.layout.width, 3)
        if frame.shape != wanted or frame.dtype != np.uint8:
            raise BadInputError(f"A frame is {frame.shape} {frame.dtype}, not {wanted} uint8: it is not aligned.")
