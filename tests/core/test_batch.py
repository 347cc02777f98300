"""Batches: the file is checked before anything runs, one failure stops only what needs it, nothing is done twice."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tiny_stages import TINY

from anymocap_addon.cli import main
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.formats import read_json
from anymocap_addon.core.project import Project
from anymocap_addon.jobs.batch_file import Batch, load_batch
from anymocap_addon.jobs.batch_result import BatchRow, as_data, write_results
from anymocap_addon.jobs.registry import REGISTRY

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with spaces and letters that are not ASCII, with two creatures in its project."""
    folder = tmp_path / "Nächte 夜"
    for name in ("fox", "wölf"):
        (folder / "night" / "assets" / name).mkdir(parents=True)
        (folder / "night" / "assets" / name / "source.txt").write_text("ambling", encoding="utf-8")
    return folder


def batch(folder: Path, text: str, *options: str) -> tuple[int, dict]:
    file = folder / "night.toml"
    file.write_text(text, encoding="utf-8")
    code = main(["batch", str(file), *options], TINY)
    result = folder / "night.batch.json"
    return code, read_json(result, "batch") if result.exists() else {}


def states(result: dict) -> list[tuple[str, str | None, str, str]]:
    return [(row["creature"], row["clip"], row["state"], row["stage"]) for row in result["entries"]]


GOOD = """
project = "night"
stages = ["copy", "perclip"]
[[creature]]
name = "fox"
copy = { times = 2 }
[[creature.clip]]
name = "a walk"
perclip = { video = "film/a.mp4" }
[[creature]]
name = "wölf"
[[creature.clip]]
name = "run"
"""


def test_everything_is_done_and_then_nothing_is_done_twice(folder, capsys):
    code, result = batch(folder, GOOD, "--json")
    out, err = capsys.readouterr()
    assert code == 0 and "fox a walk perclip" in err, "stages are called as in the file"
    answer = json.loads(out.splitlines()[-1])
    assert answer["ok"] and answer["outcome"] == "done" and answer["entries"] == result["entries"]
    assert states(result) == [
        ("fox", None, "done", ""), ("fox", "a walk", "done", ""),
        ("wölf", None, "done", ""), ("wölf", "run", "done", ""),
    ]  # fmt: skip
    assert (folder / "night" / "runs" / "fox" / "copy.txt").read_text("utf-8") == "amblingambling"
    record = json.loads((folder / "night/runs/fox/stages/perclip.a walk.json").read_text("utf-8"))
    assert record["settings"]["video"] == str(folder / "film" / "a.mp4")
    code, again = batch(folder, GOOD)
    assert code == 0 and [row["state"] for row in again["entries"]] == ["ready"] * 4
    assert not any(row["ran"] for row in again["entries"])


def test_what_the_file_leaves_out_stays_as_it_last_was(folder):
    assert main(["copy", "--project", str(folder / "night"), "--creature", "fox", "--times", "3"], TINY) == 0
    code, result = batch(folder, 'project = "night"\nstages = ["copy"]\n[[creature]]\nname = "fox"')
    assert code == 0 and states(result) == [("fox", None, "ready", "")]


