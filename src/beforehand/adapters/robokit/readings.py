"""What a robot's status means: where it is, what it does, what is on its fork, and what troubles it.

Robots leave out what they do not have, and what is of the wrong type counts as left out. A place is a station within
reach; between two stations it is the last one passed, and the next one on the way.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from beforehand.adapters.robokit.loads import Load, load_of
from beforehand.adapters.robokit.numbers import STATUSES
from beforehand.adapters.robokit.options import RobokitOptions

_RELOCATING = 2
_MANY_ALARMS = 3


@dataclass(frozen=True, slots=True)
class Reading:
    node_id: str | None = None
    next_node_id: str | None = None
    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    status: int | None = None
    """None where it did not say, or nothing that can be."""
    task_id: str | None = None
    battery: float | None = None
    charging: bool = False
    blocked: bool = False
    load: Load | None = None
    error: str | None = None
    up_ms: int | None = None
    """How long it has been running."""
    clock_ms: int | None = None
    """What its own clock shows."""
    fork_m: float | None = None
    fork_there: bool | None = None
    """Whether the fork is at the height it was sent to."""
    emergency: bool = False
    target: str | None = None
    """Where it says that its present or last order leads."""


def read_status(status: Mapping[str, Any], task: Mapping[str, Any] | None, options: RobokitOptions) -> Reading:
    """`task` is its answer about what it does now and counts before the general `status`."""
    both = {**status, **{key: value for key, value in (task or {}).items() if value is not None}}
    node, following = _place(both)
    emergency = any(status.get(name) is True for name in ("emergency", "soft_emc"))
    return Reading(
        node,
        following,
        _number(status.get("x")) or 0.0,
        _number(status.get("y")) or 0.0,
        _number(status.get("angle")) or 0.0,
        status_in(both),
        _text(both.get("task_id")),
        _battery(status.get("battery_level")),
        status.get("charging") is True,
        status.get("blocked") is True or emergency,
        load_of(status, options.sensors, options.loaded_pressure),
        _trouble(status, emergency),
        _whole(status.get("time")),
        _moment(status.get("create_on")),
        _number(status.get("fork_height")),
        status.get("fork_height_in_place") if isinstance(status.get("fork_height_in_place"), bool) else None,
        emergency,
        _text(both.get("target_id")),
    )


def status_in(answer: Mapping[str, Any]) -> int | None:
    """The task status in an answer, where there is one that can be."""
    code = answer.get("task_status")
    return code if isinstance(code, int) and not isinstance(code, bool) and code in STATUSES else None


def alarms_of(status: Mapping[str, Any], *levels: str) -> list[str]:
    """Its alarms of these levels, a phrase each: the number and what it says of it."""
    return [told for level in levels for told in _alarms(status.get(level))]


def _alarms(listed: Any) -> Iterator[str]:
    """Robots write `{"52200": when, "desc": …}` or `{"code": 52200, "desc": …}`, or the bare number."""
    for alarm in listed if isinstance(listed, list) else ():
        if isinstance(alarm, Mapping):
            code = alarm.get("code") or next((key for key in alarm if str(key).isdigit()), "")
            told = _text(alarm.get("desc")) or _text(alarm.get("describe")) or _text(alarm.get("message")) or ""
            yield (
                " ".join(part for part in (str(code), told.strip()[:200].rstrip(".")) if part)
                or "an alarm without a name"
            )
        elif isinstance(alarm, int | str) and alarm != "":
            yield str(alarm)[:200]


def _trouble(status: Mapping[str, Any], emergency: bool) -> str | None:
    alarms = alarms_of(status, "fatals", "errors")
    more = len(alarms) - _MANY_ALARMS
    told = alarms[:_MANY_ALARMS] + ([f"{more} more"] if more > 0 else [])
    sentences = ["Its emergency stop is pressed."] if emergency else []
    if told:
        sentences.append(f"It reports {'; '.join(told)}.")
    if any("recogni" in alarm.lower() for alarm in alarms):
        sentences.append("It did not recognise the pallet.")
    return " ".join(sentences) or None


def _place(status: Mapping[str, Any]) -> tuple[str | None, str | None]:
    here = _text(status.get("current_station"))
    relocating = status.get("reloc_status")
    if relocating == _RELOCATING or (relocating == 0 and here is None):
        return None, None
    if here is not None:
        return here, None
    passed, ahead = _names(status.get("finished_path")), _names(status.get("unfinished_path"))
    node = passed[-1] if passed else _text(status.get("last_station"))
    onward = [*ahead, _text(status.get("next_station")), _text(status.get("target_id"))]
    return node, next((name for name in onward if name and name != node), None)


def _names(path: Any) -> list[str]:
    return [name for name in path if isinstance(name, str) and name] if isinstance(path, list) else []


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: Any) -> float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12 and isfinite(value)
    return float(value) if good else None


def _whole(value: Any) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


def _battery(value: Any) -> float | None:
    """From 0 to 1; some robots count in percent."""
    level = _number(value)
    if level is None or level < 0:
        return None
    return min(level / 100 if level > 1 else level, 1.0)


def _moment(value: Any) -> int | None:
    """A time as ISO text; without a zone it is read as UTC."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
