"""A link to the robots of a scene, simulated or real, whatever protocol carries it.

Commands go one way, reports the other. Handing a command over is not its answer: the answer is an `Ack` among the
reports, and it may come late or never. A link translates and retries transport faults; it takes no decisions.

A scene says of each robot which kind of link leads to it. A factory per kind makes one link for all its robots.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from beforehand.model.fleet import FleetScene, RobotSpec
from beforehand.model.log_identity import UNNAMED, LogIdentity
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


@dataclass(frozen=True, slots=True)
class LinkStanding:
    """How a link stands with one robot, for people to look at; nothing is decided by it."""

    at: str
    """Where the robot is reached."""
    answers: bool | None = None
    """None before it was tried."""
    since_ms: int | None = None
    """Since when that is so."""
    control: str | None = None
    """Who has control of it; empty where nobody has, None where that is not known."""
    trouble: str | None = None
    """What went wrong last, as a sentence."""
    trouble_ms: int | None = None


@runtime_checkable
class OpenLink(Protocol):
    """A link that can say how it stands with its robots. Links need not have this face."""

    async def standing(self, robot_id: str) -> LinkStanding:
        """As far as it is known now; a robot that answers may be asked who has control of it."""


def _forget(kept: Mapping[str, Any]) -> None: ...


def as_it_is(value: Any) -> Any:
    """Nothing to look up: what is said is meant."""
    return value


def _unset(name: str) -> Any:
    return None


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
    """Keep this JSON-ready mapping for the next process, in place of what was kept before under the same names."""
    with_secrets: Callable[[Any], Any] = as_it_is
    """A value of the scene with its references to secrets filled in, for the moment it is used."""
    setting: Callable[[str], Any] = _unset
    """A setting of the process by its name, such as `tls_ca`; None where it is not set."""
    log: LogIdentity = UNNAMED
    """Whose keys the commands begin with: an order under any other one was given by somebody else."""


class LinkFactory(Protocol):
    """Makes a link. It connects nothing yet: a link connects when it is first used, and again by itself later, so that
    a robot that cannot be reached keeps nobody from making the scene live."""

    def __call__(self, request: LinkRequest) -> RobotLink: ...
