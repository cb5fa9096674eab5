"""Our books against the record of strangers' robots: what we call done they did, and nothing is ordered too soon.

Robots of every character carry pallets while people hold, cancel, hand back and answer, orders and answers get lost,
lines are cut, robots fail, are cancelled by hand and forget, and our own process is killed and begins again. All of it
is drawn from a seed, which every failure names. People are truthful: who is asked goes and looks at the robot. What is
checked after that comes from the robots' own record and from the log alone.
"""

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Protocol

import httpx2
import pytest
from tests.contract.stranger_house import House, housed, strangers
from tests.contract.stranger_robot import CHARACTERS, Character, Fact, Floor, StrangerRobot, orders
from tests.contract.up_process import UpProcess

from beforehand.crafts.fleet.core.at_rest import is_settled
from beforehand.crafts.fleet.core.inputs import AnswerDecision, PatchWorksite, RobotVerb, TaskVerb
from beforehand.crafts.fleet.core.state import FleetState, evolve, initial
from beforehand.model.decision import Decision
from beforehand.model.event import Event, from_iso
from beforehand.model.fleet import FleetScene

EVERY = [
    Character(ids, shows, sensor)
    for ids, shows, sensor in product(
        ("ours", "theirs", "none"), ("always", "sometimes", "never"), ("right", "absent", "empty", "loaded")
    )
]
ACTS = {
    "nothing": 30, "answer": 25, "cut": 5, "connect": 14, "lose_order": 6, "lose_answer": 6, "fail": 3,
    "cancel_by_hand": 3, "restart": 3, "verb": 8, "hold": 2, "release": 5, "slow": 2, "kill": 6,
}  # fmt: skip
VERBS = ("redo", "resume", "cancel", "hand-back", "abort")
GIVEN = {"whole": {}, "parts": {"pickHeightM": 1.2}, "legs": {"trafficMode": "RESERVE"}}
"""How orders are given, with the settings for it: whole, in parts to robots that take single orders, or leg by leg."""


# -- what happens -----------------------------------------------------------------------------------------------------


