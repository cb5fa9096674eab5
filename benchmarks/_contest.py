"""A contest: every contestant runs in a process of its own on a fresh folder, in turns; the best of the turns counts.

A contestant is a command that ends with one line of JSON, the figures of its work; less is better.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

PATIENCE_S = 120
Figures = dict[str, float]
KeyT = TypeVar("KeyT", bound=Hashable)


class Stopwatch:
    """Wall and processor time of the work itself: the whole process, all threads, user and kernel."""

    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def per(self, count: int) -> tuple[float, float]:
        """Seconds on the clock and of the processor for each of so many."""
        return (time.perf_counter() - self.wall) / count, (time.process_time() - self.cpu) / count


def run(script: Path, words: Sequence[str], folder: Path) -> Figures:
    """One contestant in a process of its own."""
    with tempfile.TemporaryDirectory(dir=folder) as home:
        command = [sys.executable, str(script), *words, "--home", home, "--began", str(time.time())]
        quiet = {**os.environ, "PYTHONWARNINGS": "ignore"}
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, env=quiet)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} failed:\n{done.stderr[-3000:]}")
    figures: Figures = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def hold(script: Path, contestants: Mapping[KeyT, Sequence[str]], turns: int, folder: Path) -> dict[KeyT, Figures]:
    """The best figures of each contestant."""
    found: dict[KeyT, Figures] = {}
    for _ in range(turns):
        for key, words in contestants.items():
            figures = run(script, words, folder)
            before = found.get(key, figures)
            found[key] = {name: min(before[name], value) for name, value in figures.items()}
    return found
