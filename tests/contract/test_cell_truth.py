"""Our books against the log of a stranger's PLC: what we call completed really happened, and nothing happened twice.

A run of welds goes on while a person moves the robot by hand, changes its tools, pauses, resumes, cancels and answers
what is asked; the PLC fails, stays, sticks, forgets and restarts; the network is cut or freezes; and our own process is
killed and opened again. All of it is drawn from a seed, which every failure names. What is checked after that comes
from the PLC's own record and from the event log alone.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any, Protocol

import httpx2
import pytest
from tests.contract.cell_site import SCENE, Wire, Wired, cell_site, hurry, within
from tests.contract.stranger_plc import NEEDS, NO_TOOL, Command, Fact, Fate, StrangerPlc
from tests.contract.up_process import UpProcess

from beforehand.app.examples import find_document

pytestmark = pytest.mark.needs("asyncua")

STORIES = 20
"""How many of each version the long form plays, in about three minutes for both."""
Document = dict[str, Any]
TEXTS = ("weld 1 and 2", "weld 3", "weld 1, then go home", "go to 2", "attach the camera", "release the tool")
TOOL_OF = {"tack_weld": "Welder"}
PLACES = [place["name"] for place in find_document(SCENE)["positions"]]
TOOLS = (NO_TOOL, "Welder", "Camera")
EDGES = {tuple(move) for move in find_document(SCENE)["moves"]}
EDGES |= {(there, here) for here, there in EDGES}
ACTS = {
    "nothing": 30, "answer": 40, "hand": 6, "change_tool": 4, "say_where": 2, "pause": 4, "resume": 8, "cancel": 1,
    "cut": 4, "freeze": 3, "mend": 10, "restart": 5, "forget": 3, "fall_silent": 2, "kill": 5,
}  # fmt: skip
AT_WORST = ("restart", "forget", "kill", "cut", "freeze")
"""What mostly comes in the middle of a command."""


class House(Protocol):
    """Whoever commands the PLC, with the line between them."""

    plc: StrangerPlc
    refusals: tuple[type[Exception], ...]

    async def start(self, text: str) -> str: ...

    async def decisions(self) -> list[Document]: ...

    async def answer(self, asked: Document, verb: str) -> None: ...

    async def steer(self, verb: str, run_id: str) -> None: ...

    async def say_where(self, position: str, tool: str) -> None: ...

    async def kill(self) -> None: ...

    async def open(self) -> None: ...

    async def cut(self) -> None: ...

    async def connect(self) -> None: ...

    def freeze(self) -> None: ...

    def thaw(self) -> None: ...

    def events(self) -> list[Document]: ...


# -- what happens -----------------------------------------------------------------------------------------------------


class Trial:
    """One story. `pace_s` is how long a person thinks at most before the next act."""

    def __init__(self, house: House, seed: object, pace_s: float = 0.15, patience_s: float = 15.0) -> None:
        self.house, self.plc = house, house.plc
        self.dice = random.Random(f"{seed}/people")
        self.luck = random.Random(f"{seed}/machine")
        self.pace_s, self.patience_s = pace_s, patience_s
        self.run_id = ""
        self.told: list[str] = []
        """What people did, for whoever reads a failure."""

    async def play(self, acts: int) -> None:
        self.plc.fate, self.plc.before_judged = self._fate, self._before_judged
        self.run_id = await self.house.start(TEXTS[0])
        for act in self.dice.choices(list(ACTS), weights=list(ACTS.values()), k=acts):
            self.told.append(act)
            if act in AT_WORST:
                await self._middle()
            with suppress(*self.house.refusals):
                await getattr(self, f"_{act}")()
            await self._pause_for(self.dice.uniform(0, self.pace_s))
        await self._end()

    async def _pause_for(self, seconds: float) -> None:
        """Until the machine has done something, or so long."""
        facts = len(self.plc.truth)
        await within(seconds, lambda: len(self.plc.truth) > facts)

    async def _middle(self) -> None:
        """Until the robot is at something, or not for long: what happens then is worst."""
        await within(2 * self.pace_s, lambda: self.plc.busy or self._is_over())

    # -- the machine and its people -----------------------------------------------------------------------------------

    def _fate(self, command: Command) -> Fate:
        drawn = self.luck.random()
        hand = (self.luck.choice([command["position"] or "Home", *PLACES]), self.luck.choice(TOOLS))
        fates = (Fate(hand=hand), Fate(hand_after=hand), Fate(fails=True), Fate(stays=True), Fate(sticks=True))
        return fates[int(drawn / 0.025)] if drawn < 0.025 * len(fates) else Fate()

    def _before_judged(self, command: Command) -> None:
        if self.luck.random() < 0.06 and not self.plc.busy:
            self.plc.hand(self.luck.choice([self.plc.position, *PLACES]) or "Home", self.luck.choice(TOOLS))

    async def _hand(self) -> None:
        self.plc.hand(self.dice.choice(PLACES), self.plc.tool)

    async def _change_tool(self) -> None:
        self.plc.hand(self.plc.position or self.dice.choice(PLACES), self.dice.choice(TOOLS))

    async def _forget(self) -> None:
        self.plc.forget()

    async def _fall_silent(self) -> None:
        self.plc.mute = True

    async def _restart(self) -> None:
        await self.plc.restart(remembers=self.dice.random() < 0.6, goes_on=self.dice.random() < 0.5)

    async def _cut(self) -> None:
        await self.house.cut()

    async def _freeze(self) -> None:
        self.house.freeze()

    async def _mend(self) -> None:
        self.plc.mute = False
        self.house.thaw()
        await self.house.connect()

    async def _kill(self) -> None:
        await self.house.kill()
        if self.dice.random() < 0.5:  # while nobody looks
            await self._pause_for(0.3)
            if self.dice.random() < 0.5:
                await self._hand()
        await self.house.open()

    # -- what is asked of us ------------------------------------------------------------------------------------------

    async def _begin(self) -> None:
        """A run of something, from wherever the robot stands."""
        if not self.plc.position and not self.plc.busy:
            await self._hand()
        self.run_id = await self.house.start(self.dice.choice(TEXTS))

    async def _nothing(self) -> None:
        """They wait, and where nothing is under way any more they begin something."""
        if self._is_over():
            await self._begin()

    async def _pause(self) -> None:
        await self.house.steer("pause", self.run_id)

    async def _resume(self) -> None:
        await self.house.steer("resume", self.run_id)

    async def _cancel(self) -> None:
        await self.house.steer("cancel", self.run_id)

    async def _say_where(self) -> None:
        if self.plc.position:
            await self.house.say_where(self.plc.position, self.plc.tool)

    async def _answer(self) -> None:
        asked = await self.house.decisions()
        if asked:
            await self._answer_to(self.dice.choice(asked))

    async def _answer_to(self, asked: Document) -> None:
        """`happened` only by somebody who has looked what the robot did; all else as it comes."""
        kind, about = asked["kind"], asked["about"]
        verbs = {"drift": ("check-again", "check-again", "replan", "replan", "skip")}
        verbs |= {"failure": ("retry", "retry", "retry", "skip"), "silent": ("wait", "wait", "stop")}
        verbs = verbs if self.dice.random() < 0.95 else {}
        verb = self.dice.choice(verbs.get(kind, tuple(asked["verbs"])))
        if kind == "inDoubt":
            key = Books(self.house.events()).last_key(about["runId"], about["stepId"])
            ends = self.plc.of("ended", key)
            if not ends and self.plc.of("begun", key):
                self.plc.unjam()  # they have it stop before they answer anything
                return
            verb = self.dice.choice(("run-again",) * 9 + ("abort",))
            if ends and is_done(ends[-1], command_of(self.plc, key)):
                verb = "happened"
        if verb in ("check-again", "retry", "run-again") and self.dice.random() < 0.8:
            self._put_right(asked)
        self.told.append(f"{verb} to {kind} of {about.get('stepId')}")
        await self.house.answer(asked, verb)

    def _put_right(self, asked: Document) -> None:
        """They put the robot where the step needs it, with the tool that it needs."""
        evidence = asked.get("evidence", {})
        args, needs = evidence.get("args", {}), evidence.get("difference", {}).get("planned", {})
        if args.get("position"):
            held = {"tool_attach": NO_TOOL, "tool_release": args.get("tool"), **TOOL_OF}[args["target"]]
            self.plc.hand(args["position"], held)
        elif asked["kind"] == "drift" and needs.get("current_position"):
            self.plc.hand(needs["current_position"], needs.get("current_tool") or self.plc.tool)
        elif not self.plc.position:
            self.plc.hand(self.dice.choice([here for here, there in sorted(EDGES) if there == args["target"]]), NO_TOOL)

    # -- the end ------------------------------------------------------------------------------------------------------

    def _is_over(self) -> bool:
        return Books(self.house.events()).is_over(self.run_id)

    async def _end(self) -> None:
        """Everything works again, and what is asked is answered; what takes too long is cancelled."""
        self.plc.fate, self.plc.before_judged = lambda command: Fate(), lambda command: None
        await self._mend()
        cancel_at = _now() + self.patience_s / 2
        give_up = _now() + self.patience_s
        while not self._is_over():
            assert _now() < give_up, f"The run {self.run_id} does not come to an end."
            with suppress(*self.house.refusals):
                await (self._cancel() if _now() > cancel_at else self._resume())
            for asked in await self.house.decisions():
                with suppress(*self.house.refusals):
                    await self._answer_to(asked)
            await self._pause_for(self.pace_s)
        self.plc.unjam()
        await self.plc.idle()


def _now() -> float:
    return asyncio.get_running_loop().time()


# -- what must be true ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Books:
    """The event log, read by somebody who knows its events and none of our code."""

    events: list[Document]

    def updates(self, run_id: str, step_id: str) -> list[Document]:
        return self._about("stepUpdated", run_id, step_id)

    def answers(self, run_id: str, step_id: str) -> list[Document]:
        return self._about("decisionAnswered", run_id, step_id)

    def _about(self, kind: str, run_id: str, step_id: str) -> list[Document]:
        wanted = {"runId": run_id, "stepId": step_id}
        return [event for event in self.events if event["kind"] == kind and wanted.items() <= event["about"].items()]

    def steps(self) -> list[tuple[str, str]]:
        told = [event["about"] for event in self.events if event["kind"] == "stepUpdated"]
        return list(dict.fromkeys((about["runId"], about["stepId"]) for about in told))

    def last_key(self, run_id: str, step_id: str) -> str:
        attempts = [event["data"]["attempt"] for event in self.updates(run_id, step_id) if "attempt" in event["data"]]
        return f"{run_id}/{step_id}/{attempts[-1]}"

    def is_over(self, run_id: str) -> bool:
        return any(event["kind"] == "runFinished" and event["about"]["runId"] == run_id for event in self.events)


@dataclass(slots=True)
class Comparison:
    """The books beside what really happened. `wrong` says each thing that does not fit."""

    plc: StrangerPlc
    books: Books
    wrong: list[str] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)

    def compare(self) -> list[str]:
        self.wrong += self.plc.troubles
        self.wrong += [f"a bug: {e['data']['title']}" for e in self.books.events if e["data"].get("kind") == "bug"]
        for step in self.books.steps():
            self._completed(*step)
        begun = self.plc.of("begun")
        self.wrong += [f"{id} was begun {n} times" for id, n in Counter(fact.id for fact in begun).items() if n > 1]
        for at, fact in enumerate(begun):
            for earlier in begun[:at]:
                if _parts(earlier)[0] == _parts(fact)[0] and not self._is_settled(earlier, fact):
                    self.wrong.append(f"{fact.id} was begun while nobody had settled {earlier.id}")
            self._fits_its_state(fact)
        return self.wrong

    def _completed(self, run_id: str, step_id: str) -> None:
        """What is completed without a person's `happened` was done by the robot, before it was written down."""
        before = ""
        for event in self.books.updates(run_id, step_id):
            status, attempt = event["data"]["status"], event["data"].get("attempt")
            self.seen[status] += status != before
            if status == "completed":
                key = f"{run_id}/{step_id}/{attempt}"
                if before == "inDoubt":
                    asked = [e for e in self.books.answers(run_id, step_id) if e["seq"] < event["seq"]]
                    said = [e["data"]["answer"]["verb"] for e in asked]
                    self._expect("happened" in said, f"{key} is completed out of a doubt, by nobody")
                else:
                    ends = [fact for fact in self.plc.of("ended", key) if fact.books < event["seq"]]
                    done = bool(ends) and is_done(ends[-1], command_of(self.plc, key))
                    self._expect(done, f"{key} is called completed; what ended: {ends}")
            elif status == "failed" and before == "running":
                self._failed(f"{run_id}/{step_id}/{attempt}")
            before = status

    def _failed(self, key: str) -> None:
        """What is called failed, and not by a person, did not come to what it was for."""
        ends = self.plc.of("ended", key)
        was_done = bool(ends) and is_done(ends[-1], command_of(self.plc, key))
        self._expect(not was_done, f"{key} is called failed; what ended: {ends}")
        self._expect(len(ends) == len(self.plc.of("begun", key)), f"{key} is called failed, and is under way")

    def _is_settled(self, earlier: Fact, fact: Fact) -> bool:
        """Whether the books knew, when something else began, what had become of this, or a person had answered."""
        run_id, step_id, attempt = _parts(earlier)
        known = [event["data"] for event in self.books.updates(run_id, step_id) if event["seq"] <= fact.books]
        ends = ("completed", "failed")  # whether that is true is looked at by itself
        if any(data["status"] in ends and data.get("attempt") == attempt for data in known):
            return True
        said = [event for event in self.books.answers(run_id, step_id) if earlier.books < event["seq"] <= fact.books]
        return any(event["data"]["kind"] == "inDoubt" for event in said)

    def _fits_its_state(self, fact: Fact) -> None:
        """By version 2 no command begins where or with what it was not made for."""
        command = command_of(self.plc, fact.id)
        self._expect(command["actionAfter"] == "", f"{fact.id} has an action after it")
        if self.plc.version == 1:
            self._expect(not set(NEEDS) & set(command), f"{fact.id} says what version 1 does not take")
            return
        needs = tuple(command[name] for name in NEEDS)
        self._expect(needs == (fact.position, fact.tool), f"{fact.id} needed {needs}; it began so: {fact}")
        if command["kind"] == "move":
            self._expect((fact.position, fact.target) in EDGES, f"{fact.id} begins where no move leads there: {fact}")
        else:
            held = {"tool_attach": NO_TOOL, "tool_release": command["tool"], **TOOL_OF}[fact.target]
            fits = (fact.position, fact.tool) == (command["position"], held)
            self._expect(fits, f"{fact.id} is for {command['position']} with {held}; it began so: {fact}")

    def _expect(self, true: bool, says: str) -> None:
        if not true:
            self.wrong.append(says)


