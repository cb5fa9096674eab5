"""F01, the intake: what somebody typed becomes a question and the context at id 0, with only the slots that are there.

It recognises a pasted query, the words that say not to ask back, a wish for the next page, and how many results are
wanted. It guesses nothing else: what the question means is for the planner and its workers.
"""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from beforehand.crafts.rounds.core.artifacts import NEXT_OFFSET, PAGE_SIZE, QUERY, newest_query
from beforehand.crafts.rounds.core.state import Artifact
from beforehand.crafts.rounds.core.words import FORCE_EXECUTE

PASTED = "user_es_query"
PASTED_ALONE = "Run the pasted query."
NO_NEXT_PAGE = "no_next_page"
"""The slot that says that everything has been shown, where somebody asks for more."""
_BODY_WORDS = {"query", "aggs", "aggregations", "size", "from", "sort", "_source", "fields", "track_total_hits"}
CLAUSES = {"bool", "exists", "ids", "match", "match_all", "match_phrase", "multi_match", "prefix", "query_string"}
CLAUSES |= {"range", "regexp", "simple_query_string", "term", "terms", "wildcard", "match_none"}
_QUERY_WORDS = _BODY_WORDS | CLAUSES
_FORCE = re.compile(
    r"\b(?:(?:please\s+)?just\s+(?:run|execute|do)\s+(?:it|this|that)|(?:please\s+)?(?:don't|do\s+not|dont)\s+ask"
    r"(?:\s+me)?(?:\s+(?:back|again|anything|questions?))?|no\s+questions(?:\s+asked)?"
    r"|(?:please\s+)?(?:use|take|make)\s+(?:your\s+|a\s+|the\s+)?best\s+guess)\b",
    re.IGNORECASE,
)
_ASKS_FOR_PAGE = re.compile(
    r"^(?:and\s+|now\s+|please\s+|show\s+(?:me\s+)?|give\s+me\s+|get\s+|the\s+)*"
    r"(?:next(?:\s+(?:page|results?|ones?|rows?|\d+(?:\s+\w+)?))?|more(?:\s+(?:results?|rows?))?|(?:some\s+)?more|"
    r"\d+\s+more(?:\s+\w+)?|continue|go\s+on|page\s+down|the\s+rest)(?:\s+please)?\W*$",
    re.IGNORECASE,
)
_SIZE = re.compile(
    r"\b(?:top|first|last|latest|newest|next|limit|show(?:\s+me)?|list|give\s+me|only)\s+(?:the\s+)?(?:to\s+)?(\d{1,5})"
    r"(?!\s*(?:hours?|minutes?|min|seconds?|s|h|days?|weeks?|months?|years?|percent)\b)(?![\d.:/%-]|\s*%)"
    r"|\b(\d{1,5})\s+(?:more|results?|rows?|hits?|entries)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"```\w*")
_ADDRESS = re.compile(r"\b(?:GET|POST)\s+(\S*?)/?_search\S*")
DEFAULT_INDEX = "events"
"""What a pasted query is about that names no index."""
_EDGES = " \t\n,.;:-–—"


@dataclass(frozen=True, slots=True)
class Intake:
    question: str
    context: Mapping[str, Any]
    """What stands at id 0."""
    size: int | None = None
    """How many results were asked for in so many words (rule 11)."""


def take_in(
    text: str,
    *,
    prior_question: str = "",
    artifacts: Sequence[Artifact] = (),
    context: Mapping[str, Any] | None = None,
) -> Intake:
    """The question in what was typed. `artifacts` are those of the turn it follows, `context` is the caller's own."""
    words = _tidy(text)
    rest, pasted = _without_query(words)
    rest, forced = _without_force(rest)
    slots = dict(context or {})
    if pasted:
        slots[PASTED] = pasted
    if forced:
        slots[FORCE_EXECUTE] = True
    slots |= _prior_slots(rest or words, rest == "" and forced, prior_question, artifacts)
    question = rest or (PASTED_ALONE if pasted else words)
    return Intake(_one_line(question), slots, explicit_size(question))


def _tidy(text: str) -> str:
    plain = unicodedata.normalize("NFC", text).replace("’", "'").replace("“", '"').replace("”", '"')
    return "".join(letter for letter in plain if letter.isprintable() or letter in "\n\t").strip()


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _without_query(text: str) -> tuple[str, str]:
    """The text without the query that was pasted into it, and that query as it was written."""
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at != -1:
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        if isinstance(found, dict) and _is_query(found):
            around = _FENCE.sub(" ", f"{text[:at]} {text[end:]}")
            address = _ADDRESS.search(around)
            index = address[1].rpartition("/")[2] if address else ""
            return _ADDRESS.sub(" ", around).strip(_EDGES + "`"), _with_index(found, text[at:end], index)
        at = text.find("{", end)
    return text, ""


def _is_query(found: Mapping[str, Any]) -> bool:
    """A body, a clause, or both an index and a body, as answers show them."""
    body = found.get("body")
    return bool(found.keys() & _QUERY_WORDS) or (isinstance(body, dict) and "index" in found)


def _with_index(found: Mapping[str, Any], pasted: str, index: str) -> str:
    """The query as it was written; the index of its address is put in where it says none itself."""
    if not index or index == DEFAULT_INDEX or "index" in found:
        return pasted
    return json.dumps({"index": index, **found}, ensure_ascii=False)


def _without_force(text: str) -> tuple[str, bool]:
    """The text without the words that say not to ask back, and whether they were there."""
    rest, times = _FORCE.subn(" ", text)
    if not times:
        return text, False
    rest = re.sub(r"\s+([?!.,;:])", r"\1", rest).strip(_EDGES)
    rest = re.sub(r"^(?:and|but|or|so|please)\b|\b(?:and|but|or|so|please)$", "", rest, flags=re.IGNORECASE)
    rest = rest.strip(_EDGES + "()")
    return (rest if re.search(r"\w", rest) else ""), True


def asks_for_page(question: str) -> bool:
    """Whether somebody wants more of what they just saw."""
    return bool(_ASKS_FOR_PAGE.match(_one_line(question)))


def explicit_size(question: str) -> int | None:
    """The number of results that was asked for in so many words."""
    found = _SIZE.search(question)
    number = int(found[1] or found[2]) if found else 0
    return number or None


def _prior_slots(question: str, only_force: bool, prior_question: str, artifacts: Sequence[Artifact]) -> dict[str, Any]:
    """What a turn has of the one it follows: its words, and its query where that is what is meant."""
    slots: dict[str, Any] = {"prior_question": prior_question} if prior_question else {}
    newest = newest_query(artifacts)
    if newest is None or not (only_force or asks_for_page(question)):
        return slots
    if not asks_for_page(question):
        return {**slots, "prior_es_query": newest[QUERY]}
    if newest.get(NEXT_OFFSET) is None:
        return {**slots, NO_NEXT_PAGE: True}
    size = {} if newest.get(PAGE_SIZE) is None else {"prior_page_size": newest[PAGE_SIZE]}
    return {**slots, "prior_es_query": newest[QUERY], "prior_next_offset": newest[NEXT_OFFSET], **size}