class Trial:
    def __init__(self, house: House, seed: object) -> None:
        self.house = house
        self.dice = random.Random(f"{seed}/people")
        self.told: list[str] = []

    async def play(self, acts: int) -> None:
        for act in self.dice.choices(list(ACTS), weights=list(ACTS.values()), k=acts):
            self.told.append(act)
            await getattr(self, f"_{act}")()
            await asyncio.sleep(self.dice.uniform(0, 0.25))
        await self._end()

    async def _end(self) -> None:
        """All is mended, and whoever is asked answers, until everything lies where it should."""
        for robot in self.house.robots.values():
            robot.connect()
            robot.slow, robot.loses, robot.fails_next = 1.0, "", False
            await self.house.ask(RobotVerb(robot.name, "release"))
        async with asyncio.timeout(120):
            while True:
                await self._answer()
                if is_over(self.house):
                    return
                await asyncio.sleep(0.05)

    def _any(self) -> StrangerRobot:
        return self.dice.choice(list(self.house.robots.values()))

    # -- the machines

    async def _nothing(self) -> None:
        pass

    async def _cut(self) -> None:
        self._any().cut()

    async def _connect(self) -> None:
        for robot in self.house.robots.values():
            robot.connect()

    async def _lose_order(self) -> None:
        self._any().loses = "orders"

    async def _lose_answer(self) -> None:
        self._any().loses = "answers"

    async def _fail(self) -> None:
        self._any().fails_next = True

    async def _cancel_by_hand(self) -> None:
        """On its way: a 6 at the place, after the time that the work takes, counts as its end (contracts, §6)."""
        robot = self._any()
        if not robot.is_working:
            robot.cancel_by_hand()

    async def _restart(self) -> None:
        self._any().restart()

    async def _slow(self) -> None:
        self._any().slow = self.dice.choice((1.0, 3.0))

    async def _kill(self) -> None:
        await self.house.kill()
        await asyncio.sleep(self.dice.choice((0, 0.2, 1.0)))
        await self.house.open()

    # -- the people

    async def _verb(self) -> None:
        """Not where somebody is asked: who is asked looks first."""
        state = self.house.state
        asked = {decision.about.get("taskId") for decision in state.decisions.values()}
        tasks = [task_id for task_id in state.open_tasks if task_id not in asked]
        if tasks:
            await self.house.ask(TaskVerb(self.dice.choice(tasks), self.dice.choice(VERBS)))

    async def _hold(self) -> None:
        await self.house.ask(RobotVerb(self._any().name, "hold"))

    async def _release(self) -> None:
        for name in self.house.robots:
            await self.house.ask(RobotVerb(name, "release"))

    async def _answer(self) -> None:
        """Somebody goes to each robot that is asked about, and waits until it stands."""
        for decision in list(self.house.state.decisions.values()):
            robot = self.house.robots[decision.about["robotId"]]
            if (robot.is_busy and not robot.line_is_down) or "waitsFor" in decision.about:
                continue  # Who waits for ground goes on as soon as the other one does.
            if "taskId" in decision.about:
                await self._answer_about_task(decision, robot)
            else:
                robot.unload()
                verb = "unloaded" if "unloaded" in decision.verbs else "release"
                await self.house.ask(AnswerDecision(decision.id, verb))
                await self.house.ask(RobotVerb(robot.name, "set-load", "empty"))
        await self._look_at_places()

    async def _answer_about_task(self, decision: Decision, robot: StrangerRobot) -> None:
        if robot.is_busy:  # it cannot be reached, so it is stopped by hand first
            robot.cancel_by_hand()
        done = robot.is_loaded == (decision.evidence["step"] == "pick")
        others = [verb for verb in VERBS if verb in decision.verbs]
        verb = "done-by-hand" if done else self.dice.choice(others)
        await self.house.ask(AnswerDecision(decision.id, verb))
        if decision.id in self.house.state.decisions:  # refused: a way out that is always open
            assert not done or not self._fits(decision), f"{verb} is refused: {decision.title}"
            await self.house.ask(AnswerDecision(decision.id, "abort"))

    def _fits(self, decision: Decision) -> bool:
        """Whether the books have the place as the step needs it; else they are put right first."""
        site = self.house.state.worksites[decision.evidence["place"]]
        return site.lies == ("filled" if decision.evidence["step"] == "pick" else "empty")

    async def _look_at_places(self) -> None:
        for site in list(self.house.state.worksites.values()):
            if site.lies == "unknown" or site.failures >= 3:
                lies = "filled" if site.node_id in self.house.floor.pallets else "empty"
                await self.house.ask(PatchWorksite(site.worksite_id, lies))


def is_over(house: House) -> bool:
    state = house.state
    idle = not any(robot.is_busy for robot in house.robots.values())
    heard = all(robot.status == "online" for robot in state.robots.values())
    known = all(site.lies != "unknown" for site in state.worksites.values())
    quiet = not state.decisions and known and heard and idle
    return quiet and is_settled(state, house.clock.now_ms())


# -- what is compared -------------------------------------------------------------------------------------------------


class Compared(Protocol):
    """What has been played, at its end."""

    robots: dict[str, StrangerRobot]
    floor: Floor

    @property
    def state(self) -> FleetState: ...

    def events(self) -> list[Event]: ...


