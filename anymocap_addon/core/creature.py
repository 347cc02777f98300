"""creature.json: what the artist says of a creature (size, layout, paint, feet, words, camera)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import BadInputError
from .formats import known_keys, read_json, write_json_file
from .layout import Layout

Degrees = tuple[float, float, float]


@dataclass(frozen=True)
class PrepFix:
    """A fix of the check-up that prep makes on its copy: name of a fix, and the objects or bones; none means all."""

    fix: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prep:
    """How the mesh is brought to real size: `length_m` metres along `axis`, after the file's axis `up` was brought up
    and a turn of `rotz_deg`; `fixes` are made before, in this order.
    """

    length_m: float = 1.5
    rotz_deg: float = 0.0
    axis: str = "y"
    up: str = "z"
    fixes: tuple[PrepFix, ...] = ()


@dataclass(frozen=True)
class Facing:
    """What the artist confirmed with the picture before his eyes: it holds while prep's settings are these."""

    up: str = "z"
    rotz_deg: float = 0.0


@dataclass(frozen=True)
class PaintGroup:
    """A limb and its colour: sRGB 0..1 and the word that the prompt uses for it."""

    name: str
    word: str
    colour: tuple[float, float, float]
    bones: tuple[str, ...]


@dataclass(frozen=True)
class PromptWords:
    """The words of the prompt; see core/film/prompt.py for their order."""

    name: str = ""
    noun: str = "creature"
    describe: str = ""
    colour_code: str = ""
    count: str = ""
    flank: str = "right"
    limbs: str = ""


@dataclass(frozen=True)
class ShowcaseCamera:
    """The three-quarter camera of the showcase: azimuth from the front (-Y) towards the right flank, degrees."""

    azimuth_deg: float = 35.0
    elevation_deg: float = 15.0
    zoom: float = 1.0


@dataclass(frozen=True)
class FilmDefaults:
    """What is filmed with where nothing else is said; empty values mean AnyMoCap's own defaults.

    Attributes:
        model: name in the model table; seeds: one take each.
        seconds: length of a clip; resolution: a word of the model.
        ceiling_usd: US dollars a day for this creature, 0 = none.
        loras: LoRAs for models that take them: {"path": address, "scale": 0..4}.
    """

    model: str = ""
    seeds: tuple[int, ...] = ()
    seconds: float = 0.0
    resolution: str = ""
    ceiling_usd: float = 0.0
    loras: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Creature:
    """All of creature.json.

    Attributes:
        feet: bones that touch the ground; contacts: keypoints that do (found from the rig when both are empty).
        testpose: bone -> XYZ degrees: the pose drawn to check the skin; start_pose: the pose of the reference frame.
        rigid: hard single-bone skinning for all bones (True) or for those named.
        fix_front_swaps: let the fit repair left/right swaps in the front view too.
        film: what is filmed with where nothing else is said.
        roles: bone -> body part or role, instead of what was found; see core/role_edits.py.
        facing_confirmed: up axis and facing as the artist confirmed them; None where he was not asked yet.
    """

    name: str
    prep: Prep = Prep()
    layout: Layout | None = None
    paint: tuple[PaintGroup, ...] = ()
    feet: tuple[str, ...] = ()
    contacts: tuple[str, ...] = ()
    prompt: PromptWords = PromptWords()
    showcase: ShowcaseCamera = ShowcaseCamera()
    testpose: dict[str, Degrees] = field(default_factory=dict)
    start_pose: dict[str, Degrees] = field(default_factory=dict)
    rigid: bool | tuple[str, ...] = False
    fix_front_swaps: bool = False
    film: FilmDefaults = FilmDefaults()
    roles: dict[str, str] = field(default_factory=dict)
    facing_confirmed: Facing | None = None

    def facing_is_confirmed(self) -> bool:
        """Whether the artist confirmed up axis and facing as they are set now."""
        return self.facing_confirmed == Facing(self.prep.up, self.prep.rotz_deg)


def _layout(data: dict[str, Any]) -> Layout:
    values = dict(data)
    if "height_m" in values:
        values.setdefault("m_per_px", values.pop("height_m") / values.get("height", Layout.height))
    if "w_front" in values and "w_side" not in values:
        values["w_side"] = values.get("width", Layout.width) - values["w_front"]
    return Layout(**known_keys(Layout, values))


def _prep(data: dict[str, Any]) -> Prep:
    values: dict[str, Any] = known_keys(Prep, data)
    fixes = tuple(PrepFix(item["fix"], tuple(item.get("names", ()))) for item in values.get("fixes", ()))
    return Prep(**{**values, "fixes": fixes})


