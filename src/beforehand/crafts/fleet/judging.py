"""Whether the fleet's steps in a plan would work out: the names in them, and whether their fleet is live."""

from typing import Any

from beforehand.app.craft import Assessment, Judge
from beforehand.app.not_live import refuse_not_live
from beforehand.app.scenes import no_scene_of
from beforehand.crafts.fleet.fleets import KIND, Fleets
from beforehand.crafts.fleet.plans import FLEET_TOOLS, no_fleet, unknown_names
from beforehand.model.errors import ConflictError
from beforehand.model.plan import Plan
from beforehand.model.reason import Problem


def judge_of(fleets: Fleets) -> Judge:
    async def assess(plan: Plan) -> Assessment:
        """Names the scenes do not have."""
        found: list[Problem] = []
        for name in dict.fromkeys(step.args.get("scene", plan.scene) for step in plan.steps if is_ours(step.tool)):
            if await _is_fleet(fleets, name):
                found += unknown_names(await fleets.scene(str(name)), plan)
            else:
                found.append(no_fleet(name, await no_scene_of(fleets.runtime, KIND, name)))
        return Assessment(tuple(found))

    async def ready(plan: Plan) -> None:
        """A whole fleet does not start to work because of one transport; a person makes it live."""
        if not any(is_ours(step.tool) for step in plan.steps):
            return
        await refuse_not_live(fleets.runtime.store, plan.scene)
        if plan.scene not in fleets.live:
            raise ConflictError(
                f"The fleet {plan.scene} is not active, so nothing can be moved there.",
                code="fleet.inactive",
                hint=f"Make it live first: `beforehand up --scene {plan.scene}`, or activate the scene.",
            )

    return Judge(assess, ready=ready, refuse=ready)


def is_ours(tool: str) -> bool:
    return tool in FLEET_TOOLS


async def _is_fleet(fleets: Fleets, name: Any) -> bool:
    row = await fleets.runtime.store.row("scene", name) if isinstance(name, str) else None
    return row is not None and row["kind"] == KIND
