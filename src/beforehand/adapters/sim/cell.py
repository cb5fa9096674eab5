"""A simulated cell controller: it moves along allowed edges, stabilises, runs, verifies, and can be told to fail.

Like a real one it keeps going when Beforehand dies: what it is doing is a few numbers in a file (where from, where to,
from when until when), so that after a restart it can still say whether a command was finished. It refuses what the
cell does not allow, whoever asks.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from beforehand.adapters.cell_rules import CellRules
from beforehand.adapters.sim.cell_faults import CellFault
from beforehand.model.cell import ATTACH, NO_TOOL, RELEASE, CellScene
from beforehand.model.errors import Fault, InDoubtError
from beforehand.ports.cell import CellCommand, CellReport, ControllerRequest
from beforehand.ports.clock import Clock
from beforehand.ports.log import Log
from beforehand.ports.tool import ProbeAnswer

log = Log("beforehand.sim")
KEPT_KEYS = 500
STALL_S = 3600.0
SLICE_MS = 200


class SimCell:
    """One cell. `file` None keeps nothing, for previews and tests; `speed` 10 makes a second last a tenth."""

    def __init__(self, scene: CellScene, clock: Clock, *, file: Path | None = None, speed: float = 1.0) -> None:
        self._clock = clock
        self._file = file
        self._speed = max(speed, 1e-3)
        self._rules = CellRules(scene)
        self._is_unsaved = False
        start = scene.state
        self._state: dict[str, Any] = {
            "position": start.current_position if start else (scene.positions[0].name if scene.positions else None),
            "tool": start.current_tool if start else NO_TOOL,
            "doing": None,
            "done": {},
            "faults": [],
        }
        self._load()

    # -- what it is asked ----------------------------------------------------------------------------------------

    async def report(self) -> CellReport:
        self._catch_up()
        return self._report()

    async def did(self, key: str) -> ProbeAnswer:
        self._load()
        self._catch_up()
        if (ended := self._state.get("ended", {}).get(key)) is not None:
            return ProbeAnswer(ended["state"], says=ended["says"])
        if key in self._state["done"]:
            return ProbeAnswer("happened", self._state["done"][key], "The controller finished it.")
        doing = self._state["doing"]
        if doing is not None and doing["key"] == key:
            if doing["lost"]:
                return ProbeAnswer("unknown", says="Power was lost on the way; the robot's position is not known.")
            return ProbeAnswer("running", says="The controller is still working on it.")
        return ProbeAnswer("not_begun", says="The controller never started it.")

    async def stop(self, key: str) -> None:
        """A move and a change of tools go on to their end, the next place to rest; a routine ends at once."""
        self._load()
        self._catch_up()
        doing = self._state["doing"]
        if doing is None or doing["key"] != key or doing["lost"]:
            return
        if doing["action"] == "routine" and doing["target"] not in (ATTACH, RELEASE):
            self._end(key, "unknown", f"{doing['target']} was stopped in the middle.")
            self._state["doing"] = None
        elif doing["stalled"]:  # it would never come to rest by itself
            self._end(key, "unknown", "It was stopped on the way; the robot's position is not known.")
            doing["lost"] = True
        self._save()

    @property
    def can_hold(self) -> bool:
        return True

    async def hold(self) -> None:
        """Time stands still for what is under way."""
        self._load()
        self._catch_up()
        if self._state.get("held_at") is None:
            self._state["held_at"] = self._clock.now_ms()
            self._save()

    async def go_on(self) -> None:
        self._load()
        held_at, doing = self._state.pop("held_at", None), self._state["doing"]
        if held_at is not None and doing is not None:
            stood = max(0, self._clock.now_ms() - held_at)
            doing |= {"begin": doing["begin"] + stood, "end": doing["end"] + stood}
        self._save()

    def _now_ms(self) -> int:
        """The time by which commands come to their end: it stands still while the robot is held."""
        held_at = self._state.get("held_at")
        return self._clock.now_ms() if held_at is None else int(held_at)

    def _end(self, key: str, state: str, says: str) -> None:
        """Remember how a command ended that did not just happen."""
        ended = self._state.setdefault("ended", {})
        ended[key] = {"state": state, "says": says}
        while len(ended) > KEPT_KEYS:
            del ended[next(iter(ended))]

    async def place(self, position: str, tool: str) -> None:
        doing = self._state["doing"]
        if doing is not None:
            self._end(
                doing["key"], "unknown", "A person said where the robot stands before it was known to have ended."
            )
        self._state |= {"position": position, "tool": tool, "doing": None}
        self._save()

    async def close(self) -> None:
        """There is no connection to end; what is under way is on file and goes on."""

    def inject(self, fault: CellFault, key: str = "") -> None:
        """Have the next command that fits go wrong; with a key once, however often it is asked for."""
        self._load()
        keys = self._state.get("fault_keys", [])
        if key and key in keys:
            return
        self._state["faults"].append(fault.wire())
        if key:
            self._state["fault_keys"] = [*keys, key][-KEPT_KEYS:]
        self._save()

    # -- what it does --------------------------------------------------------------------------------------------

    async def do(self, command: CellCommand, progress: Callable[[float], None]) -> CellReport:
        self._load()
        self._catch_up()
        if command.key in self._state["done"]:
            return self._report()
        self._refuse_impossible(command)
        fault = self._take_fault(command)
        self._refuse_by_fault(fault, command)
        await self._spend(command, fault, progress)
        return self._finish(command)

    def _refuse_impossible(self, command: CellCommand) -> None:
        if self._state.get("held_at") is not None:
            raise _untouched("The robot is held, so it begins nothing.", "cell.held")
        position = self._state["position"] if self._state["doing"] is None else None
        self._rules.refuse(command, position, self._state["tool"])

    def _take_fault(self, command: CellCommand) -> CellFault | None:
        for place, document in enumerate(self._state["faults"]):
            fault = CellFault.model_validate(document)
            if fault.fits(command.action, command.target, command.position):
                del self._state["faults"][place]
                self._save()
                return fault
        return None

    def _refuse_by_fault(self, fault: CellFault | None, command: CellCommand) -> None:
        if fault is None:
            return
        if fault.fault == "tool_missing" and command.target == ATTACH:
            raise _untouched(f"{command.tool} is not in its stand.", "cell.tool_missing")
        if fault.fault == "fail":
            raise Fault(f"The controller reports an error on {command.target}.", code="cell.failed", untouched=True)

    async def _spend(self, command: CellCommand, fault: CellFault | None, progress: Callable[[float], None]) -> None:
        """Let the time pass that the command takes; what is under way is on file before it begins."""
        seconds = STALL_S if fault is not None and fault.fault == "stall" else command.seconds / self._speed
        begin = self._clock.now_ms()
        end = begin + round(seconds * 1000)
        lost = fault is not None and fault.fault == "power"
        fails = None
        if fault is not None and fault.fault == "verify":
            fails = f"{command.verify or command.target} was not passed at {command.position}."
        stalled = fault is not None and fault.fault == "stall"
        more = {"begin": begin, "end": end, "lost": lost, "fails": fails, "stalled": stalled}
        self._state["doing"] = {**_plain(command), **more}
        self._save()
        if self._is_unsaved:  # it would not know afterwards that it had begun
            self._state["doing"] = None
            raise Fault(
                "The simulated cell cannot keep what it does: its disk is full.", code="cell.full", untouched=True
            )
        if lost:
            await self._clock.sleep_until(begin + (end - begin) // 2)
            raise InDoubtError("Power was lost on the way; the robot stands between two positions.")
        while self._is_under_way(command.key) and (now := self._now_ms()) < self._state["doing"]["end"]:
            doing = self._state["doing"]
            progress(100 * (now - doing["begin"]) / (end - begin))
            await self._clock.sleep_until(min(doing["end"] - now, SLICE_MS) + self._clock.now_ms())
        progress(100)

    def _is_under_way(self, key: str) -> bool:
        doing = self._state["doing"]
        return doing is not None and doing["key"] == key and not doing["lost"]

    def _finish(self, command: CellCommand) -> CellReport:
        self._catch_up()
        if (ended := self._state.get("ended", {}).get(command.key)) is not None:
            raise (
                Fault(ended["says"], code="cell.verify") if ended["state"] == "failed" else InDoubtError(ended["says"])
            )
        return self._report()

    def _catch_up(self) -> None:
        """What was under way and is over by the clock has happened."""
        doing = self._state["doing"]
        if doing is None or doing["lost"] or self._now_ms() < doing["end"]:
            return
        if doing["action"] == "move":
            self._state["position"] = doing["target"]
        elif doing["target"] == ATTACH:
            self._state["tool"] = doing["tool"]
        elif doing["target"] == RELEASE:
            self._state["tool"] = NO_TOOL
        self._state["doing"] = None
        if doing.get("fails"):
            self._end(doing["key"], "failed", doing["fails"])
            self._save()
            return
        done = self._state["done"]
        done[doing["key"]] = {"current_position": self._state["position"], "current_tool": self._state["tool"]}
        while len(done) > KEPT_KEYS:
            del done[next(iter(done))]
        self._save()

    def _report(self) -> CellReport:
        doing = self._state["doing"]
        if doing is None:
            return CellReport(self._state["position"], self._state["tool"])
        if doing["action"] == "move":
            return CellReport(None, self._state["tool"], f"Between {self._state['position']} and {doing['target']}.")
        return CellReport(self._state["position"], self._state["tool"], f"At {doing['target']}.")

    # -- its memory ----------------------------------------------------------------------------------------------

    def _load(self) -> None:
        if self._file is not None and self._file.exists() and not self._is_unsaved:
            self._state = json.loads(self._file.read_text(encoding="utf-8"))

    def _save(self) -> None:
        """On a full disk it goes on from memory: it has to stand still when it is told to."""
        if self._file is None:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            draft = self._file.with_suffix(".new")
            draft.touch(mode=0o600)
            draft.write_text(json.dumps(self._state), encoding="utf-8")
            draft.replace(self._file)
        except OSError as error:
            log.warning("a simulated cell could not keep its state", file=str(self._file), error=str(error))
            self._is_unsaved = True
        else:
            self._is_unsaved = False


def open_sim_cell(request: ControllerRequest) -> SimCell:
    """The simulated controller of a cell, as an earlier process left it."""
    return SimCell(request.scene, request.clock, file=request.file, speed=request.speed)


def _plain(command: CellCommand) -> dict[str, Any]:
    return {
        "key": command.key,
        "action": command.action,
        "target": command.target,
        "position": command.position,
        "tool": command.tool,
    }


def _untouched(says: str, code: str) -> Fault:
    return Fault(says, code=code, untouched=True)
