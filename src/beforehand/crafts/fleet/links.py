"""The simulated robots of a live fleet: on a clock of their own pace, and where an earlier process left them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import structlog

from beforehand.adapters.sim.fleet import SimFleet
from beforehand.adapters.sim.link import SimLink
from beforehand.adapters.sim.scaled_clock import ScaledClock
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import home_file
from beforehand.model.errors import BadInputError
from beforehand.model.fleet import FleetScene

log = structlog.get_logger("beforehand.fleet")


def simulated(runtime: Runtime, scene: FleetScene) -> SimLink:
    """The robots where they were when an earlier process ended; they have gone on since, as real ones would."""
    file = home_file(runtime.settings.home, "robots", scene.name)
    kept = _read(file)
    clock = ScaledClock(runtime.clock, float(runtime.settings["speed"]), kept)

    def keep(fleet: Mapping[str, Any]) -> None:
        _write(file, {**clock.kept(), "fleet": fleet})

    try:
        return SimLink(SimFleet(scene), clock, kept=kept.get("fleet") if kept else None, keep=keep)
    except (BadInputError, KeyError, TypeError, ValueError):
        log.warning("what was kept of the robots cannot be read; they stand where the scene puts them", file=str(file))
        return SimLink(SimFleet(scene), clock, keep=keep)


def _read(file: Path) -> dict[str, Any] | None:
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept if isinstance(kept, dict) else None


def _write(file: Path, kept: Mapping[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".new")
    draft.write_text(json.dumps(kept), encoding="utf-8")
    draft.replace(file)
