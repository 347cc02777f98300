"""The train stage: dataset -> reader.pt."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import torch

from ..dataset.samples import Samples, load_samples
from ..errors import BadInputError, CancelledError
from ..layout import Layout
from ..stage_context import StageContext
from ..version import VERSION
from .backbone import backbone
from .batches import Batch, Feed
from .engine import Engine
from .heatmaps import Grid, make_grid
from .held_out import held_batch, measure
from .network import ReaderNet
from .plan import Plan, make_plan
from .store import TrainedReader, load_tensors, save_reader, save_tensors
from .threads import pick_threads

CHECKPOINT_SCHEMA = "anymocap.training/1"
CHECKPOINT_SECONDS = 30.0
REPORT_STEPS = 10
MEASURE_STEPS = 150
CALIBRATION_POSES = 96


def run(ctx: StageContext) -> dict[str, Any]:
    """Train this creature's reader and write reader.pt; goes on where a stopped training was left.

    Raises:
        BadInputError: no or a damaged dataset, a rig that changed since it was drawn, a wrong setting.
    """
    settings = ctx.settings
    kind = backbone(settings.get("backbone", "unet"))
    plan = make_plan(settings.get("preset", "default"), settings.get("steps", 0))
    layout = ctx.layout()
    work = ctx.paths.runs / "reader_work"
    ctx.progress(0, 1, "reading the dataset")
    samples = load_samples(ctx.paths.dataset, layout, work / "samples")
    _check_rig(ctx, samples)
    training = Training(ctx, samples, layout, plan, kind.name, work / "training.pt")
    reader = training.run()
    save_reader(ctx.paths.reader_pt, reader)
    training.checkpoint.unlink(missing_ok=True)
    return {"reader": str(ctx.paths.reader_pt), **reader.held_out, **reader.training}


def _check_rig(ctx: StageContext, samples: Samples) -> None:
    if ctx.paths.rig_info.exists() and ctx.load_rig().keypoints != samples.names:
        raise BadInputError(
            "was drawn with another rig: its joints are not those of rig_info.json.",
            file=ctx.paths.dataset,
            key="names",
            hint="Delete the dataset folder and draw it again.",
        )


def pick_device(name: str) -> torch.device:
    """The device of that name; "auto" is CUDA where there is one, else the CPU.

    Raises:
        BadInputError: the device is not there.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not there.get(name, False):
        known = ", ".join(key for key, present in there.items() if present)
        raise BadInputError(f"There is no device {name!r} here.", key="device", hint=f"Choose auto or: {known}.")
    return torch.device(name)


