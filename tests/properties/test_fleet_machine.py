"""A fleet put through anything: small scenes, streams of every kind, faults, people, crashes, in any order.

After every move the books must be in order, the log must replay to the same state, and what is kept beside the records
must be what they say. At the end somebody sensible clears up: faults are over, questions answered, what the books say
set right; then everything that can be done must get done, and the whole story told again must give the same bytes.
"""

import json
import random
from collections import Counter
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from beforehand.adapters.sim.body import SimSettings
from beforehand.adapters.sim.faults import FaultSpec
from beforehand.adapters.sim.fleet import SimFleet
from beforehand.crafts.fleet.core.at_rest import is_settled
from beforehand.crafts.fleet.core.board import Board
from beforehand.crafts.fleet.core.decide import decide, recover, step
from beforehand.crafts.fleet.core.inputs import (
    AnswerDecision,
    FleetInput,
    FleetVerb,
    PatchStream,
    PatchWorksite,
    RequestTransport,
    RobotVerb,
    TaskVerb,
)
from beforehand.crafts.fleet.core.invariants import Invariants
from beforehand.crafts.fleet.core.robot_verbs import ROBOT_VERBS
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.state import FleetState, evolve, initial, restore, snapshot
from beforehand.crafts.fleet.core.streams import KINDS
from beforehand.crafts.fleet.core.verbs import TASK_VERBS
from beforehand.crafts.fleet.core.why import why_everything
from beforehand.crafts.fleet.core.work_queue import Queue
from beforehand.model.event import Event
from beforehand.model.robot import RobotCommand

LASTING = ("offline", "blocked", "paused_by_hand", "lost_position", "sensor_wrong", "dead_battery")
STRIKING = ("low_battery", "restart", "late_ack", "lost_ack", "lost_command", "status5", "status6", "duplicate")
STRIKING += ("out_of_order", "mispick", "misdrop", "cancelled_by_hand")
DECEIVING = {"mispick", "misdrop", "cancelled_by_hand", "lost_position", "sensor_wrong", "offline"}
"""Faults after which no core can know by itself what lies where."""
LONGEST_FAULT_S = 20
ROUNDS = 30
"""Rounds of clearing up, each of a virtual minute, within which everything must be done."""

# Scenes


def snapshot_text(state: FleetState) -> str:
    return json.dumps(snapshot(state), sort_keys=True)


def document(draw: random.Random) -> dict[str, Any]:
    size = draw.randint(7, 11)
    nodes = [{"id": f"N{n}", "x": draw.randint(0, 20), "y": draw.randint(0, 20)} for n in range(size)]
    edges: list[dict[str, Any]] = [{"from": f"N{n}", "to": f"N{draw.randint(0, n - 1)}"} for n in range(1, size)]
    if draw.random() < 0.5 and edges[-1]["to"] != "N0":
        edges.append({"from": "N0", "to": f"N{size - 1}", "oneWay": draw.random() < 0.5})
    count = draw.randint(4, size - 1)
    names = [f"W{n}" for n in range(count)]
    lies = [["filled"] * 4 + ["unknown"], ["empty"] * 4 + ["filled"]]
    sites = [
        {
            "worksiteId": name,
            "worksiteType": "buffer",
            "entryNodeId": f"N{n}",
            "occupancy": draw.choice(lies[n % 2]),
        }
        for n, name in enumerate(names)
    ]
    for kind, letter in (("charger", "C"), ("park", "P")):
        for n in range(draw.randint(0, 2)):
            # Each has its own place of work, off one of the nodes.
            node, place = f"N{draw.randint(0, size - 1)}", f"{letter}{n}"
            nodes.append({"id": f"A{place}", "x": 21, "y": len(nodes)})
            edges.append({"from": node, "to": f"A{place}"})
            sites.append({"worksiteId": place, "worksiteType": kind, "entryNodeId": node, "actionNodeId": f"A{place}"})
    robots = [
        {"robotId": f"R{n}", "nodeId": f"N{draw.randint(0, size - 1)}", "loadState": "empty", "speedMps": 2}
        | draw.choice([{}, {"battery": 0.4}, {"completionStatuses": [4]}])
        | draw.choice([{}, {"capacity": 2}, {"capacity": 3}])
        for n in range(draw.randint(1, 3))
    ]
    return {
        "kind": "fleet",
        "name": "drawn",
        "nodes": nodes,
        "edges": edges,
        "worksites": sites,
        "robots": robots,
        "streams": [stream(draw, n, names) for n in range(draw.choice([1, 2, 2, 3]))],
        "settings": {
            "dispatch": draw.choice(["nearest", "first", "optimal"]),
            "arbitration": draw.choice(["priority", "roundRobin", "quota", "preempt"]),
            "errorPolicy": draw.choice(["freeze", "recover"]),
            "maxWaitS": draw.choice([600, 20]),
            "leaseS": draw.choice([3600, 60]),
            "retryDelayS": 2,
            "chargePerS": 0.02,
        },
    }