def _parts(fact: Fact) -> tuple[str, str, int]:
    name, step_id, attempt = fact.id.split("/")[-3:]
    return name.rpartition("-")[2], step_id, int(attempt)


def command_of(plc: StrangerPlc, key: str) -> Command:
    return next(command for command in reversed(plc.executed) if command["id"].endswith(key))


def is_done(end: Fact, command: Command) -> bool:
    """Whether this end is what the command is for."""
    if end.how != "done":
        return False
    if command["kind"] == "move":
        return end.position == command["target"]
    held = {"tool_attach": command["tool"], "tool_release": NO_TOOL, **TOOL_OF}[command["target"]]
    return (end.position, end.tool) == (command["position"], held)


def judged(seed: object, trial: Trial) -> Counter[str]:
    """Fails with everything that is wrong, and the seed; else how often what came."""
    compared = Comparison(trial.plc, Books(trial.house.events()))
    if wrong := compared.compare():
        lines = [f"seed {seed}", *wrong, " ".join(trial.told), *map(str, trial.plc.truth)]
        lines += [json.dumps(event, default=str)[:400] for event in compared.books.events[3:]]
        pytest.fail("\n".join(lines))
    compared.seen.update(fact.what for fact in trial.plc.truth)
    compared.seen.update(trial.told)
    return compared.seen


