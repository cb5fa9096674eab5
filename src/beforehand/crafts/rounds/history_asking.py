"""What a question to the installation's own past may mean: the names and moments that are there, looked up."""

from collections.abc import Sequence

from beforehand.crafts.rounds.core.question_parts import Knowledge
from beforehand.crafts.rounds.core.question_time import Moments, last_moments
from beforehand.model.event import from_iso
from beforehand.ports.search import Index, Search, Searchable

MOST_NAMES = 2_000


async def gather_knowledge(
    search: Search, indexes: Sequence[Index], parts: Sequence[Searchable], now_ms: int, text: str
) -> Knowledge:
    """The names that the past knows, and the moments that a text refers to."""
    ids = {kind: pattern for part in parts for kind, pattern in part.ids.items()}
    names: dict[str, set[str]] = {}
    for index in indexes:
        fields = [one for one in index.fields if one.name in index.listed]
        if not fields:
            continue
        found = await search.values(index.name, index.listed, MOST_NAMES)
        for one in fields:
            names.setdefault(one.names, set()).update(name for name in found[one.name] if name.strip())
    told = {kind: sorted(known) for kind, known in names.items()}
    return Knowledge(indexes, told, Moments(now_ms, await _moments(search, parts, now_ms, text)), ids)


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