def stream(draw: random.Random, number: int, sites: list[str]) -> dict[str, Any]:
    """From the places that mostly begin filled to those that mostly begin empty, or back, so that there is work."""
    here, there = (sites[1::2], sites[::2]) if number % 2 else (sites[::2], sites[1::2])
    if number == 2:
        here, there = sites[:2], sites[2:]
    picks = draw.sample(here, len(here))[: draw.choice([9, 2])]
    drops = draw.sample(there, len(there))[: draw.choice([9, 2])]
    kind = draw.choice(sorted(KINDS))
    params: dict[str, Any] = {"pickGroup": picks, "dropGroup": drops}
    if kind == "buffered" and len(drops) > 1:
        params |= {"bufferGroup": drops[:1], "dropGroup": drops[1:]}
    elif kind == "buffered":
        kind = "pickDrop"
    if kind == "replenish":
        params["threshold"] = draw.randint(1, len(drops))
    if kind == "batch":
        params |= {"batchSize": draw.randint(2, 3), "partial": True}
    if kind == "shuttle":
        params |= {"pickGroup": picks[:1], "dropGroup": drops[:1]}
    params["dropPolicy"] = {
        "selection": draw.choice(["first_available_in_order", "last_available_in_order"]),
        "commitDistanceM": draw.choice([0, 5, 100]),
    } | (draw.choice([{}, {}, {"accessRule": "preceding_empty"}]) if kind != "batch" else {})
    quota = draw.choice([{}, {"quota": 1}])
    return {"streamId": f"S{number}", "kind": kind, "priority": draw.choice([0, 1, -5]), "params": params, **quota}


# The machine

AFTER = st.sampled_from([10, 40, 0, 1, 100])
"""Ticks of work after a move."""


