"""The question what became of a request whose reply was lost, with its three answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.film.ledger import Request
from .reported_errors import ReportsErrors

if TYPE_CHECKING:
    from bpy.types import Context

_DIALOG_WIDTH = 420
_ACCOUNT = "https://fal.ai/dashboard/requests"
DECISIONS = (
    ("follow", "It Is There", "Follow the request whose id you copied from the account; nothing is sent"),
    ("resend", "It Is Not There: Send Anew", "Send what is ordered once more, and pay for it"),
    ("forget", "Forget It", "Close it and send nothing"),
)


class SettlesRequest(ReportsErrors):
    """For operators with the properties `decision` and `request`."""

    decision: str
    request: str
    layout: Any

    def unknown(self, context: Context) -> tuple[Request, ...]:
        """The requests that the question is about."""
        raise NotImplementedError

    def go_on(self, context: Context, **once: Any) -> None:
        """Run the stage with the answer."""
        raise NotImplementedError

    def invoke(self, context: Context, event: Any) -> set[str]:
        answer: set[str] = context.window_manager.invoke_props_dialog(
            self, width=_DIALOG_WIDTH, title="What Became of It?", confirm_text="Do This"
        )
        return answer

    def draw(self, context: Context) -> None:
        column = self.layout.column()
        for one in self.unknown(context):
            sent = one.time[:16].replace("T", " ")
            column.label(text=f"{one.endpoint}, seed {one.seed}, sent {sent}", icon="QUESTION")
        column.operator("wm.url_open", text="Look at My Requests", icon="URL").url = _ACCOUNT
        column.prop(self, "decision", expand=True)
        if self.decision == "follow":
            column.prop(self, "request")
        elif self.decision == "resend":
            column.label(text=f"Sent again, it costs {_cost(self.unknown(context))}", icon="INFO")

    def execute(self, context: Context) -> set[str]:
        if self.decision != "follow":
            yes = self.decision == "resend"
            return self.guarded(lambda: self.go_on(context, on_unknown=self.decision, yes=yes))
        if not self.request.strip():
            self.report({"ERROR"}, "Paste the request's id.")  # type: ignore[attr-defined]
            return {"CANCELLED"}
        return self.guarded(lambda: self.go_on(context, request=self.request.strip()))


def _cost(requests: tuple[Request, ...]) -> str:
    prices = [one.estimate_usd for one in requests]
    known = [price for price in prices if price is not None]
    return f"about ${sum(known):.2f}" if len(known) == len(prices) else "a price that is not known"
