"""What is wanted, and what the artist agreed to pay."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..file_mark import file_sha256
from .arguments import request_hash
from .models import Model


@dataclass(frozen=True)
class Order:
    """One file that is wanted.

    Attributes:
        arguments: all but the picture's address.
        estimate_usd: US dollars, None where no price is known.
        label: what messages call it, for example "seed 2".
    """

    stage: str
    item: str
    target: Path
    label: str
    model: Model
    arguments: dict[str, Any]
    picture: Path
    seed: int
    estimate_usd: float | None

    @property
    def hash(self) -> str:
        """What the request is recognised by."""
        return request_hash(self.model.endpoint, self.arguments, file_sha256(self.picture))


@dataclass(frozen=True)
class Terms:
    """What the artist agreed to.

    Attributes:
        yes: new requests may be paid.
        ceiling_usd: US dollars a day for this creature, 0 = none.
        on_unknown: what to do with requests of unknown fate: "ask", "resend" or "forget".
        request: id of the one request of unknown fate that was found in the account.
        withdraw: send nothing; drop what still waits in the queue and fetch the rest.
        at_once: requests at the same time.
        poll_s: seconds between two looks at the queue.
    """

    yes: bool = False
    ceiling_usd: float = 0.0
    on_unknown: Literal["ask", "resend", "forget"] = "ask"
    request: str = ""
    withdraw: bool = False
    at_once: int = 2
    poll_s: float = 3.0
