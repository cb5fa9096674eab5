"""Every module opens with its idea and stays small enough to hold in the head."""

import ast
from pathlib import Path

LONGEST = 500


def test_a_module_says_its_idea_and_stays_small(repository: Path) -> None:
    package = repository / "src" / "beforehand"
    problems = [
        f"{path.relative_to(package)}: {said}"
        for path in sorted(package.rglob("*.py"))
        for said in wrong_with(path.read_text(encoding="utf-8"))
    ]
    assert problems == []


def wrong_with(source: str) -> list[str]:
    idea, lines = ast.get_docstring(ast.parse(source)), len(source.splitlines())
    silent = ["it has no docstring: say its idea in 2-6 lines."] if source.strip() and not idea else []
    return silent + ([f"{lines} lines are too many: ask what second thing moved in."] if lines > LONGEST else [])


def test_a_module_without_an_idea_and_one_that_is_too_long_are_noticed() -> None:
    assert wrong_with("import os\n") == ["it has no docstring: say its idea in 2-6 lines."]
    assert wrong_with('"""Idea."""\n' * 501) == ["501 lines are too many: ask what second thing moved in."]
    assert wrong_with("") == wrong_with('"""Idea."""\n') == []
