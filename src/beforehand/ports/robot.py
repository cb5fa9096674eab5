"""A link to the robots of a scene, simulated or real, whatever protocol carries it.

Commands go one way, reports the other. Handing a command over is not its answer: the answer is an `Ack` among the
reports, and it may come late or never. A link translates and retries transport faults; it takes no decisions.

A scene says of each robot which kind of link leads to it. A factory per kind makes one link for all its robots.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from beforehand.model.fleet import FleetScene, RobotSpec
from beforehand.model.robot import Ack, RobotCommand, Telemetry
from beforehand.ports.clock import Clock


class RobotLink(Protocol):
    async def send(self, command: RobotCommand) -> None:
        """Hand a command over. Sent again under the same key it is answered again and not done again.

        It gives up by itself when the transport does not take the command in reasonable time. Raises UnavailableError
        only where it is certain that the robot did not get it.
        """

    def reports(self) -> AsyncIterator[Telemetry | Ack]:
        """Everything the robots report, as it arrives, until the link is closed; for one listener.

        A connection that is lost is made again; meanwhile its robots are silent.
        """

    async def read(self, robot_id: str) -> Telemetry | None:
        """The robot's present state on request, as after a restart of the server; None where it does not answer."""

    async def close(self) -> None:
        """End the reports. The robots go on with what they do."""


def _forget(kept: Mapping[str, Any]) -> None: ...


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """What a factory is given to make one link from."""

    scene: FleetScene
    robots: tuple[RobotSpec, ...]
    """Those of the scene's robots that name this kind; `options_of(robot.link)` is what one says beside it."""
    clock: Clock
    speed: float = 1.0
    """How fast simulated time passes; real robots do not care."""
    kept: Mapping[str, Any] | None = None
    """What an earlier process gave to `keep` for this scene and kind; None where there is nothing."""
    keep: Callable[[Mapping[str, Any]], None] = _forget
    """Keep this JSON-ready mapping for the next process, in place of what was kept before."""


class LinkFactory(Protocol):
    """Makes a link. It connects nothing yet: a link connects when it is first used, and again by itself later, so that
    a robot that cannot be reached keeps nobody from making the scene live."""

    def __call__(self, request: LinkRequest) -> RobotLink: ...