@dataclass
class Comparison:
    house: Compared
    wrong: list[str] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)

    def compare(self) -> list[str]:
        self.facts, self.events = list(self.house.floor.facts), self.house.events()
        self.sent = {event.data["key"]: event.seq for event in self.events if event.kind == "commandSent"}
        self._booked()
        self._ordered()
        self._at_the_end()
        for fact in self.facts:
            if fact.what == "collided":
                self.wrong.append(f"{fact.robot} was sent to {fact.operation} with its fork as after it: {fact}")
        self.seen.update(fact.what for fact in self.facts)
        self.seen.update(event.kind for event in self.events)
        return self.wrong

    def _booked(self) -> None:
        """Whatever is called done, and not by a person, is in the machine's record before, as often."""
        for kind, what in (("palletPicked", "loaded"), ("palletDropped", "unloaded")):
            booked: Counter[tuple[str, str]] = Counter()
            for event in self.events:
                if event.kind != kind or event.data.get("byHand"):
                    continue
                who = (event.data["robotId"], event.data["taskId"])
                booked[who] += 1
                done = [fact for fact in self.facts if fact.what == what and (fact.robot, task_of(fact)) == who]
                done = [fact for fact in done if fact.books <= event.seq]
                if len(done) < booked[who]:
                    self.wrong.append(f"{kind} of {who} at {event.seq} is in no record: {done}")

    def _ordered(self) -> None:
        """When an order goes out, everything that was done before at its robot or its place is known."""
        ends = [fact for fact in self.facts if fact.what in ("loaded", "unloaded")]
        for order in orders(self.facts):
            at = self.sent[order.key]
            for done in ends:
                before = self.sent[done.key] < at
                concerns = done.robot == order.robot or (done.node, done.operation) == (order.node, order.operation)
                if before and concerns and not self._is_known(done, at):
                    self.wrong.append(f"{order} was sent at {at}, and nobody knew of {done}")

    def _is_known(self, done: Fact, at: int) -> bool:
        """Whether it was booked by then, or somebody who was asked had said something of it since, or taken it off."""
        taken = [fact for fact in self.facts if fact.what == "taken off" and fact.robot == done.robot]
        if any(done.books <= fact.books <= at for fact in taken):
            return True
        kind = "palletPicked" if done.what == "loaded" else "palletDropped"
        for event in self.events[:at]:
            about_it = event.about.get("taskId") == task_of(done) and event.about.get("robotId") == done.robot
            if about_it and event.kind == kind and event.seq > self.sent[done.key]:
                return True
            looked = about_it or (event.about.get("robotId") == done.robot and "taskId" not in event.about)
            if looked and event.kind == "decisionAnswered" and event.seq > done.books:
                return True
        return False

    def _at_the_end(self) -> None:
        state, floor_ = self.house.state, self.house.floor
        for site in state.worksites.values():
            if site.worksite_type in ("pickup", "dropoff") and site.lies != "reserved":
                stands = site.node_id in floor_.pallets
                if (site.lies == "filled") != stands:
                    self.wrong.append(f"{site.worksite_id} is {site.lies} in the books; truly {stands}")
        for name, robot in self.house.robots.items():
            load = state.robots[name].load_state
            stuck = robot.character.sensor in ("empty", "loaded")
            if load != "unknown" and not stuck and (load == "loaded") != robot.is_loaded:
                self.wrong.append(f"{name} is {load} in the books; truly {robot.is_loaded}")


def task_of(fact: Fact) -> str:
    return re.sub(r"^[0-9a-z]{8}\.[0-9a-z]{8}-", "", fact.key.partition(":")[0])


async def played(
    home: Path, seed: int, acts: int, characters: tuple[Character, ...], given: str = "whole"
) -> Counter[str]:
    policy = random.Random(seed).choice(("recover", "freeze", "recover"))
    characters = taking(given, characters)
    names = f"{given} for {'; '.join(character.name for character in characters)}"
    async with housed(home, characters, 2 + len(characters), policy, seed, **GIVEN[given]) as house:
        trial = Trial(house, seed)
        try:
            await trial.play(acts)
        except BaseException as error:
            stuck = [decision.title for decision in house.state.decisions.values()]
            tasks = [house.state.tasks[one] for one in house.state.open_tasks]
            for said in (f"seed {seed}, {policy}: {names}", " ".join(trial.told), str(stuck), str(tasks)):
                error.add_note(said)
            for robot in house.state.robots.values():
                error.add_note(f"{robot} {house.state.seen[robot.robot_id].report}")
            error.add_note("\n".join((*map(str, house.floor.facts), *told(house.events()))))
            raise
        return judged(f"seed {seed}, {policy}: {names}", house) + Counter(trial.told)


