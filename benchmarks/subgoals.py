"""What a sub-goal costs, and what the planner reads of it, beside LangGraph's Send without and with its SQLite saver.

    python benchmarks/subgoals.py [--smallest] [--dir FOLDER] [--turns N]

Workers do nothing and deliver 40 rows each. Planners are functions; Beforehand's is also measured as one that is waited
for between two commits, as a model is. Three shapes: 3 rounds of 20 workers, whose results share commits; 20 questions
like that at once; and 20 rounds of one worker, where every step waits for the disk alone. Every contestant runs in a
process of its own on a fresh folder, in turns; the best of the turns counts, and only ratios within one run say much.
Then, round by round, the size of the planner's prompt beside one with whole payloads. LangGraph is there where
`make bench-peers` has installed it.
"""

import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import _contest
from _contest import Figures
from _options import Options
from _parts import PEERS, can_run
from _subgoal_contestants import Shape, ask, opened, planner_of

from beforehand.crafts.rounds.core.prompt import prompt_of

CONTESTANTS = Path(__file__).with_name("_subgoal_contestants.py")
MEASURED = (Shape(3, 20, 30), Shape(3, 20, 40, 20), Shape(20, 1, 20))
SMALLEST = (Shape(2, 3, 2, 2),)
OURS = "beforehand"
NAMES = {
    "Beforehand, log with full sync": OURS,
    "the same, planner waited for": "beforehand-waited",
    "LangGraph Send, no durability": "langgraph",
    "LangGraph Send + SQLite": "langgraph-sqlite",
    "the same, saved while it goes on": "langgraph-sqlite-async",
}
CHARS_PER_TOKEN = 4
Cells = dict[tuple[str, str], Figures]


def label_of(shape: Shape) -> str:
    each = f"{shape.rounds} rounds of {shape.workers}"
    return each if shape.at_once == 1 else f"{shape.at_once} of {each} at once"


def measure(folder: Path, turns: int, shapes: tuple[Shape, ...]) -> Cells:
    with_peers = can_run("LangGraph", "langgraph", "aiosqlite", remedy=PEERS)
    contestants = {
        (name, label_of(shape)): [name, *map(str, shape)]
        for shape in shapes
        for name in NAMES.values()
        if with_peers or name.startswith(OURS)
    }
    return _contest.hold(CONTESTANTS, contestants, turns, folder)


def show(found: Cells) -> None:
    shapes = list(dict.fromkeys(shape for _, shape in found))
    print(f"\n{'per sub-goal':<36}" + "".join(f"{shape:>30}" for shape in shapes))
    print(f"{'':<36}" + f"{'µs':>14}{'CPU µs':>8}{'times':>8}" * len(shapes))
    for label, name in NAMES.items():
        if (name, shapes[0]) in found:
            pairs = [(found[name, shape], found[OURS, shape]) for shape in shapes]
            cells = (f"{a['us']:>14.0f}{a['cpu_us']:>8.0f}{a['cpu_us'] / b['cpu_us']:>7.1f}x" for a, b in pairs)
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
    options = Options(__doc__)
    options.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()), help="where the logs are written")
    options.add_size("--turns", 3, 1)
    options.add_size("shapes", MEASURED, SMALLEST)
    given = options.read()
    print(f"Logs in {given.dir}, {os.cpu_count()} processors, best of {given.turns} turns.")
    show(measure(given.dir, given.turns, given.shapes))
    asyncio.run(show_prompts(given.shapes[0], given.dir))


if __name__ == "__main__":
    main()
