"""The links of a live fleet: one for each kind its robots name, and a small file in the home for each to keep.

What a link keeps is a convenience of its own, such as which order a robot has; a fleet works on without it. Where
several servers share a database it lies there, so that whoever takes over finds it; simulated robots are a home's own.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from beforehand.app.scenes import home_file
from beforehand.crafts.fleet.kept_file import Keeping, KeptFile, SharedParts
from beforehand.crafts.fleet.link_kinds import make_link
from beforehand.crafts.fleet.multi_link import LinkPart, MultiLink
from beforehand.model.fleet import FleetScene, RobotSpec
from beforehand.model.log_identity import UNNAMED, LogIdentity
from beforehand.model.machine import SIM, kind_of
from beforehand.ports.clock import Clock
from beforehand.ports.log import Log
from beforehand.ports.private_files import PrivateFiles
from beforehand.ports.robot import LinkRequest, as_it_is

log = Log("beforehand.fleet")
FOLDER = "robots"


def open_links(
    scene: FleetScene,
    *,
    clock: Clock,
    speed: float,
    keep_in: Path,
    with_secrets: Callable[[Any], Any] = as_it_is,
    setting: Callable[[str], Any] = lambda name: None,
    files: PrivateFiles | None = None,
    identity: LogIdentity = UNNAMED,
) -> MultiLink:
    """The links to all robots of a checked scene; `keep_in` is the home, `files` what several servers share.

    Nothing is connected before it is used.
    """
    by_kind: dict[str, list[RobotSpec]] = {}
    for robot in scene.robots:
        by_kind.setdefault(kind_of(robot.link), []).append(robot)
    parts = []
    for kind, robots in by_kind.items():
        file = _file(keep_in, kind, scene.name)
        if files is None or kind == SIM:
            kept: Keeping = KeptFile(file)
        else:
            kept = SharedParts(files, str(file.relative_to(keep_in)))
        plain = _request(scene, robots, clock, speed, kept, file)
        request = replace(plain, with_secrets=with_secrets, setting=setting, log=identity)
        parts.append(LinkPart(kind, make_link(kind, request), tuple(robot.robot_id for robot in robots)))
    return MultiLink(parts)


def _request(
    scene: FleetScene, robots: list[RobotSpec], clock: Clock, speed: float, kept_file: Keeping, file: Path
) -> LinkRequest:
    def keep(kept: Mapping[str, Any]) -> None:
        try:
            kept_file.keep(kept)
        except OSError as error:
            log.warning("what a robot link keeps could not be written", file=str(file), error=str(error))

    return LinkRequest(scene, tuple(robots), clock, speed, kept_file.kept, keep)


def _file(home: Path, kind: str, scene: str) -> Path:
    return home_file(home, FOLDER if kind == SIM else f"{FOLDER}/{kind}", scene)
