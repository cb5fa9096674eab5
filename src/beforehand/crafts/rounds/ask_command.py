"""`beforehand ask`: a question asked at the server of the home, or in this process, and followed to its answer."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from beforehand.cli.backend import Call, Document, open_backend_to_ask
from beforehand.cli.screen import Output
from beforehand.cli.writing import looks_on, written
from beforehand.crafts.rounds.questions import Question, Questions

if TYPE_CHECKING:
    from beforehand.app.runtime import Runtime
    from beforehand.app.settings import Settings

LOOK_S = 0.1
BY = "command line"


async def ask_and_follow(settings: "Settings", asked: dict[str, Any], output: Output) -> Document:
    """Ask, show how it goes on, and give the question when it is over or waits for a person."""
    async with open_backend_to_ask(settings, note="beforehand ask") as backend:

        async def begin(runtime: "Runtime") -> Document:
            question = Question(asked["text"], follows=asked.get("follows"), model=asked.get("model"), by=BY)
            return (await runtime.service(Questions).ask(question)).head()

        body = {name: value for name, value in asked.items() if value is not None}
        question_id = str((await backend.perform(begin, Call("POST", "/questions", body)))["questionId"])

        async def look(runtime: "Runtime") -> Document:
            return await runtime.service(Questions).show(question_id)

        async def looked() -> Document:
            return dict(await backend.perform(look, Call("GET", f"/questions/{quote(question_id, safe='')}")))

        async with written(backend.frames(), output, questionId=question_id) as view:
            return await _followed(looked, view.tell if looks_on(output) else None)


async def _followed(look: Callable[[], Awaitable[Document]], tell: Callable[[str], None] | None) -> Document:
    """The question once there is nothing more to wait for; sub-goals are told as they go."""
    told: dict[int, str] = {}
    while True:
        question = await look()
        for sub_goal in question["sub_goals"]:
            if told.get(sub_goal["id"]) != sub_goal["status"]:
                told[sub_goal["id"]] = sub_goal["status"]
                if tell is not None:
                    tell(f"  {sub_goal['worker']}: {sub_goal['status']}")
        if question["status"] in ("done", "failed") or question.get("waitsFor"):
            return question
        await asyncio.sleep(LOOK_S)
