"""How much the engine costs per step, beside a bare log of the same events and beside its peers.

Three shapes with durability on: a chain of 200 steps, 1 -> 200 -> 1, and 200 plans of 5 steps at once. Every contestant
runs in a process of its own on a fresh folder, in turns; the best of the rounds counts, and only ratios within one run
say much. Then a plan of 10,000 steps, and the time from nothing to the first step done.

    python benchmarks/engine.py [--dir FOLDER] [--rounds N]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CONTESTANTS = Path(__file__).with_name("_engine_contestants.py")
SHAPES = {"chain of 200": "chain", "1 -> 200 -> 1": "fan", "200 plans of 5": "plans"}
PEERS = {"LangGraph + SQLite": "langgraph", "DBOS + SQLite": "dbos"}
OURS = {"bare log, same events": "bare", "the same, with room": "bare-with-room", "Beforehand": "beforehand"}
ABOUT_THE_LIMIT = """
The bare log is a limit, not an engine. It is handed the very lines of the run, ready-made, in the same order and with
the same waits, and commits them with full sync from a thread of its own, many at once where many wait. It leaves out
all the rest: validating, deciding, references, calling tools, encoding, the documents that HTTP reads, indexes, and the
look at who leads. So it shows what a chain, which waits for the disk at every hop, could cost at best; where hundreds
of steps share a commit nearly all of the cost is in what it leaves out. `with room` writes into a write-ahead log that
was filled with zeros beforehand, as the store does when it is opened.
CPU is of the whole process, user and kernel, all threads."""
PATIENCE_S = 90


def run(*words: str, folder: Path) -> dict[str, Any] | None:
    """One contestant in a process of its own; None when what it needs is not installed."""
    with tempfile.TemporaryDirectory(dir=folder) as home:
        began = time.time()
        command = [sys.executable, str(CONTESTANTS), *words, "--home", home, "--began", str(began)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE_S, env={**os.environ, "PYTHONWARNINGS": "ignore"}
        )
    if done.returncode == 3:
        return None
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} failed:\n{done.stderr[-3000:]}")
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def best(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: min(one[name] for one in rounds) for name in rounds[0]}


def measure(folder: Path, rounds: int) -> dict[tuple[str, str], dict[str, Any]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    missing: set[str] = set()
    for _ in range(rounds):
        for shape in SHAPES.values():
            for name in (*OURS.values(), *PEERS.values()):
                if name in missing:
                    continue
                result = run(name, shape, folder=folder)
                if result is None:
                    missing.add(name)
                else:
                    found.setdefault((name, shape), []).append(result)
    for label, name in PEERS.items():
        if name in missing:
            print(f"{label} is not installed, so it is left out; make bench-peers installs it,")
            print("or: pip install langgraph langgraph-checkpoint-sqlite dbos")
    return {key: best(results) for key, results in found.items()}


def show_shapes(found: dict[tuple[str, str], dict[str, Any]]) -> None:
    print(f"\n{'per step':<24}" + "".join(f"{shape:>26}" for shape in SHAPES))
    print(f"{'':<24}" + f"{'ms':>14}{'CPU ms':>12}" * 3)
    for label, name in {**OURS, **PEERS}.items():
        if (name, "chain") in found:
            cells = [found[name, shape] for shape in SHAPES.values()]
            print(f"{label:<24}" + "".join(f"{cell['ms']:>14.3f}{cell['cpu_ms']:>12.3f}" for cell in cells))
    print(f"\n{'times Beforehand':<24}" + f"{'time':>14}{'CPU':>12}" * 3)
    for label, name in {**OURS, **PEERS}.items():
        if name != "beforehand" and (name, "chain") in found:
            pairs = [(found[name, shape], found["beforehand", shape]) for shape in SHAPES.values()]
            print(
                f"{label:<24}"
                + "".join(f"{a['ms'] / b['ms']:>13.1f}x{a['cpu_ms'] / b['cpu_ms']:>11.1f}x" for a, b in pairs)
            )


def show_large(folder: Path) -> None:
    print(f"\n{'one large plan':<24}{'steps':>8}{'validate s':>12}{'ms/step':>10}{'CPU ms/step':>13}{'kB/step':>10}")
    for shape in ("chain", "fan"):
        for size in (2_000, 10_000):
            inner = size - 2 if shape == "fan" else size  # a fan has its first and its last step besides
            cell = run("beforehand", shape, "--size", str(inner), folder=folder)
            assert cell is not None
            print(
                f"{shape:<24}{size:>8}{cell['validate_s']:>12.2f}{cell['ms']:>10.3f}"
                f"{cell['cpu_ms']:>13.3f}{cell['kb_per_step']:>10.2f}"
            )


def show_start(folder: Path) -> None:
    cells = [run("beforehand", "chain", "--size", "1", folder=folder) for _ in range(3)]
    print(f"\nFrom no process at all to the first step done: {min(cell['first_s'] for cell in cells if cell):.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()), help="where the logs are written")
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    print(f"Logs in {given.dir}, full sync, {os.cpu_count()} processors, best of {given.rounds} rounds.")
    show_shapes(measure(given.dir, given.rounds))
    print(ABOUT_THE_LIMIT)
    show_large(given.dir)
    show_start(given.dir)


if __name__ == "__main__":
    main()
