"""A request that is paid is followed to its end: its place in the queue, its result, its file."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..errors import AnyMoCapError
from ..stage_context import StageContext
from .download import download, is_clip_or_mesh
from .ledger import Ledger, Request
from .place import part_file, put_in_place, shown
from .service import Accepted, FalService, GoneError, RefusedError, UnansweredError

Ended = Literal["", "here", "failed", "cancelled"]

_PATIENCE_S = 300.0  # without an answer about a request that is paid
_FEWEST_ASKS = 6
_LONGEST_PAUSE_S = 60.0
_GONE_LOOKS = 5  # a request may not be known at once everywhere
_RESULT_ASKS = 5  # an error of the server instead of the result
_CANCELLED = ("client_cancelled", "request_cancelled", "cancelled")
_SHARE = {"queued": 0.1, "running": 0.4, "completed": 0.8}


@dataclass
class ActiveRequest:
    """A request that goes on at fal.

    Attributes:
        label: what messages call it, for example "seed 2".
        destination: where its file comes to lie.
        note: what it does now, and what the model last said; share: 0..1 of its way.
        not_before: time.monotonic() before which it is not asked for again.
        ended: how it ended, empty while it goes on; failure: why it failed, for the artist.
    """

    request: Request
    label: str
    destination: Path
    asked_to_cancel: bool = False
    note: str = ""
    share: float = 0.1
    logs_seen: int = 0
    gone: int = 0
    refused: int = 0
    expired: int = 0
    unanswered: int = 0
    unanswered_since: float = 0.0
    not_before: float = 0.0
    ended: Ended = ""
    failure: str = ""

    def accepted(self) -> Accepted:
        """As submit returned it."""
        names = Accepted.__dataclass_fields__
        return Accepted(**{name: getattr(self.request, name) for name in names})


class Follower:
    """Asks fal how requests stand, writes what it learns into the ledger, and fetches the files.

    Args:
        service: gives the account; asked for only when it is needed.
        places: model's name -> places of the file's address in its answer.
        poll_s: seconds between two looks.
        changed: called while a file is fetched.
    """

    def __init__(
        self,
        ctx: StageContext,
        ledger: Ledger,
        service: Callable[[], FalService],
        places: Mapping[str, tuple[str, ...]],
        poll_s: float,
        changed: Callable[[], None],
    ) -> None:
        self._ctx, self._ledger, self._service = ctx, ledger, service
        self._places, self._poll_s, self._changed = places, poll_s, changed

    def withdraw(self, active: ActiveRequest) -> None:
        """Drop a request that waits: that is free. One that runs is paid and goes on."""
        if active.request.state != "submitted":
            return
        try:
            look = self._service().look(active.accepted())
            if look.state == "queued":
                active.asked_to_cancel = self._service().cancel(active.accepted())
        except (UnansweredError, GoneError):
            return  # following it will tell

    def follow(self, active: ActiveRequest) -> None:
        """Look how it stands, and fetch its file when it is there.

        Raises:
            AnyMoCapError: there was no answer for too long; the request goes on at fal.
        """
        try:
            if active.request.state == "submitted":
                self._look(active)
            if active.request.state in ("completed", "downloaded"):
                self._collect(active)
        except UnansweredError as error:
            self._no_answer(active, str(error))
        else:
            active.unanswered = 0

    def _no_answer(self, active: ActiveRequest, why: str) -> None:
        now = time.monotonic()
        active.unanswered_since = active.unanswered_since if active.unanswered else now
        active.unanswered += 1
        active.note = f"no answer ({why})"
        active.not_before = now + min(self._poll_s * 2 ** min(active.unanswered, 5), _LONGEST_PAUSE_S)
        if active.unanswered >= _FEWEST_ASKS and now - active.unanswered_since > _PATIENCE_S:
            raise AnyMoCapError(
                f"{active.label}: fal does not answer ({why}).",
                key=active.request.request_id,
                hint="The request goes on there. Run the stage again within the hour: nothing is sent twice.",
            )

    def _look(self, active: ActiveRequest) -> None:
        try:
            look = self._service().look(active.accepted())
        except GoneError as error:
            active.gone += 1
            if active.gone >= _GONE_LOOKS or active.asked_to_cancel:
                self._end(active, "cancelled" if active.asked_to_cancel else "failed", str(error), "not_found")
            return
        active.gone = 0
        for line in look.logs[active.logs_seen :]:
            self._ctx.log(f"{active.label}: {line}")
        active.logs_seen = max(active.logs_seen, len(look.logs))
        active.share = _SHARE[look.state]
        if look.state == "queued":
            active.note = f"place {look.position + 1} in the queue"
        elif look.state == "running":
            active.note = f"at work: {look.logs[-1]}" if look.logs else "at work"
        elif look.error or look.error_type:
            ended: Literal["cancelled", "failed"] = "cancelled" if look.error_type in _CANCELLED else "failed"
            self._end(active, ended, look.error or look.error_type, look.error_type)
        else:
            self._fetch_result(active)

    def _fetch_result(self, active: ActiveRequest) -> None:
        """Learn where the file of a completed request lies."""
        try:
            answer = self._service().result(active.accepted())
        except RefusedError as error:
            active.refused += 1
            if error.status >= 500 and active.refused < _RESULT_ASKS:  # its model's last word, or a bad moment
                raise UnansweredError(f"{error.status}: {error.message}") from None
            self._end(active, "failed", error.message, error.error_type)
            return
        except GoneError:
            active.expired += 1
            if active.expired >= _GONE_LOOKS:
                self._expired(active)
                return
            raise UnansweredError("the result is not there") from None
        url, size = _file_of(answer, self._places[active.request.model])
        if not url:
            self._end(active, "failed", self._service().masked(answer), "unexpected_result")
            return
        self._ledger.add("completed", active.request.intent, url=url, size=size)
        active.request.url, active.request.size, active.request.state = url, size, "completed"

    def _collect(self, active: ActiveRequest) -> None:
        request = active.request
        target = self._ctx.paths.root / request.target
        part = part_file(target, request.intent)

        def progress(done: int, whole: int | None) -> None:
            active.share = 0.8 + (0.2 * done / whole if whole else 0.0)
            active.note = f"fetching {done / 1e6:.1f} MB"
            self._changed()

        try:
            sha256 = download(request.url, part, size=request.size, progress=progress, pause_s=min(0.5, self._poll_s))
        except GoneError:
            active.expired += 1
            if active.expired >= _GONE_LOOKS:
                self._expired(active)
                return
            request.state = "submitted"  # the answer is asked for again: it may name a fresh address
            raise UnansweredError("the file is not where it was") from None
        if not is_clip_or_mesh(part):
            strange = part.replace(part.with_suffix(".unknown"))
            self._end(
                active, "failed", f"not a video or mesh; kept as {shown(self._ctx.paths, strange)}", "unexpected_file"
            )
            return
        put_in_place(part, sha256, request, active.destination)
        size = active.destination.stat().st_size
        self._ledger.add(
            "downloaded", request.intent, path=shown(self._ctx.paths, active.destination), sha256=sha256, size=size
        )
        self._ctx.log(f"{active.label}: {shown(self._ctx.paths, active.destination)}")
        active.ended = "here"

    def _expired(self, active: ActiveRequest) -> None:
        self._end(
            active,
            "failed",
            f"fal keeps the file no more; request {active.request.request_id} of {active.request.time} may still be in "
            "the account's history, from where it can be added as a clip of your own",
            "expired",
        )

    def _end(self, active: ActiveRequest, state: Literal["failed", "cancelled"], message: str, error_type: str) -> None:
        self._ledger.add(state, active.request.intent, message=message, error_type=error_type)
        active.ended = state
        if state == "failed":
            active.failure = f"{active.label}: {message}" + (f" ({error_type})" if error_type else "")
        else:
            self._ctx.log(f"{active.label}: withdrawn before it began; nothing is charged.")


def _file_of(answer: Any, places: tuple[str, ...]) -> tuple[str, int | None]:
    """Address and bytes of the file in a model's answer: at the first of its places, like "video.url"."""
    for place in places:
        value, holder = answer, None
        for key in place.split("."):
            holder, value = value, value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str) and value.startswith(("https://", "http://")):
            size = holder.get("file_size") if isinstance(holder, dict) else None
            return value, size if type(size) is int and size > 0 else None
    return "", None
