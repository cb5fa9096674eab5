"""Answers from the documentation: the sections whose words fit a question best, as they stand there.

Rare words count more than common ones, a heading more than the text below it. Where hardly any word of the question is
found, there is no answer rather than a far-off one.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

STOP = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "has", "have", "how"),
        *("i", "if", "in", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or", "our", "should", "so", "than"),
        *("that", "the", "their", "them", "then", "there", "these", "they", "this", "to", "was", "we", "what", "when"),
        *("where", "which", "who", "why", "will", "with", "would", "you", "your", "please", "tell", "explain"),
        *("about", "help", "mean", "means", "use", "using", "work", "works"),
    )
)
HEADING = 4
"""How many times a word of a heading counts."""
LEAST_SHARE = 0.5
"""The share of the question's words, by their weight, that a section must have."""
LONGEST = 1_500


@dataclass(frozen=True, slots=True)
class Section:
    page: str
    heading: str
    text: str
    words: Mapping[str, int]


def sections_of(pages: Mapping[str, str]) -> tuple[Section, ...]:
    """The sections of pages of Markdown, each from a heading to the next."""
    found: list[Section] = []
    for page, text in pages.items():
        title = page
        for part in re.split(r"^(?=#{1,3} )", text, flags=re.MULTILINE):
            head, _, body = part.partition("\n")
            if not part.startswith("#"):
                head, body = "", part
            heading = head.lstrip("# ").strip() or title
            title = title if head.startswith("##") else heading
            if body.strip():
                words = Counter(_words(body)) + Counter(dict.fromkeys(_words(f"{title} {heading}"), HEADING))
                found.append(Section(page, heading, body.strip(), words))
    return tuple(found)


def best_sections(sections: Iterable[Section], question: str, most: int = 2) -> list[Section]:
    """The sections that answer best, the best first; none where none fits."""
    known = tuple(sections)
    wanted = list(dict.fromkeys(_words(question)))
    if not wanted:
        return []
    weight = {word: math.log(1 + len(known) / (1 + sum(word in each.words for each in known))) for word in wanted}
    whole = sum(weight.values())
    scored = []
    for number, each in enumerate(known):
        has = [word for word in wanted if word in each.words]
        if sum(weight[word] for word in has) >= LEAST_SHARE * whole:
            length = sum(each.words.values())
            score = sum(weight[word] * each.words[word] / (each.words[word] + 0.5 + length / 200) for word in has)
            scored.append((-score, number, each))
    return [each for _, _, each in sorted(scored, key=lambda one: one[:2])[:most]]


def in_words(found: Iterable[Section]) -> str:
    """Sections as an answer, each with where it stands."""
    return "\n\n".join(f"{each.heading} (docs/{each.page}.md)\n{_cut(each.text)}" for each in found)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST].rsplit("\n", 1)[0] + "\n…"


def _words(text: str) -> list[str]:
    return [_stem(word) for word in re.findall(r"[a-z][a-z0-9_]+", text.lower()) if word not in STOP]


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word
