"""The MCP client against a server that others wrote: npm's server for files, started by its path."""

import os
import shutil
import subprocess
import sys
import tempfile
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
def server_script(executable: Callable[[str], Path]) -> Path:
    """Where the server lies, installed once beside the environment's packages."""
    home = Path(sys.prefix) / "share" / "beforehand-tests" / f"server-filesystem-{VERSION}"
    script = home / "node_modules" / PACKAGE / "dist" / "index.js"
    if script.exists():
        return script
    home.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=home.parent))
    path = os.pathsep.join([str(executable("node").parent), os.environ.get("PATH", os.defpath)])
    installed = subprocess.run(
        [executable("npm"), "install", "--prefix", fresh, "--no-audit", "--no-fund", f"{PACKAGE}@{VERSION}"],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if installed.returncode != 0:
        shutil.rmtree(fresh)
        missing = f"npm could not install {PACKAGE} {VERSION}: {installed.stderr[-500:]}"
        pytest.fail(missing) if os.environ.get("CI", "").lower() == "true" else pytest.skip(missing)
    try:
        fresh.rename(home)
    except OSError:  # another test process was quicker
        shutil.rmtree(fresh)
    return script


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
