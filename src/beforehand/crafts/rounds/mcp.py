"""`ask` for programs that call over MCP: a question about the past, or about Beforehand itself, and its answer."""

import asyncio
from collections.abc import Mapping
from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.cli.asking import path_to
from beforehand.crafts.rounds.questions import Question, Questions
from beforehand.ports.mcp import Desk, McpAnswer, McpTool

BY = "an MCP client"
LOOK_S, MOST_LOOKS = 0.25, 240


async def ask(desk: Desk, given: Mapping[str, Any]) -> McpAnswer:
    """Ask, and wait for the answer; what takes longer can be looked at later."""
    asked = {name: given[name] for name in ("text", "follows") if given.get(name)}

    async def begin(runtime: Runtime) -> Any:
        questions = runtime.service(Questions)
        question = await questions.ask(Question(asked["text"], follows=asked.get("follows"), by=BY))
        return await questions.until_over(question.question_id)

    found = dict(await desk.perform(begin, "POST", "/questions", asked))
    question_id = str(found["questionId"])

    async def look(runtime: Runtime) -> Any:
        return await runtime.service(Questions).show(question_id)

    for _ in range(MOST_LOOKS):
        if found["status"] in ("done", "failed") or found.get("waitsFor"):
            break
        await asyncio.sleep(LOOK_S)
        found = dict(await desk.look(path_to("questions", question_id), look))
    said = found.get("answer") or found.get("reason") or f"The question {question_id} is {found['status']}."
    return McpAnswer(str(said), {"question": found})


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
