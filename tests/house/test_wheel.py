"""The wheel holds what a user needs and nothing else."""

import re
import subprocess
import sys
import tarfile
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


def test_the_wheel_carries_the_console(wheel: zipfile.ZipFile, wheel_names: list[str]) -> None:
    page = wheel.read("beforehand/server/console/index.html").decode()
    asked = re.findall(r'(?:src|href)="/([^"]+)"', page)
    assert [name for name in asked if name.endswith(".js")]
    assert [name for name in asked if f"beforehand/server/console/{name}" not in wheel_names] == []
    assert [name for name in wheel_names if "node_modules" in name or ".fingerprint" in name] == []


def test_the_source_archive_can_build_the_console(repository: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = tmp_path.glob("beforehand-*.tar.gz")
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"web/package.json", "web/package-lock.json", "web/.npmrc", "web/index.html", "scripts/console.py"} <= names
    assert [name for name in names if "node_modules" in name or name.startswith("src/beforehand/server/console/")] == []


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
    extras = {
        "graph": "neo4j",
        "fast": "scipy",
        "postgres": "psycopg",
        "temporal": "temporalio",
        "models": "pydantic-ai-slim",
        "opcua": "asyncua",
        "vda5050": "aiomqtt",
        "minigrid": "minigrid",
    }
    assert dict(documented) == extras
    for extra, brings in documented:
        assert [line for line in asked_for if line.startswith(brings) and f"extra == '{extra}'" in line]
