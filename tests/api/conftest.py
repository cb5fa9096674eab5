"""A real server on a free port, in the test's own event loop, with the runtime behind it at hand."""

import asyncio
import copy
import io
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn.server
from fastapi import FastAPI
from tests.api.schema_check import held_to_the_schema

from beforehand.app.examples import find_document
from beforehand.app.logs import configure_logs
from beforehand.app.runtime import Runtime, open_runtime
from beforehand.app.scenes import save_scene
from beforehand.app.settings import load_settings
from beforehand.app.tokens import Tokens
from beforehand.ports.tool import Tool
from beforehand.server.app import create_app
from beforehand.server.listening import Listener, bind, url_of

PATIENCE_S = 90
LOOK_S = 0.005


class QuickAsyncio:
    """The `asyncio` that uvicorn sees: it looks now and then whether to stop, which hundreds of servers do here."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    @staticmethod
    async def sleep(seconds: float) -> None:
        await asyncio.sleep(min(seconds, LOOK_S))


uvicorn.server.asyncio = QuickAsyncio()  # type: ignore[assignment]


@dataclass
class Server:
    url: str
    runtime: Runtime
    app: FastAPI
    http: httpx2.AsyncClient
    workspace: Path

    @staticmethod
    def step(name: str, tool: str = "wait", args: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
        """A step that does nothing for no time, unless told otherwise."""
        given = {"seconds": 0} if args is None and tool == "wait" else args or {}
        return {"id": name, "tool": tool, "args": given, **fields}

    @staticmethod
    def problem(answer: httpx2.Response, status: int) -> Any:
        """What a refusal says, its shape checked."""
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        told = answer.json()
        assert {"type", "title", "status", "detail", "code"} <= told.keys()
        assert told["status"] == status
        assert told["detail"].endswith((".", "?", "!"))
        assert "Traceback" not in answer.text
        return told

    @staticmethod
    async def until(holds: Callable[[], bool]) -> None:
        """Wait for something that makes no event of its own."""
        async with asyncio.timeout(PATIENCE_S):
            while not holds():  # noqa: ASYNC110  what is waited for has no event to wait on
                await asyncio.sleep(0.01)

    async def call(self, method: str, path: str, body: Any = None, *, status: int = 200, **headers: str) -> Any:
        """One call, its status checked; the answer's JSON."""
        shown = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = await self.http.request(method, path, json=body, headers=shown)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    async def refused(self, method: str, path: str, body: Any = None, *, status: int, **headers: str) -> Any:
        """A call that must be refused, in the one shape of a refusal."""
        shown = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.problem(await self.http.request(method, path, json=body, headers=shown), status)

    async def plan(self, *steps: dict[str, Any], **fields: Any) -> Any:
        return await self.call("POST", "/plans", {"plan": {"steps": list(steps), **fields}}, status=201)

    async def start(self, *steps: dict[str, Any], **fields: Any) -> Any:
        plan = await self.plan(*steps, **fields)
        return await self.call("POST", f"/plans/{plan['id']}/runs", {"version": 1}, status=201)

    async def ended(self, run_id: str) -> Any:
        """The run once it has ended."""
        async for event in self.events(run=run_id):
            if event["kind"] == "runFinished":
                return await self.call("GET", f"/runs/{run_id}")
        raise AssertionError("The stream ended before the run did.")

    async def asked(self, **about: Any) -> Any:
        """The first open decision of a run or plan, once there is one."""
        async for event in self.events(kinds="decisionOpened"):
            data = event["data"]
            if all(data["about"].get(name) == value for name, value in about.items()):
                return data
        raise AssertionError("The stream ended before anything was asked.")

    async def events(self, last: int | None = None, **query: Any) -> AsyncIterator[Any]:
        """The `data` of each server-sent event; checks that its id is its number."""
        headers = {} if last is None else {"Last-Event-ID": str(last)}
        async with (
            asyncio.timeout(PATIENCE_S),
            self.http.stream("GET", "/events", params=query, headers=headers) as answer,
        ):
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            number = None
            async for line in answer.aiter_lines():
                if line.startswith("id: "):
                    number = int(line[4:])
                elif line.startswith("data: "):
                    event = json.loads(line[6:])
                    assert event["seq"] == number
                    yield event

    async def take(self, count: int, **query: Any) -> list[Any]:
        """The first `count` events of a stream."""
        found: list[Any] = []
        async with aclosing(self.events(**query)) as events:
            async for event in events:
                found.append(event)
                if len(found) == count:
                    break
        return found


