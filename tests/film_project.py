"""A project that is ready to film, and runs of its paid stages without a worker."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anymocap_addon.core.film import film, mesh
from anymocap_addon.core.film.ledger import Ledger, Request, ledger_file
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.core.stage_context import StageContext
from anymocap_addon.jobs.registry import REGISTRY

KEY = "11112222-3333-4444-5555-666677778888:0123456789abcdef0123456789abcdef"


@dataclass
class FilmProject:
    """A creature `c` with a reference frame and the prompt of `walk`."""

    root: Path
    events: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.paths: CreaturePaths = Project(self.root).creature("c")
        for file, content in (
            (self.paths.ref_png, b"\x89PNG reference"),
            (self.paths.prompt("walk"), b"It walks."),
            (self.root / "picture.png", b"\x89PNG picture"),
        ):
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.exists():
                file.write_bytes(content)

    def context(self, stage: str, settings: dict[str, Any], cancelled: Any = lambda: False) -> StageContext:
        """What the worker would give the stage."""
        checked = REGISTRY[stage].check({"poll": 0.01, **settings})
        project = Project(self.root)
        return StageContext(project, self.paths, checked, report=self.events.append, cancelled=cancelled)

    def film(self, *, cancelled: Any = lambda: False, **settings: Any) -> dict[str, Any]:
        """Run film for the move walk, paid unless `yes` is False."""
        return film.run(self.context("film", {"move": "walk", "yes": True, **settings}, cancelled))

    def mesh(self, **settings: Any) -> dict[str, Any]:
        """Run mesh for the picture, paid unless `yes` is False."""
        picture = str(self.root / "picture.png")
        return mesh.run(self.context("mesh", {"picture": picture, "yes": True, **settings}))

    @property
    def ledger(self) -> Ledger:
        return Ledger(ledger_file(self.paths))

    def requests(self) -> list[Request]:
        """All requests of the ledger."""
        return self.ledger.requests()

    def states(self) -> list[str]:
        """Their states, oldest first."""
        return [request.state for request in self.requests()]

    def clip(self, seed: int = 1, model: str = "h3-max") -> Path:
        """Where a clip of walk lies."""
        return self.paths.video("walk", seed, model)

    def record(self, seed: int = 1) -> dict[str, Any]:
        """The record beside a clip."""
        data: dict[str, Any] = json.loads(self.clip(seed).with_suffix(".json").read_text("utf-8"))
        return data

    def notes(self) -> str:
        """All that was told while it ran."""
        return json.dumps(self.events)
