"""The information model of a cell's controller: which nodes it has, of which types, and what their values mean.

    Objects / Cell / State    position, tool, busy, commandId, result, error, progress, memory, controlledBy
                     Command  what was taken last: id, deadline, kind, target, position, tool, stabilize, …
                     Heartbeat, Release, Execute, Stop, Probe, Place; Hold and GoOn where the robot can

Version 2 of the model has needsPosition and needsTool in Execute: the state that the command was checked for, so that
the controller can refuse by itself what comes when the robot stands elsewhere or holds something else.

Text that is not there is empty, a number that is not there is negative, times are milliseconds since 1970, UTC, by the
controller's clock. What comes in is judged here, so that a wrong type is a sentence and never a wrong command.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from beforehand.model.cell import NO_TOOL
from beforehand.model.errors import Fault
from beforehand.model.words import counted
from beforehand.ports.cell import CellCommand

NAMESPACES = {2: "urn:beforehand:cell:2", 1: "urn:beforehand:cell:1"}
"""By the version of the model, the newest first: a server with several is used by the first of these."""
CELL, STATE, COMMAND = "Cell", "State", "Command"
TEXT, FLAG, NUMBER, WHOLE = "String", "Boolean", "Double", "Int64"

STATE_TYPES = {
    "position": TEXT,
    "tool": TEXT,
    "busy": FLAG,
    "commandId": TEXT,
    "result": TEXT,
    "error": TEXT,
    "progress": NUMBER,
    "memory": TEXT,
    "controlledBy": TEXT,
}
COMMAND_TYPES = {
    "id": TEXT,
    "deadline": WHOLE,
    "kind": TEXT,
    "target": TEXT,
    "position": TEXT,
    "tool": TEXT,
    "stabilize": NUMBER,
    "verify": TEXT,
    "actionAfter": TEXT,
    "expectedS": NUMBER,
}
NEEDS_TYPES = {"needsPosition": TEXT, "needsTool": TEXT}
"""What version 2 has behind these."""


@dataclass(frozen=True, slots=True)
class Method:
    takes: Mapping[str, str]
    gives: Mapping[str, str]


_REPLY = {"taken": FLAG, "code": TEXT, "says": TEXT}
METHODS = {
    "Heartbeat": Method({"client": TEXT}, {"granted": FLAG, "controlledBy": TEXT, "now": WHOLE, "memory": TEXT}),
    "Release": Method({"client": TEXT}, {}),
    "Execute": Method({"client": TEXT, **COMMAND_TYPES, **NEEDS_TYPES}, _REPLY),
    "Stop": Method({"id": TEXT}, {}),
    "Probe": Method(
        {"id": TEXT},
        {"status": TEXT, "position": TEXT, "tool": TEXT, "says": TEXT, "memory": TEXT, "now": WHOLE},
    ),
    "Place": Method({"client": TEXT, "position": TEXT, "tool": TEXT}, _REPLY),
}
OPTIONAL = {"Hold": Method({}, {}), "GoOn": Method({"client": TEXT}, _REPLY)}
"""What only some controllers have; a controller has both of them or neither."""
ALL_METHODS = {**METHODS, **OPTIONAL}

NEVER, RUNNING, DONE, FAILED, LOST = "never", "running", "done", "failed", "lost"
STATUSES = (NEVER, RUNNING, DONE, FAILED, LOST)
KNOWN_ID = "cell.known_id"
"""Why Execute refuses an id that it has taken before."""
CANNOT_REFUSE = (
    "It takes commands by version 1 of the information model: it is not told for which position and tool a command was "
    "checked, so it cannot refuse one when somebody moves the robot or changes its tool in that very moment."
)
EXPIRED = "command.expired"
CONTROL = "cell.control"


@dataclass(frozen=True, slots=True)
class PlcState:
    position: str
    tool: str
    busy: bool
    command_id: str
    result: str
    error: str
    progress: float
    memory: str
    """Changes whenever the controller forgets which commands it has taken."""
    controlled_by: str


@dataclass(frozen=True, slots=True)
class Beat:
    granted: bool
    controlled_by: str
    now: int
    memory: str


@dataclass(frozen=True, slots=True)
class Reply:
    taken: bool
    code: str
    says: str


@dataclass(frozen=True, slots=True)
class Probed:
    status: str
    position: str
    tool: str
    says: str
    memory: str
    now: int


def read_state(values: Mapping[str, Any], where: str) -> PlcState:
    """The nodes of State by name; a Fault names every one that is not what it should be. A progress that is no number
    (NaN) is one that is not there."""
    progress = values.get("progress")
    if isinstance(progress, float) and not math.isfinite(progress):
        values = {**values, "progress": -1.0}
    read = _typed(values, STATE_TYPES, f"{CELL}.{STATE}.", where)
    return PlcState(*(read[name] for name in STATE_TYPES))


def read_beat(answer: Sequence[Any], where: str) -> Beat:
    return Beat(*_answer("Heartbeat", answer, where))


def read_reply(method: str, answer: Sequence[Any], where: str) -> Reply:
    reply = Reply(*_answer(method, answer, where))
    return reply if reply.says else replace(reply, says=f"The controller refuses {method} and does not say why.")


def read_probed(answer: Sequence[Any], where: str) -> Probed:
    probed = Probed(*_answer("Probe", answer, where))
    if probed.status not in STATUSES:
        raise wrong_model(where, f"Probe answers {probed.status[:40]!r}, which is not one of {', '.join(STATUSES)}.")
    return probed


def command_values(command: CellCommand, deadline: int) -> dict[str, Any]:
    """What Execute takes behind the client's name. `actionAfter` is empty: what follows is a command of its own."""
    return {
        "id": command.key,
        "deadline": deadline,
        "kind": command.action,
        "target": command.target,
        "position": command.position or "",
        "tool": command.tool or "",
        "stabilize": -1.0 if command.stabilize is None else float(command.stabilize),
        "verify": command.verify or "",
        "actionAfter": "",
        "expectedS": float(command.seconds),
        "needsPosition": command.needs_position or "",
        "needsTool": command.needs_tool or "",
    }


