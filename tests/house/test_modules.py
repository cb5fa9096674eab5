"""Every module opens with its idea and stays small enough to hold in the head."""

import ast
from pathlib import Path

import pytest

LONGEST = 500
ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "src" / "beforehand").rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_a_module_says_its_idea_and_stays_small(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    idea = ast.get_docstring(ast.parse(source))
    assert idea or not source.strip(), "The module has no docstring: say its idea in 2-6 lines."
    assert len(source.splitlines()) <= LONGEST, "The module is too long: ask what second thing moved in."
