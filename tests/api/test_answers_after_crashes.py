"""A server that dies at any commit of a keyed write: the write is done once, and answered when it is asked for again.

The home is copied right before and right after every append that happens while the write is answered: each copy is what
a kill at that moment leaves. A new server opened on a copy gets the same request with the same key.
"""

import shutil
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.api.conftest import Server, bearer, line, serving
from tests.api.test_sessions import ROOM

from beforehand.app.examples import find_document
from beforehand.app.scenes import save_scene
from beforehand.crafts.cell.cells import Cells
from beforehand.crafts.fleet.fleets import Fleets
from beforehand.server.serve import recover

Document = dict[str, Any]
KEY = {"Idempotency-Key": "once"}
MOST_COPIES = 12


@dataclass
class Write:
    """One keyed write, and what its being done once means."""

    method: str
    path: str
    body: Any = None
    status: int = 200
    once: tuple[str, ...] = ()
    """The kinds of events of which it brings a fixed number, however often it is asked for."""
    headers: dict[str, str] = field(default_factory=dict)
    alike: tuple[str, ...] = ()
    """What its answer says the same of at every moment."""
    holds: Callable[[Server], Awaitable[None]] | None = None
    """What is so afterwards, asked of the server that answered again."""
    settled: Callable[[Server], Awaitable[None]] | None = None
    """What is so once it was done, even if nobody asks again."""

    async def ask(self, server: Server) -> Any:
        answer = await server.http.request(self.method, self.path, json=self.body, headers=KEY | self.headers)
        assert answer.status_code == self.status, answer.text
        return answer

    async def count(self, server: Server) -> Counter[str]:
        events = await server.runtime.store.events(limit=100_000)
        return Counter(event.kind for event in events if event.kind in self.once)