def taking(given: str, characters: Iterable[Character]) -> tuple[Character, ...]:
    kind = "single" if given == "parts" else "whole"
    return tuple(replace(character, orders=kind) for character in characters)


def judged(story: str, house: Compared) -> Counter[str]:
    """Fails with everything that is wrong; else how often what came."""
    comparison = Comparison(house)
    if wrong := comparison.compare():
        pytest.fail("\n".join((story, *wrong, *map(str, comparison.facts), *told(comparison.events))))
    return comparison.seen


SHOWN = {
    "commandSent": ("robotId", "key"),
    "palletPicked": ("taskId", "robotId", "worksiteId", "byHand"),
    "palletDropped": ("taskId", "robotId", "worksiteId", "byHand"),
    "decisionOpened": ("id", "title"),
    "decisionAnswered": ("id", "answer"),
    "taskUpdated": ("taskId", "robotId", "status", "step", "commandState", "then", "inDoubt", "trace", "errorCode"),
    "worksiteUpdated": ("worksiteId", "occupancy", "occupancyBefore"),
}


def told(events: list[Event]) -> Iterator[str]:
    """The log in short, for whoever reads a failure."""
    for event in events:
        if event.kind in SHOWN:
            said = [event.data[name] for name in SHOWN[event.kind] if event.data.get(name) is not None]
            yield f"{event.seq} {event.ts % 1_000_000 / 1000} {event.kind} {json.dumps(said, default=str)[:400]}"


STORIES = 10
"""How many each part of the long form plays."""
SHORT = [
    (1, "whole", CHARACTERS[0:2]),
    (2, "whole", CHARACTERS[2:4]),
    (3, "whole", CHARACTERS[4:6]),
    (4, "whole", CHARACTERS[5:7]),
    (5, "parts", CHARACTERS[1:3]),
    (6, "legs", CHARACTERS[3:5]),
]


@pytest.mark.parametrize(("seed", "given", "characters"), SHORT, ids=[f"{seed}-{given}" for seed, given, _ in SHORT])
async def test_what_is_called_done_was_done_and_nothing_is_ordered_too_soon(
    tmp_path: Path, seed: int, given: str, characters: tuple[Character, ...]
) -> None:
    seen = await played(tmp_path, seed, 12, characters, given)
    assert seen["loaded"]
    assert seen["palletPicked"]


@pytest.mark.soak
@pytest.mark.timeout(3000)
@pytest.mark.parametrize(("part", "given"), list(enumerate(("whole", "whole", "parts", "legs"))))
async def test_what_is_called_done_was_done_in_many_stories(
    tmp_path_factory: pytest.TempPathFactory, part: int, given: str
) -> None:
    dice = random.Random(part)
    seen: Counter[str] = Counter()
    for seed in range(1000 * (part + 1), 1000 * (part + 1) + STORIES):
        characters = tuple(dice.sample(EVERY, 3))
        seen += await played(tmp_path_factory.mktemp("story"), seed, 40, characters, given)
    for what in ("loaded", "unloaded", "failed", "forgotten", "cancelled", "kill", "cut", "decisionAnswered"):
        assert seen[what], f"{what} never came"


# -- a process of its own ---------------------------------------------------------------------------------------------


