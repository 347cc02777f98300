"""From orders to files: every order is paid at most once, and what was paid is fetched, whatever happens in between.

An order is recognised by its place and by the hash of what is sent. Before anything is sent, the ledger tells which
orders are done, which go on at fal, and whose fate nobody knows; only the rest is new and costs.
"""

from __future__ import annotations

import re
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..errors import AnyMoCapError, BadInputError, CancelledError
from ..file_mark import file_sha256
from ..stage_context import StageContext
from .arguments import request_hash
from .download import download, is_clip_or_mesh
from .key import fal_key
from .ledger import FATE_UNKNOWN, UNSETTLED, Ledger, Request, ledger_file
from .models import Model
from .place import aside_file, is_here, part_file, put_in_place
from .service import Accepted, FalService, FateUnknownError, GoneError, NotSentError, RefusedError, UnansweredError
from .spending import check_ceiling, spent_usd, today
from .uninterrupted import uninterrupted

_UPLOAD_KEPT_S = 20 * 3600.0  # an account may delete its uploads after a day
_PATIENCE_S = 300.0  # without an answer about a request that is paid
_FEWEST_ASKS = 6
_MOST_REFUSALS = 8  # 429, or no connection, before the artist is told
_LONGEST_PAUSE_S = 60.0
_GONE_LOOKS = 5  # a request may not be known at once everywhere
_RESULT_ASKS = 5  # an error of the server instead of the result
_NAP_S = 0.1
_FINAL = ("content_policy_violation",)
_CANCELLED = ("client_cancelled", "request_cancelled", "cancelled")
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{6,80}")
_SHARE = {"queued": 0.1, "running": 0.4, "completed": 0.8}


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


@dataclass
class _Active:
    """A request that goes on at fal."""

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

    def accepted(self) -> Accepted:
        names = Accepted.__dataclass_fields__
        return Accepted(**{name: getattr(self.request, name) for name in names})


