"""What a sub-goal costs, and what the planner reads of it, beside LangGraph's Send without and with its SQLite saver.

    python benchmarks/subgoals.py [--dir FOLDER] [--turns N]

Workers do nothing and deliver 40 rows each. Planners are functions; Beforehand's is also measured as one that is waited
for between two commits, as a model is. Three shapes: 3 rounds of 20 workers, whose results share commits; 20 questions
like that at once; and 20 rounds of one worker, where every step waits for the disk alone. Every contestant runs in a
process of its own on a fresh folder, in turns; the best of the turns counts, and only ratios within one run say much.
Then, round by round, the size of the planner's prompt beside one with whole payloads. LangGraph is there where
`make bench-peers` has installed it.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from _subgoal_contestants import Shape, ask, opened, planner_of

from beforehand.crafts.rounds.core.prompt import prompt_of

CONTESTANTS = Path(__file__).with_name("_subgoal_contestants.py")
SHAPES = {
    "3 rounds of 20": Shape(3, 20, 30),
    "20 of them at once": Shape(3, 20, 40, 20),
    "20 rounds of 1": Shape(20, 1, 20),
}
OURS = "beforehand"
NAMES = {
    "Beforehand, log with full sync": OURS,
    "the same, planner waited for": "beforehand-waited",
    "LangGraph Send, no durability": "langgraph",
    "LangGraph Send + SQLite": "langgraph-sqlite",
    "the same, saved while it goes on": "langgraph-sqlite-async",
}
CHARS_PER_TOKEN = 4
PATIENCE_S = 120
Cells = dict[tuple[str, str], dict[str, float]]


def run(name: str, shape: Shape, folder: Path) -> dict[str, float] | None:
    """One contestant in a process of its own; None when what it needs is not installed."""
    sizes = [f"--{size.replace('_', '-')}={value}" for size, value in shape._asdict().items()]
    with tempfile.TemporaryDirectory(dir=folder) as home:
        command = [sys.executable, str(CONTESTANTS), name, "--home", home, *sizes]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    if done.returncode == 3:
        return None
    if done.returncode != 0:
        sys.exit(f"{name} failed:\n{done.stderr[-3000:]}")
    result: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def measure(folder: Path, turns: int) -> Cells:
    found: Cells = {}
    for _ in range(turns):
        for label, shape in SHAPES.items():
            for name in NAMES.values():
                result = run(name, shape, folder)
                if result is not None:
                    before = found.get((name, label), result)
                    found[name, label] = {size: min(before[size], result[size]) for size in result}
    return found


def show(found: Cells) -> None:
    if all(name.startswith(OURS) for name, _ in found):
        print("LangGraph is not installed, so it is left out; make bench-peers installs it.")
    print(f"\n{'per sub-goal':<36}" + "".join(f"{shape:>27}" for shape in SHAPES))
    print(f"{'':<36}" + f"{'µs':>11}{'CPU µs':>8}{'times':>8}" * 3)
    for label, name in NAMES.items():
        if (name, next(iter(SHAPES))) in found:
            pairs = [(found[name, shape], found[OURS, shape]) for shape in SHAPES]
            cells = (f"{a['us']:>11.0f}{a['cpu_us']:>8.0f}{a['cpu_us'] / b['cpu_us']:>7.1f}x" for a, b in pairs)
            print(f"{label:<36}" + "".join(cells))
    print("\n`times` is CPU beside Beforehand's: of the whole process, user and kernel, all threads.")


async def show_prompts(shape: Shape, folder: Path) -> None:
    """What the planner is told in each round; what never changes is left out of both, since providers keep it."""
    told: list[tuple[int, int, int]] = []

    def watched(state: Any) -> None:
        prompt = prompt_of(state)
        whole = json.dumps({str(id): dict(outputs) for id, outputs in state.completed_outputs().items()})
        told.append((state.round, len(prompt.question) + len(prompt.now), len(prompt.question) + len(whole)))

    with tempfile.TemporaryDirectory(dir=folder) as home:
        store = await opened(Path(home))
        await ask(store, shape, planner_of(shape, watched), 1)
        await store.close()
    print(f"\n{'the planner reads in round':<36}{'tokens, about':>16}{'whole payloads':>18}{'times':>9}")
    for number, short, whole in told:
        tokens, others = (size // CHARS_PER_TOKEN for size in (short, whole))
        print(f"{number:<36}{tokens:>16,}{others:>18,}{whole / short:>8.1f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()), help="where the logs are written")
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    print(f"Logs in {given.dir}, {os.cpu_count()} processors, best of {given.turns} turns.")
    show(measure(given.dir, given.turns))
    asyncio.run(show_prompts(SHAPES["3 rounds of 20"], given.dir))


if __name__ == "__main__":
    main()
