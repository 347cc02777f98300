"""All that a panel shows of the film of a move: prompt, cost, what goes on at fal, and the takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..core.errors import AnyMoCapError
from ..core.film.filmed_clips import clips_by_video, filmed_takes, known_moves
from ..core.film.ledger import FATE_UNKNOWN, Ledger, Request, ledger_file
from ..core.film.models import PROJECT_FILE, Model, load_models
from ..core.film.order import Order
from ..core.film.orders import film_orders
from ..core.film.prompt import prompt_edited
from ..core.film.spending import spent_usd, today
from ..core.film.standing import standing
from ..core.film.takes import FilmChoice, film_choice
from ..core.formats import read_json
from ..core.project import CreaturePaths

Verdict = Literal["unchecked", "good", "refused", "allowed"]


@dataclass(frozen=True)
class Take:
    """One filmed file.

    Attributes:
        clip: the clip that it is; empty while it is none.
        verdict: the source gate's; reasons: why it is refused, or was before it was allowed.
        picture: the gate's picture; None before it was checked.
        captured: its motion was fitted.
        made: changes when file or picture does.
    """

    seed: int
    model: str
    file: Path
    clip: str
    verdict: Verdict = "unchecked"
    reasons: tuple[str, ...] = ()
    picture: Path | None = None
    captured: bool = False
    made: str = ""


@dataclass(frozen=True)
class FilmSurvey:
    """The film of one move.

    Attributes:
        moves: names of all moves of the creature.
        prompt: its text, empty while there is none; edited: by hand since it was made.
        models: all that can film.
        choice: what it is filmed with; None where the settings cannot be used, and then `fault` says why.
        new: clips that Generate would order; estimate_usd: their cost, None where a price is not known.
        there: clips of this very prompt, picture and settings that lie there.
        going: requests that go on at fal; unknown: those of which nobody knows whether fal took them.
        refused: why fal refused this prompt or picture for good.
        mesh_unknown: requests for a mesh whose fate nobody knows.
        spent_today_usd, spent_usd: of the creature, estimates of all that was or may have been paid.
        watched: files and folders whose change makes this out of date.
    """

    move: str
    moves: tuple[str, ...] = ()
    prompt: str = ""
    edited: bool = False
    models: tuple[Model, ...] = ()
    choice: FilmChoice | None = None
    fault: str = ""
    new: int = 0
    there: int = 0
    estimate_usd: float | None = 0.0
    going: tuple[Request, ...] = ()
    unknown: tuple[Request, ...] = ()
    refused: tuple[str, ...] = ()
    spent_today_usd: float = 0.0
    spent_usd: float = 0.0
    mesh_unknown: tuple[Request, ...] = ()
    takes: tuple[Take, ...] = ()
    watched: tuple[Path, ...] = ()

    @property
    def model(self) -> Model | None:
        """What films it."""
        return self.choice.model if self.choice is not None else None

    @property
    def told(self) -> str:
        """The one figure for a header: "3 takes, 1 refused"."""
        if not self.takes:
            return ""
        count = "1 take" if len(self.takes) == 1 else f"{len(self.takes)} takes"
        refused = sum(take.verdict == "refused" for take in self.takes)
        return f"{count}, {refused} refused" if refused else count


def film_survey(paths: CreaturePaths, move: str, values: dict[str, Any]) -> FilmSurvey:
    """Look at the film of a move; what is wrong stands in `fault`.

    Args:
        move: empty while none has a name yet.
        values: settings of the stage film.

    Raises:
        BadInputError: the ledger is damaged.
    """
    requests = Ledger(ledger_file(paths)).requests()
    known = FilmSurvey(
        move=move,
        moves=tuple(known_moves(paths)),
        spent_today_usd=spent_usd(requests, today()),
        spent_usd=spent_usd(requests),
        mesh_unknown=tuple(one for one in requests if one.stage == "mesh" and one.state in FATE_UNKNOWN),
        watched=(ledger_file(paths), paths.prompts, paths.all_videos, paths.root / PROJECT_FILE),
    )
    if not move:
        return known
    mine = [one for one in requests if (one.stage, one.item) == ("film", move)]
    try:
        takes = _takes(paths, move)
        known = replace(
            known,
            going=tuple(one for one in mine if one.state in ("submitted", "completed")),
            unknown=tuple(one for one in mine if one.state in FATE_UNKNOWN),
            takes=takes,
            watched=(*known.watched, *_watched(paths, move, takes)),
        )
        known = replace(known, prompt=_prompt(paths.prompt(move)), edited=prompt_edited(paths, move))
        table = load_models(paths.root)
        known = replace(known, models=tuple(table.find("film", name) for name in table.names("film")))
        known = replace(known, choice=film_choice(paths, values))
        return _with_orders(paths, known, film_orders(paths, {**values, "move": move}), mine) if known.prompt else known
    except AnyMoCapError as error:
        return replace(known, fault=str(error))


def _with_orders(paths: CreaturePaths, known: FilmSurvey, orders: list[Order], requests: list[Request]) -> FilmSurvey:
    found = standing(paths, requests, orders)
    return replace(
        known,
        new=len(found.new),
        there=len(found.done),
        estimate_usd=found.estimate_usd,
        refused=tuple(f"{order.label}: {why}" for order, why in found.refused),
    )


def _prompt(file: Path) -> str:
    return file.read_text(encoding="utf-8-sig", errors="replace").strip() if file.is_file() else ""


def _takes(paths: CreaturePaths, move: str) -> tuple[Take, ...]:
    clips = clips_by_video(paths)
    return tuple(
        _judged(paths, Take(take.seed, take.model, take.file, clips.get(take.file.resolve(), "")))
        for take in filmed_takes(paths, move)
    )


def _judged(paths: CreaturePaths, take: Take) -> Take:
    """With what the gate found of it; a gate.json of another video does not count."""
    stamp = f"{take.file.stat().st_mtime_ns}"
    if not take.clip:
        return replace(take, made=stamp)
    files = paths.clip(take.clip)
    captured = files.motion.exists()
    if not files.gate_json.exists():
        return replace(take, captured=captured, made=stamp)
    told = read_json(files.gate_json, "gate")
    verdict: Verdict = "good"
    if told["refused"]:
        verdict = "allowed" if told["allowed"] else "refused"
    picture = files.gate_png if files.gate_png.exists() else None
    stamp += f" {files.gate_json.stat().st_mtime_ns}"
    return replace(
        take, verdict=verdict, reasons=tuple(told["reasons"]), picture=picture, captured=captured, made=stamp
    )


def _watched(paths: CreaturePaths, move: str, takes: tuple[Take, ...]) -> list[Path]:
    folder = paths.videos(move)
    seeds = [path for path in folder.glob("s*") if path.is_dir()] if folder.is_dir() else []
    gates = [paths.clip(take.clip).gate_json for take in takes if take.clip]
    return [paths.prompt(move), paths.prompt_made(move), folder, *seeds, *gates]
