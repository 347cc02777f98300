"""The clip's frames on the graphics card: uploaded when they are first shown, the latest ones kept."""

from __future__ import annotations

from collections import OrderedDict

import gpu
import numpy as np
from numpy.typing import NDArray

from ...core.errors import AnyMoCapError
from ...core.preview_frames import PreviewFrames

KEPT = 24
KEPT_BYTES = 192 * 2**20  # large previews keep fewer frames
# R32F with bytes inside is four times less to upload; other cards may change floats on their way to the shader.
PACKED_BACKENDS = ("OPENGL",)


def packs_bytes() -> bool:
    """Whether this graphics card takes pixels as packed floats."""
    return gpu.platform.backend_type_get() in PACKED_BACKENDS


def upload(pixels: NDArray[np.uint8], packed: bool) -> gpu.types.GPUTexture:
    """A texture of (rows, columns, 4) RGBX pixels whose fourth byte makes a normal float of each.

    gpu.types.Buffer checks the number of elements only: an array of another kind would be read past its end.

    Raises:
        AnyMoCapError: the array is none that may be given to the card.
    """
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 4 or not pixels.flags.c_contiguous:
        raise AnyMoCapError(f"A frame for the card is {pixels.dtype} {pixels.shape}, not contiguous RGBX bytes.")
    rows, columns = pixels.shape[:2]
    if packed:
        data = pixels.reshape(-1).view(np.float32)
    else:
        data = pixels.reshape(-1).astype(np.float32) * np.float32(1 / 255)
    if data.size != rows * columns * (1 if packed else 4) or data.dtype != np.float32:
        raise AnyMoCapError(f"{data.size} {data.dtype} are not a frame of {columns} x {rows}.")
    buffer = gpu.types.Buffer("FLOAT", data.size, data)
    return gpu.types.GPUTexture((columns, rows), format="R32F" if packed else "RGBA8", data=buffer)


class FrameTextures:
    """Textures of the frames that were shown last.

    Attributes:
        problem: why the frame that was asked for last could not be read, or empty.
    """

    def __init__(self) -> None:
        self.problem = ""
        self._kept: OrderedDict[int, gpu.types.GPUTexture] = OrderedDict()
        self._preview: PreviewFrames | None = None
        self._packed = True

    def __len__(self) -> int:
        return len(self._kept)

    def texture(self, preview: PreviewFrames, frame: int, packed: bool) -> gpu.types.GPUTexture | None:
        """The texture of a frame; while its file cannot be read, of the nearest frame that is on the card.

        Args:
            packed: as in `upload`.
        """
        if preview is not self._preview or packed != self._packed:
            self.free()
            self._preview, self._packed = preview, packed
        if frame in self._kept:
            self._kept.move_to_end(frame)
            return self._kept[frame]
        try:
            pixels = preview.frame(frame)
        except AnyMoCapError as error:
            self.problem = str(error)
            nearest = min(self._kept, key=lambda other: abs(other - frame), default=None)
            return None if nearest is None else self._kept[nearest]
        self.problem = ""
        self._kept[frame] = upload(pixels, packed)
        while len(self._kept) > max(2, min(KEPT, KEPT_BYTES // pixels.nbytes)):
            self._kept.popitem(last=False)
        return self._kept[frame]

    def free(self) -> None:
        """Let go of all textures."""
        self._kept.clear()
        self._preview = None
        self.problem = ""


TEXTURES = FrameTextures()
