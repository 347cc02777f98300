"""The ledger: lines that hold, lines that are torn, and the sums that are made of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anymocap_addon.cli import main
from anymocap_addon.core.errors import AnyMoCapError, BadInputError
from anymocap_addon.core.film.ledger import Ledger
from anymocap_addon.core.film.spending import by_day, check_ceiling, spent_usd, today


def intend(ledger: Ledger, **values: object) -> str:
    given = {"stage": "film", "item": "walk", "target": "runs/c/videos/walk/s1/m.mp4", "endpoint": "a/b", "model": "m"}
    return ledger.intend(**{**given, "seed": 1, "hash": "h", "arguments": {}, "estimate_usd": 0.5, **values})


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "runs" / "c" / "ledger.jsonl")


def test_lines_tell_a_request(ledger):
    intent = intend(ledger)
    assert ledger.requests()[0].state == "intent" and ledger.requests()[0].pid == os.getpid()
    ledger.add("submitted", intent, request_id="r", response_url="u", status_url="u/status", cancel_url="u/cancel")
    ledger.add("completed", intent, url="file", size=12)
    ledger.add("downloaded", intent, path="x.mp4", sha256="00", size=12)
    (request,) = ledger.requests()
    assert (request.state, request.request_id, request.url, request.path) == ("downloaded", "r", "file", "x.mp4")
    assert request.submitted and request.finished and request.time


@pytest.mark.parametrize("kept", range(1, 60, 7))
def test_a_torn_last_line_takes_no_other_with_it(ledger, kept):
    first = intend(ledger)
    ledger.add("submitted", first, request_id="r", response_url="u", status_url="s", cancel_url="c")
    whole = ledger.file.read_bytes()
    ledger.file.write_bytes(whole + whole[: min(kept, len(whole.splitlines()[0]))])
    second = intend(ledger, seed=2)
    assert [request.intent for request in ledger.requests()] == [first, second]
    assert ledger.requests()[0].state == "submitted"


def test_lines_of_many_processes_stay_whole(ledger):
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\n"
        "from anymocap_addon.core.film.ledger import Ledger\n"
        "for n in range(40): Ledger(Path(sys.argv[1])).add('uploaded', sha256=str(n), url='x' * 3000)\n"
    )
    command = [sys.executable, "-c", code, str(ledger.file), str(Path(__file__).resolve().parents[2])]
    children = [subprocess.Popen(command) for _ in range(3)]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    assert len(ledger.lines()) == 120
    for line in ledger.file.read_text().splitlines():
        assert not line or json.loads(line)


def test_a_damaged_intent_is_named(ledger):
    intend(ledger)
    ledger.file.write_text(ledger.file.read_text().replace('"seed": 1', '"seed": "one"'))
    with pytest.raises(BadInputError, match=r"ledger\.jsonl: seed"):
        ledger.requests()


def _swapped(old: str, new: str):
    return lambda line: line.replace(old, new)


@pytest.mark.parametrize(
    ("number", "damage"),
    [
        (0, lambda line: "[" + line[1:]),
        (0, lambda line: ""),
        (0, _swapped('"event"', '"evnt"')),
        (0, _swapped('"hash"', '"hsah"')),
        (0, lambda line: "[1, 2]"),
        (0, _swapped('"time": "2', '"time": "soon 2')),
        (0, lambda line: "[" * 200_000 + "}"),
        (1, _swapped('"request_id": "r"', '"request_id": 5')),
        (1, lambda line: "x" + line),
    ],
)
def test_a_damaged_line_is_never_taken_for_nothing_paid(ledger, number, damage):
    first = intend(ledger)
    ledger.add("submitted", first, request_id="r", response_url="u", status_url="s", cancel_url="c")
    lines = ledger.file.read_text().splitlines()
    lines[number] = damage(lines[number])
    ledger.file.write_text("\n".join(lines) + "\n")
    with pytest.raises(BadInputError, match=r"line \d of the ledger was damaged.*Keep a copy"):
        ledger.requests()


def test_a_ledger_that_cannot_be_read_is_an_error_and_not_an_empty_one(ledger):
    ledger.file.mkdir(parents=True)
    with pytest.raises(AnyMoCapError, match="Could not be read"):
        ledger.requests()


@pytest.mark.skipif(os.name == "nt" or (os.geteuid() == 0 and not Path("/dev/full").exists()), reason="needs /dev/full")
def test_a_full_disk_stops_before_anything_is_sent(ledger):
    ledger.file.parent.mkdir(parents=True)
    ledger.file.symlink_to("/dev/full")
    with pytest.raises(AnyMoCapError, match="disk is full"):
        intend(ledger)


def test_what_may_be_paid_is_summed_by_day(ledger):
    states = {
        "downloaded": 0.5,
        "failed": 0.5,
        "unknown": 0.5,
        "forgotten": 0.5,
        "refused": 0,
        "cancelled": 0,
        "withdrawn": 0,
    }
    for state in states:
        ledger.add(state, intend(ledger))
    intend(ledger, estimate_usd=None)
    requests = ledger.requests()
    assert spent_usd(requests) == spent_usd(requests, today()) == sum(states.values())
    assert spent_usd(requests, "2001-01-01") == 0
    (day,) = by_day(requests)
    assert (day["day"], day["files"], day["requests"], day["unknown"], day["usd"]) == (today(), 1, 6, 2, 2.0)


def test_the_ceiling():
    check_ceiling(5.0, 9.0, 0.0)
    check_ceiling(0.1, 0.2, 0.3)
    with pytest.raises(BadInputError, match="would go over"):
        check_ceiling(0.2, 0.2, 0.3)
    with pytest.raises(BadInputError, match="not known"):
        check_ceiling(0.2, None, 0.3)


def test_an_upload_is_remembered_for_a_while(ledger):
    assert ledger.uploaded("s", 60) == ""
    ledger.add("uploaded", sha256="s", url="https://a")
    ledger.add("uploaded", sha256="t", url="https://b")
    assert ledger.uploaded("s", 60) == "https://a" and ledger.uploaded("s", -1) == ""


def test_the_verb_tells_days_and_what_is_not_settled(ledger, capsys):
    intend(ledger)
    ledger.add("downloaded", intend(ledger), path="x", sha256="0", size=1)
    project = str(ledger.file.parents[2])
    assert main(["ledger", "--project", project, "--creature", "c", "--json"]) == 0
    said = capsys.readouterr().out
    answer = json.loads(said.splitlines()[-1])
    assert answer["usd"] == 1.0 and answer["unsettled"][0]["state"] == "intent" and "fate unknown" in said
