"""The picture that a model is sent: looked at before anything is paid for it."""

from __future__ import annotations

from pathlib import Path

from ..errors import BadInputError
from .models import Model

_LONGEST_HEAD = 12  # bytes


def check_picture(file: Path, model: Model) -> None:
    """Hold a picture to what video and mesh models take.

    Raises:
        BadInputError: it cannot be read, is none of the kinds of picture that they know, or is larger than the model
            takes.
    """
    try:
        with file.open("rb") as handle:
            head = handle.read(_LONGEST_HEAD)
    except OSError as error:
        raise BadInputError(f"The picture cannot be read: {error.strerror}.", file=file) from None
    if not (head.startswith((b"\x89PNG", b"\xff\xd8\xff")) or (head[:4] == b"RIFF" and head[8:] == b"WEBP")):
        raise BadInputError(
            "is no PNG, JPEG or WebP picture; nothing was sent.", file=file, hint="Choose or make it anew."
        )
    limit = model.image_max_mb * 1e6
    if limit and file.stat().st_size > limit:
        raise BadInputError(f"is larger than {model.label} takes.", file=file)
