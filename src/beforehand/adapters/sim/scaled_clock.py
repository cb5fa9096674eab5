"""A clock that goes faster or slower than the wall's, for simulated robots; it never goes back, even over restarts."""

from collections.abc import Mapping
from typing import Any

from beforehand.ports.clock import Clock


class ScaledClock:
    """`kept` is what an earlier process kept of it: time went on at the same pace since then."""

    def __init__(self, wall: Clock, pace: float, kept: Mapping[str, Any] | None = None) -> None:
        self._wall = wall
        self._pace = max(pace, 1e-3)
        self._wall_from = wall.now_ms()
        self._from = self._wall_from
        if kept is not None and "simMs" in kept:
            self._from = round(kept["simMs"] + max(0, self._wall_from - kept["wallMs"]) * self._pace)

    def now_ms(self) -> int:
        return round(self._from + (self._wall.now_ms() - self._wall_from) * self._pace)

    async def sleep_until(self, ts_ms: int) -> None:
        left = max(0, ts_ms - self.now_ms()) / self._pace
        await self._wall.sleep_until(self._wall.now_ms() + max(1, round(left)))

    def kept(self) -> dict[str, int]:
        return {"wallMs": self._wall.now_ms(), "simMs": self.now_ms()}
