"""What the tests cost, by folder, and what each folder may cost: printed and enforced by `make test` (`--budgets`).

Each folder has a share of the seconds that the processes of tests have: half as much again as it takes on two quiet
cores in a fresh clone. A folder that needs more has failed, whichever test it was: make it quicker, or move its long
form to `make soak`. A slower or busier machine is measured with a yardstick, before and after, and given more.
"""

import os
import statistics
import time
from collections import defaultdict
from pathlib import PurePosixPath
from typing import Any

import pytest

BUDGETS = {
    "api": 250,
    "cli": 410,
    "contract": 1000,
    "e2e": 680,
    "house": 260,
    "properties": 170,
    "rooms": 130,
    "scenarios": 75,
}
"""Seconds for the tests of each folder, all processes of tests together."""
SLOWEST = 25
LOOPS = 400_000
YARDSTICK_S = 0.020
"""How long so many loops take on a quiet machine."""


def measured() -> float:
    """How many times slower than the yardstick this machine is now; never less than 1."""
    took = []
    for _ in range(15):
        begin = time.perf_counter()
        for _ in range(LOOPS):
            pass
        took.append(time.perf_counter() - begin)
    return max(1.0, statistics.median(took) / YARDSTICK_S)


class Budgets:
    """Adds up what tests took, and fails a run in which a folder took more than its share."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._slow = [measured()]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration

    def by_folder(self) -> dict[str, float]:
        found: defaultdict[str, float] = defaultdict(float)
        for test, seconds in self.seconds.items():
            found[_folder(test)] += seconds
        return dict(sorted(found.items()))

    def over(self) -> list[str]:
        slow = statistics.mean(self._slow)
        return [
            f"tests/{folder} took {seconds:.0f} s; {BUDGETS.get(folder, 0) * slow:.0f} s are its share."
            for folder, seconds in self.by_folder().items()
            if seconds > BUDGETS.get(folder, 0) * slow
        ]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._slow.append(measured())
        if self.over() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        write = terminalreporter.write_line
        terminalreporter.section("what the tests cost")
        write(f"{'folder':<12} {'tests':>6} {'seconds':>8} {'share':>6}")
        for folder, seconds in self.by_folder().items():
            count = sum(_folder(test) == folder for test in self.seconds)
            write(f"{folder:<12} {count:>6} {seconds:>8.0f} {BUDGETS.get(folder, 0):>6}")
        total = sum(self.seconds.values())
        write(f"{'all':<12} {len(self.seconds):>6} {total:>8.0f} {sum(BUDGETS.values()):>6}")
        write(f"This machine: {statistics.mean(self._slow):.2f} times the yardstick; {os.cpu_count()} cores.")
        write(f"The {SLOWEST} slowest tests:")
        for test, seconds in sorted(self.seconds.items(), key=lambda item: -item[1])[:SLOWEST]:
            write(f"{seconds:>8.1f}  {test}")
        for sentence in self.over():
            write(sentence, red=True)


def _folder(test: str) -> str:
    parts = PurePosixPath(test.partition("::")[0]).parts
    return parts[1] if len(parts) > 2 else ""