class Copies:
    """Copies of a home as kills at one moment after the other would leave it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.made: list[Path] = []

    def take(self, when: str) -> None:
        if len(self.made) == MOST_COPIES:
            return
        copy = self._folder.parent / f"{len(self.made) + 1}-{when}"
        shutil.copytree(self._folder, copy, ignore=shutil.ignore_patterns("log.db", "log.db-wal", "log.db-shm"))
        source = sqlite3.connect(self._folder / "home" / "log.db")
        target = sqlite3.connect(copy / "home" / "log.db")
        with source, target:
            source.backup(target)
        source.close()
        target.close()
        self.made.append(copy)

    @contextmanager
    def of(self, server: Server) -> Iterator[None]:
        """A copy before and after every append inside."""
        store = server.runtime.store._store  # type: ignore[attr-defined]
        append = store.append

        async def copied(events: Any) -> Any:
            self.take(f"before-{events[0].kind}")
            done = await append(events)
            self.take(f"after-{events[0].kind}")
            return done

        store.append = copied
        try:
            yield
        finally:
            store.append = append


Prepared = Callable[[Server], Awaitable[Write]]


@asynccontextmanager
async def up(folder: Path, **given: Any) -> AsyncIterator[Server]:
    async with serving(folder, **given) as server:
        server.http.headers.update(bearer(given["token"]) if "token" in given else {})
        await recover(server.runtime, [])
        yield server


def without_secret(told: Document) -> Document:
    return {name: value for name, value in told.items() if name not in ("token", "says")}


async def survives(tmp_path: Path, prepared: Prepared, **given: Any) -> int:
    """Every kill is survived; how many moments there were."""
    folder = tmp_path / "first"
    folder.mkdir()
    copies = Copies(folder)
    async with up(folder, **given) as server:
        write = await prepared(server)
        before = await write.count(server)
        with copies.of(server):
            first = (await write.ask(server)).json()
        done = await write.count(server) - before
    for copy in copies.made:
        async with up(copy, **given) as server:
            was_done = bool(await server.runtime.store.rows("request"))
            if was_done and write.settled is not None:
                await write.settled(server)
            again = await write.ask(server)
            told = again.json()
            assert (again.headers.get("idempotency-replayed") == "true") == was_done, copy.name
            for name in write.alike:
                assert not was_done or told[name] == first[name], (copy.name, name)
            assert await write.count(server) - before == done, copy.name
            if write.holds is not None:
                await write.holds(server)
            assert without_secret((await write.ask(server)).json()) == without_secret(told)
            assert await write.count(server) - before == done, copy.name
    return len(copies.made)


async def test_a_start_that_makes_its_cell_live_first(tmp_path: Path) -> None:
    async def prepared(server: Server) -> Write:
        await save_scene(server.runtime, None, find_document("weld_star"))
        plan = await server.call("POST", "/plans", {"scene": "weld_star", "text": "weld 1"}, status=201)
        once = ("runStarted", "decisionAnswered")
        return Write("POST", f"/plans/{plan['id']}/runs", {"version": 1}, 201, once, alike=("runId", "planId"))

    assert await survives(tmp_path, prepared) >= 4


async def test_a_version_that_a_run_adopts(tmp_path: Path) -> None:
    async def prepared(server: Server) -> Write:
        run = await server.start(server.step("a", args={"seconds": 600}), server.step("b", dependsOn=["a"]))
        edits = {"edits": [{"op": "edit", "id": "b", "set": {"description": "B"}}]}
        plan = await server.call("PATCH", f"/plans/{run['planId']}", edits, If_Match="1")

        async def closed(server: Server) -> None:
            assert (await server.call("GET", f"/inbox/{plan['decision']['id']}"))["status"] == "answered"

        once = ("runAdopted", "decisionAnswered")
        path = f"/runs/{run['runId']}/adopt"
        return Write("POST", path, {"version": 2}, 200, once, alike=("runId", "version"), settled=closed)

    assert await survives(tmp_path, prepared) >= 4


async def test_an_adoption_that_answers_its_review(tmp_path: Path) -> None:
    async def prepared(server: Server) -> Write:
        run = await server.start(server.step("a", args={"seconds": 600}), server.step("b", dependsOn=["a"]))
        edits = {"edits": [{"op": "edit", "id": "b", "set": {"description": "B"}}]}
        plan = await server.call("PATCH", f"/plans/{run['planId']}", edits, If_Match="1")
        once = ("runAdopted", "decisionAnswered")
        return Write("POST", f"/inbox/{plan['decision']['id']}", {"verb": "adopt"}, 200, once, alike=("id", "status"))

    assert await survives(tmp_path, prepared) >= 4


async def test_steps_inserted_before_a_failed_one(tmp_path: Path) -> None:
    async def prepared(server: Server) -> Write:
        run = await server.start(server.step("a", "read_file", {"path": "none.txt"}, onFailure="ask"))
        asked = await server.asked(runId=run["runId"])
        value = {"steps": [{"id": "put", "tool": "write_file", "args": {"path": "none.txt", "content": "x"}}]}

        async def inserted(server: Server) -> None:
            ended = await server.ended(run["runId"])
            assert [(step["id"], step["status"]) for step in ended["steps"]] == [
                ("put", "completed"),
                ("a", "completed"),
            ]

        body = {"verb": "insert", "value": value}
        return Write("POST", f"/inbox/{asked['id']}", body, 200, alike=("id", "status"), holds=inserted)

    assert await survives(tmp_path, prepared) >= 6


async def test_a_session_that_makes_its_home_live_first(tmp_path: Path) -> None:
    async def prepared(server: Server) -> Write:
        await save_scene(server.runtime, None, {**ROOM, "rooms": []})
        return Write(
            "POST", "/sessions", {"scene": "den"}, 201, ("sessionStarted", "sceneActivated"), alike=("sessionId",)
        )

    assert await survives(tmp_path, prepared) >= 4


async def test_a_question(tmp_path: Path) -> None:
    async def prepared(server: Server) -> Write:
        async def is_there(server: Server) -> None:
            assert len(await server.call("GET", "/questions")) == 1

        body = {"text": "how many pallets today"}
        return Write("POST", "/questions", body, 202, ("questionAsked",), alike=("questionId",), holds=is_there)

    assert await survives(tmp_path, prepared) >= 2


async def test_everything_held_and_let_go(tmp_path: Path) -> None:
    def prepared_for(word: str) -> Prepared:
        async def prepared(server: Server) -> Write:
            await save_scene(server.runtime, None, line(), activate=True)
            run = await server.start(server.step("a", "write_file", {"path": "a.txt", "content": "x"}))
            await server.ended(run["runId"])
            await save_scene(server.runtime, None, find_document("weld_star"), activate=True)
            plan = await server.call("POST", "/plans", {"scene": "weld_star", "text": "weld 1"}, status=201)
            run = await server.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)
            if word == "clear":
                await server.call("POST", "/hold")

            async def so(server: Server) -> None:
                status = (await server.call("GET", f"/runs/{run['runId']}"))["status"]
                assert (status == "paused") == (word == "hold")
                [fleet] = (await server.call("GET", "/state?scene=line"))["fleets"]
                assert fleet["person"] == (word == "hold")

            once = ("everythingHeld", "everythingCleared")
            return Write("POST", f"/{word}", None, 200, once, alike=("held", "already"), holds=so)

        return prepared

    for word in ("hold", "clear"):
        (tmp_path / word).mkdir()
        assert await survives(tmp_path / word, prepared_for(word), speed=0.01) >= 4


async def test_a_fault_of_a_simulated_cell(tmp_path: Path) -> None:
    async def prepared(server: Server) -> Write:
        await save_scene(server.runtime, None, find_document("weld_star"), activate=True)

        async def comes_once(server: Server) -> None:
            controller: Any = server.runtime.service(Cells).live["weld_star"].controller
            assert [fault["fault"] for fault in controller._state["faults"]] == ["fail"]

        return Write("POST", "/cells/weld_star/faults", {"fault": "fail"}, alike=("fault",), holds=comes_once)

    assert await survives(tmp_path, prepared) >= 2


async def test_a_fault_of_a_simulated_robot(tmp_path: Path) -> None:
    async def prepared(server: Server) -> Write:
        await save_scene(server.runtime, None, line(), activate=True)

        async def comes_once(server: Server) -> None:
            link: Any = server.runtime.service(Fleets).live["line"].link.simulated_part("RB-01")
            assert sum(what == "strike" for _, _, _, what, _ in link.fleet.snapshot()["queue"]) == 1

        body = {"fault": "blocked", "atS": 1e6}
        return Write("POST", "/robots/RB-01/faults", body, alike=("fault",), holds=comes_once)

    assert await survives(tmp_path, prepared) >= 2


async def test_a_token_that_is_made(tmp_path: Path) -> None:
    async def prepared(server: Server) -> Write:
        async def known(server: Server) -> None:
            assert [token["name"] for token in await server.call("GET", "/tokens")] == ["her"]

        body = {"name": "her", "role": "viewer"}
        return Write("POST", "/tokens", body, 201, ("tokenAdded",), alike=("name", "role"), holds=known)

    assert await survives(tmp_path, prepared, token="the-admins") >= 2


async def test_a_token_that_is_revoked(tmp_path: Path) -> None:
    async def prepared(server: Server) -> Write:
        made = await server.call("POST", "/tokens", {"name": "her", "role": "viewer"}, status=201)

        async def refused(server: Server) -> None:
            answer = await server.http.get("/me", headers=bearer(made["token"]))
            assert answer.status_code == 401

        return Write("DELETE", "/tokens/her", None, 200, ("tokenRevoked",), alike=("name",), holds=refused)

    assert await survives(tmp_path, prepared, token="the-admins") >= 2
