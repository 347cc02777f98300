"""Film against a stand-in fal, a real HTTP server: nothing is paid twice, nothing that was paid is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

import pytest
from fal_server import FalServer, Fault, _Handler, clip_bytes
from film_project import KEY, FilmProject

from anymocap_addon.core.errors import AnyMoCapError, BadInputError, CancelledError
from anymocap_addon.core.film.service import FalService
from anymocap_addon.core.stage_record import StageRecord, load_record, save_record
from anymocap_addon.jobs.plan import stale_plan
from anymocap_addon.jobs.pool import Pool
from anymocap_addon.jobs.registry import REGISTRY
from anymocap_addon.jobs.stage_run import StageRun

pytest.importorskip("fal_client")


@pytest.fixture
def server(monkeypatch):
    with FalServer() as running:
        monkeypatch.setenv("ANYMOCAP_FAL_URL", running.url)
        monkeypatch.setenv("FAL_KEY", KEY)
        running.account(KEY)
        yield running


@pytest.fixture
def account(server):
    return server.account(KEY)


@pytest.fixture
def project(tmp_path):
    made = FilmProject(tmp_path)
    yield made
    holding = [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert not holding and KEY not in made.notes() and KEY.split(":")[1] not in made.notes()


def test_a_clip_lies_at_its_place_with_its_record(project, account, server):
    result = project.film(seeds="3", resolution="480p")
    job = account.jobs[0]
    assert project.clip(3).read_bytes() == clip_bytes(job.id)
    picture = job.arguments.pop("image_url").rpartition("/")[2]
    assert server.uploads[picture] == project.paths.ref_png.read_bytes()
    assert job.app == "minimax/h3-max/image-to-video"
    assert job.arguments == {
        "prompt": "It walks.",
        "seed": 3,
        "duration": 5,
        "resolution": "480P",
        "prompt_expansion_mode": "disabled",
    }
    record = project.record(3)
    assert record["request_id"] == job.id == result["requests"][0] and record["estimate_usd"] == 0.25
    assert record["status_url"].endswith(f"{job.id}/status") and record["bytes"] == project.clip(3).stat().st_size
    assert record["arguments"]["seed"] == 3 and record["versions"]["fal-client"]
    events = [line["event"] for line in project.ledger.lines()]
    assert events == ["uploaded", "intent", "submitted", "completed", "downloaded"]
    assert result["estimate_usd"] == result["spent_today_usd"] == 0.25
    assert "place 1 in the queue" in project.notes() and "step 1" in project.notes()
    assert server.key_sent_to_files == 0
    assert not list(project.clip(3).parent.glob(".*"))


def test_what_is_there_costs_nothing_and_the_picture_is_uploaded_once(project, account, server):
    project.film(seeds="1 2")
    project.film(seeds="1 2", yes=False)
    project.film(seeds="1-3")
    assert [job.arguments["seed"] for job in account.jobs] == [1, 2, 3] and len(server.uploads) == 1


def test_without_a_yes_the_cost_is_told_and_nothing_leaves(project, account):
    with pytest.raises(
        BadInputError, match=r"2 new from MiniMax H3 Max for about \$0\.80; \$0\.00 so far today"
    ) as told:
        project.film(seeds="1 2", yes=False)
    assert "--yes" in str(told.value) and "https://fal.ai/models/" in str(told.value)
    assert not account.posts and not project.requests()


def test_the_ceiling_is_kept_before_anything_is_paid(project, account):
    project.film(seeds="1", ceiling=0.5)
    with pytest.raises(BadInputError, match=r"\$0\.40 more would go over today's ceiling of \$0\.50"):
        project.film(seeds="1 2", ceiling=0.5)
    with pytest.raises(BadInputError, match="price is not known"):
        project.film(seeds="1", model="flux-3-max", ceiling=5.0)
    project.film(seeds="1 2", ceiling=0.8)
    assert account.posts == 2


def test_defaults_come_from_creature_json(project, account):
    project.paths.creature_json.parent.mkdir(parents=True)
    film = {"model": "kling-3", "seeds": [4, 5], "seconds": 3, "ceiling_usd": 1.0}
    project.paths.creature_json.write_text(json.dumps({"name": "c", "film": film}))
    project.film()
    assert project.clip(4, "kling-3").exists() and project.clip(5, "kling-3").exists()
    assert [job.arguments["duration"] for job in account.jobs] == ["3", "3"]
    assert "seed" not in account.jobs[0].arguments and "start_image_url" in account.jobs[0].arguments


@pytest.mark.parametrize("what", ["drop", "502", "500", "408", "garbage"])
@pytest.mark.parametrize("accepted", [True, False])
def test_a_lost_reply_asks_and_is_never_sent_twice(project, account, what, accepted):
    account.faults.append(Fault("submit", what, accepted=accepted))
    for _ in range(2):
        with pytest.raises(BadInputError, match=r"Nobody knows whether fal took 1 request") as asked:
            project.film()
        assert "--request ID" in str(asked.value) and "resend" in str(asked.value)
    assert account.posts == 1 and len(account.jobs) == accepted
    if accepted:
        project.film(request=account.jobs[0].id)
    else:
        project.film(on_unknown="resend")
    assert len(account.jobs) == 1 and project.clip().read_bytes() == clip_bytes(account.jobs[0].id)


@pytest.mark.parametrize("what", ["drop", "502", "garbage"])
def test_what_the_account_lists_is_followed_without_asking(project, account, what):
    account.history = True
    account.faults += [Fault("submit", "slow"), Fault("submit", what, accepted=True)]
    with pytest.raises(BadInputError, match="Nobody knows"):
        project.film(seeds="1 2")
    project.film(seeds="1 2", yes=False)
    assert account.posts == 2
    assert [project.clip(seed).read_bytes() for seed in (1, 2)] == [clip_bytes(job.id) for job in account.jobs]


def test_what_the_account_does_not_list_without_a_doubt_is_asked(project, account):
    account.history = True
    account.faults.append(Fault("submit", "drop"))
    for _ in range(2):  # not in the list: that says nothing
        with pytest.raises(BadInputError, match="Nobody knows"):
            project.film()
    account.faults.append(Fault("submit", "drop", accepted=True))
    with pytest.raises(BadInputError, match="Nobody knows"):
        project.film(on_unknown="resend")
    with pytest.raises(BadInputError, match="Nobody knows"):  # it may be the one that was closed before
        project.film()
    assert account.posts == 2


def test_a_resend_needs_a_yes_of_its_own_and_forget_sends_nothing(project, account):
    account.faults.append(Fault("submit", "drop", times=2))
    for answer in ({}, {}):
        with pytest.raises(BadInputError):
            project.film(**answer)
    with pytest.raises(AnyMoCapError, match="closed and nothing was sent"):
        project.film(on_unknown="forget")
    with pytest.raises(BadInputError, match="Nothing was sent"):
        project.film(yes=False)
    with pytest.raises(BadInputError, match="Nobody knows"):
        project.film()
    with pytest.raises(BadInputError, match="is no request id"):
        project.film(request="http://x")
    project.film(on_unknown="resend")
    assert project.states() == ["forgotten", "forgotten", "downloaded"]


def test_other_seeds_are_fetched_although_one_reply_was_lost(project, account):
    account.faults += [Fault("submit", "slow"), Fault("submit", "drop", accepted=True)]
    with pytest.raises(BadInputError, match="Nobody knows"):
        project.film(seeds="1 2 3")
    assert project.clip(1).exists() and not project.clip(2).exists() and account.posts == 2
    project.film(seeds="1-3", request=account.jobs[1].id)
    assert all(project.clip(seed).exists() for seed in (1, 2, 3)) and len(account.jobs) == 3


@pytest.mark.parametrize("what", ["502", "500", "drop", "garbage", "429"])
def test_bursts_of_errors_while_following_are_sat_out(project, account, what):
    account.faults += [Fault("status", what, times=3), Fault("result", what, times=2)]
    project.film()
    assert project.states() == ["downloaded"] and account.posts == 1


def test_429_at_the_submit_waits_and_tries_again(project, account):
    account.faults.append(Fault("submit", "429", times=2))
    project.film()
    assert project.states() == ["refused", "refused", "downloaded"] and len(account.jobs) == 1
    account.faults.append(Fault("submit", "429", times=50))
    with pytest.raises(AnyMoCapError, match="too many requests"):
        project.film(seeds="2")


def test_an_unreachable_service_is_told_and_nothing_is_unknown(project, account, monkeypatch):
    project.film()
    monkeypatch.setenv("ANYMOCAP_FAL_URL", "http://127.0.0.1:9")
    with pytest.raises(AnyMoCapError, match="cannot be reached; nothing was taken"):
        project.film(seeds="2")
    assert set(project.states()) == {"downloaded", "refused"}


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_told_without_the_key(project, account, status):
    account.refuse = status
    with pytest.raises((BadInputError, AnyMoCapError)) as refused:
        project.film()
    assert f"({status})" in str(refused.value)
    account.refuse, key_line = 0, "".join(traceback.format_exception(refused.value))
    assert KEY not in key_line
    project.film()
    account.refuse = status
    with pytest.raises(BadInputError):
        project.film(seeds="2")
    assert project.states() == ["downloaded", "refused"]


def test_a_refused_prompt_is_final_until_it_changes(project, account):
    account.faults.append(Fault("job_policy", ""))
    with pytest.raises(
        AnyMoCapError, match=r"1 of 2 could not be had: seed 1: not allowed \(content_policy_violation\)"
    ):
        project.film(seeds="1 2")
    assert project.clip(2).exists()
    with pytest.raises(AnyMoCapError, match="refused this prompt or picture before"):
        project.film(seeds="1 2")
    assert account.posts == 2
    project.paths.prompt("walk").write_text("It walks calmly.")
    project.film(seeds="1")
    account.faults.append(Fault("submit", "policy"))
    with pytest.raises(AnyMoCapError, match=r"not allowed \(422\)"):
        project.film(seeds="7")


def test_a_failed_job_is_told_and_may_be_sent_again(project, account):
    account.faults.append(Fault("job_error", "CUDA out of memory"))
    with pytest.raises(AnyMoCapError, match="CUDA out of memory"):
        project.film()
    project.film()
    assert project.states() == ["failed", "downloaded"]


@pytest.mark.parametrize("what", ["cut", "slow", "no_range", "503", "corrupt", "moved"])
def test_a_broken_download_goes_on_until_the_file_is_whole(project, account, what):
    account.faults.append(Fault("file", what, times=3 if what in ("cut", "moved") else 1))
    project.film()
    assert project.clip().read_bytes() == clip_bytes(account.jobs[0].id) and len(account.jobs) == 1


def test_an_expired_result_names_the_request(project, account):
    account.faults += [Fault("result_expired", "", times=9)]
    with pytest.raises(AnyMoCapError, match="fal keeps the file no more; request") as told:
        project.film()
    assert account.jobs[0].id in str(told.value)


def test_a_deleted_clip_is_fetched_again_and_not_paid_again(project, account):
    project.film()
    project.clip().unlink()
    project.film(yes=False)
    assert project.clip().exists() and account.posts == 1


def test_a_new_prompt_keeps_the_former_clip(project, account):
    project.film()
    project.paths.prompt("walk").write_text("It runs.")
    project.film()
    files = {path.read_bytes() for path in project.clip().parent.glob("*.mp4")}
    assert files == {clip_bytes(job.id) for job in account.jobs}
    assert project.record()["arguments"]["prompt"] == "It runs."


def test_a_former_request_that_goes_on_is_fetched_too(project, account):
    account.queue_looks = 10**6
    stop = iter([False] * 40)
    with pytest.raises(CancelledError):
        project.film(cancelled=lambda: next(stop, True))
    assert project.states() == ["submitted"]
    account.queue_looks = 1
    project.paths.prompt("walk").write_text("It runs.")
    project.film()
    assert project.clip().read_bytes() == clip_bytes(account.jobs[1].id)
    assert len(list(project.clip().parent.glob("h3-max*.mp4"))) == 2


def test_a_stopped_run_goes_on_with_the_same_request(project, account):
    account.queue_looks = 10**6
    stop = iter([False] * 40)
    with pytest.raises(CancelledError):
        project.film(cancelled=lambda: next(stop, True))
    account.queue_looks = 1
    project.film(yes=False)
    assert account.posts == 1 and project.states() == ["downloaded"]


@pytest.mark.parametrize("state", ["queued", "running", "done"])
def test_withdrawing_is_free_in_the_queue_and_loses_nothing_later(project, account, state):
    account.queue_looks, account.work_looks = 10**6, 10**6
    stop = iter([False] * 40)
    with pytest.raises(CancelledError):
        project.film(cancelled=lambda: next(stop, True))
    if state != "queued":
        account.queue_looks = 0
        account.work_looks = account.jobs[0].looks + 3 if state == "running" else 0
    if state == "queued":
        with pytest.raises(CancelledError):
            project.film(withdraw=True)
        assert project.states() == ["cancelled"] and account.jobs[0].cancelled
        assert project.requests()[0].maybe_paid_usd == 0
    else:
        project.film(withdraw=True)
        assert project.clip().read_bytes() == clip_bytes(account.jobs[0].id)
    assert account.posts == 1


def test_the_ledger_of_someone_else_does_not_get_the_key(project, account, server):
    account.queue_looks = 10**6
    stop = iter([False] * 40)
    with pytest.raises(CancelledError):
        project.film(cancelled=lambda: next(stop, True))
    text = project.ledger.file.read_text()
    project.ledger.file.write_text(text.replace(server.url, "https://evil.example"))
    with pytest.raises(BadInputError, match=r"not fal's; the key is not sent"):
        project.film()


def test_two_runs_at_once_pay_once(project, account):
    account.faults += [Fault("submit", "slow", times=2)]
    ends: list[str] = []

    def run() -> None:
        try:
            FilmProject(project.root).film()
            ends.append("done")
        except AnyMoCapError as error:
            ends.append(error.message)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(account.jobs) == 1 and "done" in ends, ends


@pytest.mark.skipif(os.name == "nt", reason="it is killed by a signal")
@pytest.mark.parametrize("where", ["kill_before", "kill_after", "status", "file"])
def test_a_killed_host_goes_on_with_the_same_request(project, account, server, tmp_path, where):
    account.faults.append(Fault("submit", where) if where.startswith("kill") else Fault(where, "kill"))
    code = (
        "import sys, os; sys.path[:0] = sys.argv[2:]\n"
        "from film_project import FilmProject\n"
        "from pathlib import Path\n"
        "project = FilmProject(Path(sys.argv[1])); print('ready', flush=True); sys.stdin.readline(); project.film()"
    )
    tests = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-c", code, str(project.root), str(tests), str(tests.parent)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout and child.stdin and child.stdout.readline() == "ready\n"
    account.pid = child.pid
    child.communicate("go\n", timeout=60)
    assert child.returncode == -signal.SIGKILL
    if where.startswith("kill"):
        with pytest.raises(BadInputError, match="Nobody knows"):
            project.film()
        taken = where == "kill_after"
        project.film(**({"request": account.jobs[0].id} if taken else {"on_unknown": "resend"}))
    else:
        project.film(yes=False)
    assert len(account.jobs) == 1 and project.clip().read_bytes() == clip_bytes(account.jobs[0].id)


def test_an_interrupt_waits_until_the_reply_is_in_the_ledger(project, account):
    account.faults.append(Fault("submit", "slow"))

    def interrupt() -> None:
        while not account.jobs:
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        project.film()
    thread.join()
    assert project.states() == ["submitted"]
    project.film(yes=False)
    assert account.posts == 1


def test_a_failed_upload_costs_nothing(project, account):
    account.faults.append(Fault("token", "500", times=9))
    with pytest.raises(AnyMoCapError, match="could not be uploaded"):
        project.film()
    assert not project.requests()
    account.faults.clear()
    account.faults.append(Fault("upload", "500"))
    project.film()
    assert project.clip().exists(), "fal-client falls back to another store"


def _one_lost_and_one_in_the_queue(project, account) -> None:
    """Seed 1 waits in the queue when a stop comes, and the reply to seed 2 is lost."""
    account.queue_looks = 10**6
    account.faults.append(Fault("submit", "slow"))
    account.faults.append(Fault("submit", "drop", accepted=True))
    with pytest.raises(CancelledError):
        project.film(seeds="1 2", cancelled=lambda: account.posts == 2)
    assert project.states() == ["submitted", "unknown"]


def test_a_lost_reply_does_not_keep_what_is_paid_from_being_fetched(project, account):
    _one_lost_and_one_in_the_queue(project, account)
    account.queue_looks = 1
    with pytest.raises(BadInputError, match=r"Nobody knows whether fal took 1 request"):
        project.film(seeds="1-3")
    assert project.states() == ["downloaded", "unknown"] and account.posts == 2, "nothing more was sent"


def test_a_lost_reply_does_not_keep_what_waits_from_being_withdrawn(project, account):
    _one_lost_and_one_in_the_queue(project, account)
    with pytest.raises(BadInputError, match=r"Nobody knows whether fal took 1 request"):
        project.film(seeds="1 2", withdraw=True)
    assert account.jobs[0].cancelled and project.states() == ["cancelled", "unknown"]


def test_a_prompt_that_is_a_folder_is_told(project, account):
    project.paths.prompt("hop").mkdir()
    with pytest.raises(BadInputError, match=r"hop\.txt: The prompt cannot be read"):
        project.film(move="hop")
    assert account.posts == 0


def test_a_gateways_page_is_told_in_words(project, account):
    account.faults.append(Fault("submit", "502"))
    with pytest.raises(BadInputError, match=r"502: Bad Gateway\)") as told:
        project.film()
    assert "<" not in str(told.value)


def test_what_another_run_brought_to_its_end_meanwhile_is_not_paid_again(project, account, monkeypatch):
    upload = FalService.upload

    def slow(self: FalService, file: Path) -> str:
        monkeypatch.setattr(FalService, "upload", upload)
        project.film()  # another machine, on the same folder
        return upload(self, file)

    monkeypatch.setattr(FalService, "upload", slow)
    with pytest.raises(AnyMoCapError, match="seed 1 was made by another run meanwhile"):
        project.film()
    assert account.posts == 1 and project.states() == ["downloaded", "withdrawn"]
    project.film()
    assert account.posts == 1


@pytest.mark.parametrize("content", [b"", b"It walks.", b"GIF89a..."])
def test_what_is_no_picture_is_never_paid_for(project, account, content):
    project.paths.ref_png.write_bytes(content)
    (project.root / "picture.png").write_bytes(content)
    for order in (project.film, project.mesh):
        with pytest.raises(BadInputError, match=r"\.png: is no PNG, JPEG or WebP picture; nothing was sent"):
            order()
    assert account.posts == 0 and not project.requests()


def test_a_take_of_a_move_with_the_longest_name_becomes_a_clip(project, account):
    move = "ü" * 80
    project.paths.prompt(move).write_text("It walks.", encoding="utf-8")
    result = project.film(move=move, seeds="12345")
    assert result["clips"] == ["ü" * 76 + "_s12345"]
    assert (project.paths.clip(result["clips"][0]).folder / "clip.json").is_file()
    assert project.film(move=move, seeds="12345")["clips"] == result["clips"] and account.posts == 1


def test_a_place_in_the_queue_that_fal_does_not_know_is_no_fault(project, account, server, monkeypatch):
    say = _Handler.say

    def unknown_place(self, status, body, headers=None):
        if isinstance(body, dict) and "queue_position" in body:
            body["queue_position"] = None
        say(self, status, body, headers)

    monkeypatch.setattr(_Handler, "say", unknown_place)
    project.film()
    assert project.states() == ["downloaded"]


def test_a_mesh_from_a_picture_goes_through_the_same_ledger(project, account):
    result = project.mesh()
    target = project.paths.assets / "model.glb"
    assert target.read_bytes() == clip_bytes(account.jobs[0].id, glb=True) and project.paths.model() == target
    assert account.jobs[0].app == "tripo3d/h3.1/image-to-3d" and set(account.jobs[0].arguments) == {"image_url"}
    assert result["files"] == [str(target)]
    assert [(one.stage, one.state) for one in project.requests()] == [("mesh", "downloaded")]
    project.mesh(yes=False)
    (project.root / "picture.png").write_bytes(b"\x89PNG other")
    with pytest.raises(BadInputError, match="price that is not known"):
        project.mesh(yes=False)
    project.mesh()
    assert len(list(project.paths.assets.glob("model*.glb"))) == 2


def test_no_key_is_told(project, server, monkeypatch):
    monkeypatch.setenv("FAL_KEY", "")
    with pytest.raises(BadInputError, match="There is no fal key"):
        project.film()


def test_the_stage_runs_in_a_worker_and_remembers_no_yes(project, account, tmp_path):
    pool = Pool()
    settings = {"move": "walk", "seeds": "2", "poll": 0.05}
    try:
        run = StageRun(project.paths, REGISTRY["film"], {**settings, "yes": True}, pool=pool)
        for event in run:
            project.events.append(event or {})
            time.sleep(0.0 if event else 0.02)
        record = load_record(project.paths, "film", "walk")
        assert run.result.outputs == [project.clip(2)] and record is not None
        assert not {"yes", "on_unknown", "request", "withdraw"} & set(record.settings)
        again = StageRun(project.paths, REGISTRY["film"], settings, pool=pool)
        assert [event for event in again if event and event["event"] != "busy"] == [] and again.result.skipped
        with pytest.raises(BadInputError, match="Nothing was sent"):
            for event in StageRun(project.paths, REGISTRY["film"], {**settings, "seeds": "2 3"}, pool=pool):
                time.sleep(0.0 if event else 0.02)
        withdrawn = {**settings, "seeds": "2 3", "withdraw": True}
        with pytest.raises(CancelledError, match=r"has been withdrawn, which is free\. Film to order it anew"):
            for event in StageRun(project.paths, REGISTRY["film"], withdrawn, pool=pool):
                time.sleep(0.0 if event else 0.02)
    finally:
        pool.close()
    assert account.posts == 1


def test_what_costs_is_started_by_nothing_but_its_own_verb(project, account):
    project.mesh()
    save_record(project.paths, StageRecord("mesh", "done", settings={"picture": "picture.png"}))
    planned = [one.stage_name for one in stale_plan(REGISTRY, project.paths, [])]
    assert "mesh" not in planned and "film" not in planned and "prep" in planned


def test_an_error_of_a_library_is_told_without_the_key(project, account, monkeypatch):
    def broken(*_: object) -> None:
        raise RuntimeError(f"header Authorization: Key {KEY}")

    monkeypatch.setattr(FalService, "look", broken)
    with pytest.raises(AnyMoCapError, match=r"RuntimeError: header Authorization: Key \[key\]") as told:
        project.film()
    assert KEY not in "".join(traceback.format_exception(told.value))
    assert project.states() == ["submitted"]
