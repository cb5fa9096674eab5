"""Sentences with numbers: one thing is never told as several."""

import ast
import re
from pathlib import Path


def bare_counts(tree: ast.AST) -> list[str]:
    """f-strings where a number from `len(…)` or a name like `count` is followed by a noun in the plural."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr):
            continue
        for number, text in zip(node.values, node.values[1:], strict=False):
            if isinstance(number, ast.FormattedValue) and isinstance(text, ast.Constant):
                source = ast.unparse(number.value)
                follows = re.match(r" (\w+s)\b", str(text.value))
                if (
                    follows
                    and re.match(r"len\(|count$|number$", source)
                    and follows[1] not in ("is", "was", "has", "does")
                ):
                    found.append(f"{{{source}}} {follows[1]}")
    return found


MANY_ANYWAY = {
    "{count} steps",  # two at least have the same id
    "{len(written)} bytes",
    "{len(encoded)} bytes",
    "{len(items)} times",
    "{len(problems)} problems",  # one is told by itself
    "{len(ordered)} problems",
    "{count} problems",
    "{len(failed_at)} tasks",
    "{len(only.kinds)} kinds",
    "{len(names)} entries",
    "{len(found)} decisions",
}
"""Sentences that are said only where there are several."""


def test_every_sentence_with_a_number_counts_properly(repository: Path) -> None:
    bare = {
        f"{path.relative_to(repository)}: {words}"
        for path in sorted((repository / "src").rglob("*.py"))
        for words in bare_counts(ast.parse(path.read_text(encoding="utf-8")))
        if words not in MANY_ANYWAY
    }
    assert bare == set(), "use `counted` of beforehand.model.words"
