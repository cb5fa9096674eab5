"""Tests of a file stay in one process, and the groups of files are files that are there."""

import os
import subprocess
import sys
from pathlib import Path

from tests.schedule import GROUP_OF

CONFTEST = "from tests.conftest import pytest_xdist_make_scheduler  # noqa: F401\n"
TESTS = """
import os, pytest
from pathlib import Path

@pytest.mark.parametrize("number", range(6))
def test_it(number):
    with open(Path(__file__).with_suffix(".ran"), "a") as file:
        file.write(os.environ["PYTEST_XDIST_WORKER"] + "\\n")
"""


def test_the_files_of_a_group_are_there(repository: Path) -> None:
    assert [file for file in GROUP_OF if not (repository / file).is_file()] == []


def test_the_tests_of_a_file_run_in_one_process_and_those_of_several_files_beside_each_other(
    tmp_path: Path, repository: Path
) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    for name in ("a", "b", "c", "d"):
        (tmp_path / f"test_{name}.py").write_text(TESTS)
    words = ["-q", "-n", "2", "--dist", "loadscope", "-p", "no:cacheprovider", "-p", "no:schemathesis", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    ran = [file.read_text().split() for file in tmp_path.glob("*.ran")]
    assert [len(workers) for workers in ran] == [6] * 4
    assert [len(set(workers)) for workers in ran] == [1] * 4
    assert len({worker for workers in ran for worker in workers}) == 2
