"""What goes wrong in an operator is reported in one sentence."""

from __future__ import annotations

from collections.abc import Callable

from ..core.errors import AnyMoCapError


class ReportsErrors:
    """For operators whose work may raise AnyMoCapError."""

    def guarded(self, action: Callable[[], object]) -> set[str]:
        """Do it; an error becomes the operator's report."""
        try:
            action()
        except AnyMoCapError as error:
            self.report({"ERROR"}, str(error))  # type: ignore[attr-defined]
            return {"CANCELLED"}
        return {"FINISHED"}
