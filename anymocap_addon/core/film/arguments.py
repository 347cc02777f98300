"""What a model is sent: its arguments from prompt, picture, seed, seconds and resolution."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..errors import BadInputError
from .models import Model

PICTURE = "picture"


def model_arguments(
    model: Model,
    *,
    prompt: str = "",
    seed: int = 0,
    seconds: float = 0.0,
    resolution: str = "",
    loras: tuple[dict[str, Any], ...] = (),
) -> dict[str, Any]:
    """All arguments but the picture's address, which is known only once it is uploaded.

    Args:
        seconds: length of the clip; models without a duration ignore it.
        resolution: one of the model's words; empty = its default.
        loras: LoRAs for a model that takes them: {"path": address, "scale": 0..4}.

    Raises:
        BadInputError: the model makes no clips of that length or size, or lacks a LoRA; says what it knows.
    """
    arguments: dict[str, Any] = dict(model.fixed)
    if model.prompt:
        arguments[model.prompt] = prompt
    if model.seed:
        arguments[model.seed] = seed
    if model.duration is not None:
        if not model.duration.knows(seconds):
            raise BadInputError(
                f"{model.label} makes no clips of {seconds:g} s.",
                key="seconds",
                hint=f"It knows {model.duration.words()}.",
            )
        arguments[model.duration.field] = model.duration.value(seconds)
    word = resolution_word(model, resolution)
    if model.resolution is not None:
        arguments[model.resolution.field] = word
    if model.loras:
        if not loras:
            raise BadInputError(
                f"{model.label} needs a LoRA.",
                key="film.loras",
                hint='Name one in creature.json: "film": {"loras": [{"path": "https://…", "scale": 1}]}.',
            )
        arguments[model.loras] = [dict(lora) for lora in loras]
    return arguments


def resolution_word(model: Model, wanted: str) -> str:
    """The model's own word for a resolution; empty where the model has none.

    Raises:
        BadInputError: it does not know the word.
    """
    if model.resolution is None:
        if wanted:
            raise BadInputError(f"{model.label} has no choice of resolution.", key="resolution", hint="Leave it out.")
        return ""
    if not wanted:
        return model.resolution.default
    for word in model.resolution.words:
        if word.lower() == wanted.lower():
            return word
    raise BadInputError(
        f"{model.label} does not know the resolution {wanted!r}.",
        key="resolution",
        hint=f"It knows {', '.join(model.resolution.words)}.",
    )


def request_hash(endpoint: str, arguments: dict[str, Any], picture_sha256: str) -> str:
    """What a request is recognised by: hex sha256 of endpoint, arguments and the picture's content.

    The picture's address does not count: the same picture gets another one when it is uploaded again.
    """
    content = {"endpoint": endpoint, "arguments": arguments, PICTURE: picture_sha256}
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
