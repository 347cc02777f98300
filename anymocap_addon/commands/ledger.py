"""`ledger`: what a creature has cost at fal, and which requests are not settled."""

from __future__ import annotations

from typing import Any

from ..core.film.ledger import FATE_UNKNOWN, UNSETTLED, Ledger, ledger_file
from ..core.film.spending import by_day, spent_usd
from ..core.project import CreaturePaths


def ledger(paths: CreaturePaths) -> dict[str, Any]:
    """Print a line a day and one for each request that is not settled; return the same as data.

    Costs are estimates in US dollars of all that was or may have been paid.
    """
    requests = Ledger(ledger_file(paths)).requests()
    days = by_day(requests)
    for day in days:
        print(f"{day['day']}  {day['files']:>3} of {day['requests']:>3} files  about ${day['usd']:.2f}")
    total = spent_usd(requests)
    print(f"all         about ${total:.2f}")
    unsettled = []
    for one in requests:
        if one.state not in UNSETTLED:
            continue
        word = "fate unknown" if one.state in FATE_UNKNOWN else "goes on at fal"
        print(f"{one.target}  {word}  {one.request_id or one.intent}  {one.time}")
        unsettled.append({"target": one.target, "state": one.state, "request_id": one.request_id, "time": one.time})
    return {"creature": paths.name, "days": days, "usd": total, "unsettled": unsettled}
