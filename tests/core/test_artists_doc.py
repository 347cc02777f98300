"""docs/artists.md speaks of what is on the screen: every word in bold is a text of the panel or of an operator."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs" / "artists.md").read_text(encoding="utf-8")
# The body of the page breaks lines inside words in bold.
BOLD = sorted({" ".join(text.split("\n")) for text in re.findall(r"\*\*(.+?)\*\*", PAGE, re.DOTALL)} - {"bold"})
SOURCE = "\n".join(
    path.read_text(encoding="utf-8")
    for part in ("ui", "ops", "jobs")
    for path in sorted((REPOSITORY / "anymocap_addon" / part).rglob("*.py"))
)


@pytest.mark.parametrize("word", BOLD)
def test_a_word_in_bold_is_on_the_screen(word):
    assert f'"{word}' in SOURCE


def test_the_page_goes_through_every_section_in_order():
    titles = re.findall(r'Section\("(\d  [\w ]+)"', SOURCE)
    assert len(titles) == 9
    places = [PAGE.find(f"**{title}**", PAGE.index("## Your creature")) for title in titles]
    assert -1 not in places and places == sorted(places)


def test_links_of_the_pages_lead_somewhere():
    for page in (REPOSITORY / "README.md", *(REPOSITORY / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
