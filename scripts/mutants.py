"""Changes statements at random and looks whether a test notices: `make mutants`.

The sample is drawn, by a seed, from the modules that differ from a base (MUTANTS="--base main"), from the modules that
are named, or evenly from the rooms (MUTANTS="--rooms", or "--rooms links loop" for two). Written into a file it can be
tried again on another commit: MUTANTS="--rooms --write FILE", then "--sample FILE" on each.

Every mutant is tried in a copy of the tree, against the tests that cover its module, the quick ones first. A test that
fails counts if it fails again, and passes when nothing is changed. What was not noticed is listed with its place; fewer
than nine of ten noticed is a failure. A few mutants mean the same as what was written: look at them, and leave them.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from covers import PACKAGE, ROOMS, ROOT, room_of, tests_for
from mutation import Mutant, mutants_of

ENOUGH = 0.9
TEST_S = 60
"""A test that takes longer, or a third of a mutant's time, hangs: it has failed."""
CLOSE_S = 20
"""How long tests that are cut off may take to stop what they have started."""


# -- which -------------------------------------------------------------------------------------------------------------


def all_modules() -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / PACKAGE).rglob("*.py"))


def changed_modules(base: str) -> list[str]:
    """The modules of the package that differ from a base."""
    listed = ["git", "diff", "--name-only", "--diff-filter=d", base, "--", f"{PACKAGE}/*.py"]
    return subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


def all_mutants(modules: Iterable[str]) -> list[Mutant]:
    return [mutant for name in modules for mutant in mutants_of(name, (ROOT / name).read_text(encoding="utf-8"))]


def draw(mutants: Sequence[Mutant], count: int, chance: random.Random) -> list[Mutant]:
    """One from each of as many equal stretches, so that every module has its share."""
    count = min(count, len(mutants))
    return [mutants[int((nth + chance.random()) * len(mutants) / count)] for nth in range(count)]


