"""A stand-in for fal: its queue, uploads and file host with their faults, as a real HTTP server on this machine.

    python tests/fal_server.py          prints its address and serves until its stdin ends

The server keeps the books that fal would keep: which requests were accepted (and so are paid), from whom, with which
arguments. Faults are scripted beforehand; each one is used up by the request that meets it.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import random
import re
import signal
import socket
import sys
import threading
import time
import uuid
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

NGINX = "<html><head><title>{0}</title></head><body><center><h1>{0}</h1></center><hr>nginx</body></html>"
_PATH = re.compile(r"/queue/(?P<app>.+?)/requests/(?P<id>[\w-]+)(?P<verb>/status|/cancel)?$")


def clip_bytes(request_id: str, size: int = 40_000, glb: bool = False) -> bytes:
    """The file of a request: the head of an mp4 (or glb) and bytes that only this request has."""
    head = b"glTF\x02\x00\x00\x00" if glb else b"\x00\x00\x00\x18ftypisom"
    return head + random.Random(request_id).randbytes(size)


@dataclass
class Fault:
    """One thing that goes wrong.

    Attributes:
        where: "submit", "status", "result", "file", "upload", "cancel".
        what: an HTTP status as a number; or "drop" (the connection ends, before the reply when it was accepted), "cut"
            (half of a file), "slow", "garbage", "kill_before" or "kill_after" (the client's process dies around the
            moment of acceptance), "kill" (elsewhere), "policy" (422), "error" (completed with an error), "expired",
            "moved" (the file is somewhere else now), "no_range" (a cut whose rest cannot be had apart).
        accepted: the request of a failed submit was taken all the same.
        times: how often.
    """

    where: str
    what: str
    accepted: bool = False
    times: int = 1


@dataclass
class Job:
    """A request that was accepted."""

    id: str
    app: str
    key: str
    arguments: dict[str, Any]
    looks: int = 0
    state: str = "IN_QUEUE"
    error: str = ""
    error_type: str = ""
    policy: bool = False
    moved: int = 0
    cancelled: bool = False
    time: float = field(default_factory=time.time)

    @property
    def glb(self) -> bool:
        return "3d" in self.app


@dataclass
class Account:
    """What happens to one key."""

    faults: list[Fault] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    queue_looks: int = 1
    work_looks: int = 1
    pid: int = 0
    posts: int = 0
    uploads: int = 0
    refuse: int = 0
    history: bool = False
    file_size: int = 40_000
    films: list[bytes] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)


def file_of(account: Account, job: Job) -> bytes:
    """What a request makes: the account's films one after the other where it has some."""
    if account.films and not job.glb:
        return account.films[account.jobs.index(job) % len(account.films)]
    return clip_bytes(job.id, account.file_size, job.glb)


