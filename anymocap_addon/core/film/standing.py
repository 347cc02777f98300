"""How orders stand before anything is sent: which are done, which go on at fal, which are new and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..project import CreaturePaths
from .ledger import Request
from .order import Order
from .place import is_here, shown

_FINAL = ("content_policy_violation",)


@dataclass(frozen=True)
class Standing:
    """Orders by what is known of them.

    Attributes:
        done: their files lie at their places.
        going: requests that go on at fal, each with the order that it fulfils.
        former: requests that go on although nobody orders them any more; they are paid, so they are fetched.
        refused: orders that fal has refused for good, each with why.
        new: orders that nobody has sent.
    """

    done: tuple[Order, ...]
    going: tuple[tuple[Request, Order], ...]
    former: tuple[Request, ...]
    refused: tuple[tuple[Order, str], ...]
    new: tuple[Order, ...]

    @property
    def estimate_usd(self) -> float | None:
        """US dollars of what is new; None where a price is not known."""
        prices = [order.estimate_usd for order in self.new]
        known = [price for price in prices if price is not None]
        return round(sum(known), 4) if len(known) == len(prices) else None


def standing(paths: CreaturePaths, requests: Sequence[Request], orders: Sequence[Order]) -> Standing:
    """How `orders` stand, by the files that are there and by `requests`, those of the same stage and item.

    Raises:
        BadInputError: a record beside a file, or an order's picture, cannot be read.
    """
    on_the_way = [one for one in requests if one.state in ("submitted", "completed")]
    done: list[Order] = []
    going: list[tuple[Request, Order]] = []
    refused: list[tuple[Order, str]] = []
    new: list[Order] = []
    for order in orders:
        hash = order.hash
        own = [one for one in requests if (one.target, one.hash) == (shown(paths, order.target), hash)]
        follow = [one for one in own if one in on_the_way]
        if not follow and is_here(order.target, hash):
            done.append(order)
            continue
        if not follow and own and own[-1].state == "downloaded":
            follow = [own[-1]]  # deleted since; it was paid, and fal may still have it
        if follow:
            going += [(one, order) for one in follow]
        elif own and own[-1].error_type in _FINAL:
            refused.append((order, own[-1].message))
        else:
            new.append(order)
    taken = {request.intent for request, _ in going}
    former = tuple(one for one in on_the_way if one.intent not in taken)
    return Standing(tuple(done), tuple(going), former, tuple(refused), tuple(new))
