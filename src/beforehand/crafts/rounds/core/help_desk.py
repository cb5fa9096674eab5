"""Answers from the documentation: the pieces whose words fit a question best, as they stand there.

A piece is a section, and each command and each row of a table by itself. Rare words count more than common ones, those
of headings, commands and names more than the text, and two words side by side more than far apart. Where hardly any
word of the question is found, there is no answer rather than a far-off one.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, NamedTuple

STOP = frozenset(
    (
        *("a", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "get", "has"),
        *("have", "how", "i", "if", "in", "is", "it", "its", "me", "my", "no", "not", "of", "on", "one", "or", "our"),
        *("should", "so", "some", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this"),
        *("to", "was", "we", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your"),
        *("about", "beforehand", "explain", "happens", "help", "mean", "means", "need", "please", "tell", "use"),
        *("using", "want", "work", "works"),
    )
)
SAME = {
    **dict.fromkeys(("create", "creating", "make", "new"), "add"),
    **dict.fromkeys(("delete", "deleting", "remove", "removing"), "revoke"),
    **dict.fromkeys(("begin", "launch", "starting"), "start"),
    **dict.fromkeys(("crashed", "crashes", "killed", "kill", "dies"), "crash"),
    **dict.fromkeys(("fails", "failed", "failing", "failure", "failures"), "fail"),
    **dict.fromkeys(("approving", "approve", "approvals", "approved"), "approval"),
}
"""Words that say the same here."""
NAMED, HEADING, ABOVE, TITLE = 5.0, 4.0, 3.0, 1.5
"""How often a word counts in the name of an entry, in a heading, above a table's first column, in a page's title."""
PAIR = 0.8
"""What two words side by side add, of what each is worth."""
WHOLE_HEADING = 0.5
"""What is added where the question has all words of a heading."""
FOR_PROGRAMS, PROGRAMS = frozenset({"http", "python", "mcp"}), 0.7
"""Pages for who writes programs, and what they count where the question does not speak of them."""
WORTH = {"section": 1.0, "command": 1.1, "row": 0.75}
LEAST_SHARE = 0.5
"""The share of the question's words, by their weight, that a piece must have."""
USUAL_LENGTH = 120
LONGEST = 1_500

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Section:
    page: str
    heading: str
    text: str
    words: Mapping[str, float]
    pairs: frozenset[Pair]
    length: int
    part: int
    """The number of the section it belongs to, which is shared by its entries."""
    heads: frozenset[str]
    """The words of its heading; of a row, those that it is called."""
    kind: Literal["section", "command", "row"] = "section"


class _Place(NamedTuple):
    page: str
    title: str
    heading: str
    part: int


# -- cutting ---------------------------------------------------------------------------------------------------------


