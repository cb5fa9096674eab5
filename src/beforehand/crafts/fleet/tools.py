"""The fleet's tools in an ordinary plan: `fleet.transport`, `fleet.park`, `fleet.charge`.

A transport is physical: it is asked for once, under the step's key, and after a crash the log is asked what became of
it. Sending a robot to park or charge is idempotent: asking twice changes nothing.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from beforehand.crafts.fleet.core.inputs import RequestTransport, RobotVerb, TaskVerb
from beforehand.crafts.fleet.core.state import ENDED, FleetState
from beforehand.crafts.fleet.fleets import KIND, Fleets
from beforehand.model.errors import Fault
from beforehand.model.event import Verdict
from beforehand.model.reason import unknown
from beforehand.model.records import wire_of
from beforehand.ports.tasks import part
from beforehand.ports.tool import STOPPED, Preview, ProbeAnswer, Tool, ToolContext, ToolSpec

_NAME = {"type": "string", "minLength": 1}
_SCENE = {**_NAME, "description": "The fleet's scene."}


class Transport(Tool):
    spec = ToolSpec(
        name="fleet.transport",
        description="Has a forklift bring the pallet from one worksite to another.",
        input_schema={
            "type": "object",
            "properties": {
                "scene": _SCENE,
                "from": {**_NAME, "description": "The worksite that holds the pallet."},
                "to": {**_NAME, "description": "The worksite it goes to."},
                "priority": {"type": "number", "description": "Higher goes first; 0 when absent."},
            },
            "required": ["from", "to"],
            "additionalProperties": False,
        },
        effect="physical",
        can_probe=True,
        scene_kind=KIND,
        output="The task as it ended.",
        estimate_s=120.0,
    )

    def __init__(self, fleets: Fleets) -> None:
        self._fleets = fleets

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> Any:
        fleets, scene = self._fleets, live_scene(self._fleets, args)
        priority = float(args.get("priority") or 0)
        request = RequestTransport(args["from"], args["to"], priority, context.key)
        asking = part(fleets.request(scene, request))
        try:
            verdict = await asyncio.shield(asking)
        except asyncio.CancelledError as ended:
            if STOPPED in ended.args:
                await _called_off(fleets, scene, _task_made(await asking))
            raise
        if verdict.reasons:
            raise Fault(
                " ".join(reason.says for reason in verdict.reasons), code=verdict.reasons[0].code, untouched=True
            )
        return await self._followed(fleets, scene, str(_task_made(verdict)), context)

    async def _followed(self, fleets: Fleets, scene: Any, task_id: str, context: ToolContext) -> Any:
        context.log(f"It is task {task_id}.")
        try:
            await fleets.until(scene, lambda state: _has_ended(state, task_id))
        except asyncio.CancelledError as ended:
            if STOPPED in ended.args:
                await _called_off(fleets, scene, task_id)
            raise
        task = fleets.state_of(scene).tasks.get(task_id)
        if task is None or task.status != "completed":
            how = "ended unseen" if task is None else f"was {task.status}" if task.status == "canceled" else "failed"
            why = f" {task.error}" if task is not None and task.error else ""
            never_sent = task is not None and task.attempt == 0
            raise Fault(f"The transport {task_id} {how}.{why}", code="fleet.task_ended", untouched=never_sent)
        return wire_of(task)

    async def stop(self, args: Mapping[str, Any], context: ToolContext) -> bool:
        """The forklift is called off, also where an earlier process asked for it; before there is a task, `run` sees
        to it."""
        fleets, scene = self._fleets, live_scene(self._fleets, args)
        task_id = await fleets.task_of_request(scene, context.key)
        await _called_off(fleets, scene, task_id)
        return task_id is not None

    async def probe(self, args: Mapping[str, Any], context: ToolContext) -> ProbeAnswer:
        fleets, scene = self._fleets, live_scene(self._fleets, args)
        task_id = await fleets.task_of_request(scene, context.key)
        if task_id is None:
            return ProbeAnswer("not_begun", says="The fleet never got the request.", from_log=True)
        task = fleets.state_of(scene).tasks.get(task_id)
        if task is None or task.status in ("failed", "canceled"):
            return ProbeAnswer("unknown", says=f"The transport {task_id} did not finish.", from_log=True)
        if task.status == "completed":
            return ProbeAnswer("happened", wire_of(task), f"{task_id} was completed.", from_log=True)
        return ProbeAnswer("running", says=f"{task_id} is under way.")

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        return Preview(f"A forklift brings the pallet from {args['from']} to {args['to']}.", self.spec.estimate_s)


def _task_made(verdict: Verdict[Any]) -> str | None:
    return next((str(event.data["taskId"]) for event in verdict.events if event.kind == "taskCreated"), None)


async def _called_off(fleets: Fleets, scene: Any, task_id: str | None) -> None:
    """The step was given up, so the forklift is called off; with the pallet on its fork a person sees to that."""
    if task_id is None:
        return
    verdict = await fleets.call_off(scene, task_id)
    if any(reason.code == "task.loaded" for reason in verdict.reasons):
        await fleets.request(scene, TaskVerb(task_id, "abort"))


def live_scene(fleets: Fleets, args: Mapping[str, Any]) -> str:
    """The scene a step names; a Fault, with nothing touched, where that fleet is not live."""
    scene = args.get("scene")
    if scene not in fleets.live:
        told = unknown("active fleet", scene, fleets.live)
        raise Fault(told.says, code="fleet.inactive", untouched=True)
    return str(scene)


def _has_ended(state: FleetState, task_id: str) -> bool:
    task = state.tasks.get(task_id)
    return task is None or task.status in ENDED


class SendRobot(Tool):
    """Sends a robot to park or to charge, and is done when it stands there."""

    def __init__(self, fleets: Fleets, errand: str, says: str) -> None:
        self._fleets = fleets
        self._errand = errand
        self.spec = ToolSpec(
            name=f"fleet.{errand}",
            description=says,
            input_schema={
                "type": "object",
                "properties": {"scene": _SCENE, "robotId": {**_NAME, "description": "The robot."}},
                "required": ["robotId"],
                "additionalProperties": False,
            },
            effect="idempotent",
            scene_kind=KIND,
            output="The robot, where it then stands.",
            estimate_s=60.0,
        )

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> Any:
        fleets, scene, robot_id = self._fleets, live_scene(self._fleets, args), args["robotId"]
        verdict = await fleets.request(scene, RobotVerb(robot_id, self._errand))
        if verdict.reasons:
            raise Fault(
                " ".join(reason.says for reason in verdict.reasons), code=verdict.reasons[0].code, untouched=True
            )
        await fleets.until(scene, lambda state: self._stands(state, robot_id) or self._gave_up(state, robot_id))
        if not self._stands(fleets.state_of(scene), robot_id):
            raise Fault(f"{robot_id} was given something else to do on the way.", code="fleet.errand_lost")
        return wire_of(fleets.state_of(scene).robots[robot_id])

    def _stands(self, state: FleetState, robot_id: str) -> bool:
        errand = state.robots[robot_id].errand
        return errand is not None and errand.kind == self._errand and errand.state == "there"

    def _gave_up(self, state: FleetState, robot_id: str) -> bool:
        robot = state.robots[robot_id]
        return robot.wish != self._errand and (robot.errand is None or robot.errand.kind != self._errand)

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        return Preview(f"{args['robotId']} goes to {self._errand}.", self.spec.estimate_s)


def fleet_tools(fleets: Fleets) -> tuple[Tool, ...]:
    return (
        Transport(fleets),
        SendRobot(fleets, "park", "Sends a robot to its park place."),
        SendRobot(fleets, "charge", "Sends a robot to a charger."),
    )