def _prep_to_json(prep: Prep) -> dict[str, Any]:
    """What is as ever is left out, so that a file of an earlier version makes no stage out of date."""
    data: dict[str, Any] = {"length_m": prep.length_m, "rotz_deg": prep.rotz_deg, "axis": prep.axis}
    if prep.up != Prep.up:
        data["up"] = prep.up
    if prep.fixes:
        data["fixes"] = [{"fix": item.fix, "names": list(item.names)} for item in prep.fixes]
    return data


def _triples(data: dict[str, Any]) -> dict[str, Degrees]:
    return {bone: (float(x), float(y), float(z)) for bone, (x, y, z) in data.items()}


def _paint(data: list[dict[str, Any]]) -> tuple[PaintGroup, ...]:
    groups = []
    for group in data:
        red, green, blue = group["colour"]
        word = group.get("word", "")
        groups.append(PaintGroup(group["name"], word, (red, green, blue), tuple(group["bones"])))
    return tuple(groups)


def _film(data: dict[str, Any]) -> FilmDefaults:
    values: dict[str, Any] = known_keys(FilmDefaults, data)
    for name in ("seeds", "loras"):
        values[name] = tuple(values.get(name, ()))
    return FilmDefaults(**values)


def load_creature(path: Path | str) -> Creature:
    """Read creature.json.

    Raises:
        BadInputError: names the file, the key and what was expected.
    """
    data = read_json(path, "creature")
    rigid = data.get("rigid", False)
    confirmed = data.get("facing_confirmed")
    try:
        layout = _layout(data["layout"]) if data.get("layout") else None
    except BadInputError as error:
        raise BadInputError(error.message, file=path, key="layout") from error
    return Creature(
        name=data["name"],
        prep=_prep(data.get("prep", {})),
        layout=layout,
        paint=_paint(data.get("paint", [])),
        feet=tuple(data.get("feet", [])),
        contacts=tuple(data.get("contacts", [])),
        prompt=PromptWords(**known_keys(PromptWords, data.get("prompt", {}))),
        showcase=ShowcaseCamera(**known_keys(ShowcaseCamera, data.get("showcase", {}).get("camera", {}))),
        testpose=_triples(data.get("testpose", {})),
        start_pose=_triples(data.get("start_pose", {})),
        rigid=rigid if isinstance(rigid, bool) else tuple(rigid),
        fix_front_swaps=data.get("fix_front_swaps", False),
        film=_film(data.get("film", {})),
        roles=dict(data.get("roles", {})),
        facing_confirmed=Facing(**known_keys(Facing, confirmed)) if confirmed else None,
    )


def creature_to_json(creature: Creature) -> dict[str, Any]:
    """The creature as the JSON object of creature.json, without schema stamp."""
    data: dict[str, Any] = {
        "name": creature.name,
        "prep": _prep_to_json(creature.prep),
        "paint": [
            {"name": g.name, "word": g.word, "colour": list(g.colour), "bones": list(g.bones)} for g in creature.paint
        ],
        "feet": list(creature.feet),
        "contacts": list(creature.contacts),
        "prompt": vars(creature.prompt),
        "showcase": {"camera": vars(creature.showcase)},
        "testpose": {bone: list(angles) for bone, angles in creature.testpose.items()},
        "start_pose": {bone: list(angles) for bone, angles in creature.start_pose.items()},
        "rigid": creature.rigid if isinstance(creature.rigid, bool) else list(creature.rigid),
        "fix_front_swaps": creature.fix_front_swaps,
    }
    if creature.film != FilmDefaults():
        data["film"] = {**vars(creature.film), "seeds": list(creature.film.seeds), "loras": list(creature.film.loras)}
    if creature.roles:
        data["roles"] = dict(sorted(creature.roles.items()))
    if creature.facing_confirmed is not None:
        data["facing_confirmed"] = vars(creature.facing_confirmed)
    if creature.layout is not None:
        data["layout"] = vars(creature.layout)
    return data


def save_creature(path: Path | str, creature: Creature) -> None:
    """Write creature.json; keys of the file that AnyMoCap does not know stay."""
    kept: dict[str, Any] = read_json(path, "creature") if Path(path).exists() else {}
    for key in ("schema", "anymocap_version", "roles"):  # roles are left out where there are none
        kept.pop(key, None)
    write_json_file(path, "creature", {**kept, **creature_to_json(creature)})
