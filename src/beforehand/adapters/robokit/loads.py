"""What is on the fork, by whichever sensor a robot has, and how far that can be believed.

A robot reports any of `goods_region` (the outline of what it carries), `roller_isFull`, `hook_isFull` and
`fork_pressure_actual`. The first one that says anything decides; where another contradicts it, or where only a pressure
is known and nobody has said from which pressure on the fork carries something, the confidence is low.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from beforehand.model.robot import LoadReading

SENSORS = ("goods_region", "roller_isFull", "hook_isFull", "fork_pressure_actual")
GUESSED_PRESSURE = 50.0
"""Where nothing better is known, a fork that is pressed harder than this carries something."""


@dataclass(frozen=True, slots=True)
class Load:
    reading: LoadReading
    sensor: str
    confidence: Literal["high", "low"] = "high"


def load_of(status: Mapping[str, Any], sensors: Sequence[str] = SENSORS, pressure: float | None = None) -> Load | None:
    """What the believed sensors say; None where none says anything."""
    said = [(sensor, _reading(sensor, status.get(sensor), pressure)) for sensor in sensors]
    known = [(sensor, carries) for sensor, carries in said if carries is not None]
    if not known:
        return None
    sensor, carries = known[0]
    guessed = sensor == "fork_pressure_actual" and pressure is None
    agreed = all(other == carries for name, other in known if name != "fork_pressure_actual" or pressure is not None)
    return Load("loaded" if carries else "empty", sensor, "high" if agreed and not guessed else "low")


def _reading(sensor: str, value: Any, pressure: float | None) -> bool | None:
    match sensor:
        case "goods_region":
            return _outlined(value)
        case "fork_pressure_actual":
            number = isinstance(value, int | float) and not isinstance(value, bool)
            return value >= (GUESSED_PRESSURE if pressure is None else pressure) if number else None
        case _:
            if isinstance(value, list):
                told = [one for one in value if isinstance(one, bool | int)]
                return any(told) if told else None
            return bool(value) if isinstance(value, bool | int) else None


def _outlined(region: Any) -> bool | None:
    """An outline has points; robots write it as a list of them, or as an object that holds the list."""
    if isinstance(region, Mapping):
        region = region.get("point", region.get("points"))
    return bool(region) if isinstance(region, list) else None
