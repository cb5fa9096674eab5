"""The MCP client against a server that others wrote: npm's server for files, started by its path."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from beforehand.adapters.files import DiskWorkspace
from beforehand.adapters.mcp import McpServers, read_configs
from beforehand.model.errors import Fault
from beforehand.ports.tool import Tool, ToolContext

PACKAGE = "@modelcontextprotocol/server-filesystem"
VERSION = "2026.8.31"

pytestmark = pytest.mark.needs("node", "npm")


@pytest.fixture(scope="session")
def server_script(npm_package: Callable[[str, str], Path]) -> Path:
    return npm_package(PACKAGE, VERSION) / "dist" / "index.js"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "data"
    folder.mkdir()
    (folder / "x.txt").write_text("hello")
    return folder


@pytest.fixture
async def servers(server_script: Path, folder: Path, executable: Callable[[str], Path]) -> AsyncIterator[McpServers]:
    servers = McpServers(
        read_configs({"files": {"command": str(executable("node")), "args": [str(server_script), str(folder)]}})
    )
    yield servers
    await servers.close()


@pytest.fixture
async def tools(servers: McpServers) -> dict[str, Tool]:
    found = {tool.spec.name: tool for tool in await servers.start()}
    assert servers.reasons == []
    return found


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return ToolContext("run/step/1", DiskWorkspace(tmp_path))


async def test_its_tools_and_what_their_hints_come_to(tools: dict[str, Tool]) -> None:
    declared = {name: (tool.spec.effect, tool.spec.destructive) for name, tool in tools.items()}
    assert len(declared) == 14
    assert declared["files.read_text_file"] == ("pure", "never")
    assert declared["files.write_file"] == ("idempotent", "always")
    assert declared["files.create_directory"] == ("idempotent", "never")
    assert declared["files.edit_file"] == ("physical", "always")
    assert all(tool.spec.input_schema["type"] == "object" for tool in tools.values())


async def test_reading_and_writing(tools: dict[str, Tool], folder: Path, context: ToolContext) -> None:
    assert await tools["files.read_text_file"].run({"path": str(folder / "x.txt")}, context) == {"content": "hello"}
    await tools["files.write_file"].run({"path": str(folder / "y.txt"), "content": "new"}, context)
    assert (folder / "y.txt").read_text() == "new"


async def test_what_the_server_refuses_is_a_fault(tools: dict[str, Tool], folder: Path, context: ToolContext) -> None:
    outside = str(folder.parent / "secret")
    for args in ({"path": outside}, {"path": str(folder / "missing")}, {}):
        with pytest.raises(Fault, match=r"files\.read_text_file") as caught:
            await tools["files.read_text_file"].run(args, context)
        assert not caught.value.transient