def sections_of(pages: Mapping[str, str]) -> tuple[Section, ...]:
    """The sections of pages of Markdown, each from a heading to the next, and their entries."""
    found: list[Section] = []
    for page, text in pages.items():
        title = page
        for head, body in _parts(text):
            heading = head.lstrip("# ").strip() or title
            title = title if head.startswith("##") else heading
            place = _Place(page, title, heading, len(found))
            if body.strip():
                found += [_whole(place, body.strip()), *_commands(place, body), *_rows(place, body)]
    return tuple(found)


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Headings and what stands below each; what looks like a heading inside a block of code is none."""
    head, fenced = "", False
    body: list[str] = []
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if not fenced and re.match(r"#{1,3} ", line):
            yield head, "\n".join(body)
            head, body = line, []
        else:
            body.append(line)
    yield head, "\n".join(body)


_ITEM = re.compile(r"^- (`beforehand .+(?:\n  .+)*)", re.MULTILINE)
_TABLE = re.compile(r"^\| (.+?) \|.*\n\|[-|]+\|\n((?:\| .+ \|(?:\n|\Z))+)", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")


def _commands(place: _Place, body: str) -> Iterator[Section]:
    """Each command of a list."""
    for text in _ITEM.findall(body):
        called = _words(" ".join(_CODE.findall(text.split("`: ")[0] + "`")))
        yield replace(_piece(place, text, {NAMED: called, 1.0: _words(place.heading)}), kind="command")


def _rows(place: _Place, body: str) -> Iterator[Section]:
    """Each row of a table, called by its first cell and what stands above that."""
    for above, rows in _TABLE.findall(body):
        for row in rows.splitlines():
            name, *cells = row.strip("| ").split(" | ")
            heads = {NAMED: _words(f"{above} {name}"), 1.0: _words(place.heading)}
            yield replace(
                _piece(place, f"{name}: {', '.join(cells)}", heads), heads=frozenset(_words(name)), kind="row"
            )


def _whole(place: _Place, body: str) -> Section:
    above = " ".join(above for above, _ in _TABLE.findall(body))
    return _piece(place, body, {HEADING: _words(place.heading), TITLE: _words(place.title), ABOVE: _words(above)})


def _piece(place: _Place, text: str, heads: Mapping[float, list[str]]) -> Section:
    body, heading = _words(text), _words(place.heading)
    words: dict[str, float] = dict(Counter(body))
    pairs = _pairs(body)
    for times, head in heads.items():
        pairs += _pairs(head)
        for word in set(head):
            words[word] = words.get(word, 0.0) + times
    return Section(place.page, place.heading, text, words, frozenset(pairs), len(body), place.part, frozenset(heading))


# -- finding ---------------------------------------------------------------------------------------------------------


def best_sections(sections: Iterable[Section], question: str, most: int = 2) -> list[Section]:
    """The pieces that answer best, the best first and none beside its own section; none where none fits."""
    known = tuple(sections)
    asked = _words(question)
    weight = {word: math.log(1 + len(known) / (1 + sum(word in each.words for each in known))) for word in asked}
    least = LEAST_SHARE * sum(weight.values())
    fits = [each for each in known if asked and _share(each, weight) >= least]
    best: list[Section] = []
    for each in sorted(fits, key=lambda each: -_score(each, weight, _pairs(asked))):
        if len(best) < most and all(each.part != other.part for other in best):
            best.append(each)
    return best


def _share(section: Section, weight: Mapping[str, float]) -> float:
    """What it has of the question's words; nothing for a row whose name the question does not touch."""
    if section.kind == "row" and section.heads.isdisjoint(weight):
        return -1.0
    return sum(weight[word] for word in weight if word in section.words)


def _score(section: Section, weight: Mapping[str, float], pairs: Iterable[Pair]) -> float:
    rare = 0.5 + section.length / USUAL_LENGTH
    score = sum(weight[word] * (times := section.words.get(word, 0.0)) / (times + rare) for word in weight)
    score += PAIR * sum(weight[a] + weight[b] for a, b in set(pairs) if (a, b) in section.pairs) / (1 + rare)
    asked = section.heads & weight.keys()
    if asked and section.kind != "row":
        score += WHOLE_HEADING * sum(weight[word] for word in asked) * (len(asked) / len(section.heads)) ** 2
    elsewhere = section.page in FOR_PROGRAMS and section.page not in weight
    return score * WORTH[section.kind] * (PROGRAMS if elsewhere else 1.0)


def in_words(found: Iterable[Section]) -> str:
    """Pieces as an answer, each with where it stands."""
    return "\n\n".join(f"{each.heading} (docs/{each.page}.md)\n{_cut(each.text)}" for each in found)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST].rsplit("\n", 1)[0] + "\n…"


# -- words -----------------------------------------------------------------------------------------------------------


def _words(text: str) -> list[str]:
    parts = re.findall(r"[a-z][a-z0-9]+|[0-9]+", text.lower().replace("_", " "))
    return [_stem(word) for word in parts if word not in STOP]


def _pairs(words: list[str]) -> list[Pair]:
    """Words side by side, whichever comes first."""
    return [(min(a, b), max(a, b)) for a, b in pairwise(words) if a != b]


def _stem(word: str) -> str:
    word = SAME.get(word, word)
    for ending, instead in (("ing", ""), ("ies", "y"), ("ed", ""), ("es", ""), ("s", ""), ("e", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + instead
    return word