class FalServer:
    """The server; use as a context manager. `url` is what $ANYMOCAP_FAL_URL takes."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.jobs: dict[str, Job] = {}
        self.uploads: dict[str, bytes] = {}
        self.key_sent_to_files = 0
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.daemon_threads = True
        self._http.fal = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> FalServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def account(self, key: str) -> Account:
        """The account of a key."""
        return self.accounts.setdefault(key, Account())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def fal(self) -> FalServer:
        return self.server.fal  # type: ignore[attr-defined,no-any-return]

    def log_message(self, *_: object) -> None:
        pass

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError, TimeoutError):  # a client that was killed
            super().handle()

    # Replies

    def say(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if isinstance(body, str) else "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def drop(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        self.connection.close()

    def fail(self, what: str) -> None:
        """An HTTP error as fal words it. The key is repeated, as a careless gateway might."""
        status = int(what)
        key = self.headers.get("Authorization", "")
        if status in (502, 503, 504):
            self.say(status, NGINX.format(status))
        elif status == 429:
            self.say(status, {"detail": "Too many requests"}, {"Retry-After": "0.02"})
        else:
            self.say(status, {"detail": f"Failed for {key}", "error_type": "internal_error"})

    def policy(self) -> None:
        self.say(
            422, {"detail": [{"loc": ["body", "prompt"], "msg": "not allowed", "type": "content_policy_violation"}]}
        )

    # Who and what

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def who(self) -> Account | None:
        scheme, _, key = self.headers.get("Authorization", "").partition(" ")
        account = self.fal.accounts.get(key) if scheme == "Key" else None
        if account is None or account.refuse:
            status = account.refuse if account else 401
            self.say(status, {"detail": f"Cannot access with {key}" if status == 401 else "User is locked: balance"})
            return None
        return account

    def fault(self, account: Account, where: str) -> Fault | None:
        for fault in account.faults:
            if fault.where == where and fault.times > 0:
                fault.times -= 1
                return fault
        return None

    def kill(self, account: Account) -> None:
        if account.pid:
            os.kill(account.pid, signal.SIGKILL)
        self.drop()

    # Verbs

    def do_POST(self) -> None:
        body = self.body()
        if self.path.startswith("/control"):
            self.control(json.loads(body))
            return
        if self.path.startswith("/cdn/files/upload"):
            self.upload(body)
            return
        account = self.who()
        if account is None:
            return
        if self.path.startswith("/rest/storage/auth/token"):
            fault = self.fault(account, "token")
            if fault:
                self.fail(fault.what)
                return
            token = {"token": "t-" + hashlib.sha256(self.headers["Authorization"].encode()).hexdigest()[:12]}
            token |= {
                "token_type": "Bearer",
                "base_url": f"{self.fal.url}/cdn",
                "expires_at": "2099-01-01T00:00:00+00:00",
            }
            self.say(200, token)
        elif self.path.startswith("/rest/storage/upload/initiate"):
            name = uuid.uuid4().hex
            self.say(200, {"upload_url": f"{self.fal.url}/put/{name}", "file_url": f"{self.fal.url}/files/{name}"})
        elif self.path.startswith("/queue/"):
            self.submit(account, self.path.removeprefix("/queue/"), json.loads(body))
        else:
            self.say(404, {"detail": "Not found"})

    def upload(self, body: bytes) -> None:
        account = next((a for a in self.fal.accounts.values() if self.fault(a, "upload")), None)
        if account is not None:
            self.say(500, {"detail": "upload failed"})
            return
        name = uuid.uuid4().hex
        self.fal.uploads[name] = body
        self.say(200, {"access_url": f"{self.fal.url}/files/{name}"})

    def submit(self, account: Account, app: str, arguments: dict[str, Any]) -> None:
        account.posts += 1
        fault = self.fault(account, "submit")
        what = fault.what if fault else ""
        if what == "kill_before":
            self.kill(account)
            return
        if fault and what not in ("kill_after", "slow") and not fault.accepted:
            if what == "drop":
                self.drop()
            elif what == "policy":
                self.policy()
            elif what == "garbage":
                self.say(200, {"request": "?"})
            else:
                self.fail(what)
            return
        job = Job(str(uuid.uuid4()), app, self.headers["Authorization"], arguments)
        for fate in ("error", "policy"):
            if fated := self.fault(account, f"job_{fate}"):
                job.error = fated.what if fate == "error" else ""
                job.error_type = "runner_server_error" if fate == "error" else ""
                job.policy = fate == "policy"
        account.jobs.append(job)
        self.fal.jobs[job.id] = job
        if what == "kill_after":
            self.kill(account)
            return
        if fault and what == "slow":
            time.sleep(0.3)
        elif fault:  # it was accepted, and the reply says something else or nothing
            if what == "drop":
                self.drop()
            elif what == "garbage":
                self.say(200, "{")
            else:
                self.fail(what)
            return
        owner, alias = app.split("/")[:2]
        base = f"{self.fal.url}/queue/{owner}/{alias}/requests/{job.id}"
        urls = {"response_url": base, "status_url": f"{base}/status", "cancel_url": f"{base}/cancel"}
        self.say(200, {"request_id": job.id, "status": "IN_QUEUE", "queue_position": 2, **urls})

    def do_PUT(self) -> None:
        body = self.body()
        if self.path.startswith("/put/"):
            self.fal.uploads[self.path.removeprefix("/put/")] = body
            self.say(200, {})
            return
        account = self.who()
        match = _PATH.match(self.path)
        if account is None:
            return
        job = self.fal.jobs.get(match["id"]) if match else None
        fault = self.fault(account, "cancel")
        if fault:
            self.drop() if fault.what == "drop" else self.fail(fault.what)
        elif job is None:
            self.say(404, {"status": "NOT_FOUND"})
        elif job.state == "COMPLETED":
            self.say(400, {"status": "ALREADY_COMPLETED"})
        else:
            if job.state == "IN_QUEUE":
                job.cancelled, job.state = True, "COMPLETED"
                job.error, job.error_type = "Request was cancelled", "client_cancelled"
            self.say(202, {"status": "CANCELLATION_REQUESTED"})

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.startswith("/files/"):
            self.file(path)
            return
        account = self.who()
        if account is None:
            return
        if path == "/api/models/requests/by-endpoint":
            self.history(account)
            return
        match = _PATH.match(path)
        job = self.fal.jobs.get(match["id"]) if match else None
        where = "status" if match and match["verb"] else "result"
        fault = self.fault(account, where)
        if fault and fault.what == "kill":
            self.kill(account)
        elif fault and fault.what == "drop":
            self.drop()
        elif fault and fault.what == "garbage":
            self.say(200, "<half a rep")
        elif fault and fault.what.isdigit():
            self.fail(fault.what)
        elif job is None:
            self.say(404, {"detail": "Request not found"})
        elif where == "status":
            self.status(account, job)
        else:
            self.result(account, job)

    def history(self, account: Account) -> None:
        """The account's list, one request a page, the newest first; `history` says whether this key may have it."""
        if not account.history:
            self.say(403, {"detail": f"Not for {self.headers['Authorization']}"})
            return
        asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        since = datetime.fromisoformat(asked["start"]).timestamp()
        jobs = [job for job in account.jobs if job.app == asked["endpoint_id"] and job.time >= since][::-1]
        place = int(asked.get("cursor", "0"))
        sent = "json_input" if asked.get("expand") == "payloads" else "none"
        items = [{"request_id": job.id, "endpoint_id": job.app, sent: job.arguments} for job in jobs[place : place + 1]]
        more = place + 1 < len(jobs)
        self.say(200, {"items": items, "has_more": more, "next_cursor": str(place + 1) if more else None})

    def status(self, account: Account, job: Job) -> None:
        job.looks += 1
        if job.state != "COMPLETED":
            done = job.looks > account.queue_looks + account.work_looks
            job.state = "COMPLETED" if done else "IN_PROGRESS" if job.looks > account.queue_looks else "IN_QUEUE"
        logs = [{"message": f"step {n} {self.headers['Authorization']}", "level": "INFO"} for n in range(job.looks)]
        if job.state == "IN_QUEUE":
            self.say(202, {"status": "IN_QUEUE", "queue_position": max(0, account.queue_looks - job.looks)})
        elif job.state == "IN_PROGRESS":
            self.say(202, {"status": "IN_PROGRESS", "logs": logs})
        else:
            failed = {"error": job.error, "error_type": job.error_type} if job.error else {}
            self.say(200, {"status": "COMPLETED", "logs": logs, "metrics": {"inference_time": 1.0}, **failed})

    def result(self, account: Account, job: Job) -> None:
        if job.policy:
            self.policy()
            return
        if self.fault(account, "result_expired"):
            self.say(404, {"detail": "Result expired"})
            return
        data = file_of(account, job)
        file = {
            "url": f"{self.fal.url}/files/{job.id}/{job.moved}/{hashlib.sha256(job.key.encode()).hexdigest()[:8]}",
            "file_size": len(data),
        }
        self.say(200, {"model_urls": {"glb": file}} if job.glb else {"video": {**file, "content_type": "video/mp4"}})

    def file(self, path: str) -> None:
        if "Authorization" in self.headers:
            self.fal.key_sent_to_files += 1
        _, _, name, *rest = path.split("/")
        job = self.fal.jobs.get(name)
        if job is None or not rest:
            self.say(404, {"detail": "no such file"})
            return
        account = next(a for a in self.fal.accounts.values() if job in a.jobs)
        fault = self.fault(account, "file")
        what = fault.what if fault else ""
        if what == "moved":
            job.moved += 1
        if what == "expired" or int(rest[0]) != job.moved:
            self.say(404, {"detail": "expired"})
            return
        if what.isdigit():
            self.fail(what)
            return
        data = file_of(account, job)
        digest = base64.b64encode(hashlib.md5(data).digest()).decode()
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(match[1]) if match and what != "no_range" else 0
        if start >= len(data):
            self.say(416, {"detail": "range"}, {"Content-Range": f"bytes */{len(data)}"})
            return
        if what == "corrupt":
            data = data[:-5] + b"wrong"
        send = data[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Type", "video/mp4")
        self.send_header("Content-Length", str(len(send)))
        self.send_header("ETag", f'"{job.id}"')
        self.send_header("x-goog-hash", f"crc32c=AAAAAA==,md5={digest}")
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        if what in ("cut", "no_range", "kill"):
            self.wfile.write(send[: max(1, len(send) // 2)])
            self.wfile.flush()
            time.sleep(0.03)
            self.kill(account) if what == "kill" else self.drop()
        elif what == "slow":
            for at in range(0, len(send), 8192):
                self.wfile.write(send[at : at + 8192])
                time.sleep(0.01)
        else:
            self.wfile.write(send)

    # The strings that a benchmark pulls from another process

    def control(self, order: dict[str, Any]) -> None:
        account = self.fal.account(order["key"])
        for name in ("queue_looks", "work_looks", "pid", "refuse", "file_size", "history"):
            if name in order:
                setattr(account, name, order[name])
        account.faults += [Fault(**fault) for fault in order.get("faults", [])]
        if order.get("clear"):
            account.faults.clear()
        jobs = [
            {name: getattr(job, name) for name in ("id", "app", "arguments", "state", "error", "policy", "cancelled")}
            for job in account.jobs
        ]
        self.say(200, {"jobs": jobs, "posts": account.posts, "leaks": self.fal.key_sent_to_files})


if __name__ == "__main__":
    with FalServer() as served:
        print(served.url, flush=True)
        sys.stdin.read()
