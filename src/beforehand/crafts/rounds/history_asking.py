"""Asking the installation's own past: names and moments looked up, the question understood, its query run.

Every answer comes with the query that made it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from beforehand.crafts.rounds.core.question_answer import Answer, answer_of
from beforehand.crafts.rounds.core.question_parts import Knowledge
from beforehand.crafts.rounds.core.question_query import body_of, summary_of
from beforehand.crafts.rounds.core.question_shape import Question
from beforehand.crafts.rounds.core.question_text import understand
from beforehand.crafts.rounds.core.question_time import Moments, last_moments
from beforehand.model.event import from_iso
from beforehand.ports.search import Index, Search, Searchable

MOST_NAMES = 2_000
_IDS = frozenset({"task", "run", "plan", "session"})
"""Kinds of names of which there are ever more."""


@dataclass(frozen=True, slots=True)
class Asked:
    question: Question
    body: dict[str, Any]
    summary: str
    answer: Answer


async def gather_knowledge(
    search: Search, indexes: Sequence[Index], parts: Sequence[Searchable], now_ms: int, text: str
) -> Knowledge:
    """The names that the past knows, and the moments that a text refers to."""
    names: dict[str, set[str]] = {}
    for index in indexes:
        fields = [one for one in index.fields if one.names and one.names not in _IDS]
        if index.name == "events" or not fields:
            continue
        aggs = {one.name: {"terms": {"field": one.name, "size": MOST_NAMES}} for one in fields}
        found = await search.search(index.name, {"size": 0, "aggs": aggs})
        for one in fields:
            buckets = found.aggregations[one.name]["buckets"]
            names.setdefault(one.names, set()).update(
                str(bucket["key"]) for bucket in buckets if str(bucket["key"]).strip()
            )
    told = {kind: sorted(known) for kind, known in names.items()}
    return Knowledge(indexes, told, Moments(now_ms, await _moments(search, parts, now_ms, text)))


async def _moments(search: Search, parts: Sequence[Searchable], now_ms: int, text: str) -> dict[str, int | None]:
    kinds: dict[str, list[str]] = {}
    for part in parts:
        for word, of in part.moments.items():
            kinds.setdefault(word, []).extend(of)
    found: dict[str, int | None] = dict.fromkeys(kinds)
    for word in last_moments(text, kinds):
        query = {"bool": {"filter": [{"terms": {"kind": kinds[word]}}, {"range": {"ts": {"lte": now_ms}}}]}}
        last = await search.search("events", {"query": query, "size": 1, "sort": [{"ts": "desc"}], "_source": ["ts"]})
        found[word] = from_iso(last.hits[0].source["ts"]) if last.hits and last.hits[0].source else None
    return found


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
