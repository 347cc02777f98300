"""What a creature has cost: sums of the ledger by day, and the ceiling that is kept before anything is paid."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import BadInputError
from .ledger import Request, now


def today() -> str:
    """The local day, 2026-11-30."""
    return now()[:10]


def spent_usd(requests: Iterable[Request], day: str = "") -> float:
    """Estimated US dollars of all that was or may have been paid.

    Args:
        day: only that local day; empty = all days.
    """
    return round(sum(request.maybe_paid_usd for request in requests if day in ("", request.day)), 4)


def by_day(requests: Iterable[Request]) -> list[dict[str, Any]]:
    """One entry a local day, oldest first: day, requests, files, usd (estimate), unknown (fates nobody knows)."""
    days: dict[str, dict[str, Any]] = {}
    for request in requests:
        entry = days.setdefault(request.day, {"day": request.day, "requests": 0, "files": 0, "usd": 0.0, "unknown": 0})
        entry["requests"] += request.state not in ("withdrawn", "refused")
        entry["files"] += request.state == "downloaded"
        entry["unknown"] += request.state in ("intent", "unknown")
        entry["usd"] = round(entry["usd"] + request.maybe_paid_usd, 4)
    return [days[day] for day in sorted(days)]


def check_ceiling(spent: float, more: float | None, ceiling_usd: float) -> None:
    """Refuse what would go over the day's ceiling.

    Args:
        spent: US dollars of today; more: what is to be added, None where no price is known; ceiling_usd: 0 = none.

    Raises:
        BadInputError: it would, or it cannot be told.
    """
    if not ceiling_usd:
        return
    if more is None:
        raise BadInputError(
            "The model's price is not known, so the ceiling cannot be kept; nothing was sent.",
            key="ceiling",
            hint="Write its price into film_models.toml of the project, or use --ceiling 0.",
        )
    if spent + more > ceiling_usd + 1e-9:
        raise BadInputError(
            f"About ${more:.2f} more would go over today's ceiling of ${ceiling_usd:.2f} for this creature "
            f"(${spent:.2f} so far); nothing was sent.",
            key="ceiling",
            hint="Choose fewer seeds or a cheaper model, wait for tomorrow, or raise the ceiling.",
        )
