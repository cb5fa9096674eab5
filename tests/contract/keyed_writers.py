"""People who write with a key and ask again with it until they are answered; and what the log must say then.

They know the protocol only: an error of the connection, 503 and "is being done" mean to ask again; anything else is an
answer. Every write says by which events its being done once can be told.
"""

import hashlib
import json
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from itertools import cycle
from typing import Any

from tests.contract.servers import PATIENCE_S

Document = dict[str, Any]
TOKEN = "the-admins-of-these-tests"
CALLER = "admin"
"""The name of whoever has the token of the settings; keys belong to their callers."""
IDS = ("id", "planId", "runId", "sessionId", "questionId", "name", "scene", "robotId", "worksiteId", "streamId")
ASK_AGAIN = ("request.under_way",)


@dataclass
class Answered:
    """A write and its last answer."""

    method: str
    path: str
    body: Any
    key: str
    status: int
    told: Any
    once: tuple[str, str, str] | None
    """The kind of its event, the name of a field of that event's data or ids, and the value by which it is known."""
    lost: int
    """How many times it was asked for in vain."""

    @property
    def is_done(self) -> bool:
        return self.status < 300


def ask(url: str, method: str, path: str, body: Any, key: str) -> tuple[int, Any]:
    """Status and document of one try; OSError where there was no answer."""
    headers = {"Content-Type": "application/json", "Idempotency-Key": key, "Authorization": f"Bearer {TOKEN}"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}/api/v1{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())
    except HTTPException as error:
        raise ConnectionError(str(error)) from error


class Writer(threading.Thread):
    """One person: a story of writes after the other, until told to stop."""

    def __init__(self, name: str, url_of: Callable[[], str], stories: "tuple[Callable[[Writer], None], ...]") -> None:
        super().__init__(daemon=True)
        self.by = name
        self.writes: list[Answered] = []
        self.over = threading.Event()
        self.error: BaseException | None = None
        self._url_of = url_of
        self._stories = stories
        self._made = 0
        self.start()

    def run(self) -> None:
        try:
            for story in cycle(self._stories):
                if self.over.is_set():
                    return
                story(self)
        except BaseException as error:
            self.error = error

    def name_of(self, what: str) -> str:
        self._made += 1
        return f"{what}-{self.by}-{self._made}"

    def write(
        self, method: str, path: str, body: Any = None, *, once: tuple[str, str, str] | None = None
    ) -> Document | None:
        """What is answered; None for a refusal."""
        key, give_up, lost = uuid.uuid4().hex, time.monotonic() + 2 * PATIENCE_S, 0
        while True:
            with suppress(OSError):
                status, told = ask(self._url_of(), method, path, body, key)
                if status < 500 and not (status == 409 and told["code"] in ASK_AGAIN):
                    self.writes.append(Answered(method, path, body, key, status, told, once, lost))
                    return told if status < 300 else None
            lost += 1
            assert time.monotonic() < give_up, f"{method} {path} was never answered"
            self.over.wait(0.05)


# -- stories ---------------------------------------------------------------------------------------------------------


def plan_of(writer: Writer, seconds: float) -> Document | None:
    name = writer.name_of("plan")
    plan = {"name": name, "steps": [{"id": "a", "tool": "wait", "args": {"seconds": seconds}}]}
    return writer.write("POST", "/plans", {"plan": plan}, once=("planCreated", "name", name))


def runs(writer: Writer) -> None:
    if (plan := plan_of(writer, 3600)) is None:
        return
    run = writer.write("POST", f"/plans/{plan['id']}/runs", {"version": 1}, once=("runStarted", "planId", plan["id"]))
    if run is not None:
        path = f"/runs/{run['runId']}"
        writer.write("POST", f"{path}/pause")
        writer.write("POST", f"{path}/resume")
        writer.write("POST", f"{path}/cancel", once=("runFinished", "runId", run["runId"]))


def reviews(writer: Writer) -> None:
    if (plan := plan_of(writer, 0)) is not None:
        review = plan["decision"]["id"]
        once = ("decisionAnswered", "decisionId", review)
        writer.write("POST", f"/inbox/{review}", {"verb": "cancel"}, once=once)


