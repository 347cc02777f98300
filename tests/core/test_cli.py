"""The command line: exit codes, messages, JSON, project and creature, on tiny stages and as a program."""

from __future__ import annotations

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

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder with spaces and letters that are not ASCII, with one creature."""
    project = tmp_path / "日本 Øre"
    (project / "assets" / "wölf").mkdir(parents=True)
    (project / "assets" / "wölf" / "source.txt").write_text("ambling", encoding="utf-8")
    monkeypatch.delenv("MOCAP_CREATURE", raising=False)
    return project


def last_json(text: str) -> dict:
    return json.loads(text.strip().splitlines()[-1])


def test_a_stage_runs_and_says_what_it_wrote(project, capsys):
    assert main(["copy", "--project", str(project), "--times", "2", "--json"], TINY) == 0
    out, err = capsys.readouterr()
    answer = last_json(out)
    assert answer["ok"] and answer["creature"] == "wölf" and answer["figures"]["letters"] == 14
    assert answer["outputs"] == [str(project / "runs" / "wölf" / "copy.txt")]
    assert "Copy" in err and "done" in err
    assert main(["copy", "--project", str(project), "--times", "2"], TINY) == 0
    assert "already done" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["misbehave", "--how", "fail"], 1, "It does not work. Do another thing."),
        (["misbehave", "--how", "bad_input"], 2, "thing.json: angle: The thing is bent. Straighten it."),
        (["misbehave", "--how", "bug"], 1, "ZeroDivisionError: of all things"),
        (["copy", "--times", "99"], 2, "99 is out of range"),
        (["copy", "--times", "x"], 2, "'x' is not a whole number"),
        (["copy", "--tiems", "3"], 2, "Unrecognized arguments: --tiems 3. See anymocap --help."),
        (["fly"], 2, "invalid choice: 'fly'"),
        ([], 2, "required: VERB"),
        (["count"], 2, "copy.txt: count needs this file, which does not exist. Run the stage 'copy' first."),
        (["perclip"], 2, "perclip: clip: must be given."),
        (["status", "--creature", "wolf"], 2, "wolf: There is no such creature here. Did you mean 'wölf'?"),
        (["status", "--clip", "nosuch"], 2, "nosuch: There is no such clip. Known: none."),
    ],
)
def test_errors_are_one_sentence_and_an_exit_code(project, monkeypatch, capsys, arguments, code, says):
    monkeypatch.chdir(project)
    assert main([*arguments, "--json"], TINY) == code
    out, err = capsys.readouterr()
    line = next(line for line in err.splitlines() if line.startswith("error: "))
    assert says in line
    assert "Traceback" not in out + err
    answer = last_json(out)
    assert answer["ok"] is False and answer["error"]["message"]


def test_the_creature_is_found_or_asked_for(project, monkeypatch, capsys):
    def creature_of(*arguments: str) -> str:
        assert main(["status", *arguments, "--json"], TINY) == 0
        answer = last_json(capsys.readouterr().out)
        assert Path(answer["project"]) == project
        return answer["creature"]

    monkeypatch.chdir(project)
    assert creature_of() == "wölf"
    (project / "assets" / "fox").mkdir()
    assert main(["status"], TINY) == 2
    assert "Which creature: fox, wölf?" in capsys.readouterr().err
    assert creature_of("--creature", "assets/fox") == "fox"
    monkeypatch.setenv("MOCAP_CREATURE", "assets/wölf")
    assert creature_of() == "wölf"
    assert creature_of("--creature", "fox") == "fox"
    monkeypatch.setenv("MOCAP_CREATURE", str(project / "assets" / "fox"))
    monkeypatch.chdir("/")
    assert creature_of() == "fox"


def test_status_and_run_follow_the_stages(project, monkeypatch, capsys):
    monkeypatch.chdir(project)

    def states(*arguments: str) -> dict[str, str]:
        assert main(["status", "--json", *arguments], TINY) == 0
        answer = last_json(capsys.readouterr().out)
        return {entry["stage"]: entry["state"] for entry in answer["stages"]}

    assert set(states().values()) == {"missing"}
    assert main(["copy"], TINY) == 0
    assert main(["perclip", "--clip", "a b"], TINY) == 0
    capsys.readouterr()
    assert states()["copy"] == states("--clip", "a b")["perclip"] == "ready"
    assert main(["status", "--clip", "a  bb"], TINY) == 2
    assert "Did you mean 'a b'?" in capsys.readouterr().err
    (project / "assets" / "wölf" / "source.txt").write_text("x", encoding="utf-8")
    assert (states()["copy"], states()["perclip"], states()["count"]) == ("stale", "stale", "missing")


def test_a_host_with_an_interrupt_handler_of_its_own_is_no_failure(project, monkeypatch, capsys):
    """Blender's handler is not Python's: Python sees None, which it would not put back."""
    former = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(signal, "getsignal", lambda number: None)
    assert main(["copy", "--project", str(project)], TINY) == 0
    monkeypatch.undo()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, former)


def test_control_c_stops_cleanly_and_leaves_no_process(project):
    code = (
        f"import sys; sys.path[:0] = {[entry for entry in sys.path if entry]!r}; from tiny_stages import TINY;"
        "from anymocap_addon.cli import main; sys.exit(main(sys.argv[1:], TINY))"
    )
    command = [sys.executable, "-c", code, "misbehave", "--how", "polite", "--project", str(project)]
    cli = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    jobs = project / "runs" / "wölf" / "jobs"
    deadline = time.monotonic() + 20
    while not list(jobs.glob("*/events.jsonl")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    worker = json.loads(next(jobs.glob("*/job.json")).read_text("utf-8"))["processes"][0]["pid"]
    time.sleep(0.3)
    cli.send_signal(signal.SIGINT)
    _, err = cli.communicate(timeout=15)
    assert cli.returncode == 1
    assert "error: Cancelled. Run the stage again to resume." in err and "Traceback" not in err
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_progress_in_a_log_is_lines_and_on_a_terminal_one_line_with_time_left(monkeypatch):
    import io

    from anymocap_addon.commands.progress import ProgressLine

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    event = {"event": "progress", "fraction": 0.5, "done": 400, "total": 800, "eta_s": 130.0, "note": "poses"}
    shown, logged = Terminal(), io.StringIO()
    for out in (shown, logged):
        line = ProgressLine("Dataset", out)
        line.event(event)
        line.finish("done")
    assert "\r" in shown.getvalue() and "400/800  2:10 left" in shown.getvalue() and " 50%" in shown.getvalue()
    assert "\r" not in logged.getvalue() and logged.getvalue().endswith("done  0:00\n")


def test_what_a_stage_tells_people_reaches_the_command_line_once():
    import io

    from anymocap_addon.commands.progress import ProgressLine

    out = io.StringIO()
    line = ProgressLine("Rig", out)
    for _ in range(2):  # two shards say the same
        line.event({"event": "log", "text": "Foot.L hangs on Bone."})
    assert out.getvalue() == "    Foot.L hangs on Bone.\n"


@pytest.mark.parametrize(("arguments", "code"), [(["--help"], 0), (["fly"], 2)])
def test_it_is_a_program(arguments, code):
    command = [sys.executable, "-m", "anymocap_addon", *arguments]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert ended.returncode == code
    assert "Traceback" not in ended.stderr
