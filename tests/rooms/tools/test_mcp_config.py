"""How MCP servers are configured, and what their hints come to."""

from typing import Any

import pytest
from mcp_types import CallToolResult, ImageContent, TextContent, Tool, ToolAnnotations

from beforehand.adapters.mcp.client import spec_of, value_of
from beforehand.adapters.mcp.config import McpServerConfig, read_configs
from beforehand.model.errors import BadInputError


def config(**table: Any) -> McpServerConfig:
    return read_configs({"files": {"command": "server", **table}})[0]


def listed(annotations: ToolAnnotations | None) -> Tool:
    return Tool(name="move", input_schema={"type": "object"}, annotations=annotations)


@pytest.mark.parametrize(
    ("annotations", "table", "effect", "destructive"),
    [
        (None, {}, "physical", "always"),
        (ToolAnnotations(), {}, "physical", "always"),
        (ToolAnnotations(read_only_hint=True), {}, "pure", "never"),
        (ToolAnnotations(read_only_hint=True, destructive_hint=True), {}, "pure", "never"),
        (ToolAnnotations(destructive_hint=False), {}, "physical", "never"),
        (ToolAnnotations(idempotent_hint=True), {}, "idempotent", "always"),
        (ToolAnnotations(idempotent_hint=True, destructive_hint=False), {}, "idempotent", "never"),
        (ToolAnnotations(read_only_hint=True), {"effect": "physical"}, "physical", "never"),
        (None, {"effect": "pure"}, "pure", "never"),
        (None, {"tools": {"move": {"effect": "idempotent", "destructive": False}}}, "idempotent", "never"),
        (ToolAnnotations(read_only_hint=True), {"tools": {"move": {"destructive": "always"}}}, "pure", "always"),
        (None, {"effect": "pure", "tools": {"move": {"effect": "physical"}}}, "physical", "always"),
        (None, {"effect": "pure", "tools": {"other": {"effect": "physical"}}}, "pure", "never"),
    ],
)
def test_hints_under_policy(
    annotations: ToolAnnotations | None, table: dict[str, Any], effect: str, destructive: str
) -> None:
    spec = spec_of(config(**table), listed(annotations))
    assert (spec.effect, spec.destructive) == (effect, destructive)


@pytest.mark.parametrize(
    ("prefix", "name"), [({}, "files.move"), ({"prefix": "f"}, "f.move"), ({"prefix": ""}, "move")]
)
def test_names(prefix: dict[str, str], name: str) -> None:
    spec = spec_of(config(**prefix), listed(None))
    assert (spec.name, spec.source, spec.description) == (name, "mcp:files", "move")


def test_every_problem_at_once() -> None:
    with pytest.raises(BadInputError) as caught:
        read_configs(
            {
                "neither": {},
                "both": {"command": "x", "url": "http://x/"},
                "odd": {"url": "ftp://x/", "timeout_s": -1, "colour": "red"},
                "bad name!": {"command": "x"},
                "policy": {"command": "x", "tools": {"t": {"effect": "maybe"}}},
                "text": "node",
            }
        )
    paths = [problem.path for problem in caught.value.problems]
    assert paths == [
        "mcp.neither",
        "mcp.both",
        "mcp.odd.url",
        "mcp.odd.timeout_s",
        "mcp.odd.colour",
        "mcp.bad name!.name",
        "mcp.policy.tools.t.effect",
        "mcp.text",
    ]
    assert all(problem.says.endswith(".") for problem in caught.value.problems)


def test_what_may_be_secret_is_not_shown() -> None:
    assert "hush" not in config(args=["--token", "hush"], env={"KEY": "hush"}).where()
    url = read_configs({"x": {"url": "https://me:hush@host/mcp?key=hush", "headers": {"Authorization": "hush"}}})[0]
    assert url.where() == "url https://host/mcp"


def test_values() -> None:
    text = [TextContent(type="text", text="a"), TextContent(type="text", text="b")]
    image = ImageContent(type="image", data="AA==", mime_type="image/png")
    assert value_of(CallToolResult(content=text)) == "a\nb"
    assert value_of(CallToolResult(content=text, structured_content={"x": 1})) == {"x": 1}
    assert value_of(CallToolResult(content=[])) == ""
    assert value_of(CallToolResult(content=[image])) == [{"type": "image", "data": "AA==", "mimeType": "image/png"}]