def execute_arguments(declared: Sequence[str] | None, version: int) -> tuple[str, ...]:
    """The names of what Execute takes on a server, in the order in which it takes them.

    As the server declares them, where it declares just those of the model; else as the model's version has them.
    """
    known = {name.lower(): name for name in METHODS["Execute"].takes}
    named = [known.get(name.lower(), "") for name in declared or ()]
    needed = set(known.values()) - NEEDS_TYPES.keys()
    if needed <= set(named) and len(set(named)) == len(named) and all(named):
        return tuple(named)
    needs = NEEDS_TYPES if version > 1 else {}
    return ("client", *COMMAND_TYPES, *needs)


def read_command(values: Sequence[Any]) -> tuple[CellCommand, int]:
    """The command and its deadline as Execute was given them; a Fault where they make no sense."""
    types = {**COMMAND_TYPES, **NEEDS_TYPES}
    read = _typed(dict(zip(types, [*values, "", ""], strict=False)), types, "Execute: ", "the client")
    if read["kind"] not in ("move", "routine") or not read["id"] or not read["target"]:
        raise Fault("A command has an id, a target, and the kind move or routine.", code="cell.command", untouched=True)
    return CellCommand(
        key=read["id"],
        action=read["kind"],
        target=read["target"],
        position=read["position"] or None,
        tool=read["tool"] or None,
        stabilize=read["stabilize"] if read["stabilize"] >= 0 else None,
        verify=read["verify"] or None,
        seconds=max(read["expectedS"], 0.0),
        needs_position=read["needsPosition"] or None,
        needs_tool=read["needsTool"] or None,
    ), read["deadline"]


def tool_name(tool: str) -> str:
    return tool or NO_TOOL


def wrong_model(where: str, says: str) -> Fault:
    """The controller does not speak as it should. Nothing that is sent would be understood, so nothing is."""
    return Fault(
        f"The controller at {where} does not have the information model of a cell: {says}",
        code="cell.model",
        untouched=True,
        hint=f"docs/robots.md says what the namespace {NAMESPACES[2]} holds.",
    )


def _answer(method: str, answer: Sequence[Any], where: str) -> list[Any]:
    types = ALL_METHODS[method].gives
    if len(answer) != len(types):
        raise wrong_model(where, f"{method} answers {counted(len(answer), 'value')}, not {len(types)}.")
    read = _typed(dict(zip(types, answer, strict=True)), types, f"{method}: ", where)
    return [read[name] for name in types]


def _typed(values: Mapping[str, Any], types: Mapping[str, str], before: str, where: str) -> dict[str, Any]:
    problems: list[str] = []
    read: dict[str, Any] = {}
    for name, wanted in types.items():
        if name not in values:
            problems.append(f"{before}{name} is missing.")
        elif not _is(values[name], wanted):
            problems.append(f"{before}{name} is not a {wanted} ({type(values[name]).__name__}).")
        else:
            read[name] = float(values[name]) if wanted == NUMBER else ("" if values[name] is None else values[name])
    if problems:
        raise wrong_model(where, " ".join(problems))
    return read


def _is(value: Any, wanted: str) -> bool:
    if wanted == TEXT:
        return value is None or isinstance(value, str)  # many servers say so of text that is empty
    if wanted == FLAG:
        return isinstance(value, bool)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) if wanted == WHOLE else math.isfinite(value)