class FleetMachine(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 2**32), task_ids=st.booleans(), load_sensor=st.booleans())
    def begin(self, seed: int, task_ids: bool, load_sensor: bool) -> None:
        self.scene = read_fleet(document(random.Random(seed)))
        self.floor = SimFleet(
            self.scene, (), SimSettings(task_ids=task_ids, load_sensor=load_sensor, fork_ms=1000, fork_mps=1.0)
        )
        self.state = initial(self.scene)
        self.shadow = initial(self.scene)
        self.check = Invariants(self.scene)
        self.now = 0
        self.events: list[Event] = []
        self.told: list[tuple[str, list[FleetInput], int]] = []
        self.commands: list[RobotCommand] = []
        self.by_hand = 0
        """Pallets brought by people, less those taken away."""
        self.at_first = len(self.floor.pallets())
        self.deceived = False
        """Whether the books may differ from the floor without anybody being at fault."""

    # What may happen

    @rule(ticks=st.sampled_from([20, 1, 60, 200]))
    def work(self, ticks: int) -> None:
        for _ in range(ticks):
            self.tick()

    @rule(pick=st.integers(0, 9), fault=st.sampled_from(LASTING), seconds=st.integers(1, LONGEST_FAULT_S))
    def something_lasting_goes_wrong(self, pick: int, fault: str, seconds: int) -> None:
        self.inject(pick, fault, float(seconds))

    @rule(pick=st.integers(0, 9), fault=st.sampled_from(STRIKING))
    def something_goes_wrong(self, pick: int, fault: str) -> None:
        self.inject(pick, fault, None)

    @precondition(lambda self: self.state.tasks)
    @rule(
        pick=st.integers(0, 9),
        verb=st.sampled_from(TASK_VERBS),
        value=st.sampled_from([None, 0, 1, "nowhere"]),
        after=AFTER,
    )
    def somebody_speaks_to_a_task(self, pick: int, verb: str, value: Any, after: int) -> None:
        names = [*self.state.open_tasks, *reversed(self.state.tasks)]
        task_id = names[pick % len(names)]
        self.deceived = self.deceived or self.state.tasks[task_id].status in ("held", "stale")
        self.tick(TaskVerb(task_id, verb, self.target(value)))
        self.work(after)

    @rule(
        pick=st.integers(0, 9),
        verb=st.sampled_from(sorted(ROBOT_VERBS)),
        value=st.sampled_from(["empty", "loaded"]),
        after=AFTER,
    )
    def somebody_speaks_to_a_robot(self, pick: int, verb: str, value: str, after: int) -> None:
        robot_id = list(self.state.robots)[pick % len(self.state.robots)]
        self.tick(RobotVerb(robot_id, verb, value if verb == "set-load" else None))
        self.work(after)

    @rule(verb=st.sampled_from(["hold", "clear", "clear"]), after=AFTER)
    def somebody_speaks_to_the_fleet(self, verb: str, after: int) -> None:
        self.tick(FleetVerb(verb))
        self.work(after)

    @rule(pick=st.integers(0, 9), occupancy=st.sampled_from(["filled", "empty", "unknown"]), after=AFTER)
    def somebody_moves_a_pallet(self, pick: int, occupancy: Any, after: int) -> None:
        self.tick(PatchWorksite(self.place(pick), occupancy))
        self.work(after)

    @precondition(lambda self: self.state.streams)
    @rule(pick=st.integers(0, 9), enabled=st.booleans(), after=AFTER)
    def somebody_switches_a_stream(self, pick: int, enabled: bool, after: int) -> None:
        self.tick(PatchStream(list(self.state.streams)[pick % len(self.state.streams)], enabled))
        self.work(after)

    @rule(start=st.integers(0, 9), end=st.integers(0, 9), priority=st.sampled_from([0.0, 3.0]), after=AFTER)
    def somebody_asks_for_a_transport(self, start: int, end: int, priority: float, after: int) -> None:
        self.tick(RequestTransport(self.place(start), self.place(end), priority))
        self.work(after)

    @precondition(lambda self: self.state.decisions)
    @rule(pick=st.integers(0, 9), verb=st.integers(0, 9), value=st.sampled_from([None, None, 0, 1]), after=AFTER)
    def somebody_answers(self, pick: int, verb: int, value: Any, after: int) -> None:
        decision = list(self.state.decisions.values())[pick % len(self.state.decisions)]
        self.deceived = True  # They did not look before they answered.
        given = AnswerDecision(decision.id, decision.verbs[verb % len(decision.verbs)], self.target(value))
        self.tick(given)
        self.work(after)

    @rule(deaf=st.booleans(), snapshots=st.booleans(), after=AFTER)
    def the_runtime_crashes(self, deaf: bool, snapshots: bool, after: int) -> None:
        """Only the log is left, or the log from a snapshot on; robots are read first, if they answer."""
        self.state = self.back(self.events, snapshots)
        self.floor.settle(self.now)
        robots = [] if deaf else list(self.state.robots)
        reports = [report for robot in robots if (report := self.floor.read(robot, self.now)) is not None]
        self.decide("recover from a snapshot" if snapshots else "recover", list(reports))
        self.work(after)

    # What must hold

    @invariant()
    def the_books_are_in_order(self) -> None:
        if not hasattr(self, "state"):
            return
        assert self.check.violations == []
        state = self.state
        held = Counter(task.robot_id for task in map(state.tasks.__getitem__, state.open_tasks) if task.robot_id)
        assert all(count == 1 for count in held.values())
        for robot in state.robots.values():
            assert robot.task_id is None or state.tasks[robot.task_id].robot_id == robot.robot_id
        for task_id in state.open_tasks:
            task = state.tasks[task_id]
            if task.step == "pick":
                assert state.worksites[task.source_id].reserved_by == task_id
            assert state.worksites[task.target_id].reserved_by == task_id
        for site in state.worksites.values():
            assert (site.reserved_by is None) == (site.occupancy != "reserved")
            assert site.reserved_by is None or site.reserved_by in {*state.open_tasks, *state.robots}

    @invariant()
    def the_log_replays(self) -> None:
        if hasattr(self, "state"):
            assert snapshot(self.shadow) == snapshot(self.state)

    @invariant()
    def what_is_kept_beside_the_records_is_true(self) -> None:
        if not hasattr(self, "state"):
            return
        state = self.state
        fresh = restore(self.scene, snapshot(state))
        assert (state.untasked, state.on_errands) == (fresh.untasked, fresh.on_errands)
        assert (state.failing, state.pending) == (fresh.failing, fresh.pending)
        queue = Queue(Board(state, (), self.now))
        failing = {stream for site in state.failing for stream in state.users.get(site, ())}
        for stream_id, first in state.firsts.items():
            if stream_id not in failing:
                assert next(KINDS[state.streams[stream_id].kind].evaluate(queue.view(stream_id)), None) == first

    @invariant()
    def pallets_are_where_they_are_said_to_be(self) -> None:
        if not hasattr(self, "state"):
            return
        assert len(self.floor.pallets()) == self.at_first + self.by_hand
        state = self.state
        if self.deceived or state.decisions:
            return
        if any(state.tasks[task].command_state not in ("none", "due") for task in state.open_tasks):
            return
        if any(robot.orphan_key or robot.status != "online" for robot in state.robots.values()):
            return
        standing = {place.id for place in self.floor.pallets().values() if place.kind == "worksite"}
        for site in state.worksites.values():
            if site.lies in ("filled", "empty"):
                assert (site.lies == "filled") == (site.worksite_id in standing), site

    # The end

    def teardown(self) -> None:
        if not hasattr(self, "state"):
            return
        assert why_everything(self.state, self.now) is not None
        self.clear_up()
        self.the_books_are_in_order()
        self.the_log_replays()
        self.what_is_kept_beside_the_records_is_true()
        self.tell_again()

    def clear_up(self) -> None:
        """Faults pass, a sensible person answers everything; then the work there is gets done."""
        for _ in range(2 * LONGEST_FAULT_S):
            self.tick()
        for stream_id in self.state.streams:
            self.tick(PatchStream(stream_id, True))
        before, done = set(self.state.open_tasks), self.state.completed
        for _ in range(ROUNDS):
            self.see_to_everything()
            for _ in range(120):
                self.tick()
                if is_settled(self.state, self.now) and not self.state.decisions and not self.state.open_tasks:
                    return
            # Pallets that can go round for ever keep it busy; then it is enough that nothing old is left lying.
            if not before & set(self.state.open_tasks) and self.state.completed > done + 1:
                return
        raise AssertionError(f"Not everything got done: {why_everything(self.state, self.now)} {self.state.robots}")

    def see_to_everything(self) -> None:
        """All stands still, whatever is in doubt is aborted, forks are emptied, the books are set right, on it goes."""
        self.tick(FleetVerb("hold"))
        for robot_id in self.state.robots:
            self.tick(RobotVerb(robot_id, "out-of-service"))
        for decision in list(self.state.decisions.values()):
            late = decision.evidence.get("code") == "task.stale"
            verb = "resume" if late else "abort" if "abort" in decision.verbs else "release"
            self.tick(AnswerDecision(decision.id, verb))
        for _ in range(20):
            self.tick()
        for robot_id in self.state.robots:
            self.tick(RobotVerb(robot_id, "in-service"), RobotVerb(robot_id, "release"))
            if self.state.robots[robot_id].task_id is None:
                self.put_on(robot_id, False)
                self.tick(RobotVerb(robot_id, "set-load", "empty"))
        standing = {place.id for place in self.floor.pallets().values() if place.kind == "worksite"}
        for site in list(self.state.worksites.values()):
            lies = "filled" if site.worksite_id in standing else "empty"
            if site.worksite_type == "buffer" and (site.reserved_by is None or site.lies != lies):
                self.tick(PatchWorksite(site.worksite_id, lies))
        self.tick(FleetVerb("clear"))

    def tell_again(self) -> None:
        """The same inputs at the same times, from the beginning: the same bytes."""
        state = initial(self.scene)
        log: list[Event] = []
        commands: list[RobotCommand] = []
        for what, inputs, now in self.told:
            if what != "step":
                state, verdict = recover(self.back(log, what != "recover"), inputs, now)
            else:
                ahead = decide(state, inputs, now) if now % 5000 == 0 else None
                state, verdict = step(state, inputs, now)
                assert ahead in (None, verdict), "Deciding changes nothing, so doing it again gives the same."
            log += verdict.events
            commands += verdict.commands
        assert as_bytes(log) == as_bytes(self.events)
        assert commands == self.commands
        assert snapshot_text(state) == snapshot_text(self.state)

    def back(self, events: list[Event], snapshots: bool) -> FleetState:
        """The state after a crash: replayed from the log, or read from a snapshot."""
        state = initial(self.scene)
        for event in events:
            evolve(state, stored(event))
        return restore(self.scene, json.loads(snapshot_text(state))) if snapshots else state

    # Moves

    def tick(self, *asked: FleetInput) -> None:
        self.decide("step", [*self.floor.advance(self.now), *asked])

    def decide(self, what: str, inputs: list[FleetInput]) -> None:
        self.told.append((what, inputs, self.now))
        work_out = step if what == "step" else recover
        self.state, verdict = work_out(self.state, inputs, self.now)
        for event in verdict.events:
            self.events.append(event)
            self.check.see(event)
            evolve(self.shadow, stored(event))
            self.follow_by_hand(event, inputs)
        self.check.settle()
        for command in verdict.commands:
            self.commands.append(command)
            self.floor.command(command, self.now)
        self.now += 500

    def follow_by_hand(self, event: Event, inputs: list[FleetInput]) -> None:
        """What a person says they did, they did: pallets stand on the floor as told."""
        said = [one for one in inputs if not isinstance(one, tuple) and hasattr(one, "verb")]
        if event.kind == "worksiteUpdated":
            for one in inputs:
                if isinstance(one, PatchWorksite) and one.worksite_id == event.data["worksiteId"]:
                    self.put_at(one.worksite_id, one.occupancy)
        elif event.kind in ("palletPicked", "palletDropped") and any(one.verb == "done-by-hand" for one in said):
            self.deceived = True  # The robot may be at it too; who was first only the two of them know.
            here = "empty" if event.kind == "palletPicked" else "filled"
            self.put_at(event.data["worksiteId"], here)
            self.put_on(event.data["robotId"], event.kind == "palletPicked")
        elif event.kind == "robotUpdated" and any(one.verb in ("set-load", "unloaded") for one in said):
            self.deceived = True

    def put_at(self, site_id: str, occupancy: Any) -> None:
        before = len(self.floor.pallets())
        self.floor.set_occupancy(site_id, occupancy)
        self.by_hand += len(self.floor.pallets()) - before

    def put_on(self, robot_id: str, loaded: bool) -> None:
        before = len(self.floor.pallets())
        self.floor.set_load(robot_id, loaded)
        self.by_hand += len(self.floor.pallets()) - before

    def inject(self, pick: int, fault: str, seconds: float | None) -> None:
        robot_id = list(self.state.robots)[pick % len(self.state.robots)]
        self.deceived = self.deceived or fault in DECEIVING
        self.floor.inject(FaultSpec(at_s=0.0, robot_id=robot_id, fault=fault, for_s=seconds), self.now)  # type: ignore[arg-type]

    def place(self, pick: int) -> str:
        return list(self.state.worksites)[pick % len(self.state.worksites)]

    def target(self, value: Any) -> Any:
        return self.place(value) if isinstance(value, int) else value


def stored(event: Event) -> Event:
    """The event as it comes back from the log."""
    about, data = json.loads(json.dumps([event.about, event.data]))
    return Event(event.kind, about, data, event.ts, event.scene, event.correlation_id, event.owner)


def as_bytes(events: list[Event]) -> str:
    return "\n".join(json.dumps(event.wire()) for event in events)


FleetMachine.TestCase.settings = settings(max_examples=50, stateful_step_count=30)
TestFleetMachine = FleetMachine.TestCase
