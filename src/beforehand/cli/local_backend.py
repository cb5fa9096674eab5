"""The desk in this process: the verbs of the house, called directly."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

from beforehand.app.crafts import register_crafts
from beforehand.app.inbox import answer_decision, show_decision
from beforehand.app.plans import craft_of, take_plan
from beforehand.app.runs import recover, resume_run, run_document, start_run
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import activate_scene, save_scene
from beforehand.app.templates import get_template, plan_from_template, save_template
from beforehand.cli.backend import Document
from beforehand.crafts.cell.cells import cells_of, read_fault
from beforehand.crafts.cell.graphs import find_scene
from beforehand.crafts.cell.plans import scene_in
from beforehand.crafts.fleet.fleets import fleets_of
from beforehand.model.errors import ConflictError
from beforehand.ports.store import EventFilter

BY = "command line"


class LocalBackend:
    url: str | None = None

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        register_crafts(runtime)
        fleets_of(runtime).only_requests = True

    async def take_plan(self, document: Any, *, scene: str | None, workspace: str) -> Document:
        named = scene if scene is not None else scene_in(document)
        if named is not None:
            name = await self._live_scene(named)
            document = await (await craft_of(self.runtime, name)).take_in(document, name)
            document = {**document, "scene": name} if isinstance(document, Mapping) else document
        plan, _ = await take_plan(self.runtime, document, workspace=workspace, by=BY)
        return plan.wire()

    async def _live_scene(self, scene: str) -> str:
        """Make one scene live in this process, saving it first when the home does not know it; its name."""
        if await self.runtime.store.row("scene", scene) is None:
            return str(
                (await save_scene(self.runtime, None, await find_scene(self.runtime.settings, scene), activate=True))[
                    "name"
                ]
            )
        return str((await activate_scene(self.runtime, scene))["name"])

    async def set_cell(self, scene: str, position: str | None, tool: str | None) -> Document:
        name = await self._live_scene(scene)
        cells = cells_of(self.runtime)
        await cells.set_state(name, position, tool, by=BY)
        return await cells.state_document(name)

    async def cell_fault(self, scene: str, fault: str, target: str | None) -> Document:
        name = await self._live_scene(scene)
        return await cells_of(self.runtime).inject(name, read_fault(fault, target))

    async def plan_from_template(self, name: str, parameters: Mapping[str, Any], *, workspace: str) -> Document:
        plan, _ = await plan_from_template(self.runtime, name, parameters, workspace=workspace, by=BY)
        return plan.wire()

    async def template(self, name: str) -> Document:
        return (await get_template(self.runtime, name)).wire()

    async def save_template(self, name: str, document: Any) -> Document:
        return (await save_template(self.runtime, name, document)).wire()

    async def start(self, plan_id: str, version: int) -> Document:
        return await start_run(self.runtime, plan_id, version, by=BY)

    async def recover(self, run_id: str) -> Document:
        run = await run_document(self.runtime, run_id)
        if run.get("scene"):
            await self._live_scene(run["scene"])
        await recover(self.runtime, run_id)
        # What the log says of a run that nobody worked on is true only once its driver has looked at it.
        with suppress(ConflictError):
            return await resume_run(self.runtime, run_id, by=BY)
        return await run_document(self.runtime, run_id)

    async def run(self, run_id: str) -> Document:
        return await run_document(self.runtime, run_id)

    async def decision(self, decision_id: str) -> Document:
        return await show_decision(self.runtime, decision_id)

    async def answer(self, decision_id: str, verb: str, *, value: Any, note: str, carry_on: bool = True) -> Document:
        return await answer_decision(self.runtime, decision_id, verb, value=value, note=note, by=BY, carry_on=carry_on)

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
            await self._live_scene(head["scene"])
        for run in await self.runtime.store.rows("run", parent=plan_id, open=True):
            await recover(self.runtime, run["runId"])

    async def events(self, run_id: str) -> AsyncIterator[list[Document]]:
        async for batch in self.runtime.feed.follow(0, EventFilter(run=run_id)):
            yield [json.loads(record.line) for record, _ in batch]

    async def frames(self) -> AsyncIterator[Document]:
        async for frame in self.runtime.telemetry.follow():
            if frame.startswith(b"data: "):
                yield json.loads(frame[6:])