async def played(folder: Path, version: int, seed: int, acts: int) -> Counter[str]:
    dice = random.Random(f"{seed}/{version}")
    character: Document = {
        "version": version,
        "stops_at_once": dice.random() < 0.5,
        "declares": dice.random() < 0.8,
        "lag_s": dice.choice((0.0, 0.0, 0.05, 0.3)),
        "clock_ahead_ms": dice.choice((0, 90_000, -90_000)),
        "seed": seed,
    }
    async with cell_site(folder, speed=20.0, **character) as site:
        trial = Trial(site, f"{seed}/{version}")
        try:
            await trial.play(acts)
        except BaseException as error:
            error.add_note(f"seed {seed}, version {version}: {' '.join(trial.told)}")
            raise
        return judged(f"{seed}, version {version}", trial)


# -- in one process ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "seed"), [(2, 6), (1, 4), (2, 5)])
async def test_what_is_completed_has_happened_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, seed: int
) -> None:
    hurry(monkeypatch)
    seen = await played(tmp_path, version, seed, acts=8)
    assert seen["begun"]
    assert seen["completed"]


@pytest.mark.soak
@pytest.mark.parametrize("version", [1, 2])
async def test_what_is_completed_has_happened_once_in_many_stories(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    hurry(monkeypatch)
    folders = map(tmp_path_factory.mktemp, repeat("story"))
    seen: Counter[str] = Counter()
    for seed in range(100, 100 + STORIES):
        seen += await played(next(folders), version, seed, acts=25)
    comes = {"completed", "failed", "inDoubt", "skipped", "begun", "hand", "kill", "restart", "cut"}
    for what in comes | ({"refused"} if version == 2 else set()):
        assert seen[what], f"{what} never came"


# -- a process of its own ---------------------------------------------------------------------------------------------


class ServerHouse(Wired):
    """`beforehand up` as a process of its own."""

    refusals: tuple[type[Exception], ...] = (httpx2.HTTPError,)

    def __init__(self, folder: Path, plc: StrangerPlc) -> None:
        self.plc = plc
        self.line = Wire(plc.port)
        self.up = UpProcess(folder, BEFOREHAND_SPEED="20")
        self.kill, self.events = self.up.kill, self.up.events
        plc.books = self.up.length

    async def open(self) -> None:
        await self.connect()
        controller = {"kind": "opcua", "url": f"opc.tcp://127.0.0.1:{self.line.port}/plc"}
        await self.up.start({**find_document(SCENE), "controller": controller})

    async def start(self, text: str) -> str:
        plan = await self.up.call("POST", "/plans", {"scene": SCENE, "text": text})
        run = await self.up.call("POST", f"/plans/{plan['id']}/runs", {"version": plan["version"]})
        return str(run["runId"])

    async def decisions(self) -> list[Document]:
        return [row for row in await self.up.call("GET", "/inbox") if row["kind"] != "review"]

    async def answer(self, asked: Document, verb: str) -> None:
        await self.up.call("POST", f"/inbox/{asked['id']}", {"verb": verb})

    async def steer(self, verb: str, run_id: str) -> None:
        await self.up.call("POST", f"/runs/{run_id}/{verb}")

    async def say_where(self, position: str, tool: str) -> None:
        await self.up.call("PATCH", f"/cells/{SCENE}", {"position": position, "tool": tool})


@asynccontextmanager
async def server_house(folder: Path, **plc: Any) -> AsyncIterator[ServerHouse]:
    made = ServerHouse(folder, StrangerPlc(**plc))
    await made.plc.start()
    try:
        await made.open()
        yield made
    finally:
        await made.kill()
        await made.cut()
        await made.plc.close()


@pytest.mark.soak
@pytest.mark.parametrize(("version", "seed"), [(2, 11), (1, 12)])
async def test_what_a_killed_server_calls_completed_has_happened_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, seed: int
) -> None:
    """With the times as they are, so people take theirs, too; and the server is killed again and again."""
    monkeypatch.setitem(ACTS, "kill", 15)
    async with server_house(tmp_path, version=version, lag_s=0.05, seed=seed) as house:
        trial = Trial(house, seed, pace_s=1.0, patience_s=90.0)
        try:
            await trial.play(acts=60)
        except BaseException as error:
            error.add_note(f"seed {seed}, version {version}: {' '.join(trial.told)}")
            raise
        seen = judged(f"{seed}, version {version}", trial)
        assert seen["kill"]
        assert seen["completed"]
