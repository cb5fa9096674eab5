"""The page about Python is true: its programs run as they stand, and it tells of every public name."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import beforehand

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run it as a reader would: as a file, in an empty folder."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BEFOREHAND_")}
    return subprocess.run(
        [sys.executable, "program.py"], capture_output=True, text=True, cwd=folder, env=environment, check=False
    )


def test_the_page_has_a_script_a_tool_and_a_test() -> None:
    assert len(PROGRAMS) == 3


def test_the_script_plans_previews_runs_and_follows(tmp_path: Path) -> None:
    done = run(PROGRAMS[0], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Review: weld 1 and 2")
    assert any(line.startswith("It would take ") and "The robot ends at" in line for line in lines)
    assert lines[-1] == "weld 1 and 2 is completed."
    assert (tmp_path / "weld-home" / "log.db").exists()


def test_the_script_is_short() -> None:
    assert len([line for line in PROGRAMS[0].splitlines() if line.strip()]) <= 32


def test_the_tools_of_a_script_are_called_by_its_plan(tmp_path: Path) -> None:
    done = run(PROGRAMS[1], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "['Takes 12 bolts.', 'Count the parts of a kind on the shelf.']" in done.stdout
    assert done.stdout.splitlines()[-2:] == ["Bolts for today is completed.", "{'bolts': 28}"]


def test_the_test_passes_and_can_fail(tmp_path: Path) -> None:
    done = run(PROGRAMS[2], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    broken = run(PROGRAMS[2].replace('"7.0 kg"', '"8.0 kg"'), tmp_path)
    assert "AssertionError" in broken.stderr


@pytest.mark.parametrize("name", beforehand.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    assert getattr(beforehand, name).__name__ == name
    assert re.search(rf"^\| `{name}[`(]", PAGE, re.MULTILINE)


def test_the_public_names() -> None:
    assert beforehand.__all__ == [
        "BeforehandError",
        "Craft",
        "Fault",
        "Judgement",
        "Parts",
        "PlanInput",
        "PlanRequest",
        "Planner",
        "PluginRegistry",
        "Preview",
        "ProbeAnswer",
        "Runtime",
        "Scenes",
        "Tool",
        "ToolContext",
        "ToolSpec",
        "answer_decision",
        "create_plan",
        "follow_run",
        "live_scene",
        "load_settings",
        "open_runtime",
        "preview",
        "start_run",
        "tool",
    ]
    assert set(beforehand.__all__) <= set(dir(beforehand))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = beforehand.nonsense
