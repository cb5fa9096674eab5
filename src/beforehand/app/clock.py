"""The clock on the wall."""

import asyncio
import time


class WallClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    async def sleep_until(self, ts_ms: int) -> None:
        await asyncio.sleep(max(0, ts_ms - self.now_ms()) / 1000)
