"""Questions whose driver is killed again and again: they end all the same, and nothing finished is done again."""

import asyncio
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.properties.rounds_story import Story, check, open_log
from tests.properties.watched import YieldingStore

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60


async def drivers_killed(seed: int) -> int:
    """Kill the driver of a question after a few turns of the event loop, until it is over; how many lives it took."""
    chance, store = random.Random(seed), YieldingStore()
    diary: list[str] = []
    story = Story(seed, diary.append)
    lives = 1
    while not await story.live(store, chance.randint(1, 40)):
        lives += 1
    check(await store.events(limit=100_000), diary, story.workers())
    await store.close()
    return lives


def processes_killed(folder: Path, seed: int) -> int:
    """kill -9 of a process at any instant after it has begun, a few times; the last one may finish."""
    chance = random.Random(seed)
    kills = 0
    last = chance.randint(2, 6)
    for life in range(last + 1):
        may_finish = life == last
        command = [sys.executable, "-m", "tests.properties.rounds_story", str(folder), str(seed), str(life)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "alive\n", process.communicate()[1]
        if not may_finish:
            threading.Event().wait(chance.random() * 0.05)
            kills += process.poll() is None
            process.send_signal(signal.SIGKILL)
        errors = process.communicate(timeout=PATIENCE_S)[1]
        assert not may_finish or process.returncode == 0, errors
    asyncio.run(_check_folder(folder, seed))
    return kills


async def _check_folder(folder: Path, seed: int) -> None:
    store = await open_log(folder, lead=False)
    lines = (folder / "diary").read_text().splitlines()
    check(await store.events(limit=100_000), lines, Story(seed, lines.append).workers())
    await store.close()


def test_a_question_whose_driver_is_killed_ends_and_does_nothing_twice() -> None:
    lives = [asyncio.run(drivers_killed(seed)) for seed in range(60)]
    assert sum(lives) > 200, "they were killed often"


def test_a_question_whose_process_is_killed_ends_and_does_nothing_twice(tmp_path: Path) -> None:
    processes_killed(tmp_path, 1)


@pytest.mark.soak
def test_drivers_killed_in_the_long_run() -> None:
    for seed in range(5_000):
        asyncio.run(drivers_killed(seed))


@pytest.mark.soak
def test_processes_killed_in_the_long_run(tmp_path: Path) -> None:
    kills = 0
    for seed in range(60):
        (tmp_path / str(seed)).mkdir()
        kills += processes_killed(tmp_path / str(seed), seed)
    assert kills > 60, "they were killed often"