def draw_from_rooms(rooms: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """As many from each room; the first rooms get what cannot be shared out."""
    drawn, modules = [], all_modules()
    for nth, room in enumerate(rooms):
        made = all_mutants(module for module in modules if room_of(module) == room)
        share = count // len(rooms) + (nth < count % len(rooms))
        drawn += draw(made, share, random.Random(f"{seed} {room}"))
    return drawn


def write_sample(file: Path, drawn: Iterable[Mutant]) -> None:
    rows = [dict(zip(("module", "text", "before", "after", "nth"), mutant.key, strict=True)) for mutant in drawn]
    file.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_sample(file: Path) -> list[Mutant]:
    """The mutants of a file, as this tree has them; those whose statement is no longer here are told."""
    keys = [tuple(row.values()) for row in json.loads(file.read_text(encoding="utf-8"))]
    modules = {key[0] for key in keys}
    here = {mutant.key: mutant for mutant in all_mutants(name for name in all_modules() if name in modules)}
    for key in keys:
        if key not in here:
            print(f"gone         {key[0]}: {key[1]}")
    return [here[key] for key in keys if key in here]


# -- trying them -------------------------------------------------------------------------------------------------------


def copy_tree(place: Path) -> Path:
    """The files of the working tree that git knows or would know, as they are now."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, place / name)
    # Compiled once, for the commands and servers that tests start; by content, as a mutant may be as long and as new.
    compiled = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "src"]
    subprocess.run(compiled, cwd=place, check=True)
    return place


def first_failure(tree: Path, tests: Iterable[str], seed: int, limit_s: float, without: Iterable[str] = ()) -> str:
    """The test that fails in this copy, or empty text: none did, or none in the time."""
    paths = [tree / "src", *(tree / "examples").glob("*/src")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("CI", None)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb", "no", "-rfE", "-p", "no:cacheprovider"]
    command += ["-m", "not soak", "--timeout", str(min(TEST_S, limit_s / 3)), "--hypothesis-seed", str(seed)]
    command += [*(f"--deselect={name}" for name in without), *tests]
    both = subprocess.STDOUT
    ran = subprocess.Popen(command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=both, text=True)
    try:
        said, _ = ran.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        stop(ran)
        return ""
    if ran.returncode in (0, 5):  # 5: nothing was left to run
        return ""
    named = re.findall(r"^(?:FAILED|ERROR) (tests/\S+(?: [^-\s]\S*)*)", said, re.MULTILINE)
    return named[0] if named else next(iter(tests))


def stop(ran: "subprocess.Popen[str]") -> None:
    """As Ctrl-C would: the tests stop the servers that they have started."""
    ran.send_signal(signal.SIGINT)
    try:
        ran.communicate(timeout=CLOSE_S)
    except subprocess.TimeoutExpired:
        ran.kill()
        ran.communicate()


class Trial:
    """The copies in which mutants are tried, one at a time in each."""

    def __init__(self, folder: Path, jobs: int, seed: int, limit_s: float) -> None:
        self.seed, self.limit_s = seed, limit_s
        self.trees: Queue[Path] = Queue()
        for number in range(jobs):
            self.trees.put(copy_tree(folder / f"tree-{number}"))
        self.passes: dict[str, bool] = {}
        """Whether a test passes when nothing is changed, and always, of those that have failed."""

    def notices(self, mutant: Mutant) -> bool:
        tree, begin = self.trees.get(), time.monotonic()
        try:
            by = self._who_notices(mutant, tree, begin + self.limit_s)
        finally:
            self.trees.put(tree)
        took = f"{time.monotonic() - begin:4.0f} s"
        print(f"{f'noticed     {took}' if by else f'NOT NOTICED {took}'}  {mutant.shown}", flush=True)
        if by:
            print(f"                    by {by}", flush=True)
        return bool(by)

    def _who_notices(self, mutant: Mutant, tree: Path, end: float) -> str:
        """The test that fails only with the mutant. One that fails anyway is left out from then on."""
        tests, file = tests_for(mutant.module), tree / mutant.module
        source = file.read_text(encoding="utf-8")
        while (left_s := end - time.monotonic()) > 0:
            useless = [name for name, passes in self.passes.items() if not passes]
            try:
                file.write_text(mutant.changed(source), encoding="utf-8")
                failed = first_failure(tree, tests, self.seed, left_s, useless)
                again = failed and first_failure(tree, [failed], self.seed, self.limit_s)
            finally:
                file.write_text(source, encoding="utf-8")
            if not failed or (again and self._passes_unchanged(failed, tree)):
                return failed
            self._leave_out(failed, "as it is" if again else "now and then")
        return ""

    def _passes_unchanged(self, test: str, tree: Path) -> bool:
        if test not in self.passes:
            self.passes[test] = not first_failure(tree, [test], self.seed, self.limit_s)
        return self.passes[test]

    def _leave_out(self, test: str, fails: str) -> None:
        self.passes[test] = False
        print(f"fails {fails:<13} {test}", flush=True)


def print_rooms(drawn: Sequence[Mutant], noticed: Sequence[bool]) -> None:
    of = Counter(room_of(mutant.module) for mutant in drawn)
    seen = Counter(room_of(mutant.module) for mutant, was in zip(drawn, noticed, strict=True) if was)
    print(f"\n{'room':<10}  noticed  of")
    for room in (room for room in ROOMS if of[room]):
        print(f"{room:<10}  {seen[room]:>7}  {of[room]:>2}")


def main() -> int:
    reads = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reads.add_argument("modules", nargs="*", help="modules, such as src/beforehand/engine/leasing.py")
    reads.add_argument("--base", default="HEAD~1", help="without modules: those that differ from this commit")
    reads.add_argument("--rooms", nargs="*", choices=ROOMS, help="evenly from these rooms, or from all")
    reads.add_argument("--sample", type=Path, help="the mutants of this file")
    reads.add_argument("--write", type=Path, help="writes the sample into this file and tries nothing")
    reads.add_argument("--count", type=int, default=40)
    reads.add_argument("--seed", type=int, default=1)
    reads.add_argument("--jobs", type=int, default=2)
    reads.add_argument("--limit", type=float, default=300, help="seconds for one mutant")
    given = reads.parse_args()
    if given.sample:
        drawn = read_sample(given.sample)
    elif given.rooms is not None:
        drawn = draw_from_rooms(given.rooms or list(ROOMS), given.count, given.seed)
    else:
        modules = given.modules or changed_modules(given.base)
        drawn = draw(all_mutants(modules), given.count, random.Random(given.seed))
    if not drawn:
        print("No module differs, so there is nothing to change.")
        return 0
    if given.write:
        write_sample(given.write, drawn)
        return 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(given.jobs) as pool:
        trial = Trial(Path(folder), given.jobs, given.seed, given.limit)
        noticed = list(pool.map(trial.notices, drawn))
    print_rooms(drawn, noticed)
    print(f"\n{sum(noticed)} of {len(drawn)} mutants were noticed ({sum(noticed) / len(drawn):.0%}).")
    return 0 if sum(noticed) >= ENOUGH * len(drawn) else 1


if __name__ == "__main__":
    sys.exit(main())
