"""What a model writes is seen at a terminal while it writes; a program that reads along sees only what comes of it."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.cli.conftest import Cli, Terminal, beside

from beforehand.cli.writing import Page
from beforehand.testing.model_replies import Reply, Seen, gives, in_pieces, stalls
from beforehand.testing.model_servers import FakeOpenAI

PLAN = {
    "name": "Wait",
    "steps": [
        {
            "id": "wait_a_moment",
            "description": "Wait.",
            "tool": "wait",
            "args": [{"name": "seconds", "json_value": "0"}],
            "depends_on": [],
            "requires_approval": False,
            "when": "",
            "on_failure": "continue",
        }
    ],
    "edge_cases": [],
    "cannot": "",
}


def frame(at: int, text: str, request: int = 1) -> dict[str, Any]:
    return {"kind": "modelWriting", "model": "m", "request": request, "at": at, "text": text}


def test_a_page_grows_shows_its_gaps_and_begins_anew() -> None:
    page = Page()
    for one in (frame(0, "one "), frame(4, "two\x1b[2J"), frame(20, "three")):
        page.take(one)
    assert page.text == "one two\N{REPLACEMENT CHARACTER}[2J … three"
    assert page.length == 25
    page.take(frame(0, "again", request=2))
    assert (page.text, page.length) == ("again", 5)


@pytest.fixture
def model() -> Iterator[FakeOpenAI]:
    fake = FakeOpenAI(gives(PLAN))
    with beside(fake) as loop:
        going_on = asyncio.Event()
        fake.script = (in_pieces(stalls(going_on, gives(PLAN)), 8, after=4),)
        fake.go_on = lambda: loop.call_soon_threadsafe(going_on.set)  # type: ignore[attr-defined]
        yield fake


@pytest.fixture
def writer(cli: Cli, model: FakeOpenAI) -> Cli:
    cli.environment.update(
        BEFOREHAND_MODEL="openai:writer", BEFOREHAND_MODEL_URL=model.url, BEFOREHAND_MODEL_STREAM="true"
    )
    return cli


Opening = Callable[..., Terminal]


@pytest.mark.needs("pydantic_ai")
@pytest.mark.parametrize("how", [(), ("--submit",)])
def test_a_draft_is_seen_while_it_is_written(writer: Cli, model: Any, terminal: Opening, how: tuple[str, ...]) -> None:
    at = terminal("draft", "Wait a moment.", *how)
    at.until("openai:writer writes, ")
    at.until("wait_a_moment")
    model.go_on()
    assert "written by openai:writer" in at.until("from: Wait a moment.")


@pytest.mark.needs("pydantic_ai")
def test_a_draft_at_a_server_is_seen_too(writer: Cli, model: Any, terminal: Opening) -> None:
    writer.up()
    model.script = (in_pieces(gives(PLAN), 400),)
    at = terminal("draft", "Wait a moment.", "--submit")
    assert "written by openai:writer" in at.until("from: Wait a moment.")


@pytest.mark.needs("pydantic_ai")
def test_json_is_all_there_is_where_a_program_reads(writer: Cli, model: Any, terminal: Opening) -> None:
    at = terminal("draft", "Wait a moment.", "-o", "json")
    model.go_on()
    out, _ = at.process.communicate(timeout=60)
    assert json.loads(out)["steps"][0]["id"] == "wait_a_moment"
    assert at.rest().strip() == ""


def decision(action: str, *sub_goals: dict[str, Any], **inputs: int) -> Reply:
    wired = [{"name": slot, "from_sub_goal": of, "slot": slot} for slot, of in inputs.items()]
    told = {"action": action, "reasoning": "As asked.", "sub_goals": list(sub_goals), "synthesis_inputs": wired}
    return gives(told)


HELP = {
    "worker": "common_helpdesk",
    "description": "Ask the help desk.",
    "inputs": [],
    "params": [],
    "goal_type": "deliverable",
}


@pytest.mark.needs("pydantic_ai")
def test_an_answer_is_seen_while_it_is_written(writer: Cli, model: Any, terminal: Opening) -> None:
    answer = in_pieces(replace(model.script[0], data=None, text="You add one with token add, as an admin."), 8, after=4)

    def play(seen: Seen) -> Reply:
        if not seen.body.get("tools"):
            return answer
        return decision("continue", HELP) if len(model.seen) == 1 else decision("done", help_answer=1)

    model.script = (play,)
    at = terminal("ask", "how do I add a token?", "--model", "openai:writer")
    at.until("common_helpdesk: success")
    at.until("You add one with")
    model.go_on()
    assert "as an admin." in at.until("To go on from it")
