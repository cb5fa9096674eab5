"""`beforehand mcp` as the MCP inspector's command line sees it: a client that others wrote, in another language."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PACKAGE = "@modelcontextprotocol/inspector"
VERSION = "2.12.0"
BEFOREHAND = Path(sys.executable).parent / "beforehand"
PATIENCE_S = 60

pytestmark = pytest.mark.needs("node", "npm")
Inspect = Callable[..., Any]


@pytest.fixture
def inspect(npm_package: Callable[[str, str], Path], executable: Callable[[str], Path], tmp_path: Path) -> Inspect:
    """`inspect("tools/list")`: one request to a fresh `beforehand mcp`, and the result it printed."""
    script = npm_package(PACKAGE, VERSION) / "clients" / "launcher" / "build" / "index.js"
    # The inspector hands on only a few variables by itself; where our sources are is one it must be told.
    named = [word for name in ("PYTHONPATH",) if name in os.environ for word in ("-e", f"{name}={os.environ[name]}")]

    def inspected(method: str, *words: str) -> Any:
        done = subprocess.run(
            [executable("node"), script, "--cli", *named, BEFOREHAND, "mcp", "--method", method, *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return inspected


def test_the_inspector_lists_the_tools(inspect: Inspect) -> None:
    tools = {tool["name"]: tool for tool in inspect("tools/list")["tools"]}
    assert tools["plan"]["annotations"]["readOnlyHint"] is True
    assert tools["submit_plan"]["annotations"]["readOnlyHint"] is False
    assert tools["plan"]["inputSchema"]["required"] == ["scene"]


def test_the_inspector_calls_a_tool(inspect: Inspect) -> None:
    arguments = ["--tool-arg", "scene=weld_star", "--tool-arg", "text=weld 1 and 2"]
    answer = inspect("tools/call", "--tool-name", "plan", *arguments)
    assert answer["isError"] is False
    assert answer["content"][0]["text"].startswith("12 steps")
    assert len(answer["structuredContent"]["plan"]["steps"]) == 12
