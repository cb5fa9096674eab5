"""Every kind of stream over every wire: what is transported live is what was simulated, after a hold and a redo too."""

from collections.abc import Callable
from pathlib import Path

import pytest

from beforehand.adapters.sim.faults import FaultSpec
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.crafts.fleet.core.inputs import AnswerDecision, FleetVerb
from beforehand.crafts.fleet.core.simulate import simulate
from beforehand.crafts.fleet.core.streams import KINDS

from .vda5050_rig import Mosquitto
from .wires import EVERY_KIND, all_over, scene_of, street, transports, wired

WIRES = ["robokit", pytest.param("vda5050", marks=pytest.mark.needs("mosquitto", "aiomqtt"))]
Broker = Callable[[], Mosquitto]


def test_every_kind_of_stream_is_tried() -> None:
    assert set(EVERY_KIND) == set(KINDS)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("kind", EVERY_KIND)
async def test_every_kind_of_stream_over_the_wire_with_a_hold_and_a_redo(
    kind: str, wire: str, tmp_path: Path, start_broker: Broker
) -> None:
    """The first pick fails and is done again; in the middle of a later way everything is held and let go again."""
    document = street(kind)
    async with wired(document, all_over(document, wire), tmp_path, start_broker) as wires:
        fleet = wires.fleet
        await fleet.until(lambda state: state.robots["RB-00"].phase == "moving_to_pick")
        await fleet.until(lambda state: any(task.command_state == "running" for task in state.tasks.values()))
        wires.inject(FaultSpec(at_s=0, robot_id="RB-00", fault="status5"))
        await fleet.until(lambda state: bool(state.decisions))
        (asked,) = fleet.state.decisions.values()
        assert "internal fault" in asked.title
        await fleet.ask(AnswerDecision(asked.id, "redo"))
        await fleet.ask(FleetVerb("clear"))
        await fleet.until(lambda state: state.robots["RB-00"].phase == "moving_to_drop")
        await fleet.ask(FleetVerb("hold"))
        await fleet.until(lambda state: state.seen["RB-00"].report.task_status == 3)
        await fleet.ask(FleetVerb("let-go"))
        await fleet.until_idle()
        assert transports(fleet.store.log) == sorted(EVERY_KIND[kind][1])
        assert fleet.violations() == []
        assert fleet.state.decisions == {}
    assert wires.work_done() == 2 * len(EVERY_KIND[kind][1])


@pytest.mark.needs("mosquitto", "aiomqtt")
async def test_what_is_transported_live_is_what_was_simulated(tmp_path: Path, start_broker: Broker) -> None:
    document = street("buffered", robots=2)
    played = simulate(scene_of(document), SimFleet(scene_of(document)), keep_events=True)
    simulated = transports(played.events)
    assert simulated == sorted(EVERY_KIND["buffered"][1])
    lies = {name: site.occupancy for name, site in played.state.worksites.items()}
    for wire in ("sim", "robokit", "vda5050"):
        async with wired(document, all_over(document, wire), tmp_path / wire, start_broker) as wires:
            await wires.fleet.until_idle()
            assert transports(wires.fleet.store.log) == simulated, wire
            assert {name: site.occupancy for name, site in wires.fleet.state.worksites.items()} == lies, wire
        if wire != "sim":
            assert wires.lying() == sorted(name for name, lying in lies.items() if lying == "filled"), wire
