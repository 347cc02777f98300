"""`demo`: from a mesh to keyframed motion and its report, resumable."""

from __future__ import annotations

import argparse
from typing import Any

from ..core.errors import AnyMoCapError
from ..jobs.pool import Pool
from ..jobs.stage import Registry


def demo(registry: Registry, arguments: argparse.Namespace, pool: Pool) -> dict[str, Any]:
    raise AnyMoCapError("The demo is not there yet.")
