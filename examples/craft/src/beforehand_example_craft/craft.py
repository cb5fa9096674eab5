"""Greenhouses: everything the craft brings, in one place. The entry point in pyproject.toml names `CRAFT`."""

from collections.abc import Mapping
from typing import Any

from beforehand.app.craft import Assessment, Craft, Judge, Owner, Parts, Planner, PlanRequest, Scenes
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import activate_scene
from beforehand.model.errors import BadInputError, NotUnderstoodError
from beforehand.model.event import Event
from beforehand.model.plan import Origin, Plan
from beforehand.ports.store import Row
from beforehand_example_craft.core import KIND, read_greenhouse, read_words, unknown_names, watering_steps
from beforehand_example_craft.greenhouses import Greenhouses
from beforehand_example_craft.tool import Water


def open_greenhouses(runtime: Runtime) -> Parts:
    """The craft at work in one runtime."""
    greenhouses = Greenhouses(runtime)
    return Parts(
        service=greenhouses,
        scenes=Scenes(
            KIND,
            check=lambda document: read_greenhouse(document).wire(),
            activate=greenhouses.activate,
            state=greenhouses.state,
            lists=("greenhouses",),
        ),
        planner=Planner(KIND, plan),
        judge=_judge(greenhouses),
        tools=(Water(greenhouses),),
        owners={KIND: Owner(greenhouses.answer)},
    )


async def plan(request: PlanRequest, correlation_id: str) -> Plan:
    """The plan that words ask for; NotUnderstoodError where some of them would have to be guessed."""
    if request.text is None:
        raise BadInputError("A greenhouse is told what to do in words: send `text`.", code="greenhouse.words")
    words = read_words(request.text)
    if words.strange or not words.waterings:
        raise NotUnderstoodError(
            f"This was not understood: {'; '.join(words.strange) or 'there are no words'}.",
            hint="Say it like this: water bed 3 for 10 seconds, then bed 1 for 5 seconds.",
            extra={
                "understood": [f"bed {bed} for {seconds:g} s" for bed, seconds in words.waterings],
                "notUnderstood": words.strange,
            },
        )
    return Plan(
        name=request.text[:200],
        scene=request.scene,
        steps=watering_steps(words.waterings),
        estimated_duration=sum(seconds for _, seconds in words.waterings),
        origin=Origin(planner=KIND, text=request.text),
    )


def _judge(greenhouses: Greenhouses) -> Judge:
    async def assess(plan: Plan) -> Assessment:
        return Assessment(unknown_names(plan, await greenhouses.scenes()))

    async def ready(plan: Plan) -> None:
        """A greenhouse does nothing by itself, so it is made live when a plan for it starts."""
        if plan.scene not in greenhouses.live:
            await activate_scene(greenhouses.runtime, str(plan.scene))

    return Judge(assess, ready=ready)


def _levels(event: Event) -> Row:
    """The greenhouse after an event; its levels are all that is kept of it."""
    return Row(KIND, str(event.scene), {name: event.data[name] for name in ("tankL", "wateredL")})


def _watered(event: Event) -> list[Row]:
    return [_levels(event), Row("watering", event.data["key"], event.data, parent=str(event.scene))]


def _watered_says(data: Mapping[str, Any]) -> str:
    return f"Bed {data['bed']} of {data['sceneId']} gets {data['litres']:g} l; {data['tankL']:g} l are left."


def _refilled_says(data: Mapping[str, Any]) -> str:
    return f"The tank of {data['sceneId']} is full again: {data['tankL']:g} l."


def _http() -> Any:
    from beforehand_example_craft.http import HTTP

    return HTTP


CRAFT = Craft(
    KIND,
    open=open_greenhouses,
    rows={"bedWatered": _watered, "tankRefilled": lambda event: [_levels(event)]},
    remembers=(KIND,),
    sentences={"bedWatered": _watered_says, "tankRefilled": _refilled_says},
    http=_http,
)
