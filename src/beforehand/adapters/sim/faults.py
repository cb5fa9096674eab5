"""Faults by script: what goes wrong, with which robot, when and for how long.

A fault with `forS` lasts that long. Without it a condition (offline, blocked …) lasts for good, and what strikes one
thing (an acknowledgement, an order, a report, a pick) strikes the next one only; a restart then takes five seconds.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, ValidationError

from beforehand.model.base import WireModel
from beforehand.model.errors import BadInputError
from beforehand.model.reason import Problem, unknown
from beforehand.model.words import counted

FaultName = Literal[
    "offline",
    "blocked",
    "paused_by_hand",
    "lost_position",
    "sensor_wrong",
    "dead_battery",
    "low_battery",
    "restart",
    "late_ack",
    "lost_ack",
    "lost_command",
    "status5",
    "status6",
    "cancelled_by_hand",
    "duplicate",
    "out_of_order",
    "mispick",
    "not_recognised",
    "misdrop",
]
CONDITIONS = frozenset({"offline", "blocked", "paused_by_hand", "lost_position", "sensor_wrong", "dead_battery"})
"""Faults that are a state of the robot and last; the others strike."""

RESTART_S = 5.0
LATE_S = 3.0
LOW_LEVEL = 0.1

Seconds = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1e7)]


class FaultSpec(WireModel):
    at_s: Seconds
    """Seconds after the simulation began."""
    robot_id: str
    fault: FaultName
    for_s: Seconds | None = None
    delay_s: Seconds = LATE_S
    """late_ack: how much later than usual the acknowledgement comes."""
    level: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1)] | None = None
    """low_battery: the level it falls to; dead_battery: the level it has when it is over."""


def read_faults(document: Any, robot_ids: Collection[str] | None = None) -> list[FaultSpec]:
    """The faults of a script, in order of time; every problem of the document at once if it has any.

    The document is a list of faults, or an object whose `faults` is that list. With `robot_ids` given, a fault for
    another robot is a problem too.
    """
    path = ""
    if isinstance(document, Mapping) and set(document) == {"faults"}:
        document, path = document["faults"], "faults"
    if not isinstance(document, Sequence) or isinstance(document, str | bytes):
        raise BadInputError(
            "A fault script is a list of faults.",
            hint="Write a list such as [{atS: 10, robotId: RB-01, fault: offline, forS: 20}].",
            problems=[_problem("faults.shape", path, "A fault script is a list of faults.")],
        )
    read = [_read_one(item, f"{path}[{number}]", robot_ids) for number, item in enumerate(document)]
    problems = [problem for found in read if isinstance(found, list) for problem in found]
    if problems:
        raise BadInputError(
            f"The fault script has {counted(len(problems), 'problem')}.",
            hint="Correct each of them and try again.",
            problems=sorted(problems, key=lambda problem: problem.code != "faults.unknown_name"),
        )
    return sorted((found for found in read if isinstance(found, FaultSpec)), key=lambda fault: fault.at_s)


def _read_one(item: Any, path: str, robot_ids: Collection[str] | None) -> FaultSpec | list[Problem]:
    if not isinstance(item, Mapping):
        return [_problem("faults.shape", path, "A fault is an object with atS, robotId and fault.")]
    problems = _unknown_robot(item, path, robot_ids)
    try:
        fault = FaultSpec.model_validate(dict(item))
    except ValidationError as error:
        return problems + [_as_problem(detail, path) for detail in error.errors()]
    except TypeError:
        return [_problem("faults.shape", path, "The keys of a fault are words: atS, robotId, fault, forS.")]
    return problems or fault


def _unknown_robot(item: Mapping[str, Any], path: str, robot_ids: Collection[str] | None) -> list[Problem]:
    robot_id = item.get("robotId", item.get("robot_id"))
    if robot_ids is None or not isinstance(robot_id, str) or robot_id in robot_ids:
        return []
    return [_unknown(f"{path}.robotId", "robot", robot_id, robot_ids)]


def _as_problem(detail: Any, path: str) -> Problem:
    """What pydantic found, as a sentence."""
    names = [str(part) for part in detail["loc"]]
    where = ".".join([path, *names])
    given = detail.get("input")
    if detail["type"] == "missing":
        return _problem("faults.missing", where, f"A fault needs {names[-1]}.")
    if detail["type"] == "extra_forbidden":
        return _unknown(where, "key", names[-1], ("atS", "robotId", "fault", "forS", "delayS", "level"))
    if detail["type"] == "literal_error":
        return _unknown(where, "fault", str(given), get_args(FaultName))
    if names[-1:] == ["level"]:
        return _problem("faults.number", where, "level is a number from 0 to 1.")
    if names[-1:] == ["robotId"]:
        return _problem("faults.text", where, "robotId is the name of a robot.")
    return _problem("faults.number", where, f"{names[-1]} is a number of seconds, 0 or more.")


_CORRECT = "Correct it in the fault script."


def _unknown(path: str, what: str, given: str, known: Collection[str]) -> Problem:
    told = unknown(what, given, known)
    return Problem(
        code="faults.unknown_name",
        about=given,
        says=told.says,
        try_next=_CORRECT,
        path=path,
        nearest=told.nearest,
    )


def _problem(code: str, path: str, says: str) -> Problem:
    return Problem(code=code, about=path or "faults", says=says, try_next=_CORRECT, path=path)