def test_a_failure_stops_only_what_needs_it(folder, capsys):
    (folder / "night" / "assets" / "fox" / "source.txt").unlink()
    text = GOOD.replace('"copy", "perclip"', '"copy", "speak", "perclip", "misbehave"')
    text = text.replace("copy = { times = 2 }", 'copy = { times = 2 }\nmisbehave = { how = "write" }')
    code, result = batch(folder, text, "--json")
    assert code == 1 and result["outcome"] == "failed"
    assert states(result) == [
        ("fox", None, "failed", "copy"), ("fox", "a walk", "blocked", "perclip"),
        ("wölf", None, "failed", "misbehave"), ("wölf", "run", "done", ""),
    ]  # fmt: skip
    fox, walk, wolf, _ = result["entries"]
    assert "source.txt: copy needs this file, which does not exist." in fox["message"]
    assert fox["ran"] == ["speak", "misbehave"], "what does not need the copy is done"
    assert walk["message"] == "needs copy, which failed"
    assert "It does not work. Do another thing." in wolf["message"] and Path(wolf["log"]).exists()
    out = capsys.readouterr().out
    assert json.loads(out.splitlines()[-1])["ok"] is False
    assert "2 failed, 1 blocked, 1 done" in out
    with (folder / "night.batch.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert [row["state"] for row in rows] == ["failed", "blocked", "failed", "done"]
    assert rows[0]["ran"] == "speak misbehave" and rows[0]["clip"] == "" and rows[2]["creature"] == "wölf"


@pytest.mark.parametrize("how", ["bug", "abort", "nothing", "not_a_number"])
def test_a_crash_or_a_bug_is_one_entry_s_failure(folder, how):
    text = f"""
    project = "night"
    stages = ["misbehave", "speak"]
    [[creature]]
    name = "fox"
    misbehave = {{ how = "{how}" }}
    [[creature]]
    name = "wölf"
    stages = ["speak"]
    """
    code, result = batch(folder, text)
    assert code == 1
    assert states(result) == [("fox", None, "failed", "misbehave"), ("wölf", None, "done", "")]


def test_the_warm_worker_serves_the_whole_batch_also_after_failures(folder):
    clips = "\n".join(f'[[creature.clip]]\nname = "c{i}"' for i in range(5))
    text = f'project = "night"\nstages = ["copy", "speak", "perclip"]\n[[creature]]\nname = "fox"\n{clips}'
    assert batch(folder, text)[0] == 0
    events = (folder / "night" / "runs" / "fox" / "jobs").glob("*/events.jsonl")
    hellos = [json.loads(file.read_text("utf-8").splitlines()[0]) for file in events]
    assert len(hellos) == 7 and len({hello["pid"] for hello in hellos}) == 1


def test_a_dry_run_shows_what_would_run_and_runs_nothing(folder, capsys):
    assert main(["copy", "--project", str(folder / "night"), "--creature", "fox", "--times", "2"], TINY) == 0
    capsys.readouterr()
    code, result = batch(folder, GOOD, "--dry-run", "--json")
    out = capsys.readouterr().out
    plan = json.loads(out.splitlines()[-1])["plan"]
    assert code == 0 and result == {}
    assert [(row["creature"], row["stage"], row["state"]) for row in plan] == [
        ("fox", "copy", "ready"), ("fox", "perclip", "missing"),
        ("wölf", "copy", "missing"), ("wölf", "perclip", "missing"),
    ]  # fmt: skip
    assert "3 of 4 stages would run." in out and "because" not in out.partition("{")[0], "a column of nothing"
    assert not (folder / "night" / "runs" / "wölf").exists()
    assert batch(folder, GOOD)[0] == 0
    capsys.readouterr()
    batch(folder, GOOD.replace("times = 2", "times = 3"), "--dry-run", "--json")
    out = capsys.readouterr().out
    assert "because" in out.splitlines()[1]
    plan = json.loads(out.splitlines()[-1])["plan"]
    assert [row["state"] for row in plan] == ["stale", "stale", "ready", "ready"]
    assert plan[0]["because"] == "times is now 3, was 2" and plan[1]["because"] == "copy runs before it"


FOX = "[[creature]]\nname = 'fox'"
WALK = FOX + "\n[[creature.clip]]\nname = 'a'\n"


def test_files_that_are_missing_are_told_before_the_night(folder, capsys):
    (folder / "night" / "assets" / "fox" / "source.txt").unlink()
    assert batch(folder, GOOD, "--dry-run")[0] == 0
    out = capsys.readouterr().out
    assert "source.txt does not exist" in out and "1 of them would fail" in out
    assert batch(folder, GOOD)[0] == 1
    assert "source.txt does not exist yet" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", ["creature: is missing"]),
        ("creature = []", ["creature: has 0 entries"]),
        ('[[creature]]\nname = "a"\n[creature.train]\nsteps = ' + "9" * 5000, ["is not valid TOML"]),
        ("a = " + "[" * 3000 + "]" * 3000, ["is not valid TOML"]),
        ('project = "a\\u0000b"\n[[creature]]\nname = "a"', ["cannot be one"]),
        ('project = "~nobody-of-this-name"\n[[creature]]\nname = "a"', ["cannot be a path"]),
        ("[[creature]]", ["creature[0].name: is missing"]),
        ("[[creature]]\nname = 3", ["creature[0].name: is 3, not of type string"]),
        ("[[creature]]\nname = 'a/b'", ["creature: name: The creature 'a/b' cannot be a folder's name."]),
        ("[[creature]]\nname = 'Fox'\n" + FOX, ["'fox' is there twice"]),
        (WALK + "[[creature.clip]]\nname='a'", ["'a' is there twice"]),
        ("projekt = 'x'\n" + FOX, ["projekt: There is no such key. Did you mean 'project'?"]),
        (FOX + "\ncoppy = {}", ["creature 'fox': coppy:", "Did you mean 'copy'?"]),
        (FOX + "\ncoppy = 'x'", ["creature 'fox': coppy: There is no such key. Did you mean 'copy'?"]),
        (WALK + "stagse = 3", ["clip 'a': stagse: There is no such key. Did you mean 'stages'?"]),
        ("[[creature]]\ncopy = {}\nnme = 'fox'", ["creature[0]: nme: There is no such key. Did you mean 'name'?"]),
        ("creature = [3]", ["creature[0]: is 3, not of type object"]),
        (FOX + "\ncopy = 3", ["creature[0].copy: is 3, not of type object"]),
        (FOX + "\ncopy = { tiems = 3 }", ["copy: tiems: There is no such setting.", "'times'"]),
        (FOX + "\ncopy = { times = 99 }", ["copy: times: 99 is out of range", "(1..9)"]),
        (FOX + "\ncopy = { ratio = inf }", ["copy: ratio: inf is not a finite number"]),
        (FOX + "\ncopy = { word = 1979-05-27 }", ["copy: word", "is not a text"]),
        ("[defaults.copy]\ntimes = 0\n" + FOX, ["defaults: copy: times: 0 is out of range"]),
        ("[defaults.cpy]\n" + FOX, ["defaults: cpy: There is no such key. Did you mean 'copy'?"]),
        ("stages = ['fly']\n" + FOX, ["stages: 'fly' is no stage", "Known: copy,"]),
        (WALK + "stages = ['copy']", ["clip 'a': stages: 'copy' is no"]),
        (WALK + "copy = {}", ["clip 'a': copy: There is no such key"]),
        (WALK + "perclip={clip='b'}", ["perclip: clip:", "clip's name"]),
        (FOX + "\nstages = ['copy']\nspeak = {}", ["speak: has settings but is not among `stages`"]),
        ("[[creature]\nname = 'fox'", ["is not valid TOML", "line 1"]),
        ('[[creature]]\nname = "C:\\new\\walk"', ["is not valid TOML", "write paths as C:/clips/walk.mp4"]),
        ("schema = 'anymocap.batch_file/9'\n" + FOX, ["schema", "Update AnyMoCap."]),
        ("schema = 'anymocap.rig/1'\n" + FOX, ["another kind of file"]),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_before_anything_runs(folder, capsys, text, says):
    code, result = batch(folder, text)
    err = capsys.readouterr().err
    assert code == 2 and result == {}
    assert "night.toml" in err and "Traceback" not in err
    for part in says:
        assert part in err
    assert not list(folder.glob("night/runs"))


@pytest.mark.parametrize("content", [None, b"\xff\xfe name", "folder"])
def test_a_file_that_is_no_text_is_bad_input(tmp_path, capsys, content):
    file = tmp_path / "n.toml"
    if content == "folder":
        file.mkdir()
    elif content is not None:
        file.write_bytes(content)
    assert main(["batch", str(file)], TINY) == 2
    assert "n.toml: " in capsys.readouterr().err


def test_a_required_setting_that_is_nowhere_is_found_before_anything_runs(tmp_path):
    file = tmp_path / "n.toml"
    file.write_text("[[creature]]\nname = 'fox'\n[[creature.clip]]\nname = 'walk'\nstages = ['prompt']")
    with pytest.raises(BadInputError, match=r"clip 'walk': prompt: action: must be given\. one sentence"):
        load_batch(file, REGISTRY)


def test_the_example_in_the_docs_is_a_good_file():
    """With the real stages: short keys reach their stage, one with settings of its own is run, paths are the file's."""
    batch = load_batch(DOCS / "batch.toml", REGISTRY)
    by_title = {entry.title: entry for entry in batch.entries}
    takes = ["fox trot", "fox trot_s1", "fox trot_s2", "fox trot_s3"]
    assert list(by_title) == ["lynx", "lynx walk", "fox", *takes, "fox walk", "fox run"]
    assert [step.stage.name for step in by_title["fox trot"].steps] == ["prompt", "film"]
    assert [step.stage.name for step in by_title["fox trot_s2"].steps][:3] == ["take", "gate", "detect"]
    names = {title: [step.stage.name for step in entry.steps] for title, entry in by_title.items()}
    assert names["lynx"][:4] == ["example", "prep", "rig", "ref"] and "example" not in names["fox"]
    assert names["lynx walk"][0] == "exam" and "exam" not in names["fox walk"]
    assert names["fox run"] == ["detect", "fit", "apply"]
    given = {step.stage.name: step.given for step in by_title["fox run"].steps}
    assert given["detect"] == {"clip": "run", "video": str(DOCS / "clips" / "fox run.mp4")}
    assert given["apply"] == {"clip": "run", "start_frame": 1, "action_name": "Fox run"}
    prep = by_title["fox"].steps[0]
    assert prep.given == {"mesh": str(DOCS / "meshes" / "fox.glb"), "length_m": 1.1, "rotz_deg": 90.0}
    assert batch.project.root == DOCS / "night"


def test_a_misspelt_short_key_is_told_with_the_right_one(tmp_path):
    file = tmp_path / "n.toml"
    file.write_text("[[creature]]\nname = 'fox'\nmsh = 'a.glb'")
    with pytest.raises(BadInputError, match=r"creature 'fox': msh: There is no such key\. Did you mean 'mesh'\?"):
        load_batch(file, REGISTRY)


def test_figures_of_the_csv_have_as_many_digits_as_those_of_the_table(tmp_path):
    batch = Batch(tmp_path / "n.toml", Project(tmp_path), ())
    row = BatchRow("fox", "walk", "done", median_px=4.28571428, reproj_px=0.123456)
    write_results(batch, as_data(batch, [row], "done", "", 1.0))
    with (tmp_path / "n.batch.csv").open(encoding="utf-8", newline="") as handle:
        written = next(csv.DictReader(handle))
    assert (written["median_px"], written["reproj_px"], written["fit_pct"]) == ("4.29", "0.123", "")


def test_a_short_key_beside_its_setting_is_refused(tmp_path):
    file = tmp_path / "n.toml"
    file.write_text("[[creature]]\nname = 'fox'\nmesh = 'a.glb'\nprep = { mesh = 'b.glb' }")
    with pytest.raises(BadInputError, match=r"creature 'fox': mesh: is given twice: here and as prep\.mesh"):
        load_batch(file, REGISTRY)


def test_a_folder_that_can_not_be_written_is_found_before_anything_runs(folder, capsys):
    (folder / "night.batch.json").mkdir()
    (folder / "night.batch.json" / "x").touch()
    file = folder / "night.toml"
    file.write_text(GOOD, encoding="utf-8")
    assert main(["batch", str(file)], TINY) == 1
    assert "night.batch.json" in capsys.readouterr().err
    assert not (folder / "night" / "runs").exists()


def test_control_c_leaves_a_table_and_the_next_run_goes_on(folder):
    file = folder / "night.toml"
    text = 'project = "night"\nstages = ["copy", "slow"]\n[[creature]]\nname = "fox"\nslow = { seconds = 60 }\n'
    file.write_text(text + '[[creature]]\nname = "wölf"\n', encoding="utf-8")
    code = (
        f"import sys; sys.path[:0] = {[entry for entry in sys.path if entry]!r}; from tiny_stages import TINY;"
        "from anymocap_addon.cli import main; sys.exit(main(sys.argv[1:], TINY))"
    )
    command = [sys.executable, "-c", code, "batch", str(file), "--json"]
    cli = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    deadline = time.monotonic() + 30
    while not list((folder / "night").glob("runs/fox/jobs/*slow*/events.jsonl")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(cli.pid, signal.SIGINT)
    out, err = cli.communicate(timeout=20)
    assert cli.returncode == 1 and "Traceback" not in err
    answer = json.loads(out.splitlines()[-1])
    assert answer["ok"] is False and answer["outcome"] == "stopped"
    result = read_json(folder / "night.batch.json", "batch")
    assert states(result) == [("fox", None, "stopped", "slow"), ("wölf", None, "waiting", "")]
    code, result = batch(folder, file.read_text("utf-8").replace("seconds = 60", "seconds = 0.1"))
    assert code == 0 and states(result) == [("fox", None, "done", ""), ("wölf", None, "done", "")]
    assert result["entries"][0]["ran"] == ["slow"]


@pytest.mark.parametrize(
    ("film", "key"),
    [
        ("yes = true", "ceiling"),
        ("yes = true, ceiling = 0.0", "ceiling"),
        ('yes = true, ceiling = 2.0, on_unknown = "resend"', "on_unknown"),
        ('yes = true, ceiling = 2.0, request = "0123456789"', "request"),
    ],
)
def test_a_file_pays_only_up_to_a_limit_and_answers_no_question(tmp_path, film, key):
    file = tmp_path / "night.toml"
    clip = '[[creature.clip]]\nname = "walk"\nstages = ["film"]\nfilm = {{ {} }}\n'
    text = f'[[creature]]\nname = "fox"\nstages = []\n{clip}'
    file.write_text(text.format(film), encoding="utf-8")
    with pytest.raises(BadInputError) as wrong:
        load_batch(file, REGISTRY)
    assert wrong.value.key == f"creature 'fox': clip 'walk': film: {key}"
    file.write_text(text.format("yes = true, ceiling = 2.0, seeds = '1 2'"), encoding="utf-8")
    assert load_batch(file, REGISTRY).entries[1].steps[0].given["ceiling"] == 2.0
