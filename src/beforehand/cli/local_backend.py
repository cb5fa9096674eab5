"""The backend in this process: the verbs of the runtime, called directly."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from beforehand.app.crafts import load_crafts
from beforehand.app.inbox import answer_decision, show_decision
from beforehand.app.intake import PlanInput
from beforehand.app.plans import create_plan
from beforehand.app.request_record import is_recorded, record_request, shown
from beforehand.app.runs import resume_run, run_document, start_run
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import live_scene
from beforehand.app.templates import get_template, plan_from_template, save_template
from beforehand.cli.backend import Call, Document, Local
from beforehand.cli.screen import print_err
from beforehand.model.errors import ConflictError, UnavailableError
from beforehand.ports.store import EventFilter

BY = "command line"
WAIT_S = 0.2


class LocalBackend:
    url: str | None = None

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self._waits = False

    async def take_plan(self, document: Any, *, scene: str | None, workspace: str) -> Document:
        given = PlanInput(document, scene)
        plan, _ = await create_plan(self.runtime, given, scene_of=live_scene, workspace=workspace, by=BY)
        return plan.wire()

    async def live_scene(self, name_or_file: str) -> str:
        return await live_scene(self.runtime, name_or_file)

    async def perform(self, local: Local, call: Call) -> Any:
        done = await local(self.runtime)
        own = {pattern for craft in load_crafts().by_name.values() for pattern in craft.says_who}
        if is_recorded(call.method, call.path, own):
            await record_request(self.runtime, call.method, call.path, shown(call.method, call.body), BY)
        return done

    async def plan_from_template(self, name: str, parameters: Mapping[str, Any], *, workspace: str) -> Document:
        plan, _ = await plan_from_template(self.runtime, name, parameters, workspace=workspace, by=BY)
        return plan.wire()

    async def template(self, name: str) -> Document:
        return (await get_template(self.runtime, name)).wire()

    async def save_template(self, name: str, document: Any) -> Document:
        return (await save_template(self.runtime, name, document)).wire()

    async def start(self, plan_id: str, version: int) -> Document:
        return await start_run(self.runtime, plan_id, version, by=BY)

    async def resume(self, run_id: str) -> Document:
        run = await run_document(self.runtime, run_id)
        if run.get("scene"):
            await self.live_scene(run["scene"])
        await self.runtime.runs.recover(run_id)
        # What the log says of a run that nobody worked on is true only once its driver has looked at it.
        with suppress(ConflictError):
            return await resume_run(self.runtime, run_id, by=BY)
        return await run_document(self.runtime, run_id)

    async def run(self, run_id: str) -> Document:
        return await self._held_up(lambda: run_document(self.runtime, run_id))

    async def decision(self, decision_id: str) -> Document:
        return await self._held_up(lambda: show_decision(self.runtime, decision_id))

    async def answer(self, decision_id: str, verb: str, *, value: Any, note: str, carry_on: bool = True) -> Document:
        return await self._held_up(
            lambda: answer_decision(self.runtime, decision_id, verb, value=value, note=note, by=BY, carry_on=carry_on)
        )

    async def answer_and_run(self, decision_id: str, verb: str, *, value: Any, note: str) -> Document:
        decision = await show_decision(self.runtime, decision_id)
        plan_id = str(decision["about"].get("planId"))
        if decision["status"] == "open" and verb in decision["verbs"]:
            await self._ready_for(plan_id)
        await answer_decision(self.runtime, decision_id, verb, value=value, note=note, by=BY)
        runs = await self.runtime.store.rows("run", parent=plan_id)
        return await run_document(self.runtime, runs[-1]["runId"])

    async def _ready_for(self, plan_id: str) -> None:
        """What a review's answer needs around it: the plan's scene live, its run, if it has one, taken up."""
        head = await self.runtime.store.row("planHead", plan_id) or {}
        if head.get("scene"):
            await self.live_scene(head["scene"])
        for run in await self.runtime.store.rows("run", parent=plan_id, open=True):
            await self.runtime.runs.recover(run["runId"])

    async def events(self, run_id: str) -> AsyncIterator[list[Document]]:
        only, place = EventFilter(run=run_id), 0
        while True:
            try:
                async for batch in self.runtime.feed.follow(place, only):
                    yield [json.loads(record.line) for record, _ in batch]
                    place = batch[-1][0].seq if batch else place
                return
            except UnavailableError as error:
                await self._wait_for_log(error)

    async def _held_up(self, asked: Callable[[], Awaitable[Document]]) -> Document:
        """What a question about the run finds, asked again for as long as the log's database is away."""
        while True:
            try:
                found = await asked()
            except UnavailableError as error:
                await self._wait_for_log(error)
            else:
                self._waits = False
                return found

    async def _wait_for_log(self, error: UnavailableError) -> None:
        """Wait a moment where the log's database is away: the run itself is only held up by that, and goes on then."""
        if error.code != "store.unreachable":
            raise error
        if not self._waits:
            print_err(f"{error.says} The run waits for it.")
        self._waits = True
        await asyncio.sleep(WAIT_S)

    async def frames(self) -> AsyncIterator[Document]:
        async for frame in self.runtime.telemetry.follow():
            if frame is not None and frame.startswith(b"data: "):
                yield json.loads(frame[6:])
