"""What a server that stands by does with a call while there is a leader, none, or one that goes away."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from beforehand.adapters.peers.client import Answer, Call, GoneError
from beforehand.ports.store import Leader
from beforehand.server import handing_on
from beforehand.server.handing_on import HandingOn
from beforehand.server.place import Place

LEADER = Leader(7, 1, "hall-1", "http://hall-1:8700", 0, "server")
DONE = Answer(201, [(b"content-type", b"application/json"), (b"etag", b'"1"'), (b"connection", b"close")], b"{}")
HERE = b"answered here"


@dataclass
class Others:
    """A place that stands by, and the other servers as they answer one after another."""

    answers: list[Any] = field(default_factory=list)
    leader: Leader | None = LEADER
    leads: bool = False
    calls: list[tuple[str, Call]] = field(default_factory=list)

    async def ask(self, url: str, call: Call) -> Answer:
        self.calls.append((url, call))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, Answer)
        return answer


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handing_on, "PATIENCE_S", 0.2)
    monkeypatch.setattr(handing_on, "STATE_PATIENCE_S", 0.1)
    monkeypatch.setattr(handing_on, "LOOK_S", 0.01)


async def asked(
    others: Others, method: str, path: str, *, query: str = "", body: bytes = b"", **headers: str
) -> tuple[int, Mapping[str, str], bytes]:
    """The status, the headers and the body of the answer."""
    sent: list[Any] = []

    async def here(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": HERE})

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    place: Any = Place("me", others)  # type: ignore[arg-type]
    layer = HandingOn(here, place, others, led=["robots"])  # type: ignore[arg-type]
    scope = {
        "type": "http",
        "method": method,
        "path": f"/api/v1{path}",
        "query_string": query.encode(),
        "headers": [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()],
        "state": {"correlation_id": "c1"},
    }
    await layer(scope, receive, send)
    told = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], told, b"".join(message.get("body", b"") for message in sent[1:])


def code_in(body: bytes) -> str:
    return str(json.loads(body)["code"])


async def test_a_write_goes_to_the_leader_as_it_came() -> None:
    others = Others([DONE])
    given = {"Authorization": "Bearer t", "Idempotency_Key": "k", "If_Match": "3", "Host": "me:1"}
    status, headers, body = await asked(others, "PATCH", "/plans/p", query="a=1", body=b"{1}", **given)
    assert (status, headers["etag"], body) == (201, '"1"', b"{}")
    assert "connection" not in headers
    (url, call), *_ = others.calls
    assert (url, call.method, call.target, call.body) == (LEADER.url, "PATCH", "/api/v1/plans/p?a=1", b"{1}")
    kept = {name.decode().lower(): value.decode() for name, value in call.headers}
    for name, value in given.items():
        assert kept[name.replace("_", "-").lower()] == value
    assert (kept["beforehand-handed-on"], kept["x-correlation-id"]) == ("me", "c1")


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/plans"), ("GET", "/events"), ("POST", "/login"), ("POST", "/search/runs/_search")]
)
async def test_what_is_in_the_log_is_answered_here(method: str, path: str) -> None:
    others = Others()
    assert (await asked(others, method, path))[2] == HERE
    assert others.calls == []


async def test_what_only_the_leader_knows_is_asked_of_it() -> None:
    others = Others([DONE, DONE])
    assert (await asked(others, "GET", "/robots/RB-01/why"))[0] == 201
    assert (await asked(others, "GET", "/state"))[0] == 201
    assert (await asked(others, "GET", "/state", query="at=3"))[2] == HERE


async def test_a_head_is_asked_of_the_leader_as_a_get_so_that_its_length_is_told() -> None:
    others = Others([DONE])
    _, headers, _ = await asked(others, "HEAD", "/robots/RB-01")
    assert [call.method for _, call in others.calls] == ["GET"]
    assert headers["content-length"] == str(len(DONE.body))


async def test_without_a_leader_the_state_is_read_here_and_a_write_is_refused() -> None:
    others = Others(leader=None)
    assert (await asked(others, "GET", "/state"))[2] == HERE
    status, headers, body = await asked(others, "POST", "/plans")
    assert (status, code_in(body), headers["retry-after"]) == (503, "lead.none", "2")
    others.leader = Leader(7, 42, "hall-1", None, 0, "beforehand run")
    assert "Process 42 on hall-1 (beforehand run) leads" in (await asked(others, "POST", "/plans"))[2].decode()


async def test_a_brake_that_reaches_no_machine_says_so_soon() -> None:
    others = Others(leader=None)
    status, headers, body = await asked(others, "POST", "/hold")
    assert (status, code_in(body), headers["retry-after"]) == (503, "brake.no_machine", "1")
    others.leader = Leader(7, 42, "hall-1", None, 0, "beforehand run")
    assert "Process 42 on hall-1 leads (beforehand run)" in (await asked(others, "POST", "/hold"))[2].decode()


async def test_a_call_that_nobody_got_is_tried_again() -> None:
    moved = Answer(503, [], json.dumps({"code": "lead.moved"}).encode())
    others = Others([GoneError(heard=False), moved, DONE])
    assert (await asked(others, "POST", "/hold"))[0] == 201


async def test_a_call_that_may_have_been_done_is_only_tried_again_where_that_is_safe() -> None:
    others = Others([GoneError(heard=True), DONE])
    status, _, body = await asked(others, "POST", "/plans")
    assert (status, code_in(body)) == (503, "lead.lost_on_the_way")
    others = Others([GoneError(heard=True), DONE])
    assert (await asked(others, "POST", "/plans", Idempotency_Key="k"))[0] == 201
    others = Others([GoneError(heard=True), DONE])
    assert (await asked(others, "GET", "/robots"))[0] == 201
    others = Others([GoneError(heard=True), DONE])
    assert (await asked(others, "POST", "/hold"))[0] == 201  # who stands already stands


async def test_nothing_is_handed_on_twice() -> None:
    status, headers, body = await asked(Others(), "POST", "/hold", Beforehand_Handed_On="other")
    assert (status, code_in(body), headers["retry-after"]) == (503, "lead.moved", "1")
    status, _, body = await asked(Others(), "POST", "/hold", Beforehand_Handed_On="me")
    assert (status, code_in(body)) == (503, "lead.circle")
    assert "--advertise" in json.loads(body)["hint"]


async def test_a_server_that_has_become_the_leader_answers_itself() -> None:
    class Promoted(Others):
        async def ask(self, url: str, call: Call) -> Answer:
            self.leads = True
            raise GoneError(heard=False)

    assert (await asked(Promoted(), "POST", "/hold", body=b"{}"))[2] == HERE
