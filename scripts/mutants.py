"""Changes statements at random and looks whether a test notices: `make mutants`.

The sample is drawn, by a seed, from the modules that differ from a base (MUTANTS="--base main"), or from the modules
that are named. Every mutant is tried in a copy of the tree, against the tests that cover its module. What was not
noticed is listed with its place; fewer than nine of ten noticed is a failure. A few mutants mean the same as what was
written: look at them, and leave them.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "src/beforehand"
ENOUGH = 0.9
PLANS = ("tests/scenarios/test_plans_*.py", "tests/scenarios/test_contract_plans.py", "tests/properties/test_engine.py")
FLEETS = ("tests/scenarios/test_fleet_*.py", "tests/properties/test_fleet*.py")
MACHINES = ("tests/rooms/crafts/cell/test_[gls][uet]*.py", "tests/properties/test_last_metre.py")
COVERS = {
    "crafts/cell": (
        "tests/rooms/crafts/cell/test_*.py",
        "tests/scenarios/test_sequence.py",
        "tests/scenarios/test_contract_scenes.py",
        "tests/contract/test_cell_controller.py",
        "tests/properties/test_cell.py",
        "tests/properties/test_last_metre.py",
        "tests/api/test_cell.py",
        "tests/cli/test_cell.py",
    ),
    "crafts/fleet": (
        "tests/rooms/crafts/fleet/test_*.py",
        *FLEETS,
        "tests/scenarios/test_contract_scenes.py",
        "tests/api/test_fleet.py",
        "tests/cli/test_fleet.py",
    ),
    "engine": ("tests/rooms/engine/test_*.py", *PLANS, *MACHINES),
    "loop": ("tests/rooms/loop/test_*.py", *PLANS, *MACHINES, "tests/rooms/crafts/fleet/test_fleets.py"),
    "app": (
        "tests/rooms/app/test_*.py",
        *MACHINES,
        "tests/scenarios/test_contract_*.py",
        "tests/api/test_*s.py",
        "tests/cli/test_*.py",
    ),
    "adapters/tools": ("tests/rooms/tools/test_*.py", "tests/scenarios/test_plans_approvals.py"),
    "adapters/files": ("tests/contract/test_workspace*.py", "tests/rooms/tools/test_files.py"),
    "adapters/sim": (
        "tests/rooms/sim/test_*.py",
        "tests/contract/test_robot_link.py",
        "tests/contract/test_cell_controller.py",
        *FLEETS,
    ),
    "adapters/graph": ("tests/contract/test_graph*.py",),
    "adapters/mcp": (
        "tests/contract/test_mcp*.py",
        "tests/rooms/tools/test_mcp*.py",
        "tests/rooms/adapters/test_mcp*.py",
        "tests/rooms/cli/test_mcp*.py",
    ),
    "adapters": ("tests/rooms/adapters/test_*.py", "tests/contract/test_store*.py", "tests/contract/test_log*.py"),
    "model": ("tests/rooms/model/test_*.py", "tests/rooms/engine/test_*.py", *PLANS, *FLEETS),
    "ports": ("tests/rooms/ports/test_*.py", "tests/rooms/crafts/*/test_*.py", *PLANS),
    "testing": ("tests/rooms/testing/test_*.py", *PLANS),
    "server": ("tests/api/test_*.py",),
    "cli": ("tests/rooms/cli/test_*.py", "tests/cli/test_*.py"),
}
"""The tests that cover a folder of the package; the longest that fits counts."""

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
}


@dataclass(frozen=True)
class Mutant:
    module: str
    line: int
    before: str
    after: str
    source: str
    """The whole module as changed."""

    @property
    def shown(self) -> str:
        return f"{self.module}:{self.line}: {_short(self.before)}  ->  {_short(self.after)}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 90 else f"{line[:87]}..."


# -- making them -------------------------------------------------------------------------------------------------------


def mutants_of(module: str, source: str) -> list[Mutant]:
    """Every mutant of a module."""
    tree = ast.parse(source)
    return [_changed(module, source, node, other) for node in _meaningful(tree) for other in _others(node)]


def _meaningful(tree: ast.AST) -> Iterator[ast.AST]:
    """What is carried out: no annotations, no decorators, no words, nothing that only type checkers and logs see."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import | ast.ImportFrom) or (isinstance(node, ast.Expr) and _is_idle(node.value)):
            continue
        if isinstance(node, ast.arg) or _is_annotation(tree, node):
            continue
        yield node
        yield from _meaningful(node)


def _is_idle(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) or ast.unparse(value).startswith("log.")


def _is_annotation(parent: ast.AST, node: ast.AST) -> bool:
    kept = (getattr(parent, "returns", None), getattr(parent, "annotation", None))
    return node in kept or node in getattr(parent, "decorator_list", ())


