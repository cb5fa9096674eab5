"""A question to the past, all the way: what may be meant is looked up, the question understood, its query run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from beforehand.crafts.rounds.core.question_answer import Answer, answer_of
from beforehand.crafts.rounds.core.question_query import body_of, summary_of
from beforehand.crafts.rounds.core.question_shape import Question
from beforehand.crafts.rounds.core.question_text import understand
from beforehand.crafts.rounds.history_asking import gather_knowledge
from beforehand.ports.search import Index, Search, Searchable


@dataclass(frozen=True, slots=True)
class Asked:
    question: Question
    body: dict[str, Any]
    summary: str
    answer: Answer


async def ask_past(
    search: Search,
    indexes: Sequence[Index],
    parts: Sequence[Searchable],
    text: str,
    *,
    now_ms: int,
    previous: Question | None = None,
) -> Asked:
    """Understand a question and answer it; NotUnderstoodError where it would be a guess."""
    known = await gather_knowledge(search, indexes, parts, now_ms, text)
    question = understand(text, known, previous)
    body = body_of(question)
    found = await search.search(question.index, body)
    index = next(one for one in indexes if one.name == question.index)
    return Asked(question, body, summary_of(question), answer_of(question, found, index))
