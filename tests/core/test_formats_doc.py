"""docs/formats.md is in step with the schemas and with the constants of the formulas."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anymocap_addon.core.exam import metrics, motions
from anymocap_addon.core.exam.contact_rule import RULE
from anymocap_addon.core.fit.sync import SyncThresholds
from anymocap_addon.core.formats import load_schema, schema_names
from anymocap_addon.core.report.figures import DOUBTFUL

DOC = (Path(__file__).resolve().parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
SECTIONS = re.split(r"^##? ", DOC, flags=re.MULTILINE)
STAMPS = ("schema", "anymocap_version")


def section_of(stamp: str) -> str:
    found = [section for section in SECTIONS if f"`{stamp}`" in section and "|---|" in section]
    assert len(found) == 1, f"{stamp} must be described in exactly one section"
    return found[0]


def keys_of(rule: dict[str, object]) -> set[str]:
    """All keys that a schema names, at any depth."""
    found: set[str] = set()
    for name, value in rule.items():
        if name in ("properties", "arrays") and isinstance(value, dict):
            found |= set(value)
            for child in value.values():
                found |= keys_of(child)
        elif isinstance(value, dict):
            found |= keys_of(value)
        elif isinstance(value, list):
            for child in value:
                found |= keys_of(child) if isinstance(child, dict) else set()
    return found


@pytest.mark.parametrize("name", schema_names())
def test_every_key_of_every_schema_is_described(name: str) -> None:
    schema = load_schema(name)
    section = section_of(schema["x-schema"])
    missing = [key for key in sorted(keys_of(schema)) if key not in STAMPS and f"`{key}`" not in section]
    assert not missing, f"docs/formats.md says nothing of {missing} of {name}"


def test_no_described_file_lost_its_schema() -> None:
    described = set(re.findall(r"`anymocap\.(\w+)/\d+`", DOC))
    by_stamp = {load_schema(name)["x-schema"].split(".")[1].split("/")[0] for name in schema_names()}
    assert described - by_stamp == {"reader", "job"}, "these two are no JSON or NPZ with a schema of their own"


def test_formulas_name_the_constants_that_the_code_uses() -> None:
    doc = " ".join(DOC.split())
    seen = (
        f"the {RULE.floor_quantile:.0%} quantile".replace("5%", "5 %"),
        f"above {RULE.highest_floor:g} L never touches",
        f"below {RULE.low_height:g} L",
        f"sigma {RULE.kernel_speed:g} L a second",
        f"within {RULE.steady_speed:g} L a second",
        f"larger of {RULE.contact_speed:g} L a second and {RULE.contact_share:g} |g|",
        f"for at least {RULE.min_frames} frames in a row",
        f"fewer than {RULE.min_low_samples} low samples",
        f"more than {metrics.SWAP_MIN_PX:g} px apart",
        f"longer than {metrics.OBSERVABLE_BONE_PX:g} px",
        f"less than {metrics.SHORTEST_PATH:.0%} of L".replace("1%", "1 %"),
        f"confidence below {DOUBTFUL:g}",
        f"turns by up to {motions.TURN_DEG:g} degrees",
        f"{motions.LOWEST_HZ:g} to {motions.HIGHEST_HZ:g} Hz",
    )
    assert RULE.left_out_frames == 1 and "the frame at each end" in doc
    assert not [text for text in seen if text not in doc]


def test_every_constant_of_the_sync_check_is_in_its_formula() -> None:
    section = next(s for s in SECTIONS if s.startswith("Are both views in step?"))
    assert not [key for key in SyncThresholds.__dataclass_fields__ if f"`{key}`" not in section]
