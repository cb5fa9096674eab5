"""A log is put back to an earlier time, or copied, and the machines go on: none of them answers for the other one.

What each machine truly did is in a record of its own. The books of the restored log may only hold what was done for
it, or what a person said.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.cell_site import cell_site, hurry
from tests.contract.stranger_house import House, housed
from tests.contract.stranger_robot import Character, Fact
from tests.contract.test_robot_truth import task_of
from tests.contract.vda5050_rig import Live, Mosquitto, hall, live, vehicles

from beforehand.crafts.fleet.core.at_rest import is_settled
from beforehand.crafts.fleet.core.inputs import AnswerDecision, PatchStream, PatchWorksite, RequestTransport, TaskVerb
from beforehand.model.event import Event
from beforehand.model.log_identity import LogIdentity
from beforehand.testing import MemoryLog, MemoryStore

ROBOT = "RB-00"
CHARACTERS = [
    Character(ids, shows, sensor)
    for ids, shows, sensor in (
        ("ours", "always", "right"),
        ("ours", "never", "absent"),
        ("theirs", "always", "right"),
        ("theirs", "never", "right"),
        ("none", "sometimes", "right"),
        ("none", "never", "right"),
    )
]
GATE = (CHARACTERS[1], CHARACTERS[4])
"""Those that are tried each time; the others belong to the soak."""
each_character = pytest.mark.parametrize(
    "character",
    [one if one in GATE else pytest.param(one, marks=pytest.mark.soak) for one in CHARACTERS],
    ids=lambda character: character.name,
)


def facts(house: House, what: str) -> list[Fact]:
    return [fact for fact in house.floor.facts if fact.what == what]


def booked(events: list[Event]) -> list[str]:
    return [event.data["worksiteId"] for event in events if event.kind in ("palletPicked", "palletDropped")]


async def carry(house: House, number: int) -> None:
    await house.ask(RequestTransport(f"PICK_{number}", f"DROP_{number}", 0, f"carry-{number}"))


def is_carried(number: int) -> Any:
    return lambda state: state.worksites[f"DROP_{number}"].occupancy == "filled"


async def at_rest(house: House, number: int) -> None:
    """The pallet is carried, and the robot stands at its park place again."""
    await house.until(lambda state: is_carried(number)(state) and is_settled(state, house.clock.now_ms()))


async def tell_what_lies(house: House) -> None:
    """A person goes round the hall and says what stands where."""
    for site in house.state.worksites.values():
        if site.worksite_type != "park":
            lies = "filled" if site.node_id in house.floor.pallets else "empty"
            if site.lies != lies:
                await house.ask(PatchWorksite(site.worksite_id, lies))


@each_character
async def test_an_order_that_was_out_when_the_log_was_copied_is_asked_about(
    character: Character, tmp_path: Path
) -> None:
    async with housed(tmp_path, (character,), 2) as house:
        await house.ask(PatchStream("s", enabled=False))
        await carry(house, 0)
        await house.until(lambda state: state.tasks["floor-t1"].command_state in ("sent", "running"))
        sent = house.state.tasks["floor-t1"].command_key
        assert sent is not None
        assert house.identity.owns(sent)
        backup = house.backup()
        await house.until(is_carried(0))
        await house.restore(backup)
        ordered = len(facts(house, "ordered"))
        await house.until(lambda state: bool(state.decisions))
        (asked,) = house.state.decisions.values()
        assert asked.about["taskId"] == "floor-t1"
        assert "restored, copied or cut short" in json.dumps(asked.evidence)
        assert booked(house.store.log) == []
        assert len(facts(house, "ordered")) == ordered, "nothing is ordered while somebody is asked"
        assert house.state.tasks["floor-t1"].in_doubt

        await house.ask(TaskVerb("floor-t1", "cancel"))  # somebody looks, and puts the books right
        await tell_what_lies(house)
        assert await is_empty_handed(house)
        await carry(house, 1)
        await house.until(is_carried(1))
        assert booked(house.store.log) == ["PICK_1", "DROP_1"]
        assert [fact.node for fact in facts(house, "unloaded")] == ["D0", "D1"]


async def is_empty_handed(house: House) -> bool:
    """Whoever is asked about the robot has looked at its fork."""
    robot = house.robots[ROBOT]
    for decision in list(house.state.decisions.values()):
        await house.ask(AnswerDecision(decision.id, "unloaded" if "unloaded" in decision.verbs else "release"))
    return not robot.is_loaded


@pytest.mark.parametrize("files", [True, False], ids=["restored", "tail lost"])
@each_character
async def test_a_task_of_the_same_number_is_not_done_by_what_another_life_did(
    character: Character, files: bool, tmp_path: Path
) -> None:
    """Where only the log lost its tail, what is kept beside it still knows the order of the other life. Where no sensor
    tells of the fork, somebody looks at it."""
    async with housed(tmp_path, (character,), 2) as house:
        await house.ask(PatchStream("s", enabled=False))
        await carry(house, 0)
        await at_rest(house, 0)
        backup = house.backup()
        await carry(house, 1)
        await at_rest(house, 1)
        await house.restore(backup, files=files)
        before = len(house.store.log)
        with house.floor.lock:  # the next pallet is brought
            house.floor.pallets ^= {"P1", "D1"}
        names_it = character.ids == "ours" and not files
        if names_it or character.sensor == "absent":
            await house.until(lambda state: bool(state.decisions))
            (asked,) = house.state.decisions.values()
            assert asked.evidence["code"] == ("robot.other_log" if names_it else "robot.fork_unknown")
            assert asked.evidence.get("orderKey", "").endswith("floor-RB-00:park:2" if names_it else "")
            await carry(house, 1)
            await house.until(lambda state: "floor-t2" in state.tasks)
            assert house.state.robots[ROBOT].task_id is None
            assert await is_empty_handed(house)
        else:
            await carry(house, 1)
        await house.until(is_carried(1))
        assert booked(house.store.log[before:]) == ["PICK_1", "DROP_1"]
        loaded = [fact for fact in facts(house, "loaded") if fact.node == "P1"]
        assert [task_of(fact) for fact in loaded] == ["floor-t2", "floor-t2"]
        assert len({fact.key for fact in loaded}) == 2, "no key is ever sent twice"
        assert house.identity.owns(loaded[-1].key)
        picked = next(event for event in house.store.log[before:] if event.kind == "palletPicked")
        assert loaded[-1].books < picked.seq
        assert not house.state.decisions, "nobody is asked again"


async def test_who_was_asked_about_another_life_is_not_asked_again_after_a_restart(tmp_path: Path) -> None:
    async with housed(tmp_path, (CHARACTERS[0],), 1) as house:
        backup = house.backup()
        await at_rest(house, 0)
        await house.restore(backup, files=False)
        await house.until(lambda state: bool(state.decisions))
        await tell_what_lies(house)
        assert await is_empty_handed(house)
        await house.kill()
        await house.open()
        with house.floor.lock:  # the pallet is brought back
            house.floor.pallets ^= {"P0", "D0"}
        await tell_what_lies(house)
        await at_rest(house, 0)
        assert not house.state.decisions


# -- VDA 5050 ---------------------------------------------------------------------------------------------------------


def is_done(number: int) -> Any:
    return lambda state: state.worksites[f"OUT_{number}"].occupancy == "filled"


async def bring(fleet: Live, number: int) -> None:
    await fleet.driver.request(RequestTransport(f"IN_{number}", f"OUT_{number}", 0, f"bring-{number}"))


async def test_a_vehicle_does_not_answer_for_another_life(
    start_broker: Callable[[], Mosquitto], tmp_path: Path
) -> None:
    broker = start_broker()
    document = hall(broker.url, 1, pallets=2)
    document["streams"][0]["enabled"] = False
    log = MemoryLog()
    first, second = (one := LogIdentity.drawn()), one.next_generation()
    async with vehicles(document, trusting=True):
        async with live(document, tmp_path, identity=first, shared=log) as fleet:
            await bring(fleet, 0)
            await fleet.until(lambda state: state.tasks["mqtt_hall-t1"].command_state == "running")
            in_the_air = list(fleet.store.log)
            await fleet.until(lambda state: is_done(0)(state) and is_settled(state, fleet.clock.now_ms()))
            at_rest = list(fleet.store.log)
            await bring(fleet, 1)
            await fleet.until(is_done(1))

        async with live(document, tmp_path, identity=second, shared=await holding(in_the_air)) as fleet:
            await fleet.until(lambda state: bool(state.decisions))
            assert booked(fleet.store.log) == []
            assert fleet.state.tasks["mqtt_hall-t1"].in_doubt
            assert [event for event in fleet.store.log[len(in_the_air) :] if event.kind == "commandSent"] == []

        third = second.next_generation()
        async with live(document, tmp_path, identity=third, shared=await holding(at_rest)) as fleet:
            await fleet.until(lambda state: bool(state.decisions))
            (asked,) = fleet.state.decisions.values()
            assert asked.evidence["code"] == "robot.other_log"
            assert first.owns(asked.evidence["orderKey"])
            await bring(fleet, 1)
            assert booked(fleet.store.log[len(at_rest) :]) == []
            await fleet.driver.request(AnswerDecision(asked.id, "release"))
            await fleet.until(is_done(1))
            sent = [event.data["key"] for event in fleet.store.log[len(at_rest) :] if event.kind == "commandSent"]
            assert sent
            assert all(third.owns(key) for key in sent)


async def holding(events: list[Event]) -> MemoryLog:
    log = MemoryLog()
    store = MemoryStore(shared=log)
    await store.append(events)
    await store.close()
    return log


# -- OPC UA -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 2])
async def test_what_a_controller_says_of_another_life_is_asked_about(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurry(monkeypatch)
    async with cell_site(tmp_path, speed=4, version=version) as site:
        await site.start("weld 1")
        told = await site.until("stepUpdated", stepId="step_1", status="running")
        first = site.runtime.identity
        assert first.owns(told.data["key"])
        await site.until("runFinished")
        await site.restore(told.seq)
        assert site.runtime.identity.id == first.id
        assert site.runtime.identity != first
        await site.until("stepUpdated", after=told.seq, stepId="step_1", status="inDoubt")
        (asked,) = await site.decisions("inDoubt")
        assert "his log was restored, copied or cut short" in asked["evidence"]["says"]
        began = len(site.plc.of("begun"))
        await asyncio.sleep(0)
        assert len(site.plc.of("begun")) == began, "nothing begins while somebody is asked"
        await site.answer(asked, "happened")
        waiting = (await site.until("decisionOpened", after=told.seq, kind="drift")).data
        assert waiting["evidence"]["difference"], "the cell went on in the other life"
