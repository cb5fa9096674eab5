"""A link to the robots of a scene, simulated or real, whatever protocol carries it.

Commands go one way, reports the other. Handing a command over is not its answer: the answer is an `Ack` among the
reports, and it may come late or never. A link translates and retries transport faults; it takes no decisions.
"""

from collections.abc import AsyncIterator
from typing import Protocol

from beforehand.model.robot import Ack, RobotCommand, Telemetry


class RobotLink(Protocol):
    async def send(self, command: RobotCommand) -> None:
        """Hand a command over. Sent again under the same key it is answered again and not done again.

        Raises UnavailableError only where it is certain that the robot did not get it.
        """

    def reports(self) -> AsyncIterator[Telemetry | Ack]:
        """Everything the robots report, as it arrives, until the link is closed; for one listener."""

    async def read(self, robot_id: str) -> Telemetry | None:
        """The robot's present state on request, as after a restart of the server; None where it does not answer."""

    async def close(self) -> None:
        """End the reports. The robots go on with what they do."""
