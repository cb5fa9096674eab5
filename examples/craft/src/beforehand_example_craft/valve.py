"""Simulated valves: they are told a dose once, under a key, and then give it on their own.

Like real ones they go on when Beforehand dies, and remember: a dose lies in a file before water flows, so that
afterwards they can say what became of every key. A dose that has begun runs to its end.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from beforehand.model.errors import Fault
from beforehand.ports.clock import Clock
from beforehand_example_craft.core import Greenhouse, Levels, read_levels


class Dose(NamedTuple):
    bed: int
    litres: float
    ends_ms: int


class Valves:
    """The valves of one greenhouse; `speed` 10 makes a second last a tenth."""

    def __init__(self, scene: Greenhouse, file: Path, clock: Clock, speed: float) -> None:
        self._scene, self._file, self._clock, self._speed = scene, file, clock, max(speed, 1e-3)

    def levels(self) -> Levels:
        return read_levels(self._read().get("levels"), self._scene)

    def dose(self, key: str) -> Dose | None:
        """What was told under a key; None where nothing was."""
        told = self._read().get("doses", {}).get(key)
        return None if told is None else Dose(*told)

    def begin(self, key: str, bed: int, seconds: float) -> Dose:
        """Open the valve of a bed; a Fault, with nothing touched, where the tank does not hold enough."""
        levels, litres = self.levels(), round(seconds * self._scene.litres_per_s, 3)
        if litres > levels.tank_l:
            says = f"Bed {bed} needs {litres:g} l, and the tank holds {levels.tank_l:g} l."
            raise Fault(says, code="greenhouse.tank", hint="Refill it.", untouched=True)
        dose = Dose(bed, litres, self._clock.now_ms() + round(seconds * 1000 / self._speed))
        self._write(levels.after(bed, litres), {key: dose})
        return dose

    def refill(self) -> Levels:
        levels = Levels(self._scene.tank_l, self.levels().watered_l)
        self._write(levels, {})
        return levels

    def _read(self) -> dict[str, Any]:
        return dict(json.loads(self._file.read_text(encoding="utf-8"))) if self._file.exists() else {}

    def _write(self, levels: Levels, more: dict[str, Dose]) -> None:
        kept = {"levels": levels.wire(), "doses": self._read().get("doses", {}) | more}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        draft = self._file.with_suffix(".new")
        draft.write_text(json.dumps(kept), encoding="utf-8")
        draft.replace(self._file)