@dataclass
class Delivery:
    """One run of a stage that pays.

    Args:
        orders: the files wanted; all of one stage and item.
    """

    ctx: StageContext
    orders: list[Order]
    terms: Terms
    _failures: list[str] = field(default_factory=list)
    _active: list[_Active] = field(default_factory=list)
    _new: list[Order] = field(default_factory=list)
    _refusals: int = 0
    _not_before: float = 0.0
    _finished: int = 0
    _lost_reply: bool = False
    _service: FalService | None = None

    def __post_init__(self) -> None:
        self.ledger = Ledger(ledger_file(self.ctx.paths))

    def run(self) -> dict[str, Any]:
        """Bring all orders to their places.

        Returns:
            Figures: estimate_usd of what was new, spent_today_usd, files, requests (ids).

        Raises:
            BadInputError: a yes, a decision about an unknown fate, or the key is missing; nothing new was paid.
            AnyMoCapError: some files could not be had; the others lie at their places.
        """
        try:
            return self._run()
        except (AnyMoCapError, KeyboardInterrupt):
            raise
        except Exception as error:
            if self._service is None or not self._service.shows_key("".join(traceback.format_exception(error))):
                raise
            message = self._service.masked(f"{type(error).__name__}: {error}")
        finally:
            if self._service is not None:
                self._service.close()
        raise AnyMoCapError(message)  # outside of the handler: a chained traceback would show the text unmasked

    def _run(self) -> dict[str, Any]:
        self._settle_unknown()
        self._sort()
        estimate = self._check_cost()
        if self._new or self._active:
            _ = self.service
        self._loop()
        self._check_all_here()
        mine = self._requests()
        return {
            "estimate_usd": estimate or 0.0,
            "spent_today_usd": spent_usd(self.ledger.requests(), today()),
            "files": [str(order.target) for order in self.orders],
            "requests": [request.request_id for request in mine if request.request_id],
        }

    @property
    def service(self) -> FalService:
        """The account at fal.

        Raises:
            BadInputError: there is no key.
        """
        if self._service is None:
            key = fal_key()
            if not key:
                raise BadInputError(
                    "There is no fal key.", key="FAL_KEY", hint="Enter it in the preferences, or set FAL_KEY."
                )
            self._service = FalService(key)
        return self._service

    def _requests(self) -> list[Request]:
        """This stage's requests for this item."""
        stage, item = self.orders[0].stage, self.orders[0].item
        return [one for one in self.ledger.requests() if (one.stage, one.item) == (stage, item)]

    def _shown(self, path: Path) -> str:
        root = self.ctx.paths.root
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)

    # What is there already

    def _settle_unknown(self) -> None:
        unknown = [one for one in self._requests() if one.state in FATE_UNKNOWN]
        if self.terms.request:
            self._adopt(unknown)
            return
        if not unknown:
            return
        if self.terms.on_unknown == "ask":
            raise self._ask(unknown)
        for one in unknown:
            self.ledger.add("forgotten", one.intent, message=self.terms.on_unknown)
            self.ctx.log(f"{one.target}: the request of {one.time} is closed ({self.terms.on_unknown}).")
        if self.terms.on_unknown == "forget":
            raise AnyMoCapError(
                f"{len(unknown)} request(s) of unknown fate were closed and nothing was sent.",
                file=self.ledger.file,
                hint="What is wanted anew is sent by the next run.",
            )

    def _adopt(self, unknown: list[Request]) -> None:
        wanted = {(self._shown(order.target), order.hash) for order in self.orders}
        fitting = [one for one in unknown if (one.target, one.hash) in wanted]
        candidates = fitting or unknown
        id = self.terms.request
        if not _REQUEST_ID.fullmatch(id):
            raise BadInputError("is no request id.", key="request", hint="Copy it from the account's list of requests.")
        if any(one.request_id == id for one in self.ledger.requests()):
            if candidates:
                raise BadInputError("The ledger follows this request already.", key=id, hint="Look for another one.")
            return
        if len(candidates) != 1:
            raise BadInputError(
                f"{len(candidates)} requests have an unknown fate; the id can be that of one only.",
                key="request",
                hint="Name one seed with --seeds." if candidates else "Leave --request out.",
            )
        accepted = self.service.known(candidates[0].endpoint, id)
        self.ledger.add("submitted", candidates[0].intent, **vars(accepted))

    def _ask(self, unknown: list[Request]) -> BadInputError:
        listed = "; ".join(
            f"{one.target} ({one.endpoint}, {one.time}{', ' + one.message if one.message else ''})" for one in unknown
        )
        return BadInputError(
            f"Nobody knows whether fal took {len(unknown)} request(s): {listed}.",
            file=self.ledger.file,
            key="on_unknown",
            hint="Look at the requests in your fal account (fal.ai/dashboard/requests) at that time. It is there: "
            "--request ID follows it. It is not there: --on-unknown resend sends it anew. "
            "--on-unknown forget closes it and sends nothing.",
        )

    def _sort(self) -> None:
        """Tell orders that are done, going on, and new apart; what goes on for a former order is followed too."""
        requests = self._requests()
        going = [one for one in requests if one.state in ("submitted", "completed")]
        taken = set()
        for order in self.orders:
            shown, hash = self._shown(order.target), order.hash
            own = [one for one in requests if (one.target, one.hash) == (shown, hash)]
            if is_here(order.target, hash) and not any(one in going for one in own):
                self._finished += 1
                continue
            follow = [one for one in own if one in going]
            if not follow and own and own[-1].state == "downloaded":
                follow = [own[-1]]  # deleted since; it was paid, and fal may still have it
            if follow:
                for one in follow:
                    self._active.append(_Active(one, order.label, order.target))
                    taken.add(one.intent)
            elif own and own[-1].error_type in _FINAL:
                self._failures.append(
                    f"{order.label}: fal has refused this prompt or picture before ({own[-1].message}); change it"
                )
            else:
                self._new.append(order)
        for one in going:
            if one.intent not in taken:
                target = self.ctx.paths.root / one.target
                self._active.append(_Active(one, f"former request for {target.name}", aside_file(target, one.intent)))
        if self.terms.withdraw:
            self._new = []

    def _check_cost(self) -> float | None:
        if not self._new:
            return 0.0
        prices = [order.estimate_usd for order in self._new]
        known = [price for price in prices if price is not None]
        estimate = round(sum(known), 4) if len(known) == len(prices) else None
        spent = spent_usd(self.ledger.requests(), today())
        model = self._new[0].model
        each = "at a price that is not known" if estimate is None else f"for about ${estimate:.2f}"
        told = f"{len(self._new)} new from {model.label} {each}; ${spent:.2f} so far today for this creature"
        self.ctx.log(told + ".")
        self.ctx.metric("estimate_usd", -1.0 if estimate is None else estimate)
        check_ceiling(spent, estimate, self.terms.ceiling_usd)
        for order in self._new:
            limit = order.model.image_max_mb * 1e6
            if limit and order.picture.stat().st_size > limit:
                raise BadInputError(f"is larger than {order.model.label} takes.", file=order.picture)
        if not self.terms.yes:
            raise BadInputError(
                f"{told}. Nothing was sent.", key="yes", hint=f"Give --yes to pay for it. Terms: {model.terms}"
            )
        return estimate

    # The work

    def _loop(self) -> None:
        if self.terms.withdraw:
            for active in self._active:
                self._withdraw(active)
        while self._new or self._active:
            self._send_more()
            for active in list(self._active):
                if time.monotonic() >= active.not_before:
                    self._follow(active)
            self._report()
            if (self._new or self._active) and not self._nap():
                break

    def _nap(self) -> bool:
        """Wait for the next look; stop in between when asked to. False = nothing more can be done."""
        if not self._active and self._lost_reply:
            return False
        until = time.monotonic() + self.terms.poll_s
        while (left := until - time.monotonic()) > 0:
            self.ctx.check_cancel()
            time.sleep(min(left, _NAP_S))
        self.ctx.check_cancel()
        return True

    def _report(self) -> None:
        whole = max(1, len(self.orders))
        done = min(whole, self._finished + sum(active.share for active in self._active))
        notes = [f"{active.label}: {active.note}" for active in self._active if active.note]
        self.ctx.progress(done, whole, "; ".join(notes))

    def _send_more(self) -> None:
        while self._new and not self._lost_reply and len(self._active) < self.terms.at_once:
            if time.monotonic() < self._not_before:
                return
            self.ctx.check_cancel()
            self._send(self._new[0])

    def _send(self, order: Order) -> None:
        address = self._uploaded(order.picture)
        arguments = {**order.arguments, order.model.image: address}
        # An interrupt between intent and reply would leave a fate that nobody knows.
        with uninterrupted():
            intent = self.ledger.intend(
                stage=order.stage,
                item=order.item,
                target=self._shown(order.target),
                endpoint=order.model.endpoint,
                model=order.model.name,
                seed=order.seed,
                hash=order.hash,
                arguments=arguments,
                estimate_usd=order.estimate_usd,
            )
            self._check_alone(intent, order)
            self._submit(order, intent, arguments)

    def _check_alone(self, intent: str, order: Order) -> None:
        """Two runs may have come here at once. The ledger's lines have one order: the first intent may go on."""
        before: list[Request] = []
        for one in self.ledger.requests():
            if one.intent == intent:
                break
            before.append(one)
        same = [one for one in before if (one.target, one.hash) == (self._shown(order.target), order.hash)]
        try:
            if any(one.state in UNSETTLED for one in same):
                raise AnyMoCapError(f"{order.label} is being sent by another run.", hint="Wait for its end.")
            check_ceiling(spent_usd(before, today()), order.estimate_usd, self.terms.ceiling_usd)
        except AnyMoCapError:
            self.ledger.add("withdrawn", intent, message="not sent")
            raise

    def _submit(self, order: Order, intent: str, arguments: dict[str, Any]) -> None:
        try:
            accepted = self.service.submit(order.model.endpoint, arguments)
        except NotSentError as error:
            self.ledger.add("refused", intent, message=f"not sent: {error}")
            self._refused(order, "fal cannot be reached", None)
        except RefusedError as error:
            self.ledger.add("refused", intent, message=error.message, error_type=error.error_type)
            if error.status == 429:
                self._refused(order, "fal has too many requests of this account", error.retry_after_s)
            else:
                self._new.remove(order)
                self._failures.append(f"{order.label}: {error.message} ({error.status})")
        except BadInputError:
            self.ledger.add("refused", intent, message="key refused")
            raise
        except FateUnknownError as error:
            self.ledger.add("unknown", intent, message=str(error))
            self._lost_reply = True
            self._new.remove(order)
        else:
            self._refusals = 0
            self._new.remove(order)
            self.ledger.add("submitted", intent, **vars(accepted))
            request = next(one for one in self.ledger.requests() if one.intent == intent)
            self._active.append(_Active(request, order.label, order.target))

    def _refused(self, order: Order, why: str, retry_after_s: float | None) -> None:
        """Nothing was taken: wait and try again, some times."""
        self._refusals += 1
        if self._refusals >= _MOST_REFUSALS:
            raise AnyMoCapError(
                f"{order.label}: {why}; nothing was taken.", hint="What was sent before goes on: run it again later."
            )
        pause = retry_after_s if retry_after_s is not None else self.terms.poll_s * 2 ** (self._refusals - 1)
        self._not_before = time.monotonic() + min(pause, _LONGEST_PAUSE_S)
        self.ctx.log(f"{order.label}: {why}; trying again.")

    def _uploaded(self, picture: Path) -> str:
        sha256 = file_sha256(picture)
        address = self.ledger.uploaded(sha256, _UPLOAD_KEPT_S)
        if not address:
            self.ctx.log(f"Uploading {picture.name}.")
            address = self.service.upload(picture)
            self.ledger.add("uploaded", sha256=sha256, url=address)
        return address

    def _withdraw(self, active: _Active) -> None:
        """Drop a request that waits: that is free. One that runs is paid and goes on."""
        if active.request.state != "submitted":
            return
        try:
            look = self.service.look(active.accepted())
            if look.state == "queued":
                active.asked_to_cancel = self.service.cancel(active.accepted())
        except (UnansweredError, GoneError):
            return  # following it will tell

    def _follow(self, active: _Active) -> None:
        try:
            if active.request.state == "submitted":
                self._look(active)
            if active.request.state in ("completed", "downloaded"):
                self._collect(active)
        except UnansweredError as error:
            self._no_answer(active, str(error))
        else:
            active.unanswered = 0

    def _no_answer(self, active: _Active, why: str) -> None:
        now = time.monotonic()
        active.unanswered_since = active.unanswered_since if active.unanswered else now
        active.unanswered += 1
        active.note = f"no answer ({why})"
        active.not_before = now + min(self.terms.poll_s * 2 ** min(active.unanswered, 5), _LONGEST_PAUSE_S)
        if active.unanswered >= _FEWEST_ASKS and now - active.unanswered_since > _PATIENCE_S:
            raise AnyMoCapError(
                f"{active.label}: fal does not answer ({why}).",
                key=active.request.request_id,
                hint="The request goes on there. Run the stage again within the hour: nothing is sent twice.",
            )

    def _look(self, active: _Active) -> None:
        try:
            look = self.service.look(active.accepted())
        except GoneError as error:
            active.gone += 1
            if active.gone >= _GONE_LOOKS or active.asked_to_cancel:
                self._end(active, "cancelled" if active.asked_to_cancel else "failed", str(error), "not_found")
            return
        active.gone = 0
        for line in look.logs[active.logs_seen :]:
            self.ctx.log(f"{active.label}: {line}")
        active.logs_seen = max(active.logs_seen, len(look.logs))
        active.share = _SHARE[look.state]
        if look.state == "queued":
            active.note = f"place {look.position + 1} in the queue"
        elif look.state == "running":
            active.note = "at work"
        elif look.error or look.error_type:
            ended: Literal["cancelled", "failed"] = "cancelled" if look.error_type in _CANCELLED else "failed"
            self._end(active, ended, look.error or look.error_type, look.error_type)
        else:
            self._fetch_result(active)

    def _fetch_result(self, active: _Active) -> None:
        """Learn where the file of a completed request lies."""
        try:
            answer = self.service.result(active.accepted())
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
        url, size = _file_of(answer, self._places(active.request))
        if not url:
            self._end(active, "failed", self.service.masked(answer), "unexpected_result")
            return
        self.ledger.add("completed", active.request.intent, url=url, size=size)
        active.request.url, active.request.size, active.request.state = url, size, "completed"

    def _places(self, request: Request) -> tuple[str, ...]:
        found = [order.model.result for order in self.orders if order.model.name == request.model]
        return found[0] if found else self.orders[0].model.result

    def _collect(self, active: _Active) -> None:
        request = active.request
        target = self.ctx.paths.root / request.target
        part = part_file(target, request.intent)

        def progress(done: int, whole: int | None) -> None:
            active.share = 0.8 + (0.2 * done / whole if whole else 0.0)
            active.note = f"fetching {done / 1e6:.1f} MB"
            self._report()

        try:
            sha256 = download(
                request.url, part, size=request.size, progress=progress, pause_s=min(0.5, self.terms.poll_s)
            )
        except GoneError:
            active.expired += 1
            if active.expired >= _GONE_LOOKS:
                self._expired(active)
                return
            request.state = "submitted"  # the answer is asked for again: it may name a fresh address
            raise UnansweredError("the file is not where it was") from None
        if not is_clip_or_mesh(part):
            strange = part.replace(part.with_suffix(".unknown"))
            self._end(active, "failed", f"not a video or mesh; kept as {self._shown(strange)}", "unexpected_file")
            return
        put_in_place(part, sha256, request, active.destination)
        size = active.destination.stat().st_size
        self.ledger.add("downloaded", request.intent, path=self._shown(active.destination), sha256=sha256, size=size)
        self.ctx.log(f"{active.label}: {self._shown(active.destination)}")
        self._active.remove(active)
        self._finished += 1

    def _expired(self, active: _Active) -> None:
        self._end(
            active,
            "failed",
            f"fal keeps the file no more; request {active.request.request_id} of {active.request.time} may still be in "
            "the account's history, from where it can be added as a clip of your own",
            "expired",
        )

    def _end(self, active: _Active, state: Literal["failed", "cancelled"], message: str, error_type: str) -> None:
        self.ledger.add(state, active.request.intent, message=message, error_type=error_type)
        self._active.remove(active)
        if state == "failed":
            self._failures.append(f"{active.label}: {message}" + (f" ({error_type})" if error_type else ""))
        else:
            self.ctx.log(f"{active.label}: withdrawn before it began; nothing is charged.")

    def _check_all_here(self) -> None:
        unknown = [one for one in self._requests() if one.state in FATE_UNKNOWN]
        if unknown:
            raise self._ask(unknown)
        if self._failures:
            raise AnyMoCapError(
                f"{len(self._failures)} of {len(self.orders)} could not be had: {'; '.join(self._failures)}.",
                hint="What is there stays. Run it again for the rest: only that is paid.",
            )
        if self.terms.withdraw and any(not order.target.exists() for order in self.orders):
            raise CancelledError("What was waiting has been withdrawn.")


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
