"""The ticks of this machine: nobody can set them, and they count on while it sleeps.

On Linux that is CLOCK_BOOTTIME; CLOCK_MONOTONIC stands still in suspend, and a lease must not outlive that.
"""

import time


def ticks_ns() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic_ns()
