"""Time as an input: whoever needs it asks a clock, so that a day can pass in a second where time is virtual."""

from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int:
        """Milliseconds since 1970, UTC."""

    async def sleep_until(self, ts_ms: int) -> None:
        """Return once the clock shows `ts_ms` or later."""