@asynccontextmanager
async def serving(
    folder: Path, *, host: str = "127.0.0.1", tools: Iterable[Tool] = (), **flags: Any
) -> AsyncIterator[Server]:
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    settings = load_settings({"home": str(folder / "home"), "workspace": str(workspace), **flags}, {}, folder / "none")
    async with open_runtime(settings, tools=tools) as runtime:
        app = create_app(runtime, host=host)
        began = asyncio.Event()

        async def started() -> None:
            began.set()

        bound = bind("127.0.0.1", 0)
        listener = Listener(app, started=started, stopping=runtime.feed.close)
        running = asyncio.create_task(listener.serve(sockets=[bound]))
        await began.wait()
        url = url_of(bound)
        try:
            hooks = {"response": [held_to_the_schema]}
            async with httpx2.AsyncClient(
                base_url=f"{url}/api/v1", trust_env=False, timeout=PATIENCE_S, event_hooks=hooks
            ) as http:
                yield Server(url, runtime, app, http, workspace)
        finally:
            listener.should_exit = True
            await running


@pytest.fixture(scope="session", autouse=True)
def _quiet_logs() -> Iterator[None]:
    """Log lines are made, so that making them is tested, and not shown."""
    configure_logs(logging.DEBUG)
    [handler] = logging.getLogger().handlers
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(io.StringIO())
    yield
    logging.getLogger().removeHandler(handler)


@pytest.fixture(autouse=True)
def _short_goodbye(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that ends does not wait for a move of a simulated cell, as little as one that is killed."""
    monkeypatch.setattr("beforehand.crafts.cell.tools.FINISH_S", 0.1)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with serving(tmp_path) as served:
        yield served


@pytest.fixture
def serve_with(tmp_path: Path) -> Callable[..., Any]:
    return lambda **flags: serving(tmp_path, **flags)


def line(name: str = "line", *, park: bool = False) -> dict[str, Any]:
    """The spec's reference scene with quick ticks, its stream switched off and nowhere to park, unless wanted."""
    document = copy.deepcopy(find_document("line_pick_drop"))
    document["name"] = name
    document["settings"] = {**document.get("settings", {}), "tickS": 0.05}
    if not park:
        document["worksites"] = [site for site in document["worksites"] if site["worksiteType"] != "park"]
    document["streams"][0]["enabled"] = False
    return document  # type: ignore[no-any-return]


@pytest.fixture
def fleet_server(serve_with: Callable[..., Any]) -> Callable[..., Any]:
    """A server with scenes live and robots fifty times as fast as real ones."""

    @asynccontextmanager
    async def opened(*documents: dict[str, Any]) -> AsyncIterator[Any]:
        async with serve_with(speed=50) as server:
            for document in documents or (line(),):
                await save_scene(server.runtime, None, document, activate=True)
            yield server

    return opened


@pytest.fixture
def cell_server(serve_with: Callable[..., Any]) -> Callable[..., Any]:
    """A server with a live weld cell whose simulated seconds pass in a moment."""

    @asynccontextmanager
    async def opened(speed: float = 500.0) -> AsyncIterator[Any]:
        async with serve_with(speed=speed) as server:
            await save_scene(server.runtime, None, find_document("weld_star"), activate=True)
            yield server

    return opened


@pytest.fixture
async def guarded(serve_with: Callable[..., Any]) -> AsyncIterator[Any]:
    async with serve_with(token="the-admins") as server:
        tokens = Tokens(server.runtime.settings)
        server.tokens = {role: tokens.add(role, role, 0) for role in ("viewer", "operator")} | {"admin": "the-admins"}
        yield server


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
