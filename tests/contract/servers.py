"""Several real servers on one database, what they did, and who listens to them."""

import http.client
import json
import os
import selectors
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.fork_server import Forked

PATIENCE_S = 60
Document = dict[str, Any]


class Server:
    """One `beforehand up` with a home of its own; the workspace is shared."""

    def __init__(self, folder: Path, database: str, name: str, environment: dict[str, str]) -> None:
        self.name = name
        words = ("up", "--no-open", "--port", "0", "--db", database)
        self.process, line = started(folder, name, environment, *words)
        assert line.startswith("Beforehand is at"), (line, (folder / "logs" / f"{name}.log").read_text()[-2000:])
        self.url = line.split()[-1]

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)

    @property
    def role(self) -> str:
        try:
            return str(call(self.url, "/health", timeout_s=2)["role"])
        except OSError:
            return ""


def started(folder: Path, name: str, environment: dict[str, str], *words: str) -> tuple["subprocess.Popen[str]", str]:
    """A process of the command with a home and a log of its own, and the first line that it prints."""
    (folder / "logs").mkdir(exist_ok=True)
    with (folder / "logs" / f"{name}.log").open("a") as log:
        process = Forked(
            [*words, "--home", str(folder / f"home-{name}")],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    assert process.stdout is not None
    return process, process.stdout.readline()


class Servers:
    def __init__(self, folder: Path, database: str) -> None:
        self.folder = folder
        self.database = database
        self.running: list[Server] = []
        self.workers: list[subprocess.Popen[str]] = []
        self.made = 0
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("BEFOREHAND_")}

    def start(self) -> Server:
        self.made += 1
        server = Server(self.folder, self.database, f"s{self.made}", self.environment)
        self.running.append(server)
        return server

    def hire(self) -> None:
        """Start a worker; the environment says where Temporal is."""
        worker, line = started(self.folder, f"w{len(self.workers) + 1}", self.environment, "worker")
        self.workers.append(worker)
        assert line.startswith("Working for Temporal"), line

    def drop(self, server: Server) -> None:
        server.kill()
        self.running.remove(server)

    def leader(self) -> Server:
        """The one that leads and has taken everything up."""
        found: list[Server] = []

        def leads() -> bool:
            found[:] = [server for server in list(self.running) if server.role == "leads"]
            return bool(found)

        until(leads)
        return found[0]

    def led_since(self, began_ms: int) -> int | None:
        """When a server wrote that it leads, in ms since 1970, after a moment; None before that."""
        found = [
            int(datetime.fromisoformat(line["timestamp"]).timestamp() * 1000)
            for file in (self.folder / "logs").glob("*.log")
            for line in map(json.loads, file.read_text().splitlines())
            if line["message"] == "this server leads"
        ]
        return min((at for at in found if at > began_ms), default=None)

    def close(self) -> None:
        for server in self.running:
            with suppress(ProcessLookupError):
                server.send(signal.SIGCONT)
            server.kill()
        for worker in self.workers:
            worker.kill()
            worker.wait(PATIENCE_S)

    # -- what was done ---------------------------------------------------------------------------------------------

    def plan(self, name: str, steps: int, **args: Any) -> Document:
        """A chain of physical steps, each of which writes its name into the plan's own list of effects."""
        path = str(self.folder / f"{name}.effects")
        made = []
        for number in range(steps):
            one = f"{name}-{number}"
            tool = "bench.append_noprobe" if number % 3 == 2 else "bench.append"
            before = [f"{name}-{number - 1}"] if number else []
            made.append({"id": one, "tool": tool, "args": {"path": path, "line": one, **args}, "dependsOn": before})
        return {"name": name, "steps": made}

    def effects(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for file in self.folder.glob("*.effects"):
            found.update(line.split("\t")[1] for line in file.read_text().splitlines())
        return found

    def events(self) -> list[Document]:
        import psycopg

        with psycopg.connect(self.database, options="-c search_path=beforehand") as line:
            return [json.loads(found) for (found,) in line.execute("SELECT line FROM events ORDER BY seq")]


def call(
    url: str, path: str, body: Any = None, *, timeout_s: float = 30, method: str | None = None, **headers: str
) -> Any:
    """The answer; urllib's HTTPError for a refusal, OSError where nobody answers."""
    given = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}/api/v1{path}", data=data, headers=given, method=method)
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as answer:
            return json.loads(answer.read())
    except http.client.HTTPException as error:
        raise ConnectionError(str(error)) from error


def surely(url: str, path: str, body: Any) -> Any:
    """A write that is asked for until it is answered, under one key."""
    key, give_up = uuid.uuid4().hex, time.monotonic() + PATIENCE_S
    while True:
        try:
            return call(url, path, body, timeout_s=15, Idempotency_Key=key)
        except urllib.error.HTTPError as error:
            told = json.loads(error.read())
            if error.code not in (503,) and told["code"] != "request.under_way":
                return told
        except OSError:
            pass
        assert time.monotonic() < give_up, f"{path} was never answered"
        threading.Event().wait(0.1)