def documents(writer: Writer) -> None:
    name = writer.name_of("template")
    template = {"plan": {"steps": [{"id": "a", "tool": "wait", "args": {"seconds": 0}}]}}
    writer.write("PUT", f"/templates/{name}", template, once=("templateSaved", "name", name))
    writer.write("POST", f"/templates/{name}/plans", {}, once=("planCreated", "name", name))
    name = writer.name_of("home")
    home = {"kind": "home", "name": name, "bounds": [0, 0, 4, 4], "objects": [], "agent": {"at": [0, 0]}}
    writer.write("PUT", f"/scenes/{name}", home, once=("sceneSaved", "name", name))
    writer.write("POST", f"/scenes/{name}/activate", once=("sceneActivated", "name", name))
    session = writer.write("POST", "/sessions", {"scene": name}, once=("sessionStarted", "scene", name))
    if session is not None:
        number = session["sessionId"]
        path = f"/sessions/{number}/commands"
        writer.write("POST", path, {"command": "skip(1)"})
        writer.write("POST", path, {"command": "end()"}, once=("sessionEnded", "sessionId", number))
        writer.write("POST", f"/scenes/{name}/deactivate", once=("sceneDeactivated", "name", name))


def questions_and_tokens(writer: Writer) -> None:
    text = f"how many runs have failed today, {writer.name_of('asked')}?"
    writer.write("POST", "/questions", {"text": text}, once=("questionAsked", "text", text))
    name = writer.name_of("token")
    writer.write("POST", "/tokens", {"name": name, "role": "viewer"}, once=("tokenAdded", "name", name))
    writer.write("DELETE", f"/tokens/{name}", once=("tokenRevoked", "name", name))


def fleets(writer: Writer) -> None:
    """Whoever runs the hall: places, streams, robots, a transport, and now and then everything held."""
    writer.write("PATCH", "/worksites/DROP_01", {"occupancy": "empty"})
    writer.write("PATCH", "/worksites/PICK_01", {"occupancy": "filled"})
    writer.write("PATCH", "/streams/stream_pick_drop", {"priority": writer._made})
    writer.write("POST", "/robots/RB-01/hold")
    plan = writer.write("POST", "/plans", {"scene": "line", "text": "move the pallet from PICK_01 to DROP_01"})
    if plan is not None:
        path = f"/plans/{plan['id']}/runs"
        run = writer.write("POST", path, {"version": 1}, once=("runStarted", "planId", plan["id"]))
        if run is not None:
            writer.write("POST", f"/runs/{run['runId']}/cancel")
    writer.write("POST", "/robots/RB-01/release")
    writer.write("POST", "/fleet/line/hold")
    writer.write("POST", "/fleet/line/clear")
    writer.write("POST", "/hold")
    writer.write("POST", "/clear")


# -- what must be so then --------------------------------------------------------------------------------------------


def request_id(key: str) -> str:
    return hashlib.sha256(f"{CALLER}\0{key}".encode()).hexdigest()[:32]


def assert_done_once(writes: list[Answered], events: list[Document]) -> None:
    """Every write that was answered is in the log once, every one that was refused is not."""
    keys = Counter(event["about"]["requestId"] for event in events if "requestId" in event["about"])
    known = Counter(
        (event["kind"], name, str(value))
        for event in events
        for name, value in {**event["data"], **event["about"]}.items()
        if isinstance(value, str)
    )
    for one in writes:
        expected = 1 if one.is_done else 0
        what = f"{one.method} {one.path} {one.status} {str(one.told)[:300]}"
        assert keys[request_id(one.key)] == expected, f"{what}: its key is in the log {keys[request_id(one.key)]} times"
        if one.once is not None:
            assert known[one.once] == expected, f"{what}: {known[one.once]} times {one.once}"


def assert_answered_alike(url: str, writes: list[Answered]) -> None:
    """The same key gives the same answer now; a token is shown once."""
    for one in writes:
        if one.is_done:
            status, told = ask(url, one.method, one.path, one.body, one.key)
            known = {name: value for name, value in one.told.items() if name not in ("token", "says")}
            assert (status, {name: told.get(name) for name in known}) == (one.status, known), one.path


def table(writes: list[Answered]) -> str:
    """How many of each were answered, refused, and asked for more than once."""
    rows = Counter((one.method, one.path.split("/")[1], one.status) for one in writes)
    again = Counter((one.method, one.path.split("/")[1], one.status) for one in writes if one.lost)
    lines = [
        f"{method:<7}{noun:<11}{status:>4}{count:>6}{again[method, noun, status]:>6}"
        for (method, noun, status), count in sorted(rows.items())
    ]
    return "\n".join(["what              answer count again", *lines, ""])
