"""Control of a robot: taken before the first command, never from somebody else, and given back at the end.

Commands go through here, so that none is sent without it. Where it was lost meanwhile it is taken once more.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from beforehand.adapters.robokit import numbers as no
from beforehand.adapters.robokit.answers import Refusal
from beforehand.adapters.robokit.client import NICK_NAME, RobotClient
from beforehand.adapters.robokit.connection import NotReachedError
from beforehand.model.errors import UnavailableError

PATIENCE_S = 4.0
"""How long a command is tried for which there is no connection."""
TRIES = 2
"""How often control is asked for in vain before a robot counts as one that knows no such thing; together they must take
less time than a robot has to begin an order."""
GOODBYE_S = 1.0

Tell = Callable[[], Awaitable[Refusal | None]]


class Control:
    def __init__(self, client: RobotClient) -> None:
        self._client = client
        self._has = False
        self._took = False
        self._failed = 0

    async def tell(self, tell: Tell) -> Refusal | None:
        """Tell the robot something as the one who has control."""
        refused = await _patiently(self._take)
        if refused is not None:
            return refused
        refused = await _patiently(tell)
        if refused is not None and refused.number == no.CONTROL_HELD:
            self._has = False
            refused = await _patiently(self._take) or await _patiently(tell)
        return refused

    def forget(self) -> None:
        """The robot was started again: nobody has control of it."""
        self._has = self._took = False

    async def give_back(self) -> None:
        if self._took:
            with suppress(UnavailableError, TimeoutError):
                async with asyncio.timeout(GOODBYE_S):
                    await self._client.give_control()

    async def _take(self) -> Refusal | None:
        """Take it, unless somebody else has it. A robot that answers other things and cannot be asked for it perhaps
        knows no such thing: then it is commanded without, and refuses if it does."""
        if self._has:
            return None
        try:
            holder = await self._client.holder()
            if holder not in (None, "", NICK_NAME):
                return Refusal(no.CONTROL_HELD, "robot.control", f"{holder} has control of it")
            refused = await self._client.take_control()
        except UnavailableError as error:
            self._failed += 1
            if self._failed < TRIES or not self._client.met:
                raise NotReachedError(error.says) from None  # the command itself was not sent
            refused = None
        else:
            self._failed, self._took = 0, refused is None
        if refused is not None and refused.number not in (no.UNKNOWN_NUMBER, no.WRONG_PORT):
            return refused
        self._has = True
        return None


async def _patiently(tell: Tell) -> Refusal | None:
    """Try again for a while where there is no connection: then it is certain not to be done twice."""
    until = asyncio.get_running_loop().time() + PATIENCE_S
    while True:
        try:
            return await tell()
        except NotReachedError:
            if asyncio.get_running_loop().time() >= until:
                raise
