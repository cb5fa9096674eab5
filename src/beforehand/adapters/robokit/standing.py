"""How the conversation with one robot stands: whether it answers and since when, who has control, its last trouble.

People look at this; nothing is decided by it. Who has control is asked of the robot when somebody looks, and not more
often than every two seconds, however many look.
"""

from contextlib import suppress

from beforehand.adapters.robokit.client import RobotClient
from beforehand.model.errors import UnavailableError
from beforehand.ports.clock import Clock
from beforehand.ports.log import Log
from beforehand.ports.robot import LinkStanding

log = Log("beforehand.robokit")
HOLDER_AGE_MS = 2000


class Standing:
    def __init__(self, robot_id: str, client: RobotClient, clock: Clock) -> None:
        self._robot_id = robot_id
        self._client = client
        self._clock = clock
        self._reached: bool | None = None
        self._since_ms: int | None = None
        self._trouble: str | None = None
        self._trouble_ms: int | None = None
        self._holder: str | None = None
        self._asked_ms: int | None = None

    def note_reached(self, reached: bool, says: str = "") -> None:
        """It answered, or it did not and `says` is why."""
        if says:
            self.note_trouble(says)
        if reached == self._reached:
            return
        if not reached:
            log.warning("a robot does not answer", robot=self._robot_id, says=says)
        elif self._reached is not None:
            log.info("a robot answers again", robot=self._robot_id)
        self._reached, self._since_ms = reached, self._clock.now_ms()

    def note_trouble(self, says: str) -> None:
        self._trouble, self._trouble_ms = says, self._clock.now_ms()

    async def now(self) -> LinkStanding:
        await self._ask_holder()
        at = f"{self._client.host}, port {self._client.ports['status']}"
        holder = self._holder if self._reached else None
        return LinkStanding(at, self._reached, self._since_ms, holder, self._trouble, self._trouble_ms)

    async def _ask_holder(self) -> None:
        now_ms = self._clock.now_ms()
        fresh = self._asked_ms is not None and now_ms - self._asked_ms < HOLDER_AGE_MS
        if self._reached and not fresh:
            self._asked_ms = now_ms
            with suppress(UnavailableError):
                self._holder = await self._client.holder()
