"""Requests of which nobody knows whether fal took them: the account's list may tell, else the artist is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..errors import AnyMoCapError, BadInputError
from ..stage_context import StageContext
from .account_history import found_in_account
from .key import fal_key
from .ledger import FATE_UNKNOWN, Ledger, Request, age_s
from .order import Order, Terms
from .place import shown
from .service import FalService, UnansweredError

_IN_FLIGHT_S = 120.0  # longer than a submit waits for its reply
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{6,80}")


def unknown_fates(requests: Sequence[Request]) -> list[Request]:
    """Those of which nobody knows whether fal took them."""
    return [one for one in requests if one.state in FATE_UNKNOWN]


def settle_fates(
    ctx: StageContext,
    ledger: Ledger,
    requests: Sequence[Request],
    orders: Sequence[Order],
    terms: Terms,
    service: Callable[[], FalService],
) -> None:
    """Do with unknown fates what the artist has decided; before he is asked, the account's list is. What he has not
    decided stays unknown.

    Args:
        requests: those of the orders' stage and item.

    Raises:
        BadInputError: the artist names a request that cannot be it.
        AnyMoCapError: they were closed as asked, and nothing was sent.
    """
    unknown = unknown_fates(requests)
    if terms.request:
        _adopt(ctx, ledger, unknown, orders, terms.request, service)
        return
    if not unknown:
        return
    if terms.on_unknown == "ask":
        for one in unknown:
            _found(ctx, ledger, one, service)
        return
    for one in unknown:
        ledger.add("forgotten", one.intent, message=terms.on_unknown)
        ctx.log(f"{one.target}: the request of {one.time} is closed ({terms.on_unknown}).")
    if terms.on_unknown == "forget":
        raise AnyMoCapError(
            f"{len(unknown)} request(s) of unknown fate were closed and nothing was sent.",
            file=ledger.file,
            hint="What is wanted anew is sent by the next run.",
        )


def _found(ctx: StageContext, ledger: Ledger, one: Request, service: Callable[[], FalService]) -> None:
    """Follow the request if the account's list names it without a doubt."""
    in_flight = one.state == "intent" and age_s(one.time) < _IN_FLIGHT_S  # another run may be about to hear of it
    if in_flight or not fal_key():
        return
    try:
        id = found_in_account(service(), one, ledger.requests())
    except UnansweredError as error:
        ctx.log(f"{one.target}: the account's list of requests cannot be had ({error}).")
        return
    if id:
        ledger.add("submitted", one.intent, **vars(service().known(one.endpoint, id)))
        ctx.log(f"{one.target}: the account has it as {id}; it is followed, and nothing is sent again.")


def undecided(ledger: Ledger, unknown: Sequence[Request]) -> BadInputError:
    """The question to the artist, with the ways out."""
    listed = "; ".join(
        f"{one.target} ({one.endpoint}, {one.time}{', ' + one.message if one.message else ''})" for one in unknown
    )
    return BadInputError(
        f"Nobody knows whether fal took {len(unknown)} request(s): {listed}.",
        file=ledger.file,
        key="on_unknown",
        hint="Look at the requests in your fal account (fal.ai/dashboard/requests) at that time. It is there: "
        "--request ID follows it. It is not there: --on-unknown resend sends it anew. "
        "--on-unknown forget closes it and sends nothing.",
    )


def _adopt(
    ctx: StageContext,
    ledger: Ledger,
    unknown: Sequence[Request],
    orders: Sequence[Order],
    id: str,
    service: Callable[[], FalService],
) -> None:
    """Follow a request that the artist has found in the account."""
    wanted = {(shown(ctx.paths, order.target), order.hash) for order in orders}
    fitting = [one for one in unknown if (one.target, one.hash) in wanted]
    candidates = fitting or unknown
    if not _REQUEST_ID.fullmatch(id):
        raise BadInputError("is no request id.", key="request", hint="Copy it from the account's list of requests.")
    if any(one.request_id == id for one in ledger.requests()):
        if candidates:
            raise BadInputError("The ledger follows this request already.", key=id, hint="Look for another one.")
        return
    if len(candidates) != 1:
        raise BadInputError(
            f"{len(candidates)} requests have an unknown fate; the id can be that of one only.",
            key="request",
            hint="Name one seed with --seeds." if candidates else "Leave --request out.",
        )
    accepted = service().known(candidates[0].endpoint, id)
    ledger.add("submitted", candidates[0].intent, **vars(accepted))
