"""Writes that were done and whose answers were never kept: answered from the log, with the same status, shape and ids.

`Forgetful` makes each call, forgets what was kept for its key, and makes it again: that is what a server finds that
took over from one which died between the events of a write and its answer.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import Server, bearer, line, serving
from tests.api.test_drafts import GOOD
from tests.api.test_files import PLT
from tests.api.test_sessions import ROOM
from tests.house.test_write_answers import writes

from beforehand.app.examples import find_document
from beforehand.app.scenes import save_scene
from beforehand.app.tokens import Tokens
from beforehand.crafts.fleet.fleets import Fleets
from beforehand.server import answers
from beforehand.testing.model_replies import stalls
from beforehand.testing.model_servers import FakeOpenAI

IDS = ("id", "planId", "runId", "taskId", "sessionId", "draftId", "questionId", "robotId", "worksiteId", "streamId")
SAID = (
    "name",
    "scene",
    "version",
    "verb",
    "command",
    "reply",
    "fault",
    "follow",
    "held",
    "already",
    "revoked",
    "role",
    "turn",
    "cancelled",
)
DECISIVE = {
    *(
        "planCreated",
        "planEdited",
        "decisionAnswered",
        "decisionWithdrawn",
        "runUpdated",
        "runAdopted",
        "runFinished",
        "stepUpdated",
    ),
    *("templateSaved", "sceneSaved", "sceneActivated", "sceneDeactivated", "sceneFileSaved", "tokenAdded"),
    *("tokenRevoked", "cellStateChanged", "robotUpdated", "streamUpdated", "worksiteUpdated", "taskUpdated"),
    *("fleetHeld", "fleetCleared", "sessionStarted", "commandGiven", "worldDisturbed", "questionAsked"),
    *("sessionUpdated", "sessionEnded", "actionUpdated", "homeReset"),
    *("questionFinished", "everythingHeld", "everythingCleared", "requestDone"),
}
"""The kinds of events that say that a write was done; what only prepares for it never does."""
DRAFTING = "beforehand.crafts.drafting.http"
"""Drafts need a model, and have a test of their own."""


def call_at(method: str, path: str) -> Any:
    """What answers a call."""
    where = path.partition("?")[0]
    routes = sorted(writes().values(), key=lambda route: route.path.count("{"))
    return next(route.endpoint for route in routes if method in route.methods and route.path_regex.match(where))


class Forgetful:
    """A caller whose server forgets every answer once, and the calls that were made."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.made = 0
        self.read: set[Any] = set()
        """The ways in which answers were read from the log."""

    async def __call__(self, method: str, path: str, body: Any = None, *, status: int = 200, **headers: str) -> Any:
        """The call's answer, given twice; the write is in the log once."""
        self.made += 1
        self.read.add(getattr(call_at(method, path), answers.DECLARED, None))
        shown = {"Idempotency-Key": f"k{self.made}"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        first = await self.server.http.request(method, path, json=body, headers=shown)
        assert first.status_code == status, first.text
        done = await self.done()
        await self.forget()
        again = await self.server.http.request(method, path, json=body, headers=shown)
        assert again.status_code == status, again.text
        assert again.headers["idempotency-replayed"] == "true"
        assert again.headers.get("etag") == first.headers.get("etag")
        told, known = again.json(), first.json()
        alike = [name for name in (*IDS, *SAID) if name in known]
        assert {name: told[name] for name in alike} == {name: known[name] for name in alike}
        assert await self.done() == done
        third = await self.server.http.request(method, path, json=body, headers=shown)
        assert (third.status_code, third.content) == (status, again.content)
        return known

    async def done(self) -> dict[str, int]:
        """The keys in the log, each with the number of its events."""
        found: dict[str, int] = {}
        for event in await self.server.runtime.store.events(limit=100_000):
            if "requestId" in event.about:
                found[event.about["requestId"]] = found.get(event.about["requestId"], 0) + 1
        return found

    async def forget(self) -> None:
        store = self.server.runtime.store
        for row in await store.rows("request"):
            await store.save_snapshot(f"request:{row['id']}", await store.last_seq(), {})


@pytest.fixture
async def hall(serve_with: Any) -> AsyncIterator[Server]:
    """A server with a cell, a fleet and a home, all live."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serve_with(speed=1.0, token="the-admins"))
        server.http.headers.update(bearer("the-admins"))
        documents = (find_document("weld_star"), line(), {**ROOM, "rooms": []})
        for document in documents:
            await save_scene(server.runtime, None, document, activate=True)
        yield server


async def test_every_write_is_answered_alike_when_its_answer_is_lost(hall: Server) -> None:
    tell = Forgetful(hall)
    await _plans_and_runs(hall, tell)
    await _scenes_files_tokens(tell)
    await _cells_and_fleets(hall, tell)
    await _sessions_and_questions(tell)
    await _everything_held(tell)
    marked = {event.kind for event in await hall.runtime.store.events(limit=100_000) if "requestId" in event.about}
    assert marked <= DECISIVE
    declared = {getattr(route.endpoint, answers.DECLARED, None) for route in writes().values()}
    assert [f"{read.__module__}.{read.__name__}" for read in declared - tell.read - {None}] == [f"{DRAFTING}.as_it_is"]


async def _plans_and_runs(hall: Server, tell: Forgetful) -> None:
    long = hall.step("a", args={"seconds": 600})
    plan = await tell("POST", "/plans", {"plan": {"steps": [long, hall.step("b", dependsOn=["a"])]}}, status=201)
    assert plan["decision"]["verbs"] == ["start", "cancel"]
    edit = {"edits": [{"op": "edit", "id": "b", "set": {"description": "B"}}]}
    await tell("PATCH", f"/plans/{plan['id']}", edit, If_Match="1")
    run = await tell("POST", f"/plans/{plan['id']}/runs", {"version": 2}, status=201)
    path = f"/runs/{run['runId']}"
    assert (await tell("POST", f"{path}/pause"))["status"] == "paused"
    await tell("PATCH", f"/plans/{plan['id']}", edit, If_Match="2")
    await tell("POST", f"{path}/adopt", {"version": 3})
    assert (await tell("POST", f"{path}/resume"))["status"] == "running"
    await tell("POST", f"{path}/steps/b/skip")
    assert (await tell("POST", f"{path}/cancel"))["status"] == "cancelled"
    cell = await tell("POST", "/plans", {"scene": "weld_star", "text": "weld 1"}, status=201)
    await tell("POST", f"/plans/{cell['id']}/regenerate", {})
    answer = await tell("POST", f"/inbox/{cell['id']}-v2", {"verb": "cancel"})
    assert answer["status"] == "answered"
    await tell("PUT", "/templates/one", {"plan": {"steps": [hall.step("a")]}})
    await tell("POST", "/templates/one/plans", {}, status=201)


async def _scenes_files_tokens(tell: Forgetful) -> None:
    await tell("PUT", "/scenes/other", {**ROOM, "rooms": [], "name": "other"})
    assert (await tell("POST", "/scenes/other/activate"))["active"] is True
    assert (await tell("POST", "/scenes/other/deactivate"))["active"] is False
    await tell("PUT", "/files/plt/p0001.plt", PLT)
    await tell("PUT", "/files/plt/p0001.plt", PLT)
    made = await tell("POST", "/tokens", {"name": "her", "role": "viewer"}, status=201)
    assert made["token"]
    await tell("DELETE", "/tokens/her")


async def _cells_and_fleets(hall: Server, tell: Forgetful) -> None:
    await tell("PATCH", "/cells/weld_star", {"position": "Safe_Pos_1"})
    await tell("POST", "/cells/weld_star/faults", {"fault": "fail"})
    await tell("POST", "/robots/RB-01/faults", {"fault": "blocked", "forS": 1, "atS": 100_000})
    assert (await tell("POST", "/robots/RB-01/hold"))["held"] is True
    await tell("POST", "/robots/RB-01/hold?scene=line")
    await tell("PATCH", "/streams/stream_pick_drop", {"priority": 2})
    await tell("PATCH", "/worksites/DROP_01", {"occupancy": "empty"})
    await tell("POST", "/robots/RB-01/release")
    await tell("PATCH", "/streams/stream_pick_drop", {"enabled": True})
    await hall.until(lambda: bool(hall.runtime.service(Fleets).live["line"].driver.state.tasks))
    [task] = await hall.call("GET", "/tasks")
    await tell("POST", f"/tasks/{task['taskId']}/cancel")
    assert (await tell("POST", "/fleet/line/hold"))["held"] is True
    await tell("POST", "/fleet/line/clear")


async def _sessions_and_questions(tell: Forgetful) -> None:
    session = await tell("POST", "/sessions", {"scene": "den"}, status=201)
    path = f"/sessions/{session['sessionId']}"
    await tell("POST", f"{path}/commands", {"command": 'start("taking mug1 from table1")'})
    refused = await tell("POST", f"{path}/commands", {"command": 'start("taking moon from table1")'})
    assert refused["refused"] is True
    await tell("POST", f"{path}/faults", {"fault": "slip", "about": "mug1"})
    await tell("POST", f"{path}/commands", {"command": "end()"})
    real = await tell("POST", "/sessions", {"scene": "den", "clock": "realtime"}, status=201)
    path = f"/sessions/{real['sessionId']}"
    await tell("POST", f"{path}/commands", {"command": 'start("looking at mug1")'})
    waited = await tell("POST", f"{path}/commands", {"command": "skip(1)"})
    assert waited["reply"].startswith("Waited for")
    events = await tell.server.runtime.store.events(limit=100_000)
    assert events[-1].kind == "commandGiven"
    assert events[-2].kind == "actionUpdated", "what happens by itself while it waits is no part of the command"
    taken = await tell("POST", f"{path}/take-over")
    assert (taken["turn"], taken["cancelled"]) == (1, [])
    assert (await tell("POST", f"{path}/end"))["cancelled"] == ["looking at mug1"]
    assert (await tell("POST", "/homes/den/reset"))["scene"] == "den"
    asked = await tell("POST", "/questions", {"text": "how many tasks failed today?"}, status=202)
    await tell.server.runtime.nursery.wait(f"question:{asked['questionId']}")
    waiting = await tell("POST", "/questions", {"text": "how many pallets today"}, status=202)
    shown = await tell.server.call("GET", f"/questions/{waiting['questionId']}")
    assert shown["status"] not in ("done", "failed")
    await tell("POST", f"/questions/{waiting['questionId']}/cancel")


async def _everything_held(tell: Forgetful) -> None:
    assert (await tell("POST", "/hold"))["already"] is False
    assert (await tell("POST", "/hold"))["already"] is True
    assert (await tell("POST", "/clear"))["already"] is False
    assert (await tell("POST", "/clear"))["already"] is True


@pytest.mark.needs("pydantic_ai")
async def test_a_draft_is_answered_alike_and_asked_for_once(tmp_path: Path) -> None:
    async with FakeOpenAI(GOOD, GOOD, stalls()) as model, serving(tmp_path, **flags(model)) as server:
        tell = Forgetful(server)
        (server.workspace / "notes.txt").write_text("Milk.\n")
        draft = await tell("POST", "/drafts", {"text": "Copy my notes."}, status=202)
        await server.runtime.nursery.wait(f"draft:{draft['draftId']}")
        plan_id = (await server.call("GET", f"/drafts/{draft['draftId']}"))["planId"]
        begun = await tell("POST", f"/plans/{plan_id}/regenerate", {"note": "shorter"}, status=202)
        await server.runtime.nursery.wait(f"draft:{begun['follow'].rpartition('/')[2]}")
        slow = await tell("POST", "/drafts", {"text": "Copy them again."}, status=202)
        assert (await tell("POST", f"/drafts/{slow['draftId']}/stop"))["status"] == "failed"
        assert len(await server.call("GET", "/drafts")) == 3


def flags(model: Any) -> dict[str, str]:
    return {"model": "openai:writer", "model_url": model.url, "model_key": "sk-this-is-a-secret-key"}


async def test_a_token_is_made_again_for_no_one_who_is_an_admin_no_more(guarded: Any) -> None:
    tokens, key = Tokens(guarded.runtime.settings), {"Idempotency-Key": "k"}
    body = {"name": "her", "role": "admin"}
    bob = bearer(tokens.add("bob", "admin", 0)) | key
    assert (await guarded.http.post("/tokens", json=body, headers=bob)).status_code == 201
    await Forgetful(guarded).forget()
    tokens.revoke("her", 0)
    tokens.revoke("bob", 0)
    bob = bearer(tokens.add("bob", "operator", 0)) | key
    told = guarded.problem(await guarded.http.post("/tokens", json=body, headers=bob), 403)
    assert told["code"] == "auth.role"
    assert "her" not in [token["name"] for token in tokens.list()]
