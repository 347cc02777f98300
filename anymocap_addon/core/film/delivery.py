"""From orders to files: every order is paid at most once, and what was paid is fetched, whatever happens in between.

An order is recognised by its place and by the hash of what is sent. Before anything is sent, the ledger tells which
orders are done, which go on at fal, and whose fate nobody knows; only the rest is new and costs.
"""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import AnyMoCapError, BadInputError, CancelledError
from ..file_mark import file_sha256
from ..stage_context import StageContext
from .fates import settle_fates, undecided, unknown_fates
from .following import ActiveRequest, Follower
from .key import fal_key
from .ledger import UNSETTLED, Ledger, Request, ledger_file
from .models import load_models
from .order import Order, Terms
from .picture_file import check_picture
from .place import aside_file, shown
from .service import FalService, FateUnknownError, NotSentError, RefusedError
from .spending import check_ceiling, spent_usd, today
from .standing import Standing, standing
from .uninterrupted import uninterrupted

_UPLOAD_KEPT_S = 20 * 3600.0  # an account may delete its uploads after a day
_MOST_REFUSALS = 8  # 429, or no connection, before the artist is told
_LONGEST_PAUSE_S = 60.0
_NAP_S = 0.1


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
    _active: list[ActiveRequest] = field(default_factory=list)
    _new: list[Order] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _refusals: int = 0
    _not_before: float = 0.0
    _finished: int = 0
    _lost_reply: bool = False
    _service: FalService | None = None

    def __post_init__(self) -> None:
        self.ledger = Ledger(ledger_file(self.ctx.paths))
        self._follower = Follower(
            self.ctx, self.ledger, lambda: self.service, self._places(), self.terms.poll_s, self._report
        )

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
        settle_fates(self.ctx, self.ledger, self._requests(), self.orders, self.terms, lambda: self.service)
        estimate = self._check_cost(self._begin())
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

    def _places(self) -> dict[str, tuple[str, ...]]:
        """Model -> places of the file's address in its answer; a former request may be one of another model."""
        mine = self.orders[0].model
        table = load_models(self.ctx.paths.root)
        places = {name: table.find(mine.kind, name).result for name in table.names(mine.kind)}
        return {**{request.model: mine.result for request in self._requests()}, **places, mine.name: mine.result}

    def _begin(self) -> Standing:
        """Tell orders that are done, going on, and new apart; what goes on for a former order is followed too."""
        requests = self._requests()
        self._seen = {one.intent for one in requests}
        found = standing(self.ctx.paths, requests, self.orders)
        self._finished = len(found.done)
        self._active = [ActiveRequest(request, order.label, order.target) for request, order in found.going]
        for request in found.former:
            target = self.ctx.paths.root / request.target
            label = f"former request for {target.name}"
            self._active.append(ActiveRequest(request, label, aside_file(target, request.intent)))
        self._failures = [
            f"{order.label}: fal has refused this prompt or picture before ({why}); change it"
            for order, why in found.refused
        ]
        # Before the artist has decided nothing more is sent; what is paid is fetched: fal keeps it for a while only.
        self._new = [] if self.terms.withdraw or unknown_fates(requests) else list(found.new)
        return found

    def _check_cost(self, found: Standing) -> float | None:
        if not self._new:
            return 0.0
        estimate = found.estimate_usd
        spent = spent_usd(self.ledger.requests(), today())
        model = self._new[0].model
        each = "at a price that is not known" if estimate is None else f"for about ${estimate:.2f}"
        told = f"{len(self._new)} new from {model.label} {each}; ${spent:.2f} so far today for this creature"
        self.ctx.log(told + ".")
        self.ctx.metric("estimate_usd", -1.0 if estimate is None else estimate)
        check_ceiling(spent, estimate, self.terms.ceiling_usd)
        for order in self._new:
            check_picture(order.picture, order.model)
        if not self.terms.yes:
            raise BadInputError(
                f"{told}. Nothing was sent.", key="yes", hint=f"Give --yes to pay for it. Terms: {model.terms}"
            )
        return estimate

    def _loop(self) -> None:
        if self.terms.withdraw:
            for active in self._active:
                self._follower.withdraw(active)
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
        self.ctx.progress(done, whole, "\n".join(notes))

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
                target=shown(self.ctx.paths, order.target),
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
        same = [one for one in before if (one.target, one.hash) == (shown(self.ctx.paths, order.target), order.hash)]
        try:
            if any(one.state in UNSETTLED for one in same):
                raise AnyMoCapError(f"{order.label} is being sent by another run.", hint="Wait for its end.")
            if any(one.state == "downloaded" and one.intent not in self._seen for one in same):
                raise AnyMoCapError(f"{order.label} was made by another run meanwhile.", hint="Run it again.")
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
            self._active.append(ActiveRequest(request, order.label, order.target))

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

    def _follow(self, active: ActiveRequest) -> None:
        self._follower.follow(active)
        if not active.ended:
            return
        self._active.remove(active)
        self._finished += active.ended == "here"
        if active.failure:
            self._failures.append(active.failure)

    def _check_all_here(self) -> None:
        unknown = unknown_fates(self._requests())
        if unknown:
            raise undecided(self.ledger, unknown)
        if self._failures:
            raise AnyMoCapError(
                f"{len(self._failures)} of {len(self.orders)} could not be had: {'; '.join(self._failures)}.",
                hint="What is there stays. Run it again for the rest: only that is paid.",
            )
        if self.terms.withdraw and any(not order.target.exists() for order in self.orders):
            raise CancelledError("What was waiting has been withdrawn, which is free.", hint="Film to order it anew.")
