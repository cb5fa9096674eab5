"""How much the engine costs per step, beside a bare log of the same events and beside its peers.

Three shapes with durability on: a chain of 200 steps, 1 -> 200 -> 1, and 200 plans of 5 steps at once. Every contestant
runs in a process of its own on a fresh folder, in turns; the best of the rounds counts, and only ratios within one run
say much. Then a plan of 10,000 steps, and the time from nothing to the first step done.

    python benchmarks/engine.py [--smallest] [--dir FOLDER] [--rounds N]
"""

import os
import tempfile
from pathlib import Path

import _contest
from _contest import Figures
from _engine_contestants import Shape
from _options import Options
from _parts import PEERS, can_run

CONTESTANTS = Path(__file__).with_name("_engine_contestants.py")
MEASURED = {
    "chain of 200": Shape("chain", 200),
    "1 -> 200 -> 1": Shape("fan", 200),
    "200 plans of 5": Shape("chain", 5, 200),
}
SMALLEST = {"2 plans of 1 -> 4 -> 1": Shape("fan", 4, 2)}
NAMES = {
    "bare log, same events": "bare",
    "the same, with room": "bare-with-room",
    "Beforehand": "beforehand",
    "LangGraph + SQLite": "langgraph",
    "DBOS + SQLite": "dbos",
}
ABOUT_THE_LIMIT = """
The bare log is a limit, not an engine. It is handed the very lines of the run, ready-made, in the same order and with
the same waits, and commits them with full sync from a thread of its own, many at once where many wait. It leaves out
all the rest: validating, deciding, references, calling tools, encoding, the documents that HTTP reads, indexes, and the
look at who leads. So it shows what a chain, which waits for the disk at every hop, could cost at best; where hundreds
of steps share a commit nearly all of the cost is in what it leaves out. `with room` writes into a write-ahead log that
was filled with zeros beforehand, as the store does when it is opened.
CPU is of the whole process, user and kernel, all threads."""
Found = dict[tuple[str, str], Figures]
"""By the label of the contestant and that of the shape."""


def words_of(name: str, shape: Shape) -> list[str]:
    return [name, shape.kind, str(shape.size), "--plans", str(shape.plans)]


def contestants() -> dict[str, str]:
    """Those that can be measured here."""
    missing = set()
    for label, modules in {"LangGraph + SQLite": ("langgraph", "aiosqlite"), "DBOS + SQLite": ("dbos",)}.items():
        if not can_run(label, *modules, remedy=PEERS):
            missing.add(label)
    return {label: name for label, name in NAMES.items() if label not in missing}


def show_shapes(found: Found, labels: list[str], shapes: list[str]) -> None:
    print(f"\n{'per step':<24}" + "".join(f"{shape:>26}" for shape in shapes))
    print(f"{'':<24}" + f"{'ms':>14}{'CPU ms':>12}" * len(shapes))
    for label in labels:
        cells = [found[label, shape] for shape in shapes]
        print(f"{label:<24}" + "".join(f"{cell['ms']:>14.3f}{cell['cpu_ms']:>12.3f}" for cell in cells))
    print(f"\n{'times Beforehand':<24}" + f"{'time':>14}{'CPU':>12}" * len(shapes))
    for label in labels:
        if label != "Beforehand":
            pairs = [(found[label, shape], found["Beforehand", shape]) for shape in shapes]
            ratios = (f"{a['ms'] / b['ms']:>13.1f}x{a['cpu_ms'] / b['cpu_ms']:>11.1f}x" for a, b in pairs)
            print(f"{label:<24}" + "".join(ratios))


def show_large(folder: Path, sizes: tuple[int, ...]) -> None:
    print(f"\n{'one large plan':<24}{'steps':>8}{'validate s':>12}{'ms/step':>10}{'CPU ms/step':>13}{'kB/step':>10}")
    for kind in ("chain", "fan"):
        for size in sizes:
            inner = size - 2 if kind == "fan" else size  # a fan has its first and its last step besides
            cell = _contest.run(CONTESTANTS, words_of("beforehand", Shape(kind, inner)), folder)
            print(
                f"{kind:<24}{size:>8}{cell['validate_s']:>12.2f}{cell['ms']:>10.3f}"
                f"{cell['cpu_ms']:>13.3f}{cell['kb_per_step']:>10.2f}"
            )


def show_start(folder: Path, times: int) -> None:
    best = _contest.hold(CONTESTANTS, {"start": words_of("beforehand", Shape("chain", 1))}, times, folder)
    print(f"\nFrom no process at all to the first step done: {best['start']['first_s']:.2f} s")


def main() -> None:
    options = Options(__doc__)
    options.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()), help="where the logs are written")
    options.add_size("--rounds", 2, 1)
    options.add_size("shapes", MEASURED, SMALLEST)
    options.add_size("--large", (2_000, 10_000), (20,), "steps of the large plans")
    options.add_size("--starts", 3, 1)
    given = options.read()
    print(f"Logs in {given.dir}, full sync, {os.cpu_count()} processors, best of {given.rounds} rounds.")
    names = contestants()
    turns = {(label, shape): words_of(name, of) for shape, of in given.shapes.items() for label, name in names.items()}
    show_shapes(_contest.hold(CONTESTANTS, turns, given.rounds, given.dir), list(names), list(given.shapes))
    print(ABOUT_THE_LIMIT)
    show_large(given.dir, given.large)
    show_start(given.dir, given.starts)


if __name__ == "__main__":
    main()
