"""The wheel holds what a user needs and nothing else."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def wheel_names(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
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
        return archive.namelist()


def test_the_wheel_is_typed(wheel_names: list[str]) -> None:
    assert "beforehand/py.typed" in wheel_names


def test_the_wheel_carries_every_scene(wheel_names: list[str], repository: Path) -> None:
    scenes = {f"beforehand/scenes/{path.name}" for path in (repository / "scenes").glob("*.yaml")}
    assert scenes
    assert scenes <= set(wheel_names)


def test_the_wheel_carries_every_module(wheel_names: list[str], repository: Path) -> None:
    source = repository / "src"
    modules = {path.relative_to(source).as_posix() for path in (source / "beforehand").rglob("*.py")}
    assert modules <= set(wheel_names)


def test_the_wheel_carries_nothing_else(wheel_names: list[str]) -> None:
    assert [name for name in wheel_names if not name.startswith(("beforehand/", "beforehand-"))] == []
    assert [name for name in wheel_names if "test_" in name or "conftest" in name or name.endswith(".pyc")] == []


def test_the_wheel_carries_its_licence(wheel_names: list[str]) -> None:
    assert any(name.endswith("licenses/LICENSE") for name in wheel_names)
