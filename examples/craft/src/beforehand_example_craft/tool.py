"""`greenhouse.water`: one dose of water for one bed. It is physical, so nobody repeats it unasked.

After a crash the valves are asked by the call's key; a tool that can do so is taken up again without a person.
"""

from collections.abc import Mapping
from typing import Any

from beforehand.model.errors import Fault
from beforehand.model.reason import unknown
from beforehand.ports.tool import Preview, ProbeAnswer, Tool, ToolContext, ToolSpec
from beforehand_example_craft.core import KIND, WATER
from beforehand_example_craft.greenhouses import Greenhouses
from beforehand_example_craft.valve import Dose


class Water(Tool):
    spec = ToolSpec(
        name=WATER,
        description="Opens the valve of a bed for so many seconds.",
        input_schema={
            "type": "object",
            "properties": {
                "scene": {"type": "string", "description": "The greenhouse."},
                "bed": {"type": "integer", "description": "The bed's number."},
                "seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 3600},
            },
            "required": ["bed", "seconds"],
            "additionalProperties": False,
        },
        effect="physical",
        can_probe=True,
        scene_kind=KIND,
        output="The bed, and the litres it got.",
    )

    def __init__(self, greenhouses: Greenhouses) -> None:
        self._greenhouses = greenhouses

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> Any:
        scene = self._greenhouses.live_scene(args.get("scene"))
        if str(args["bed"]) not in scene.numbers:
            raise Fault(unknown("bed", args["bed"], scene.numbers).says, code="greenhouse.unknown_bed", untouched=True)
        dose = self._greenhouses.valves(scene).begin(context.key, args["bed"], args["seconds"])
        await self._greenhouses.record(scene, dose, context)
        await self._greenhouses.runtime.clock.sleep_until(dose.ends_ms)
        return _value(dose)

    async def probe(self, args: Mapping[str, Any], context: ToolContext) -> ProbeAnswer:
        """What became of a call that a crash cut off."""
        scene = self._greenhouses.live_scene(args.get("scene"))
        dose = self._greenhouses.valves(scene).dose(context.key)
        if dose is None:
            return ProbeAnswer("not_begun", says="No valve was told to open.")
        await self._greenhouses.record(scene, dose, context)
        if self._greenhouses.runtime.now() < dose.ends_ms:
            return ProbeAnswer("running", says=f"The valve of bed {dose.bed} is still open.")
        return ProbeAnswer("happened", _value(dose), f"Bed {dose.bed} got {dose.litres:g} l.")

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        return Preview(f"Bed {args['bed']} is watered for {args['seconds']:g} s.", args["seconds"])


def _value(dose: Dose) -> dict[str, Any]:
    return {"bed": dose.bed, "litres": dose.litres}
