"""How long a robot says that it runs: by that it is seen to have been started again.

It answered at some moment between our question and our reading of the answer. A process that was kept waiting learns
the answer late and knows less exactly when that was, so it never takes its own delay for the robot's restart.
"""

SLACK_MS = 5000
DRIFT = 1e-4
"""By how much the two clocks may run apart: more than any quartz does."""


class Uptime:
    def __init__(self, born_ms: int | None, up_ms: int = 0) -> None:
        """When it was started, and how long it had run when last seen, as far as a process before this one knew."""
        self._seen_ms = None if born_ms is None else born_ms + up_ms
        self._up_ms = up_ms

    @property
    def born_ms(self) -> int | None:
        """When it was started, by our clock; None before it was ever seen."""
        return None if self._seen_ms is None else self._seen_ms - self._up_ms

    @property
    def up_ms(self) -> int:
        """How long it had run when it was last seen."""
        return self._up_ms

    def has_restarted(self, asked_ms: int, now_ms: int, up_ms: int) -> bool:
        """Whether it was started again since it was last seen; it was asked then, and the answer is read now."""
        seen_ms, ran_ms = self._seen_ms, up_ms - self._up_ms
        self._seen_ms, self._up_ms = now_ms, up_ms
        if seen_ms is None:
            return False
        at_least_ms = (asked_ms - seen_ms) * (1 - DRIFT) - SLACK_MS
        # One that was started since then runs no longer than that; else it was a clock that was set between processes.
        could_ms = now_ms - seen_ms + SLACK_MS
        return ran_ms < 0 or (ran_ms < at_least_ms and up_ms <= could_ms)
