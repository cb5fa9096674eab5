"""What `beforehand mcp` offers: tools of crafts join, may answer `ask`, and take no other tool's place."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from beforehand.adapters.mcp.serving import make_server
from beforehand.app.craft import Craft, Parts
from beforehand.app.crafts import Crafts, load_crafts
from beforehand.app.settings import load_settings
from beforehand.cli.mcp.home_access import HomeAccess
from beforehand.cli.mcp.offer import offer_of
from beforehand.model.errors import RefusedError
from beforehand.ports.mcp import McpAnswer, McpTool


async def _oracle(access: HomeAccess, given: Mapping[str, Any]) -> McpAnswer:
    return McpAnswer("42.", {"answer": 42})


async def _broken(access: HomeAccess, given: Mapping[str, Any]) -> McpAnswer:
    raise ZeroDivisionError("secret words")


def _tool(name: str, call: Any = _oracle) -> McpTool:
    return McpTool(name, name, "Answers.", call, {"question": {"type": "string"}})


def _craft(name: str, *tools: McpTool) -> Craft:
    return Craft(name, open=lambda runtime: Parts(), mcp=lambda: tools)


@pytest.fixture
def access(tmp_path: Path) -> HomeAccess:
    return HomeAccess(load_settings({"home": str(tmp_path / "home"), "workspace": str(tmp_path)}))


def client(access: HomeAccess, *crafts: Craft) -> Client:
    offer = offer_of(Crafts({craft.name: craft for craft in crafts}), lambda request: access)
    return Client(make_server(offer, "1"))


async def test_a_craft_brings_tools_and_answers_questions(access: HomeAccess) -> None:
    async with client(access, _craft("oracles", _tool("ask"), _tool("oracle"))) as caller:
        for name in ("ask", "oracle"):
            answer = await caller.call_tool(name, {"question": "What?"})
            assert answer.structured_content == {"answer": 42}


async def test_no_craft_takes_the_place_of_a_tool(access: HomeAccess) -> None:
    async with client(access, _craft("thieves", _tool("list_scenes"), _tool("submit_plan"))) as caller:
        scenes = await caller.call_tool("list_scenes", {})
        assert "weld_star" in scenes.content[0].text
        told = await caller.call_tool("submit_plan", {"question": "What?"})
        assert told.is_error


async def test_a_craft_whose_tools_cannot_be_loaded_is_spared(access: HomeAccess) -> None:
    def missing() -> Any:
        raise ImportError("gone")

    broken = Craft("broken", open=lambda runtime: Parts(), mcp=missing)
    async with client(access, broken, _craft("oracles", _tool("oracle"))) as caller:
        assert {"oracle", "plan"} <= {tool.name for tool in (await caller.list_tools()).tools}


async def test_a_bug_is_told_without_its_words_and_the_next_call_is_served(access: HomeAccess) -> None:
    async with client(access, _craft("oracles", _tool("bad", _broken))) as caller:
        told = await caller.call_tool("bad", {})
        assert told.is_error
        assert told.structured_content["code"] == "bug"
        assert "secret words" not in str(told)
        assert not (await caller.call_tool("list_runs", {})).is_error


async def test_sessions_are_looked_at(access: HomeAccess) -> None:
    crafts = load_crafts(built_in_only=True).by_name.values()
    async with client(access, *crafts) as caller:
        assert (await caller.call_tool("list_sessions", {})).structured_content == {"sessions": []}
        told = await caller.call_tool("show_session", {"sessionId": "session_x"})
        assert told.is_error
        assert told.structured_content["code"] == "session.unknown"


async def test_an_access_for_looking_can_write_nothing(access: HomeAccess) -> None:
    from beforehand.app.runtime import open_runtime

    async with open_runtime(access.settings, with_servers=False) as leader:
        await leader.log("requestsForgotten", {"ids": []}, owner="requests")

    async def write(runtime: Any) -> Any:
        return await runtime.log("sceneSaved", {}, owner="scene:x")

    with pytest.raises(Exception, match=r"read|lead"):
        await access.look("/scenes", write)


async def test_without_a_server_there_is_none_to_ask(access: HomeAccess) -> None:
    assert await access.server() is None
    with pytest.raises(RefusedError):
        await offer_of(Crafts({}), lambda request: access).tools["ask"].call(access, {"question": "?"})
