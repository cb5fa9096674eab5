"""The map of the house is whole: ARCHITECTURE.md names every module of `app`, every adapter and every craft."""

import re
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def named(repository: Path) -> set[str]:
    return set(re.findall(r"[a-z_0-9]+", (repository / "ARCHITECTURE.md").read_text(encoding="utf-8")))


def folders(path: Path) -> set[str]:
    return {one.name for one in path.iterdir() if one.is_dir() and not one.name.startswith("_")}


def test_every_module_of_app_has_its_place(repository: Path, named: set[str]) -> None:
    text = (repository / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text[text.index("The modules of `app/`") : text.index("## What a craft brings")]
    told = set(re.findall(r"`([a-z_0-9]+)`", table))
    modules = {path.stem for path in (repository / "src" / "beforehand" / "app").glob("*.py")} - {"__init__"}
    assert (modules - told, told - modules) == (set(), set())


@pytest.mark.parametrize("room", ["adapters", "crafts", "."])
def test_every_room_and_every_folder_in_it_is_named(room: str, repository: Path, named: set[str]) -> None:
    assert folders(repository / "src" / "beforehand" / room) - named - {"console"} == set()


def test_paths_that_are_named_are_there(repository: Path) -> None:
    """Such as `app/intake.py`: written from `src/beforehand`, from the root, or in a craft's walk from its folder."""
    text = (repository / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = set(re.findall(r"`((?:[a-z_0-9]+/)+[a-z_0-9]+\.py)`", text))
    sources = repository / "src" / "beforehand"
    roots = (repository, sources, *(path for path in (sources / "crafts").iterdir() if path.is_dir()))
    assert len(paths) > 30
    assert sorted(path for path in paths if not any((root / path).exists() for root in roots)) == []


MAY_BEGIN_TASKS = {"ports/tasks.py", "adapters/temporal/workflow.py"}
"""The one place; and what a workflow begins belongs to Temporal, in its own loop."""
BEGINS_A_TASK = re.compile(r"(?<!board)\.(create_task|ensure_future|run_coroutine_threadsafe)\(|\bTaskGroup\(")


def test_tasks_are_begun_in_one_place_where_each_has_an_owner(repository: Path) -> None:
    """Others call `part`, `job` and `lasting` of `ports/tasks.py`."""
    sources = repository / "src" / "beforehand"
    found = {
        str(path.relative_to(sources))
        for path in sources.rglob("*.py")
        if BEGINS_A_TASK.search(path.read_text(encoding="utf-8"))
    }
    assert found == MAY_BEGIN_TASKS
