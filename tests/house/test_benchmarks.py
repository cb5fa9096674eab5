"""Every benchmark runs, at its smallest size: here, and with `make soak` beside the systems that it compares with."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
NAMES = sorted(path.stem for path in BENCHMARKS.glob("[!_]*.py"))
PEERS = {"DBOS + SQLite", "LangGraph", "LangGraph + SQLite", "The classical planners"}
LEFT_OUT = re.compile(r"^(.+): left out, since ", re.MULTILINE)
ROW = re.compile(r"^.*\S {2,}.*\d.*$", re.MULTILINE)
"""Columns with a figure in one of them."""


def run_smallest(python: Path, name: str, folder: Path) -> str:
    """What the benchmark prints, in a folder of its own and where nothing is set for Beforehand or Python."""
    ours = ("BEFOREHAND_", "PYTHONPATH")
    clean = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    command = [str(python), str(BENCHMARKS / f"{name}.py"), "--smallest"]
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("At the smallest size: ")
    assert len(ROW.findall(done.stdout)) > 1, f"No table:\n{done.stdout}"
    return done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_and_leaves_out_what_is_not_installed(name: str, tmp_path: Path) -> None:
    left_out = set(LEFT_OUT.findall(run_smallest(Path(sys.executable), name, tmp_path)))
    # Where nothing may be missing, only the systems compared with are: they have an environment of their own.
    assert left_out <= PEERS or os.environ.get("CI", "").lower() != "true"


def test_make_bench_knows_them_all(repository: Path) -> None:
    command = ["sh", "scripts/bench.sh", "no-such-benchmark"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.rpartition("There are: ")[2].split() == NAMES


@pytest.fixture(scope="session")
def peers_python(repository: Path) -> Path:
    subprocess.run(["make", "-s", "bench-peers", f"PYTHON={sys.executable}"], cwd=repository, check=True)
    return repository / ".venv-bench" / "bin" / "python"


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_beside_the_systems_compared_with(name: str, peers_python: Path, tmp_path: Path) -> None:
    assert PEERS.isdisjoint(LEFT_OUT.findall(run_smallest(peers_python, name, tmp_path)))
