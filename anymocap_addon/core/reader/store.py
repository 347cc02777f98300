"""reader.pt and the checkpoint of an unfinished training: tensors and plain values only."""

from __future__ import annotations

import pickle
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from ..atomic import replacing
from ..errors import BadInputError
from ..layout import Layout
from ..version import VERSION
from .backbone import backbone
from .calibration import Calibration
from .network import ReaderNet

SCHEMA = "anymocap.reader/1"
RETRAIN = "Run the train stage."


@dataclass(frozen=True)
class TrainedReader:
    """Everything that reader.pt holds.

    Attributes:
        network: in evaluation mode.
        names: (J) keypoint names.
        layout: what the frames must be aligned to.
        input_width: network px of a frame's width.
        calibrations: of the front and of the side view.
        held_out: {"median_px", "p95_px", ...} on held-out degraded drawings.
        training: minutes, steps, preset, sizes and versions.
    """

    network: ReaderNet
    names: tuple[str, ...]
    layout: Layout
    input_width: int
    calibrations: tuple[Calibration, Calibration]
    held_out: dict[str, float]
    training: dict[str, Any]


def save_reader(path: Path, reader: TrainedReader) -> None:
    """Write reader.pt whole."""
    state = {name: tensor.detach().cpu() for name, tensor in reader.network.state_dict().items()}
    save_tensors(
        path,
        {
            "schema": SCHEMA,
            "anymocap_version": VERSION,
            "state": state,
            "names": list(reader.names),
            "layout": asdict(reader.layout),
            "backbone": reader.network.kind.name,
            "input_width": reader.input_width,
            "calibration": {
                "front": reader.calibrations[0].plain(),
                "side": reader.calibrations[1].plain(),
            },
            "held_out": reader.held_out,
            "training": reader.training,
        },
    )


def load_reader(path: Path) -> TrainedReader:
    """Read reader.pt without running any code in it.

    Raises:
        BadInputError: missing, truncated, not a reader, or of a newer version.
    """
    data = load_tensors(path, SCHEMA, RETRAIN)
    try:
        names = tuple(str(name) for name in data["names"])
        network = ReaderNet(backbone(data["backbone"]), len(names))
        network.load_state_dict(data["state"])
        calibrations = tuple(Calibration.of(data["calibration"][view]) for view in ("front", "side"))
        return TrainedReader(
            network.eval(),
            names,
            Layout(**data["layout"]),
            int(data["input_width"]),
            (calibrations[0], calibrations[1]),
            dict(data["held_out"]),
            dict(data["training"]),
        )
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise BadInputError(f"does not fit together: {error}.", file=path, hint=RETRAIN) from error


def save_tensors(path: Path, data: dict[str, Any]) -> None:
    with replacing(path) as temporary:
        torch.save(data, temporary)


def load_tensors(path: Path, schema: str, hint: str) -> dict[str, Any]:
    """Load a dict of tensors and plain values (weights_only) of the given schema.

    Raises:
        BadInputError: missing, truncated, another kind of file, or of a newer version.
    """
    if not path.is_file():
        raise BadInputError("The file does not exist.", file=path, hint=hint)
    try:
        data = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, EOFError, RuntimeError, ValueError, pickle.UnpicklingError, zipfile.BadZipFile) as error:
        reason = str(error).split("\n", 1)[0]
        raise BadInputError(f"is truncated or not a file of AnyMoCap ({reason}).", file=path, hint=hint) from error
    stamp = data.get("schema") if isinstance(data, dict) else None
    if stamp != schema:
        raise BadInputError(f"is {stamp!r}, not {schema!r}.", file=path, key="schema", hint=hint)
    result: dict[str, Any] = data
    return result
