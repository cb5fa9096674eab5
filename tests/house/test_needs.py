"""A test that needs what is not there is skipped with a sentence, and with CI=true it fails."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

@pytest.mark.needs("chromium")
def test_marked():
    pass

def test_by_fixture(executable):
    executable("npm")

def test_by_hand():
    pytest.skip("The moon is in the way.")

@pytest.mark.xfail(reason="known")
def test_known_to_fail():
    assert False

def test_plain():
    pass
"""


@pytest.fixture
def folder(tmp_path: Path, repository: Path) -> Path:
    shutil.copy(repository / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_needs.py").write_text(TESTS, encoding="utf-8")
    # Only here are the programs out of reach: the environment's own folder is found by where Python lies.
    conftest = (tmp_path / "conftest.py").read_text(encoding="utf-8")
    (tmp_path / "conftest.py").write_text(conftest + "\nshutil.which = lambda *_, **__: None\n", encoding="utf-8")
    return tmp_path


def run(folder: Path, ci: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rsf", "-p", "no:cacheprovider", str(folder)],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "CI": ci, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )
    return done.stdout


def test_what_is_missing_skips_a_test_by_name(folder: Path) -> None:
    shown = run(folder, ci="")
    assert "1 passed, 3 skipped, 1 xfailed" in shown
    assert "chromium is missing on this machine; install the Debian package chromium-headless-shell." in shown
    assert "npm is missing on this machine" in shown


def test_with_ci_nothing_may_be_missing(folder: Path) -> None:
    shown = run(folder, ci="true")
    assert "The moon is in the way." in shown
    assert "2 failed, 1 passed, 1 xfailed, 1 error" in shown
