"""`beforehand draft`: what would be sent, a draft that nobody keeps, and one that is handed in for review."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from beforehand.cli.backend import Call, open_backend
from beforehand.cli.screen import Output
from beforehand.cli.writing import Quiet, Writing, written
from beforehand.crafts.drafting.drafts import Asked, Drafts, Head
from beforehand.model.plan import Plan
from beforehand.model.words import counted

if TYPE_CHECKING:
    from beforehand.app.runtime import Runtime
    from beforehand.app.settings import Settings

LOOK_S = 0.1


async def what_is_sent(settings: "Settings", asked: Asked) -> dict[str, Any]:
    """The question as a model would get it; no model is needed."""
    from beforehand.app.dry_run import open_dry_run
    from beforehand.crafts.drafting.core.prompt import draft_ask

    async with open_dry_run(settings) as runtime:
        asked = await _in_scene(runtime, asked)
        return draft_ask(await runtime.service(Drafts).request(asked)).wire()


async def drafted(settings: "Settings", asked: Asked, output: Output) -> tuple[Head, Plan | None]:
    """A draft over a log in memory: the home is not even made."""
    from beforehand.app.dry_run import open_dry_run
    from beforehand.cli.local_backend import LocalBackend

    async with open_dry_run(settings) as runtime:
        drafts = runtime.service(Drafts)
        head = await drafts.start(await _in_scene(runtime, asked))
        draft_id = head["draftId"]
        async with written(LocalBackend(runtime).frames(), output, draftId=draft_id) as view:
            head = await _followed(lambda: drafts.show(draft_id), view)
        return head, await drafts.plan_of(head) if head["status"] == "finished" else None


async def _in_scene(runtime: "Runtime", asked: Asked) -> Asked:
    from beforehand.app.scenes import saved_scene

    return asked if asked.scene is None else replace(asked, scene=await saved_scene(runtime, asked.scene))


async def submitted(settings: "Settings", asked: Asked, output: Output) -> tuple[Head, Plan | None]:
    """A draft in the home's log, made here or by the server that leads the home; its plan waits for a review."""
    from beforehand.app.models import open_model

    await open_model(settings, asked.model).close()  # refused before a home is made for it
    async with open_backend(settings, note="beforehand draft") as backend:
        scene = None if asked.scene is None else await backend.live_scene(asked.scene)
        named = {"workspace": asked.workspace, "model": asked.model, "scene": scene}
        body = {"text": asked.text, **{name: value for name, value in named.items() if value is not None}}

        async def start(runtime: "Runtime") -> Head:
            return await runtime.service(Drafts).start(replace(asked, scene=scene))

        begun = await backend.perform(start, Call("POST", "/drafts", body))

        async def look() -> Head:
            async def here(runtime: "Runtime") -> Head:
                return await runtime.service(Drafts).show(begun["draftId"])

            return dict(await backend.perform(here, Call("GET", f"/drafts/{begun['draftId']}")))

        async with written(backend.frames(), output, draftId=begun["draftId"]) as view:
            head = await _followed(look, view)
        if head["status"] != "finished":
            return head, None

        async def plan_here(runtime: "Runtime") -> Head:
            return (await runtime.service(Drafts).plan_of(head)).wire()

        call = Call("GET", f"/plans/{head['planId']}?version={head['version']}")
        return head, Plan.model_validate(await backend.perform(plan_here, call))


async def _followed(look: Callable[[], Awaitable[Head]], view: Writing | Quiet) -> Head:
    """The draft once it is over; every try that was wrong is told as it ends."""
    told = 0
    while True:
        head = await look()
        for tried in head["tries"][told:]:
            if problems := tried["problems"]:
                says = f"Try {tried['try']} has {counted(len(problems), 'problem')}:"
                view.tell(says, *(f"  {problem}" for problem in problems))
        told = len(head["tries"])
        if head["status"] != "drafting":
            return head
        await asyncio.sleep(LOOK_S)
