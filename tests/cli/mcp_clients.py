"""The official MCP client on `beforehand mcp`, over standard input and output or over HTTP."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from tests.cli.conftest import PATIENCE_S, Cli
from tests.fork_server import forked_command

WAIT = {"id": "a", "tool": "wait", "args": {"seconds": 0}}


class Caller:
    """`await caller("plan", scene="weld_star", text="weld 1")`: what a tool answered, its two forms compared."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, /, **arguments: Any) -> Any:
        answer = await self.client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        return self._data(answer)

    async def refused(self, tool: str, /, **arguments: Any) -> Any:
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error, answer.content
        told = self._data(answer)
        assert told["says"].endswith((".", "?", "!"))
        assert "Traceback" not in answer.content[0].text
        return told

    def _data(self, answer: Any) -> Any:
        words, data = (part.text for part in answer.content)
        assert words
        assert json.loads(data) == answer.structured_content
        return {**answer.structured_content, "words": words}


@asynccontextmanager
async def over_stdio(cli: Cli, *options: str, mode: str = "auto", **environment: str) -> AsyncIterator[Caller]:
    program, *words = forked_command()
    server = StdioServerParameters(
        command=program,
        args=[*words, "mcp", *options],
        cwd=cli.folder,
        env=cli.environment | environment,
    )
    transport = stdio_client(server, errlog=sys.stderr)
    async with Client(transport, read_timeout_seconds=PATIENCE_S, mode=mode) as client:
        yield Caller(client)


@asynccontextmanager
async def over_http(url: str, token: str | None = None, *, mode: str = "auto") -> AsyncIterator[Caller]:
    headers = {"Authorization": f"Bearer {token}"} if token else None
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), read_timeout_seconds=PATIENCE_S, mode=mode) as client,
    ):
        yield Caller(client)


def served(cli: Cli, *options: str, **environment: str) -> str:
    """`beforehand mcp --http` on a free port; its URL."""
    process = cli.start("mcp", "--http", "--port", "0", *options, **environment)
    assert process.stderr is not None
    first = process.stderr.readline()
    assert first.startswith("MCP clients find Beforehand at http://"), first
    return first.split()[-1]
