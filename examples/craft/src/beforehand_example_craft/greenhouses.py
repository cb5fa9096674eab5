"""The greenhouses of a runtime: which are live, what is written down of them, and what a person is asked about them.

What is right is decided in `core`, and what happened is known by the valves; here it is carried out and written down.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from beforehand.app.craft import Answering
from beforehand.app.decisions import answered, opened
from beforehand.app.ids import new_id
from beforehand.app.inbox import list_decisions
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import home_file, scene_names
from beforehand.model.decision import Decision
from beforehand.model.errors import Fault, NotFoundError
from beforehand.model.event import Event, iso
from beforehand.model.reason import unknown
from beforehand.ports.tool import ToolContext
from beforehand_example_craft.core import KIND, Greenhouse, Levels, read_greenhouse, read_levels
from beforehand_example_craft.valve import Dose, Valves

EFFECTS = {
    "refilled": "The tank counts as full again.",
    "leave": "Nothing changes; you are asked again after the next watering.",
}


@dataclass(slots=True)
class Greenhouses:
    runtime: Runtime
    live: dict[str, Greenhouse] = field(default_factory=dict)

    async def activate(self, name: str, document: Mapping[str, Any]) -> None:
        self.live[name] = read_greenhouse(document)

    def live_scene(self, name: Any) -> Greenhouse:
        """A greenhouse that is live; a Fault, with nothing touched, where it is not."""
        if name not in self.live:
            told = unknown("active greenhouse", name, self.live)
            raise Fault(told.says, code="greenhouse.inactive", hint="Activate the scene.", untouched=True)
        return self.live[name]

    async def scenes(self) -> dict[str, Greenhouse]:
        """Every greenhouse the home knows, live or not."""
        rows = [await self.runtime.store.row("scene", name) for name in await scene_names(self.runtime, KIND)]
        return {row["name"]: read_greenhouse(row["document"]) for row in rows if row is not None}

    def valves(self, scene: Greenhouse) -> Valves:
        settings = self.runtime.settings
        file = home_file(settings.home, "greenhouses", scene.name)
        return Valves(scene, file, self.runtime.clock, float(settings["speed"]))

    async def record(self, scene: Greenhouse, dose: Dose, context: ToolContext) -> None:
        """Write a dose down, once, whoever is first to know of it: the tool, or the probe after a crash."""
        async with self.runtime.turns[f"{KIND}:{scene.name}"]:
            if await self.runtime.store.row("watering", context.key) is None:
                levels = self.valves(scene).levels()
                data = {"key": context.key, "bed": dose.bed, "litres": dose.litres, **levels.wire()}
                watered = self._event("bedWatered", scene, data, context.correlation_id)
                asked = await self._question(scene, levels)
                await self.runtime.store.append([watered, *asked])  # together: a crash leaves both or none

    async def _question(self, scene: Greenhouse, levels: Levels) -> list[Event]:
        """What asks for a full tank, where it is low and nobody has been asked yet."""
        owner = f"{KIND}:{scene.name}"
        if levels.tank_l > scene.low_l or any(one["owner"] == owner for one in await list_decisions(self.runtime)):
            return []
        decision = Decision(
            id=new_id("tank"),
            kind="tankLow",
            owner=owner,  # the answer goes to whoever the craft registered for `greenhouse`
            title=f"The tank of {scene.name} is down to {levels.tank_l:g} l. Was it refilled?",
            about={"scene": scene.name},
            evidence={"tankL": levels.tank_l, "lowL": scene.low_l},
            verbs=tuple(EFFECTS),
            effects=EFFECTS,
            if_unanswered="Beds get water until a step needs more than there is; that step fails.",
            asked_by=KIND,
            opened_at=iso(self.runtime.now()),
        )
        return [opened(self.runtime, decision)]

    async def answer(self, decision: Decision, given: Answering) -> None:
        """Take a person's word for the tank. If a crash makes them say it twice, it is full all the same."""
        events = [answered(self.runtime, decision, given)]
        if given.verb == "refilled":
            scene = (await self.scenes())[str(decision.about["scene"])]
            events.append(self._event("tankRefilled", scene, self.valves(scene).refill().wire()))
        await self.runtime.store.append(events)

    def _event(self, kind: str, scene: Greenhouse, data: Mapping[str, Any], correlation_id: str = "") -> Event:
        about = {"scene": scene.name, "sceneId": scene.name, "correlation_id": correlation_id}
        return self.runtime.event(kind, data, owner=f"{KIND}:{scene.name}", **about)

    async def document(self, name: str) -> dict[str, Any]:
        """A greenhouse as the API and the command show it; NotFoundError where there is none."""
        scenes = await self.scenes()
        if name not in scenes:
            raise NotFoundError.unknown("greenhouse", name, scenes)
        levels = read_levels(await self.runtime.store.row(KIND, name), scenes[name])
        beds = [{**bed.wire(), "wateredL": levels.watered_l.get(str(bed.number), 0.0)} for bed in scenes[name].beds]
        return {"scene": name, "tankL": levels.tank_l, "lowL": scenes[name].low_l, "beds": beds}

    async def state(self, name: str) -> dict[str, list[dict[str, Any]]]:
        return {"greenhouses": [await self.document(name)]}
