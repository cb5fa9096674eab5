"""A PLC by a stranger: its maker has read docs/robots.md, "Cells over OPC UA", and nothing else of ours.

It moves one robot in real time, a short command at a time, and keeps a log of its own of what the robot really did
(`truth`), whatever it tells others. A person's hand can move its robot or change the tool at any moment. What else goes
wrong is chosen for each command (`Fate`), or for the whole machine: late, forgetful, silent about positions, restarted.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tests.contract.plcs import share_standard_nodes
from tests.contract.vda5050_rig import free_port

MODEL = "urn:beforehand:cell:{version}"
NO_TOOL = "none"
LAPSES_S = 5.0
TICKS = 4
"""In how many parts the robot does a command; the middle of it lies between the second and the third."""
FIELDS = {
    "client": "String",
    "id": "String",
    "deadline": "Int64",
    "kind": "String",
    "target": "String",
    "position": "String",
    "tool": "String",
    "stabilize": "Double",
    "verify": "String",
    "actionAfter": "String",
    "expectedS": "Double",
    "needsPosition": "String",
    "needsTool": "String",
}
NEEDS = ("needsPosition", "needsTool")
METHODS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "Place": (
        {"client": "String", "position": "String", "tool": "String"},
        {"taken": "Boolean", "code": "String", "says": "String"},
    ),
    "Execute": ({}, {"taken": "Boolean", "code": "String", "says": "String"}),
    "Probe": (
        {"id": "String"},
        {
            "status": "String",
            "position": "String",
            "tool": "String",
            "says": "String",
            "memory": "String",
            "now": "Int64",
        },
    ),
    "Stop": ({"id": "String"}, {}),
    "Heartbeat": (
        {"client": "String"},
        {"granted": "Boolean", "controlledBy": "String", "now": "Int64", "memory": "String"},
    ),
    "Release": ({"client": "String"}, {}),
}
Command = dict[str, Any]
"""What Execute was given, by the names of the document."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that really happened, and in `books` how far the log of whoever commands had come by then."""

    what: Literal["begun", "ended", "refused", "hand"]
    id: str = ""
    how: str = ""
    """Of an end done, failed or stopped; of a refusal its code."""
    kind: str = ""
    target: str = ""
    position: str = ""
    """Where the robot was when this began, or where it is since."""
    tool: str = NO_TOOL
    books: int = 0


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one command. Without any of these it is done."""

    hand: tuple[str, str] | None = None
    """In the middle of it a person puts the robot there, with that tool; it ends there and says done."""
    hand_after: tuple[str, str] | None = None
    """The same right after its end, so that Probe and State say different things, and both are true."""
    fails: bool = False
    """It fails in the middle."""
    stays: bool = False
    """A move ends where it began, and says done."""
    sticks: bool = False
    """In the middle it stops for good. Probe calls it done, State shows it running, until it is stopped."""


@dataclass(frozen=True, slots=True)
class Known:
    """What Probe says of an id."""

    status: str
    position: str = ""
    tool: str = ""
    says: str = ""


class StrangerPlc:
    def __init__(
        self,
        version: int = 2,
        *,
        position: str = "Home",
        tool: str = NO_TOOL,
        declares: bool = True,
        stops_at_once: bool = True,
        lag_s: float = 0.0,
        clock_ahead_ms: int = 0,
        seed: object = 0,
    ) -> None:
        self.port = free_port()
        self.version = version
        self.declares = declares
        """Whether Execute has InputArguments; the order of those of version 2 is the maker's own."""
        self.stops_at_once = stops_at_once
        self.lag_s = lag_s
        """How much later State shows what has happened."""
        self.clock_ahead_ms = clock_ahead_ms
        self.takes_s = (0.02, 0.08)
        self.position, self.tool = position, tool
        self.mute = self.probe_names_no_place = False
        """Says nothing about positions and tools any more, anywhere or as the answer of Probe."""
        self.fate: Callable[[Command], Fate] = lambda command: Fate()
        self.before_judged: Callable[[Command], None] = lambda command: None
        """Called when Execute has arrived, before the PLC looks at the state of its robot."""
        self.books: Callable[[], int] = lambda: 0
        self.truth: list[Fact] = []
        self.executed: list[Command] = []
        """All that Execute was given, taken or not."""
        self.asked: Counter[str] = Counter()
        """How often each method was called."""
        self.troubles: list[str] = []
        """What no client should send, and mistakes in here."""
        self._answers: dict[str, Callable[..., Sequence[Any]]] = {
            "Heartbeat": self._heartbeat,
            "Release": self._release,
            "Execute": self._execute,
            "Stop": self._stop_id,
            "Probe": self._probe,
            "Place": self._place,
        }
        self._dice = random.Random(f"{seed}/plc")
        self._known: dict[str, Known] = {}
        self._memories = 0
        self._last: Command = {}
        self._shown = Known("")
        self._error, self._progress = "", -1.0
        self._client, self._heard = "", 0.0
        self._working: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._disturbed = False
        self._late: asyncio.Queue[tuple[float, dict[str, Any]]] = asyncio.Queue()
        self._writing: asyncio.Task[None] | None = None
        self._server: Any = None
        self._nodes: dict[str, Any] = {}
        self._written: dict[str, Any] = {}

    # -- what people do to it --------------------------------------------------------------------------------------

    def hand(self, position: str, tool: str) -> None:
        """A person puts the robot somewhere and a tool on it, whatever it does just now."""
        self.position, self.tool, self._disturbed = position, tool, True
        self._note("hand")
        self._publish()

    def forget(self) -> None:
        """It does not know any more which commands it has taken, and shows that by another memory."""
        self._memories += 1
        self._known.clear()
        self._last, self._shown, self._error = {}, Known(""), ""
        self._publish()

    def unjam(self) -> None:
        """A person has whatever is under way stop."""
        self._stop.set()

    @property
    def busy(self) -> bool:
        return self._working is not None

    def showing(self, name: str) -> Any:
        """What State shows to everybody now."""
        return self._written.get(f"State.{name}")

    async def idle(self) -> None:
        if self._working is not None:
            await asyncio.wait({self._working})

    def of(self, what: str, id: str = "") -> list[Fact]:
        """The facts of this sort, of all ids or of those that end so."""
        return [fact for fact in self.truth if fact.what == what and fact.id.endswith(id)]

    # -- power -----------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        from asyncua import Server, ua

        share_standard_nodes()
        self._late, self._written = asyncio.Queue(), {}
        self._server = Server()
        await self._server.init()
        self._server.set_endpoint(f"opc.tcp://127.0.0.1:{self.port}/plc")
        for name in ("urn:stranger:panel", "urn:stranger:axes", "urn:stranger:safety"):
            other = await self._server.register_namespace(name)
            await self._server.nodes.objects.add_object(ua.NodeId(4000 + other, other), f"{other}:Cell")
        at = await self._server.register_namespace(MODEL.format(version=self.version))
        numbers = iter(range(6_000, 9_000, 10))  # the server numbers what it adds itself in between

        async def add(parent: Any, make: str, name: str, *more: Any) -> Any:
            return await getattr(parent, f"add_{make}")(ua.NodeId(next(numbers), at), f"{at}:{name}", *more)

        cell = await add(self._server.nodes.objects, "object", "Cell")
        await add(cell, "variable", "serialNumber", "ST-0042")
        for name, (takes, gives) in METHODS.items():
            takes = self._execute_takes() if name == "Execute" else takes
            shown = takes if self.declares else {}
            arguments = [[_argument(*one) for one in side.items()] for side in (shown, gives if self.declares else {})]
            await add(cell, "method", name, self._method(name, takes, gives), *arguments)
        await add(cell, "method", "Reset", self._nothing, [], [])
        for folder, values in (("Command", self._command_values()), ("State", self._state_values())):
            node = await add(cell, "object", folder)
            await add(node, "variable", "temperature", 31.5)
            for name, value in values.items():
                self._nodes[f"{folder}.{name}"] = await add(node, "variable", name, value)
        await self._server.start()
        self._writing = asyncio.create_task(self._write_late())

    async def stop(self) -> None:
        """Off. What is under way goes on."""
        inside = self._server.iserver
        await _end(self._writing, inside.time_task)
        inside.time_task = None  # the server would wait a second for it
        await self._server.stop()

    async def close(self) -> None:
        await _end(self._working)
        await self.stop()

    async def restart(self, *, remembers: bool = True, goes_on: bool = False) -> None:
        """Off and on again. What was under way `goes_on`, by drives of its own, or is lost, with the robot where it
        came to."""
        await self.stop()
        self._client = ""
        if not goes_on:
            await _end(self._working)
        if not remembers:
            self.forget()
        await self.start()

    # -- what it is asked ------------------------------------------------------------------------------------------

    def _method(self, name: str, takes: dict[str, str], gives: dict[str, str]) -> Callable[..., Any]:
        """The method as asyncua calls it. What comes is looked at: other types, or more or less of it, is trouble."""
        from asyncua import ua

        answer = self._answers[name]
        kinds = {kind: getattr(ua.VariantType, kind) for kind in (*FIELDS.values(), *gives.values())}

        async def call(parent: Any, *given: Any) -> list[Any]:
            self.asked[name] += 1
            sent = [one.VariantType.name for one in given]
            if sent != list(takes.values()):
                self.troubles.append(f"{name} takes {takes}, and was given {sent}.")
                return [ua.StatusCode(ua.StatusCodes.BadInvalidArgument)]
            try:
                told = answer(**{one: value.Value for one, value in zip(takes, given, strict=True)})
                return [ua.Variant(value, kinds[kind]) for value, kind in zip(told, gives.values(), strict=True)]
            except Exception as bug:
                self.troubles.append(f"{name}: {bug!r}")
                raise

        return call

    async def _nothing(self, parent: Any, *given: Any) -> list[Any]:
        self.troubles.append("Somebody called a method that is none of the cell's.")
        return []

    def _execute_takes(self) -> dict[str, str]:
        if self.version == 1:
            return {name: kind for name, kind in FIELDS.items() if name not in NEEDS}
        first = ("needsTool", "needsPosition") if self.declares else ()
        return {name: FIELDS[name] for name in (*first, *(name for name in FIELDS if name not in first))}

    def _heartbeat(self, client: str) -> Sequence[Any]:
        if self._controlled_by() in ("", client):
            self._client, self._heard = client, time.monotonic()
            self._publish()
        return self._client == client, self._client, self._now(), self._memory()

    def _controlled_by(self) -> str:
        if time.monotonic() - self._heard > LAPSES_S:
            self._client = ""
        return self._client

    def _release(self, client: str) -> Sequence[Any]:
        if self._client == client:
            self._client = ""
            self._publish()
        return ()

    def _probe(self, id: str) -> Sequence[Any]:
        known = self._known.get(id, Known("never"))
        place = ("", "") if self.mute or self.probe_names_no_place else (known.position, known.tool)
        return known.status, *place, known.says, self._memory(), self._now()

    def _stop_id(self, id: str) -> Sequence[Any]:
        if self._working is not None and self._last.get("id") == id:
            self._stop.set()
        return ()

    def _place(self, client: str, position: str, tool: str) -> Sequence[Any]:
        if self._controlled_by() != client:
            return False, "plc.no_control", "Somebody else has control."
        if self.busy:
            return False, "cell.busy", "The robot is at something."
        self.hand(position, tool or NO_TOOL)
        return True, "", ""

    def _execute(self, **command: Any) -> Sequence[Any]:
        self.executed.append(command)
        self.before_judged(command)
        code = self._refusal(command)
        if code:
            self._note("refused", command, how=code)
            return False, code, f"The robot is at {self.position or 'no place'} with {self.tool}: {code}."
        self._known[command["id"]] = Known("running")
        self._note("begun", command)
        self._last, self._shown, self._error, self._progress = command, Known("running"), "", 0.0
        self._stop.clear()
        self._disturbed = False
        self._working = asyncio.create_task(self._work(command, self.fate(command)))
        self._working.add_done_callback(self._came_to_rest)
        self._publish()
        return True, "", ""

    def _refusal(self, command: Command) -> str:
        if self._controlled_by() != command["client"]:
            return "plc.no_control"
        if command["id"] in self._known:
            return "cell.known_id"
        if self._now() > command["deadline"]:
            return "command.expired"
        if self.busy:
            return "cell.busy"
        needs = (command.get("needsPosition"), command.get("needsTool"))
        differs = any(need and need != has for need, has in zip(needs, (self.position, self.tool), strict=True))
        return "cell.other_state" if differs else ""

    # -- what the robot does ---------------------------------------------------------------------------------------

    async def _work(self, command: Command, fate: Fate) -> None:
        """From its beginning to its end. Cancelled, the power is gone."""
        moves, before = command["kind"] == "move", self.position
        if moves:
            self.position = ""
        part_s = self._dice.uniform(*self.takes_s) / TICKS
        try:
            for tick in range(1, TICKS + 1):
                await asyncio.sleep(part_s)
                self._progress = 100.0 * tick / TICKS
                self._publish()
                if tick == TICKS // 2 and not await self._middle(command, fate, before):
                    return
                if self._stop.is_set() and self.stops_at_once:
                    self._end(command, "stopped", "failed", "It was stopped.")
                    return
        except asyncio.CancelledError:
            self._end(command, "stopped", "lost", "The power was gone meanwhile.")
            raise
        if moves:
            self.position = self.position or (before if fate.stays else command["target"])
        elif command["target"] in ("tool_attach", "tool_release") and not self._disturbed:
            self.tool = command["tool"] if command["target"] == "tool_attach" else NO_TOOL
        self._end(command, "done", "done")
        if fate.hand_after is not None:
            self.hand(*fate.hand_after)

    async def _middle(self, command: Command, fate: Fate, before: str) -> bool:
        """What happens in the middle; false where it ends there."""
        if fate.hand is not None:
            self.hand(*fate.hand)
        if fate.sticks:
            there = command["target"] if command["kind"] == "move" else self.position
            self._known[command["id"]] = Known("done", there, self.tool)
            await self._stop.wait()
            self._end(command, "stopped", "failed", "It stuck, and was stopped.")
        elif fate.fails:
            self.position = self.position or before
            self._end(command, "failed", "failed", f"{command['target']} went wrong.")
        return not (fate.sticks or fate.fails)

    def _end(self, command: Command, how: str, status: str, says: str = "") -> None:
        self._note("ended", command, how=how)
        known = Known(status, self.position, self.tool, says)
        if command["id"] in self._known:
            self._known[command["id"]] = known
            if self._last.get("id") == command["id"]:
                self._shown, self._error = known, says

    def _came_to_rest(self, work: "asyncio.Task[None]") -> None:
        self._working = None
        self._publish()
        if not work.cancelled() and (bug := work.exception()) is not None:
            self.troubles.append(repr(bug))

    def _note(self, what: Any, command: Command | None = None, *, how: str = "") -> None:
        given = command or {}
        about = {"id": given.get("id", ""), "kind": given.get("kind", ""), "target": given.get("target", "")}
        self.truth.append(Fact(what, how=how, position=self.position, tool=self.tool, books=self.books(), **about))

    # -- what it shows ---------------------------------------------------------------------------------------------

    def _now(self) -> int:
        return time.time_ns() // 1_000_000 + self.clock_ahead_ms

    def _memory(self) -> str:
        return f"memory {self._memories}"

    def _state_values(self) -> dict[str, Any]:
        from asyncua import ua

        shown = {
            "controlledBy": self._controlled_by(),
            "memory": self._memory(),
            "progress": ua.Variant(self._progress, ua.VariantType.Double),
            "error": self._error,
            "result": self._shown.status,
            "commandId": self._last.get("id", ""),
            "busy": self.busy,
            "tool": "" if self.mute else self.tool,
            "position": "" if self.mute else self.position,
        }
        return {name: _variant(value) for name, value in shown.items()}

    def _command_values(self) -> dict[str, Any]:
        from asyncua import ua

        empty: dict[str, Any] = {"String": "", "Int64": -1, "Double": -1.0}
        return {
            name: ua.Variant(self._last.get(name, empty[FIELDS[name]]), getattr(ua.VariantType, FIELDS[name]))
            for name in self._execute_takes()
            if name != "client"
        }

    def _publish(self) -> None:
        values = {f"Command.{name}": value for name, value in self._command_values().items()}
        values |= {f"State.{name}": value for name, value in self._state_values().items()}
        self._late.put_nowait((time.monotonic() + self.lag_s, values))

    async def _write_late(self) -> None:
        """One node after the other, as PLCs do."""
        while True:
            due, values = await self._late.get()
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            for name, value in values.items():
                if self._written.get(name) != value.Value:
                    await self._nodes[name].write_value(value)
                    self._written[name] = value.Value


def _argument(name: str, kind: str) -> Any:
    from asyncua import ua

    return ua.Argument(Name=name, DataType=ua.NodeId(getattr(ua.ObjectIds, kind)), ValueRank=-1)


def _variant(value: Any) -> Any:
    from asyncua import ua

    return value if isinstance(value, ua.Variant) else ua.Variant(value)


async def _end(*tasks: "asyncio.Task[None] | None") -> None:
    for task in tasks:
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
