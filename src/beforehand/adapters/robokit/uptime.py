"""How long a robot says that it runs: by that it is seen to have been started again.

It answered at some moment between our question and our reading of the answer. A process that was kept waiting learns
the answer late and knows less exactly when that was, so it never takes its own delay for the robot's restart. Nor does
it take for one that its own machine's clock was set between two processes: what the robot's clock says is heard, too.
"""

from collections.abc import Mapping
from typing import Any

SLACK_MS = 5000
DRIFT = 1e-4
"""By how much the two clocks may run apart: more than any quartz does."""
_2020_MS = 1_577_836_800_000
"""A robot whose clock is older has none that goes on while it is off."""


class Uptime:
    def __init__(self, born_ms: int | None, up_ms: int = 0, own_born_ms: int | None = None) -> None:
        """When it was started, and how long it had run when last seen, as far as a process before this one knew."""
        self._seen_ms = None if born_ms is None else born_ms + up_ms
        self._up_ms = up_ms
        self._own_born_ms = own_born_ms
        """When it was started by its own clock; None where that is not known."""

    @classmethod
    def taken_up(cls, kept: Mapping[str, Any]) -> "Uptime":
        return cls(kept.get("bornMs"), kept.get("upMs", 0), kept.get("ownBornMs"))

    def kept(self) -> dict[str, Any]:
        return {"bornMs": self.born_ms, "upMs": self._up_ms, "ownBornMs": self._own_born_ms}

    @property
    def born_ms(self) -> int | None:
        """When it was started, by our clock; None before it was ever seen."""
        return None if self._seen_ms is None else self._seen_ms - self._up_ms

    def has_restarted(self, asked_ms: int, now_ms: int, up_ms: int, clock_ms: int | None = None) -> bool:
        """Whether it was started again since it was last seen; it was asked then, and the answer is read now."""
        seen_ms, ran_ms, before_ms = self._seen_ms, up_ms - self._up_ms, self._own_born_ms
        own_ms = None if clock_ms is None or clock_ms - up_ms < _2020_MS else clock_ms - up_ms
        self._seen_ms, self._up_ms, self._own_born_ms = now_ms, up_ms, own_ms
        if seen_ms is None:
            return False
        at_least_ms = (asked_ms - seen_ms) * (1 - DRIFT) - SLACK_MS
        if ran_ms < 0 or ran_ms >= at_least_ms:
            return ran_ms < 0
        if own_ms is not None and before_ms is not None:
            return abs(own_ms - before_ms) > SLACK_MS + up_ms * DRIFT
        return up_ms <= now_ms - seen_ms + SLACK_MS  # one that was started since then runs no longer than that
