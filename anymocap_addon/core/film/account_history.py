"""The account's own list of requests: it may name the one whose reply was lost.

Fal lists requests by endpoint with what was sent (https://fal.ai/docs/platform-apis/v1/models/requests/by-endpoint). It
may leave out what still runs, and payloads that the account does not keep; so what is found settles a fate, and what is
not found says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from .ledger import Request
from .service import FalService

_CLOCKS_APART = timedelta(minutes=5)


def found_in_account(service: FalService, request: Request, known: Sequence[Request]) -> str:
    """Id of the one request in the account that can only be this one; empty when there is none or more than one.

    Args:
        request: its fate is unknown.
        known: all of the ledger.

    Raises:
        UnansweredError: the list cannot be had.
    """
    twins = [one for one in known if one.arguments == request.arguments and one.endpoint == request.endpoint]
    if any(one.intent != request.intent and not one.request_id and _may_be_there(one) for one in twins):
        return ""  # the list cannot tell which of them it was
    since = datetime.fromisoformat(request.time) - _CLOCKS_APART
    ids = {one.request_id for one in known}
    found = {
        str(item["request_id"])
        for item in service.history(request.endpoint, since)
        if _is_it(item, request) and str(item["request_id"]) not in ids
    }
    return found.pop() if len(found) == 1 else ""


def _may_be_there(request: Request) -> bool:
    return request.state not in ("refused", "withdrawn")


def _is_it(item: dict[str, Any], request: Request) -> bool:
    """Whether all that was sent stands in it; the picture's address is of one upload, so no other project's can."""
    sent = item.get("json_input")
    if not isinstance(sent, dict) or not item.get("request_id") or item.get("endpoint_id") != request.endpoint:
        return False
    return all(name in sent and sent[name] == value for name, value in request.arguments.items())
