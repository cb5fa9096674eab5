"""No phrase of the corpus gives a wrong plan, and few plain ones are refused."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.rooms.crafts.cell.text_corpus import CORPUS

from beforehand.crafts.cell.core.grammar import Grammar, Refusal
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.crafts.cell.core.unknown_names import unknown_names_in
from beforehand.model.cell import Goal

NO_PLAN = ("refused", "unknown")


def shown(goals: tuple[Goal, ...]) -> str:
    """Goals as the corpus writes them."""
    said = []
    for number, goal in enumerate(goals, 1):
        what = {
            "move": f"> {goal.position}",
            "attach_tool": f"+{goal.tool}",
            "release_tool": f"-{goal.tool or ''}",
            "routine": f"{goal.routine} {goal.position}",
        }[goal.action]
        fresh = len(goal.after) == number - 1 and number > 1
        said.append(f"| {what}" if fresh else what)
    return "; ".join(said)


def answer(grammar: Grammar, text: str) -> str:
    read = grammar.parse(text)
    if not isinstance(read, Refusal):
        return shown(read.intent.steps)
    return "unknown" if unknown_names_in(text, grammar.scene, read) else "refused"


def phrases(lines: str) -> Iterator[tuple[str, str]]:
    for line in lines.strip().splitlines():
        text, label = line.split(" => ")
        yield text.replace("\\n", "\n"), label


@pytest.fixture(scope="module")
def answers() -> list[tuple[str, str, str, str]]:
    """Cell, text, label, answer."""
    found = []
    for document, lines in CORPUS:
        grammar = Grammar(read_cell(document))
        found += [(document["name"], text, label, answer(grammar, text)) for text, label in phrases(lines)]
    return found


Answers = list[tuple[str, str, str, str]]


def test_no_phrase_gives_a_wrong_plan(answers: Answers) -> None:
    wrong = [row for row in answers if row[3] not in (*NO_PLAN, row[2])]
    assert wrong == []


def test_what_is_refused_and_what_is_unknown_are_told_apart(answers: Answers) -> None:
    wrong = [row for row in answers if row[2] in NO_PLAN and row[3] != row[2]]
    assert wrong == []


def test_few_plain_phrases_are_refused(answers: Answers) -> None:
    plain = [row for row in answers if row[2] not in NO_PLAN]
    refused = [row for row in plain if row[3] in NO_PLAN]
    assert len(refused) < len(plain) / 10, refused


def test_the_corpus_is_as_big_as_it_should_be(answers: Answers) -> None:
    assert len({row[:2] for row in answers}) == len(answers) >= 400
    assert sum(row[2] in NO_PLAN for row in answers) >= 100


def names_of(document: dict[str, Any]) -> list[str]:
    return [place["name"] if isinstance(place, dict) else place for place in document["positions"]]


@pytest.mark.parametrize(("document", "_lines"), CORPUS, ids=[document["name"] for document, _ in CORPUS])
def test_every_name_as_it_is_written_means_itself(document: dict[str, Any], _lines: str) -> None:
    grammar = Grammar(read_cell(document))
    for name in names_of(document):
        assert answer(grammar, f"go to {name}") == f"> {name}"
        assert answer(grammar, f"go to {name.replace('_', ' ').lower()}") == f"> {name}"
    for tool in document["tools"]:
        assert answer(grammar, f"attach {tool['name']}") == f"+{tool['name']}"
