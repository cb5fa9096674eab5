"""The wheel holds what a user needs and nothing else."""

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, "-w", str(folder), str(repository)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("beforehand-*.whl")
    with zipfile.ZipFile(built) as archive:
        yield archive


@pytest.fixture(scope="module")
def wheel_names(wheel: zipfile.ZipFile) -> list[str]:
    return wheel.namelist()


def test_the_wheel_is_typed(wheel_names: list[str]) -> None:
    assert "beforehand/py.typed" in wheel_names


def test_the_wheel_carries_every_scene(wheel_names: list[str], repository: Path) -> None:
    scenes = {f"beforehand/scenes/{path.name}" for path in (repository / "scenes").glob("*.yaml")}
    assert scenes
    assert scenes <= set(wheel_names)


def test_the_wheel_carries_every_page(wheel_names: list[str], repository: Path) -> None:
    pages = {f"beforehand/docs/{path.name}" for path in (repository / "docs").glob("*.md")}
    assert pages
    assert pages == {name for name in wheel_names if name.startswith("beforehand/docs/")}


def test_the_wheel_carries_every_module(wheel_names: list[str], repository: Path) -> None:
    source = repository / "src"
    modules = {path.relative_to(source).as_posix() for path in (source / "beforehand").rglob("*.py")}
    assert modules <= set(wheel_names)


def test_the_wheel_carries_nothing_else(wheel_names: list[str]) -> None:
    assert [name for name in wheel_names if not name.startswith(("beforehand/", "beforehand-"))] == []
    assert [name for name in wheel_names if "test_" in name or "conftest" in name or name.endswith(".pyc")] == []


def test_the_wheel_carries_its_licence(wheel_names: list[str]) -> None:
    assert any(name.endswith("licenses/LICENSE") for name in wheel_names)


@pytest.fixture(scope="module")
def asked_for(wheel: zipfile.ZipFile) -> list[str]:
    """The lines with which the wheel names what it needs: `numpy>=2`, `neo4j>=6; extra == 'graph'`."""
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return re.findall(r"^Requires-Dist: (.*)", wheel.read(name).decode(), re.MULTILINE)


def test_only_what_everybody_needs_is_no_extra(asked_for: list[str]) -> None:
    for everybody in (line for line in asked_for if "extra ==" not in line):
        heavy = ("scipy", "neo4j", "pydantic-ai", "minigrid", "pytest", "playwright", "arcadedb", "nodejs")
        assert not everybody.startswith(heavy)


def test_the_documented_extras_are_there(asked_for: list[str], repository: Path) -> None:
    page = (repository / "docs" / "install.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| `(\w+)` \| .*?`([\w-]+)`", page, re.MULTILINE)
    extras = {"graph": "neo4j", "fast": "scipy", "models": "pydantic-ai-slim", "minigrid": "minigrid"}
    assert dict(documented) == extras
    for extra, brings in documented:
        assert [line for line in asked_for if line.startswith(brings) and f"extra == '{extra}'" in line]
