"""From words or an intent to a plan of a fleet: transport on request, robots sent to park or charge."""

from typing import TYPE_CHECKING

from beforehand.app.craft import PlanRequest
from beforehand.model.errors import NotUnderstoodError
from beforehand.model.fleet import FleetScene
from beforehand.model.plan import Origin, Plan, Step
from beforehand.model.reason import Problem, UnknownName, name_list, unknown

if TYPE_CHECKING:
    from beforehand.crafts.fleet.core.requests import Reading

PLANNER = "fleet"
FLEET_TOOLS = ("fleet.transport", "fleet.park", "fleet.charge")


def make_transport_plan(scene: FleetScene, request: PlanRequest) -> Plan:
    """The plan; BadInputError for names the scene does not have, NotUnderstoodError rather than a guess."""
    from beforehand.crafts.fleet.core.requests import request_steps

    read = read_or_refuse(scene, request)
    steps = request_steps(scene, read)
    return Plan(
        name=(request.text or "; ".join(read.understood))[:200],
        scene=scene.name,
        steps=tuple(Step.model_validate({**step, "order": at}) for at, step in enumerate(steps, start=1)),
        origin=Origin(
            planner=PLANNER, text=request.text, intent=None if request.intent is None else dict(request.intent)
        ),
    )


def read_or_refuse(scene: FleetScene, request: PlanRequest) -> "Reading":
    """The errands of a request; BadInputError for names the scene does not have, NotUnderstoodError for the rest."""
    from beforehand.crafts.fleet.core.requests import read_request

    read = read_request(scene, request.text if request.text is not None else request.intent)
    if read.refused:
        raise NotUnderstoodError(
            read.says,
            hint=read.try_next,
            extra={"understood": list(read.understood), "notUnderstood": list(read.words)},
        )
    return read


def no_fleet(name: object, told: UnknownName) -> Problem:
    """Steps of a fleet that name no scene, or one that is none."""
    says = told.says
    if name is None:
        says = f"The fleet's steps do not name their scene. Fleets to choose from: {name_list(told.nearest)}."
    return Problem(code="fleet.unknown_scene", about=str(name), says=says, nearest=told.nearest, fixable_by="user")


def unknown_names(scene: FleetScene, plan: Plan) -> list[Problem]:
    """Names in the steps of this fleet that the scene does not have."""
    known = {
        "from": [site.worksite_id for site in scene.worksites],
        "to": [site.worksite_id for site in scene.worksites],
        "robotId": [robot.robot_id for robot in scene.robots],
    }
    problems = []
    for place, step in enumerate(plan.steps):
        ours = step.tool in FLEET_TOOLS and step.args.get("scene", plan.scene) == scene.name
        for name, names in known.items() if ours else ():
            value = step.args.get(name)
            if isinstance(value, str) and not value.startswith("$") and value not in names:
                kind = "robot" if name == "robotId" else "worksite"
                told = unknown(kind, value, names, inside=scene.name)
                problems.append(
                    Problem(
                        code="fleet.unknown_name",
                        about=step.id,
                        path=f"steps[{place}].args.{name}",
                        says=f"{step.id}: {told.says}",
                        nearest=told.nearest,
                        fixable_by="user",
                    )
                )
    return problems
