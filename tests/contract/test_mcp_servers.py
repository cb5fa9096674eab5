"""The MCP client when servers misbehave: hang, die, come back, never start; over pipes and over HTTP."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from beforehand.adapters.files import DiskWorkspace
from beforehand.adapters.mcp import McpServers, read_configs
from beforehand.model.errors import Fault, InDoubtError
from beforehand.ports.tool import Tool, ToolContext

PIPED = """
import asyncio, os, sys
from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("bench")

@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def pid() -> int:
    return os.getpid()

@server.tool()
def die() -> str:
    os._exit(3)

@server.tool()
async def hang() -> str:
    await asyncio.Event().wait()
    return "never"

@server.tool()
def freeze() -> str:
    import time
    while True:
        time.sleep(60)

server.run("stdio")
"""


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return ToolContext("run/step/1", DiskWorkspace(tmp_path))


@asynccontextmanager
async def started(tables: dict[str, Any]) -> AsyncIterator[tuple[McpServers, dict[str, Tool]]]:
    servers = McpServers(read_configs(tables))
    try:
        yield servers, {tool.spec.name: tool for tool in await servers.start()}
    finally:
        await servers.close()


def piped(**table: Any) -> dict[str, Any]:
    return {"bench": {"command": sys.executable, "args": ["-c", PIPED], "timeout_s": 30, **table}}


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def patiently(call: Callable[..., Awaitable[Any]], *args: Any) -> Any:
    """As a step does: a transient fault is tried once more."""
    try:
        return await call(*args)
    except Fault as fault:
        if not fault.transient:
            raise
        return await call(*args)


async def pid_of(tools: dict[str, Tool], context: ToolContext) -> int:
    return int((await tools["bench.pid"].run({}, context))["result"])


async def test_a_server_that_dies_during_a_call_is_started_with_the_next(context: ToolContext) -> None:
    async with started(piped()) as (_, tools):
        first = await pid_of(tools, context)
        with pytest.raises(InDoubtError, match=r"went away during bench\.die\. Whether it was done is not known"):
            await tools["bench.die"].run({}, context)
        second = await pid_of(tools, context)
        assert first != second
    assert not is_running(first)
    assert not is_running(second)


async def test_a_server_that_has_gone_is_noticed_before_the_next_call(context: ToolContext) -> None:
    async with started(piped()) as (servers, tools):
        first = await pid_of(tools, context)
        link = servers._connections[0]._link
        assert link is not None
        os.kill(first, signal.SIGKILL)
        await link.stop.wait()
        assert first != await pid_of(tools, context)


async def test_calls_at_once_share_one_restart(context: ToolContext) -> None:
    async with started(piped()) as (_, tools):
        await asyncio.gather(*(tools["bench.die"].run({}, context) for _ in range(3)), return_exceptions=True)
        assert len(set(await asyncio.gather(*(pid_of(tools, context) for _ in range(5))))) == 1


@pytest.mark.parametrize("effect", ["idempotent", "physical"])
async def test_a_call_that_takes_too_long_may_be_tried_again_or_is_left_to_a_person(
    context: ToolContext, effect: str
) -> None:
    async with started(piped(timeout_s=2, tools={"hang": {"effect": effect}})) as (_, tools):
        first = await pid_of(tools, context)
        with pytest.raises(Fault, match=r"bench\.hang did not answer within 2 s") as caught:
            await tools["bench.hang"].run({}, context)
        assert (caught.value.transient, isinstance(caught.value, InDoubtError)) == (
            (True, False) if effect == "idempotent" else (False, True)
        )
        assert not caught.value.untouched
        assert await pid_of(tools, context) == first, "a server that still answers is kept"


async def test_a_server_that_answers_nothing_any_more_is_replaced(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("beforehand.adapters.mcp.connection.SIGN_OF_LIFE_S", 0.5)
    async with started(piped(timeout_s=2)) as (_, tools):
        first = await pid_of(tools, context)
        os.kill(first, signal.SIGSTOP)
        with pytest.raises(Fault, match=r"bench\.pid did not answer within 2 s"):
            await pid_of(tools, context)
        assert await pid_of(tools, context) != first
    assert not is_running(first)


async def test_a_stopped_call_leaves_the_server_usable(context: ToolContext) -> None:
    async with started(piped()) as (_, tools):
        first = await pid_of(tools, context)
        call = asyncio.create_task(tools["bench.hang"].run({}, context))
        await pid_of(tools, context)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await pid_of(tools, context) == first


async def test_servers_that_cannot_start_spare_the_rest(context: ToolContext, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        tables = piped() | {
            "missing": {"command": str(tmp_path / "no-such-program")},
            "broken": {"command": sys.executable, "args": ["-c", "raise RuntimeError('no licence')"]},
            "silent": {
                "command": sys.executable,
                "args": ["-c", "import sys; sys.stdin.read()"],
                "start_timeout_s": 0.5,
            },
            "chatty": {"command": sys.executable, "args": ["-c", "print('hello'); input()"], "start_timeout_s": 0.5},
            "nobody": {"url": f"http://127.0.0.1:{taken.getsockname()[1]}/mcp", "timeout_s": 5},
        }
        async with started(tables) as (servers, tools):
            assert await pid_of(tools, context)
            said = {reason.about: reason.says for reason in servers.reasons}
    assert set(said) == {"missing", "broken", "silent", "chatty", "nobody"}
    assert "no-such-program is not there" in said["missing"]
    assert "no licence" in said["broken"]
    assert "did not answer within 0.5 s" in said["silent"]
    assert all(says.startswith(f"The MCP server {name} cannot be used: ") for name, says in said.items())


async def test_closing_while_a_call_runs_ends_the_server(context: ToolContext) -> None:
    async with started(piped()) as (servers, tools):
        pid = await pid_of(tools, context)
        call = asyncio.create_task(tools["bench.freeze"].run({}, context))
        await asyncio.sleep(0)
        await servers.close()
        assert not is_running(pid)
        with pytest.raises(Fault):
            await call


def over_http() -> MCPServer:
    server = MCPServer("shop")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool(annotations=ToolAnnotations(idempotent_hint=True, destructive_hint=False))
    async def count(upto: int, ctx: Context[Any, Any]) -> str:
        for n in range(1, upto + 1):
            await ctx.report_progress(n, upto, f"{n} of {upto}")
        return "counted"

    @server.tool()
    def refuse() -> str:
        raise ToolError("out of stock")

    return server


@asynccontextmanager
async def serving(port: int = 0, headers: list[dict[str, str]] | None = None) -> AsyncIterator[int]:
    """The shop on loopback; `headers` collects what requests carried."""
    app = over_http().streamable_http_app()

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        if headers is not None and scope["type"] == "http":
            headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
        await app(scope, receive, send)

    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    server = uvicorn.Server(uvicorn.Config(noting, log_level="critical", lifespan="on", timeout_graceful_shutdown=1))
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    listening = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await listening
        listener.close()


async def test_over_http(context: ToolContext, tmp_path: Path) -> None:
    headers: list[dict[str, str]] = []
    seen: list[float] = []
    lines: list[str] = []
    watching = ToolContext("k", DiskWorkspace(tmp_path), progress=seen.append, log=lines.append)
    async with serving(headers=headers) as port:
        table = {"url": f"http://127.0.0.1:{port}/mcp", "headers": {"X-Shop": "7"}, "timeout_s": 10, "prefix": "s"}
        async with started({"shop": table}) as (servers, tools):
            assert servers.reasons == []
            assert {name: (t.spec.effect, t.spec.destructive) for name, t in tools.items()} == {
                "s.add": ("pure", "never"),
                "s.count": ("idempotent", "never"),
                "s.refuse": ("physical", "always"),
            }
            assert await tools["s.add"].run({"a": 2, "b": 3}, context) == {"result": 5}
            assert await tools["s.count"].run({"upto": 4}, watching) == {"result": "counted"}
            with pytest.raises(Fault, match="out of stock") as caught:
                await tools["s.refuse"].run({}, context)
            assert not caught.value.transient
            shown = await tools["s.add"].preview({"a": 1, "b": 2}, context)
            assert shown.says == "Calls add on the MCP server shop: Add two numbers."
    assert seen == [25, 50, 75, 100]
    assert lines == ["1 of 4", "2 of 4", "3 of 4", "4 of 4"]
    assert all(request["x-shop"] == "7" for request in headers)


async def test_an_http_server_that_goes_and_comes_back(context: ToolContext) -> None:
    async with serving() as port:
        servers = McpServers(read_configs({"shop": {"url": f"http://127.0.0.1:{port}/mcp", "timeout_s": 5}}))
        tools = {tool.spec.name: tool for tool in await servers.start()}
        assert await tools["shop.add"].run({"a": 1, "b": 1}, context) == {"result": 2}
    try:
        with pytest.raises(Fault) as caught:
            await tools["shop.add"].run({"a": 1, "b": 1}, context)
        assert caught.value.transient
        async with serving(port):
            assert await patiently(tools["shop.add"].run, {"a": 2, "b": 2}, context) == {"result": 4}
    finally:
        await servers.close()