@dataclass
class ServerHouse:
    """The same fleet behind `beforehand up`, whose process is killed by SIGKILL."""

    scene: FleetScene
    robots: dict[str, StrangerRobot]
    floor: Floor
    up: UpProcess

    async def open(self) -> None:
        self.floor.books = self.up.length
        await self.up.start(self.scene.wire())

    def events(self) -> list[Event]:
        return [
            Event(one["kind"], one["about"], one["data"], from_iso(one["ts"]), one.get("scene"), seq=one["seq"])
            for one in self.up.events()
        ]

    @property
    def state(self) -> FleetState:
        state = initial(self.scene)
        for event in self.events():
            evolve(state, event)
        return state

    async def answer(self, dice: random.Random) -> int:
        """Somebody looks at each robot that is asked about and stands. Gives how many questions are open."""
        asked = await self.up.call("GET", "/inbox")
        for decision in asked:
            robot, verbs = self.robots[decision["about"]["robotId"]], decision["verbs"]
            if robot.is_busy or "waitsFor" in decision["about"]:
                continue
            if "taskId" not in decision["about"]:
                robot.unload()
                await self._tell(f"/inbox/{decision['id']}", {"verb": "unloaded" if "unloaded" in verbs else "release"})
            elif robot.is_loaded == (decision["evidence"]["step"] == "pick"):
                await self._tell(f"/inbox/{decision['id']}", {"verb": "done-by-hand"})
            else:
                verb = dice.choice([verb for verb in VERBS if verb in verbs])
                await self._tell(f"/inbox/{decision['id']}", {"verb": verb})
        for site in await self.up.call("GET", "/worksites"):
            if site["occupancy"] == "unknown" or site.get("failures", 0) >= 3:
                lies = "filled" if site["entryNodeId"] in self.floor.pallets else "empty"
                await self.up.call("PATCH", f"/worksites/{site['worksiteId']}", {"occupancy": lies})
        return len(asked)

    async def _tell(self, path: str, body: dict[str, str]) -> None:
        """What has settled itself meanwhile is refused."""
        with suppress(httpx2.HTTPError):
            await self.up.call("POST", path, body)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("seed", "given"), list(enumerate(("whole", "whole", "whole", "parts", "legs"))))
async def test_what_a_killed_server_calls_done_was_done(tmp_path: Path, seed: int, given: str) -> None:
    """With the times as they are; the server is killed twelve times, mostly while robots are at work."""
    dice = random.Random(seed)
    characters = taking(given, (Character("none", "always", "right"), *dice.sample(CHARACTERS, 2)))
    quick = GIVEN[given] | {"startTimeoutS": 3, "offlineAfterS": 2, "tickS": 0.1, "retryDelayS": 0.2}
    with strangers(characters, 8, "recover", seed, **quick) as (scene, robots, ground):
        for robot in robots.values():
            robot.slow = 8.0
        house = ServerHouse(scene, robots, ground, UpProcess(tmp_path))
        await house.open()
        try:
            for _ in range(12):
                await asyncio.sleep(dice.uniform(0.2, 4.0))
                await house.answer(dice)
                if dice.random() < 0.3:
                    dice.choice(list(robots.values())).loses = dice.choice(("orders", "answers"))
                await house.up.kill()
                await asyncio.sleep(dice.choice((0.0, 0.5, 4.0)))
                await house.open()
            async with asyncio.timeout(200):
                while True:
                    if not await house.answer(dice) and over(house.state, house.robots):
                        break
                    await asyncio.sleep(0.3)
        except BaseException as error:
            error.add_note("\n".join((*map(str, ground.facts), *told(house.events()))))
            raise
        finally:
            await house.up.kill()
        seen = judged(f"seed {seed}, {given}: {characters}", house)
        assert seen["loaded"] >= 4


def over(state: FleetState, robots: dict[str, StrangerRobot]) -> bool:
    """Whether nothing is open and no pallet waits that some robot could fetch."""
    waits = any(site.lies == "filled" for site in state.worksites.values() if site.worksite_type == "pickup")
    room = any(site.lies == "empty" for site in state.worksites.values() if site.worksite_type == "dropoff")
    return not (state.open_tasks or (waits and room) or any(robot.is_busy for robot in robots.values()))