class Training:
    """One training run, resumable: everything it does is a function of dataset, plan, seed and step."""

    def __init__(
        self, ctx: StageContext, samples: Samples, layout: Layout, plan: Plan, kind: str, checkpoint: Path
    ) -> None:
        self.ctx = ctx
        self.samples = samples
        self.layout = layout
        self.plan = plan
        self.checkpoint = checkpoint
        self.seed = int(ctx.settings.get("seed", 0))
        self.train_on, self.held = samples.split()
        self.feed = Feed(samples, layout, self.train_on, plan.batch, self.seed)
        torch.manual_seed(self.seed)
        self.network = ReaderNet(backbone(kind), len(samples.names))
        self.step = 0
        self.seconds = 0.0
        self.losses: list[float] = []
        self.last_held = ""

    @property
    def key(self) -> str:
        """Changes with everything that the course of the training depends on, and with nothing else."""
        kind = self.network.kind
        recipe = [kind.name, kind.rate, kind.matrix_rate]
        parts = [self.samples.key, self.plan.plain(), recipe, self.seed, repr(self.layout), VERSION]
        return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()

    def run(self) -> TrainedReader:
        """Train to the last step, then measure and calibrate."""
        device = pick_device(self.ctx.settings.get("device", "auto"))
        threads = pick_threads(int(self.ctx.settings.get("threads", 0)))
        with Engine(self.network, threads, device) as engine:
            self._resume(engine)
            self.ctx.log(
                f"Training on {len(self.train_on)} poses, {len(self.held)} held out; {self.plan.steps} steps on "
                f"{device.type}, {threads} threads."
            )
            self._loop(engine)
            self.network.eval()
            return self._finish()

    def _loop(self, engine: Engine) -> None:
        grid, held = self._phase()
        saved = started = time.monotonic()
        while self.step < self.plan.steps:
            if grid.frame.scale != self._grid().frame.scale:
                grid, held = self._phase()
            step = self.step
            loss = engine.step(
                lambda shard, step=step, grid=grid: self.feed.shard(step, shard, grid.frame),  # type: ignore[misc]
                grid,
                self.plan.rate_share(step),
            )
            self.step += 1
            now = time.monotonic()
            self.seconds += now - started
            started = now
            self.losses.append(loss)
            if self.step % MEASURE_STEPS == 0:
                self._measure(held, grid)
            if now - saved > CHECKPOINT_SECONDS:
                self._save(engine)
                saved = now
            self._report(engine, grid)

    def _grid(self) -> Grid:
        return make_grid(self.layout, self.network.kind, self.plan.width(self.step), len(self.samples.names))

    def _phase(self) -> tuple[Grid, Batch]:
        grid = self._grid()
        return grid, held_batch(self.samples, self.held, self.layout, grid, 1, self.seed)

    def _measure(self, held: Batch, grid: Grid) -> None:
        summary = measure(self.network, held, grid).summary()
        self.last_held = f", held out {summary['median_px']:.1f} px"
        self.ctx.metric("held_out_px", round(summary["median_px"], 2))

    def _report(self, engine: Engine, grid: Grid) -> None:
        recent = self.losses[-REPORT_STEPS:]
        loss = sum(recent) / len(recent)
        if self.step % REPORT_STEPS == 0 or self.step in (1, self.plan.steps):
            self.ctx.metric("loss", round(loss, 3))
        note = (
            f"step {self.step} of {self.plan.steps}, {grid.frame.width} x {grid.frame.height} px, "
            f"loss {loss:.2f}{self.last_held}"
        )
        try:
            self.ctx.progress(self.plan.cost(self.step), 1, note)
        except CancelledError:
            self._save(engine)
            raise

    def _finish(self) -> TrainedReader:
        grid = self._grid()
        draws = -(-CALIBRATION_POSES // len(self.held))
        held = measure(self.network, held_batch(self.samples, self.held, self.layout, grid, draws, self.seed), grid)
        summary = held.summary()
        self.ctx.metric("held_out_px", round(summary["median_px"], 2))
        figures = {
            "minutes": round(self.seconds / 60, 3),
            "seconds_a_step": round(self.seconds / max(1, self.plan.steps), 4),
            "steps": self.plan.steps,
            "poses": len(self.train_on),
            "seed": self.seed,
            "plan": self.plan.plain(),
        }
        return TrainedReader(
            self.network, self.samples.names, self.layout, self.plan.width(self.step), held.calibrations(),
            summary, figures,
        )  # fmt: skip

    def _save(self, engine: Engine) -> None:
        save_tensors(
            self.checkpoint,
            {
                "schema": CHECKPOINT_SCHEMA,
                "key": self.key,
                "step": self.step,
                "seconds": self.seconds,
                **engine.state(),
            },
        )

    def _resume(self, engine: Engine) -> None:
        """Go on from the checkpoint when it belongs to this very training."""
        if not self.checkpoint.exists():
            return
        data = load_tensors(self.checkpoint, CHECKPOINT_SCHEMA, "Delete it: training then starts anew.")
        if data["key"] != self.key:
            self.ctx.log("An unfinished training with other settings or another dataset is dropped.")
            return
        engine.restore(data)
        self.step, self.seconds = int(data["step"]), float(data["seconds"])
        self.ctx.log(f"Resumed at step {self.step} of {self.plan.steps}.")
