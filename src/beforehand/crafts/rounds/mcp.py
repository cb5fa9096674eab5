"""`ask` for programs that call over MCP: a question about the past, or about Beforehand itself, and its answer."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.cli.asking import path_to
from beforehand.crafts.rounds.questions import Question, Questions
from beforehand.ports.mcp import HomeAccess, McpAnswer, McpTool

BY = "an MCP client"
LOOK_S, MOST_LOOKS = 0.25, 240


async def ask(access: HomeAccess, given: Mapping[str, Any]) -> McpAnswer:
    """Ask, and wait for the answer; what takes longer can be looked at later."""
    asked = {name: given[name] for name in ("text", "follows") if given.get(name)}

    async def begin(runtime: Runtime) -> Any:
        questions = runtime.service(Questions)
        question = await questions.ask(Question(asked["text"], follows=asked.get("follows"), by=BY))
        return await _followed(question.head(), lambda: questions.show(question.question_id))

    found = dict(await access.perform(begin, "POST", "/questions", asked))
    question_id = str(found["questionId"])

    async def look(runtime: Runtime) -> Any:
        return await runtime.service(Questions).show(question_id)

    found = await _followed(found, lambda: access.look(path_to("questions", question_id), look))
    return McpAnswer(_said(found), {"question": found})


async def _followed(found: Mapping[str, Any], look: Callable[[], Awaitable[Any]]) -> dict[str, Any]:
    """The question once it is over or waits for a person, or as it is after a minute."""
    for _ in range(MOST_LOOKS):
        if found["status"] in ("done", "failed") or found.get("waitsFor"):
            break
        await asyncio.sleep(LOOK_S)
        found = await look()
    return dict(found)


def _said(found: Mapping[str, Any]) -> str:
    if found.get("waitsFor"):
        unclear = [(one.get("outputs") or {}).get("unclear") for one in found["sub_goals"]]
        asks = next(filter(None, reversed(unclear)), "It waits for a person.")
        return f"{asks} Ask again in clearer words, or have a person answer {found['waitsFor'][0]} in the inbox."
    return str(
        found.get("answer") or found.get("reason") or f"The question {found['questionId']} is {found['status']}."
    )


TOOLS = (
    McpTool(
        "ask",
        "Ask",
        "Ask about what the installation has been doing (how many, which, why, per hour …) or how Beforehand works.",
        ask,
        {
            "text": {"type": "string", "minLength": 1, "maxLength": 2_000, "description": "The question."},
            "follows": {"type": "string", "maxLength": 200, "description": "The question it goes on from."},
        },
        ("text",),
    ),
)
