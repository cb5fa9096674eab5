"""Whether a vehicle is there: what it says of its connection, when it was last heard, and what went wrong last.

Which of its states count is known here, too: a vehicle that comes back may count anew.
"""

from dataclasses import dataclass, field

from beforehand.adapters.vda5050.freshness import Heard
from beforehand.adapters.vda5050.messages import State
from beforehand.ports.log import Log
from beforehand.ports.robot import LinkStanding

log = Log("beforehand.vda5050")
ONLINE = "ONLINE"


@dataclass(slots=True)
class Presence:
    robot_id: str
    connection: str | None = None
    since_ms: int | None = None
    """Since when that is so."""
    trouble: tuple[str, int] | None = None
    """What went wrong last, as a sentence, and when."""
    heard_ms: int = -(10**9)
    """When it last said something that counts."""
    _heard: Heard = field(default_factory=Heard)
    _complained: str = ""

    @property
    def is_away(self) -> bool:
        """Whether it has said so, or its broker for it."""
        return self.connection in ("OFFLINE", "CONNECTIONBROKEN")

    def hears(self, state: State, now: int) -> bool:
        """Whether this state counts; then the vehicle is there."""
        if self._heard.is_old(state):
            return False
        self._becomes(ONLINE, now)
        self.heard_ms = now
        return True

    def connects(self, said: str, now: int) -> bool:
        """Whether what it says of its connection is news."""
        if not self._becomes(said, now):
            return False
        log.info("a robot's connection has changed", robot=self.robot_id, connection=said)
        if said == ONLINE:
            self._heard = Heard()
        else:
            self.trouble = f"{self.robot_id} said {said}.", now
        return True

    def lost_line(self, now: int, says: str) -> None:
        """The line to the broker is gone: nothing is known of the vehicle until it is heard again."""
        self._becomes(None, now)
        self.trouble = says, now

    def _becomes(self, said: str | None, now: int) -> bool:
        if said == self.connection:
            return False
        self.connection, self.since_ms = said, now
        return True

    def complain(self, topic: str, says: str, now: int) -> None:
        """A message cannot be read; told once in a row."""
        if says != self._complained:
            self._complained = says
            self.trouble = f"A message of {self.robot_id} cannot be read ({topic}): {says}", now
            log.warning("a message of a robot cannot be read", robot=self.robot_id, topic=topic, says=says)

    def standing(self, where: str) -> LinkStanding:
        says, at_ms = self.trouble or (None, None)
        answers = None if self.since_ms is None and says is None else self.connection == ONLINE
        return LinkStanding(where, answers, self.since_ms, None, says, at_ms)
