"""A limit on guessing tokens: after a few failures within a minute an address is not listened to for the rest of it."""

import time
from collections import deque
from collections.abc import Callable

from beforehand.model.errors import TooManyError

FAILURES = 5
WITHIN_S = 60.0
MOST_ADDRESSES = 10_000


class LoginLimit:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: dict[str, deque[float]] = {}

    def refuse_if_reached(self, address: str) -> None:
        """TooManyError when this address failed too often of late."""
        recent = self._recent(address)
        if len(recent) >= FAILURES:
            wait_s = max(1, round(recent[0] + WITHIN_S - self._clock()))
            raise TooManyError(
                f"{FAILURES} logins from here failed within a minute.",
                hint=f"Try again in {wait_s} s.",
                extra={"retryAfterS": wait_s},
            )

    def failed(self, address: str) -> None:
        recent = self._recent(address)
        recent.append(self._clock())
        self._failed[address] = recent
        while len(self._failed) > MOST_ADDRESSES:
            del self._failed[next(iter(self._failed))]

    def _recent(self, address: str) -> deque[float]:
        recent = self._failed.pop(address, deque())
        while recent and recent[0] <= self._clock() - WITHIN_S:
            recent.popleft()
        if recent:
            self._failed[address] = recent
        return recent