def until(holds: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
    give_up = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < give_up, "it never came"
        threading.Event().wait(0.03)


class Listener:
    """Follows the log and resumes by the last id it saw, at whichever server it is sent to."""

    def __init__(self, url_of: Callable[[], str]) -> None:
        self.seqs: list[int] = []
        self.connections = 0
        self._url_of = url_of
        self._over = threading.Event()
        self._socket: socket.socket | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    @property
    def last(self) -> int:
        return self.seqs[-1] if self.seqs else 0

    def close(self) -> None:
        """End at once; the next line of a stream may be a heartbeat away."""
        self._over.set()
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(PATIENCE_S)

    def _work(self) -> None:
        while not self._over.is_set():
            with suppress(OSError, http.client.HTTPException):
                self._follow()
            self._over.wait(0.1)

    def _follow(self) -> None:
        there = urlsplit(self._url_of())
        line = http.client.HTTPConnection(str(there.hostname), there.port, timeout=20)
        try:
            line.connect()
            self._socket = line.sock
            headers = {"Last-Event-ID": str(self.last)} if self.seqs else {}
            line.request("GET", "/api/v1/events", headers=headers)
            answer = line.getresponse()
            self.connections += 1
            while answer.status == 200 and not self._over.is_set():
                given = answer.readline()
                if not given:
                    return
                if given.startswith(b"id:"):
                    self.seqs.append(int(given[3:]))
        finally:
            line.close()


class Person(threading.Thread):
    """Goes and looks at the machine, and answers what is in doubt truthfully."""

    def __init__(self, servers: Servers, url_of: Callable[[], str]) -> None:
        super().__init__(daemon=True)
        self._servers = servers
        self._url_of = url_of
        self._over = threading.Event()
        self.answers = 0
        self.start()

    def run(self) -> None:
        while not self._over.wait(0.2):
            with suppress(OSError, ValueError):
                for decision in call(self._url_of(), "/inbox", timeout_s=10):
                    if decision["kind"] == "inDoubt":
                        self._answer(decision)

    def _answer(self, decision: Document) -> None:
        verb = "happened" if self._servers.effects()[decision["about"]["stepId"]] else "run-again"
        call(self._url_of(), f"/inbox/{decision['id']}", {"verb": verb}, timeout_s=15)
        self.answers += 1

    def close(self) -> None:
        self._over.set()
        self.join(PATIENCE_S)


class RoundRobin:
    """A proxy that gives every connection to the next server that takes one."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._turn = cycle(range(1_000_000))
        self._door = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        threading.Thread(target=self._work, daemon=True).start()

    def close(self) -> None:
        self._door.close()

    def _work(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self._door.accept()
                threading.Thread(target=self._serve, args=(caller,), daemon=True).start()

    def _serve(self, caller: socket.socket) -> None:
        with caller:
            server = self._connected()
            if server is not None:
                with server, suppress(OSError):
                    _pump(caller, server)

    def _connected(self) -> socket.socket | None:
        for _ in range(len(self._servers.running) or 1):
            running = list(self._servers.running)
            if not running:
                return None
            there = urlsplit(running[next(self._turn) % len(running)].url)
            with suppress(OSError):
                return socket.create_connection((str(there.hostname), int(there.port or 0)), timeout=2)
        return None


def _pump(one: socket.socket, other: socket.socket) -> None:
    """Bytes both ways until either side is done."""
    for end in (one, other):
        end.settimeout(None)
    with selectors.DefaultSelector() as either:
        either.register(one, selectors.EVENT_READ, other)
        either.register(other, selectors.EVENT_READ, one)
        while True:
            for key, _ in either.select():
                source: Any = key.fileobj
                data = source.recv(65_536)
                if not data:
                    return
                key.data.sendall(data)


@contextmanager
def servers_on(folder: Path, database: str) -> Iterator[Servers]:
    made = Servers(folder, database)
    try:
        yield made
    finally:
        made.close()


def assert_gap_free(seqs: list[int]) -> None:
    assert seqs == list(range(1, len(seqs) + 1))


def start_run(url: str, plan: Any) -> str:
    """Hand a plan in and start it, whatever happens to servers meanwhile; the plan's id."""
    taken = surely(url, "/plans", {"plan": plan})
    started = surely(url, f"/plans/{taken['id']}/runs", {"version": 1})
    assert "runId" in started, started
    return str(taken["id"])


def finished(servers: Servers) -> Counter[str]:
    return Counter(event["data"]["status"] for event in servers.events() if event["kind"] == "runFinished")


def assert_sound(servers: Servers, steps: list[str]) -> None:
    assert servers.effects() == Counter(steps), "every physical step exactly once"
    events = servers.events()
    assert_gap_free([event["seq"] for event in events])
    completed: set[str] = set()
    for event in events:
        if event["kind"] == "stepUpdated":
            data = event["data"]
            assert data["stepId"] not in completed, f"{data['stepId']} had completed"
            if data["status"] == "completed":
                completed.add(data["stepId"])
    assert completed == set(steps)