def _others(node: ast.AST) -> Iterator[ast.AST]:
    """What could stand in a node's place and would be wrong."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in SWAPS:
            yield ast.Compare(node.left, [SWAPS[type(op)]()], node.comparators)
        case ast.BoolOp():
            yield ast.BoolOp(SWAPS[type(node.op)](), node.values)
        case ast.BinOp() if type(node.op) in SWAPS and not _is_union(node):
            yield ast.BinOp(node.left, SWAPS[type(node.op)](), node.right)
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            yield ast.Constant(node.value + 1)
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield ast.Return(ast.Constant(None))
        case ast.Assign() | ast.AugAssign() | ast.Raise() | ast.Expr():
            yield ast.Pass()


def _is_union(node: ast.BinOp) -> bool:
    return any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in (node.left, node.right))


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _changed(module: str, source: str, node: ast.AST, other: ast.AST) -> Mutant:
    """The module with one node replaced, everything else to the letter as it was."""
    lines = source.encode().split(b"\n")
    first, last = node.lineno - 1, node.end_lineno - 1  # type: ignore[attr-defined]
    begin = sum(len(line) + 1 for line in lines[:first]) + node.col_offset  # type: ignore[attr-defined]
    end = sum(len(line) + 1 for line in lines[:last]) + node.end_col_offset  # type: ignore[attr-defined]
    text = ast.unparse(ast.fix_missing_locations(other))
    placed = f"({text})" if isinstance(other, ast.expr) else text
    data = source.encode()
    return Mutant(
        module, first + 1, data[begin:end].decode(), text, (data[:begin] + placed.encode() + data[end:]).decode()
    )


# -- trying them -------------------------------------------------------------------------------------------------------


def tests_for(module: str) -> list[str]:
    """The tests that cover a module, those named after it first."""
    inside = module.removeprefix(f"{PACKAGE}/")
    room = max((name for name in COVERS if inside.startswith(f"{name}/")), key=len, default="app")
    found = {str(path.relative_to(ROOT)): None for glob in COVERS[room] for path in sorted(ROOT.glob(glob))}
    noun = Path(module).stem
    return sorted(found, key=lambda path: (noun not in Path(path).stem, "properties" in path, list(found).index(path)))


def failure(tree: Path, tests: list[str], seed: int, limit_s: float | None) -> str:
    """What fails in this copy, as pytest tells it, or empty text; what hangs has failed."""
    paths = [tree / "src", *(tree / "examples").glob("*/src")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("CI", None)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not soak",
        "--timeout",
        "60",
    ]
    command += ["--hypothesis-seed", str(seed), *tests]
    try:
        ended = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=limit_s, check=False
        )
    except subprocess.TimeoutExpired:
        return "It took too long."
    return ended.stdout[-3_000:] + ended.stderr[-1_000:] if ended.returncode else ""


def copy_tree(place: Path) -> Path:
    """The files of the working tree that git knows or would know, as they are now."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, place / name)
    return place


class Trial:
    """The copies in which mutants are tried, one at a time in each."""

    def __init__(self, folder: Path, jobs: int, seed: int) -> None:
        self.seed = seed
        self.trees: Queue[Path] = Queue()
        for number in range(jobs):
            self.trees.put(copy_tree(folder / f"tree-{number}"))
        self.limits: dict[tuple[str, ...], float] = {}

    def take_time(self, tests: list[str]) -> None:
        """How long these tests take when nothing is changed; they must pass."""
        if tuple(tests) in self.limits:
            return
        tree, begin = self.trees.get(), time.monotonic()
        failed = failure(tree, tests, self.seed, None)
        self.trees.put(tree)
        if failed:
            sys.exit(f"The tests do not pass as it is, so nothing can be told.\n{failed}")
        self.limits[tuple(tests)] = 3 * (time.monotonic() - begin) + 30

    def notices(self, mutant: Mutant) -> bool:
        tests, tree = tests_for(mutant.module), self.trees.get()
        file = tree / mutant.module
        kept = file.read_text(encoding="utf-8")
        try:
            file.write_text(mutant.source, encoding="utf-8")
            noticed = bool(failure(tree, tests, self.seed, self.limits[tuple(tests)]))
        finally:
            file.write_text(kept, encoding="utf-8")
            self.trees.put(tree)
        print(f"{'noticed    ' if noticed else 'NOT NOTICED'}  {mutant.shown}", flush=True)
        return noticed


# -- which -------------------------------------------------------------------------------------------------------------


def changed_modules(base: str) -> list[str]:
    """The modules of the package that differ from a base."""
    listed = ["git", "diff", "--name-only", "--diff-filter=d", base, "--", f"{PACKAGE}/*.py"]
    return subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


def sample(modules: list[str], count: int, seed: int) -> list[Mutant]:
    """As many from each module as it has its share of statements; the same for the same seed and code."""
    made = [mutant for name in modules for mutant in mutants_of(name, (ROOT / name).read_text(encoding="utf-8"))]
    draw = random.Random(seed)
    return sorted(draw.sample(made, min(count, len(made))), key=lambda mutant: (mutant.module, mutant.line))


def main() -> int:
    reads = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reads.add_argument("modules", nargs="*", help="modules, such as src/beforehand/engine/leasing.py")
    reads.add_argument("--base", default="HEAD~1", help="without modules: those that differ from this commit")
    reads.add_argument("--count", type=int, default=40)
    reads.add_argument("--seed", type=int, default=1)
    reads.add_argument("--jobs", type=int, default=2)
    given = reads.parse_args()
    drawn = sample(given.modules or changed_modules(given.base), given.count, given.seed)
    if not drawn:
        print("No module differs, so there is nothing to change.")
        return 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(given.jobs) as pool:
        trial = Trial(Path(folder), given.jobs, given.seed)
        for mutant in drawn:
            trial.take_time(tests_for(mutant.module))
        noticed = sum(pool.map(trial.notices, drawn))
    print(f"\n{noticed} of {len(drawn)} mutants were noticed ({noticed / len(drawn):.0%}).")
    return 0 if noticed >= ENOUGH * len(drawn) else 1


if __name__ == "__main__":
    sys.exit(main())
