"""The links of a live fleet: one for each kind its robots name, and a small file in the home for each to keep.

What a link keeps is a convenience of its own, such as where simulated robots are; a fleet works on without it.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beforehand.app.scenes import home_file
from beforehand.crafts.fleet.link_kinds import make_link
from beforehand.crafts.fleet.multi_link import LinkPart, MultiLink
from beforehand.model.fleet import FleetScene, RobotSpec
from beforehand.model.machine import SIM, kind_of
from beforehand.ports.clock import Clock
from beforehand.ports.log import Log
from beforehand.ports.robot import LinkRequest

log = Log("beforehand.fleet")
FOLDER = "robots"


def open_links(scene: FleetScene, *, clock: Clock, speed: float, keep_in: Path) -> MultiLink:
    """The links to all robots of a checked scene; `keep_in` is the home. Nothing is connected before it is used."""
    by_kind: dict[str, list[RobotSpec]] = {}
    for robot in scene.robots:
        by_kind.setdefault(kind_of(robot.link), []).append(robot)
    parts = []
    for kind, robots in by_kind.items():
        request = _request(scene, robots, clock, speed, _file(keep_in, kind, scene.name))
        parts.append(LinkPart(kind, make_link(kind, request), tuple(robot.robot_id for robot in robots)))
    return MultiLink(parts)


def _request(scene: FleetScene, robots: list[RobotSpec], clock: Clock, speed: float, file: Path) -> LinkRequest:
    def keep(kept: Mapping[str, Any]) -> None:
        try:
            _write(file, kept)
        except OSError as error:
            log.warning("what a robot link keeps could not be written", file=str(file), error=str(error))

    return LinkRequest(scene, tuple(robots), clock, speed, _read(file), keep)


def _file(home: Path, kind: str, scene: str) -> Path:
    return home_file(home, FOLDER if kind == SIM else f"{FOLDER}/{kind}", scene)


def _read(file: Path) -> dict[str, Any] | None:
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept if isinstance(kept, dict) else None


def _write(file: Path, kept: Mapping[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".new")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(kept), encoding="utf-8")
    draft.replace(file)
