"""The parts of a question, each taken out of the text by its own rule: names, time, split, act, noun, measure …

Names are those that exist; one that is spelled a little differently is corrected only where nothing else is as near.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NamedTuple

from beforehand.crafts.rounds.core.question_shape import Act, How, Interval, Span
from beforehand.crafts.rounds.core.question_time import Moments, take_span
from beforehand.crafts.rounds.core.question_words import TAKEN, Words, forms
from beforehand.model.errors import NotUnderstoodError
from beforehand.ports.search import Index, Noun

_INTERVALS: Mapping[str, Interval] = {"hour": "hour", "day": "day", "date": "day", "week": "week", "month": "month"}
_ADVERBS: Mapping[str, Interval] = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month"}
_EACH = (
    r"(?:per|by|for\s+each|for\s+every|in\s+each|in\s+every|on\s+each|each|every|grouped\s+by|split\s+by|"
    r"broken\s+down\s+by)"
)
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_LENGTHS = r"(?:hours?|minutes?|seconds?)"
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "ten": 10, "twenty": 20}
_COULD = (
    "Questions such as: how many picks failed at PICK_01 yesterday? which robot waited longest this week? "
    "average duration of tasks per stream in the last 7 days? why did task t13 fail? list failed tasks today."
)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a question is understood with: the indexes, the names that exist by their kind, and the time."""

    indexes: Sequence[Index]
    names: Mapping[str, Sequence[str]]
    """By kind: `robot`, `worksite`, `stream`, `scene` …"""
    moments: Moments
    ids: Mapping[str, str] = field(default_factory=dict)
    """Kinds of names that are not looked up, because there are ever more, and the pattern their ids have, if any."""


class Named(NamedTuple):
    kind: str
    value: str
    link: str


@dataclass(slots=True)
class Parts:
    """What was found in a text so far."""

    named: list[Named] = field(default_factory=list)
    ids: list[tuple[str, str]] = field(default_factory=list)
    span: Span | None = None
    over_all: bool = False
    now: bool = False
    is_so: bool = False
    """It says `is` or `are`."""
    was_so: bool = False
    has_been: bool = False
    act: Act | None = None
    how: How = ""
    superlative: str = ""
    down: bool = True
    single: bool = False
    """`longest wait` is one wait; `waited longest` is all of them."""
    often: bool = False
    """`most often` counts; `drove most` is a length."""
    one: bool = False
    """The first or the last of them, and no other."""
    either: bool = False
    """There is an `or` between the conditions."""
    group_word: str = ""
    which_word: str = ""
    interval: Interval = ""
    which_interval: Interval = ""
    nouns: list[tuple[Index, Noun]] = field(default_factory=list)
    other_nouns: list[tuple[Index, Noun]] = field(default_factory=list)
    """What the same words also mean, where what they mean first does not fit."""
    conditions: list[str] = field(default_factory=list)
    measure_word: str = ""
    over: float | None = None
    under: float | None = None
    size: int | None = None
    distinct_word: str = ""
    mentions: list[str] = field(default_factory=list)
    """Words of fields that say whose length is measured: how long were `robots` in error."""
    corrections: list[str] = field(default_factory=list)


NOT_UNDERSTOOD, AMBIGUOUS = "question.not_understood", "question.ambiguous"
"""The codes of refusals; what is ambiguous one more word would mend."""


def refusal(says: str, nearest: Sequence[str] = (), code: str = NOT_UNDERSTOOD) -> NotUnderstoodError:
    return NotUnderstoodError(says, code=code, hint=_COULD, nearest=tuple(nearest))


def take_all(words: Words, parts: Parts, known: Knowledge) -> None:
    parts.is_so = re.search(r"\b(?:is|are)\b", words.text, re.IGNORECASE) is not None
    parts.was_so = re.search(r"\b(?:was|were)\b", words.text, re.IGNORECASE) is not None
    parts.has_been = re.search(r"\b(?:has|have)\b.*\bbeen\b", words.text, re.IGNORECASE) is not None
    _refuse_what_is_two_things(words)
    _take_names(words, parts, known)
    _take_limits(words, parts)
    parts.span = take_span(words, known.moments)
    _take_ids(words, parts, known)
    parts.over_all = words.take(r"ever|so far|of all time|overall|in all|at all") is not None
    parts.now = words.take(r"(?:right\s+)?now|currently|at\s+(?:the\s+moment|present)|still") is not None
    _take_size(words, parts, known)
    _take_split(words, parts, known)
    _take_act(words, parts, known)
    _take_nouns(words, parts, known)
    _take_superlative(words, parts, known)
    _take_measure(words, parts, known)
    _take_conditions(words, parts, known)
    several = [len(parts.nouns) > 1, len(parts.conditions) > 1]
    if any(several) and not all(several) and words.take("or"):
        parts.either = several[1]
    if parts.how or parts.act == "measure" or parts.superlative or parts.ids:
        parts.mentions = [word for word in _field_words(known) if words.take(forms(word))]


def _refuse_what_is_two_things(words: Words) -> None:
    """`have all tasks been completed` wants yes or no, and `how many time` is how much or how often."""
    if whether := words.take(r"^\s*(?:have|has|are|were|is|was|did|do|does)\s+(?:all|every|each)"):
        words.left_over(whether[0])
    if re.search(r"\bhow\s+many\s+time\b", words.text, re.IGNORECASE):
        raise refusal("“how many time” could be how much time or how many times; say which.")


def _take_names(words: Words, parts: Parts, known: Knowledge) -> None:
    kinds: dict[str, list[str]] = {}
    for kind, names in known.names.items():
        for name in names:
            kinds.setdefault(name.lower(), []).append(kind)
    spelled = {name.lower(): name for names in known.names.values() for name in names}
    every = "|".join(forms(kind) for kind in known.names)
    while (found := words.take_exactly(spelled.values(), every)) is not None:
        name, link = found[0].lower(), _link(found[1], parts.named, every)
        of = kinds[name]
        said = [kind for kind in of if kind == link]
        if len(of) > 1 and not said:
            says = f"{found[0]} is the name of a {' and of a '.join(sorted(of))}; say which is meant."
            raise refusal(says, code=AMBIGUOUS)
        parts.named.append(Named((said or of)[0], spelled[name], link))
    for kind in known.names:  # "robot RB-01": the word before a name says nothing more
        while words.take(rf"(?:{forms(kind)})(?=\s*§)"):
            pass
    while words.take(r"(?:and|or|from|to|at|by|for|with|of)(?=\s*§)"):
        pass


def _link(before: Sequence[str], named: Sequence[Named], kinds: str) -> str:
    """The word that says what a name is to the question: in `to A or B` it is that of the name before."""
    *first, last = before or [""]
    if named and (last == TAKEN or (last in ("and", "or") and first == [TAKEN])):
        return named[-1].link
    return first[0] if first and first[0] in ("from", "to") and re.fullmatch(kinds, last) else last


def _take_ids(words: Words, parts: Parts, known: Knowledge) -> None:
    """`task t13`, `run r_7f`: ids are too many to know, so the word before them says what they are."""
    for kind in sorted(known.ids):
        while (match := words.take(rf"{forms(kind)}\s+(?:number\s+)?([\w.-]*\d[\w.-]*)")) is not None:
            parts.ids.append((kind, match[1]))
    for kind, pattern in known.ids.items():
        while pattern and (match := words.take(f"({pattern})")) is not None:
            parts.ids.append((kind, match[1]))


def _take_limits(words: Words, parts: Parts) -> None:
    for pattern, is_over in (
        (r"(?:longer|more)\s+than|over|above", True),
        (r"(?:shorter|less)\s+than|under|below", False),
    ):
        amount = rf"(\d+(?:\.\d+)?|an?|{'|'.join(_NUMBERS)})\s*"
        unit = r"(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)|h(?:(?:ou)?rs?)?)"
        if match := words.take(rf"(?:for\s+)?(?:{pattern})\s+{amount}{unit}"):
            number = _NUMBERS.get(match[1]) or (1 if match[1] in ("a", "an") else float(match[1]))
            value = number * _SECONDS[match[2][0]]
            parts.over, parts.under = (value, parts.under) if is_over else (parts.over, value)


def _take_split(words: Words, parts: Parts, known: Knowledge) -> None:
    if match := words.take(rf"(?:and\s+)?{_EACH}\s+({'|'.join(_INTERVALS)})s?"):
        parts.interval = _INTERVALS[match[1]]
    elif match := words.take("|".join(_ADVERBS)):
        parts.interval = _ADVERBS[match[0].strip().lower()]
    for word in _field_words(known):
        if words.take(rf"(?:and\s+)?{_EACH}\s+{forms(word)}"):
            if parts.group_word:
                words.left_over(f"split by {parts.group_word} and by {word}")
            parts.group_word = word


def _field_words(known: Knowledge) -> list[str]:
    every = {word for index in known.indexes for one in index.fields if not one.unit for word in one.words}
    return sorted(every, key=lambda word: (-len(word), word))


def _take_size(words: Words, parts: Parts, known: Knowledge) -> None:
    number = rf"([1-9]\d{{0,3}}|{'|'.join(_NUMBERS)})"
    if match := words.take(rf"(?:the\s+)?(top|first|last|latest|newest|oldest)\s+{number}"):
        parts.size = int(match[2]) if match[2].isdigit() else _NUMBERS[match[2]]
        if match[1] == "top":
            parts.superlative = parts.superlative or "most"
            fields = "|".join(forms(word) for word in _field_words(known))
            if of := words.take(rf"({fields})(?:\s+(?:by|with|in|for)(?:\s+(?:the\s+)?most)?)?"):
                parts.which_word = _singular(of[1], known)
        else:
            parts.act = "list"
            parts.down = match[1] not in ("first", "oldest")
        return
    if match := words.take(rf"(?:list|show(?:\s+me)?|give\s+me)\s+(?:the\s+)?{number}(?=\s+[a-z])"):
        parts.act, parts.size = "list", int(match[1]) if match[1].isdigit() else _NUMBERS[match[1]]
        return
    nouns = "|".join(forms(word) for index in known.indexes for noun in index.nouns for word in noun.words)
    ahead = rf"(?=(?:\s+[a-z]+){{0,2}}\s+(?:{nouns})(?!\w))"
    if match := words.take(rf"(?:the\s+)?(?:very\s+)?(first|last|latest|newest|oldest|most\s+recent){ahead}"):
        parts.act, parts.one, parts.size = "list", True, 1
        parts.down = match[1] not in ("first", "oldest")


_WHY = (
    r"why(?:\s+(?:did|was|were|is|has|had))?|how\s+come|for\s+what\s+reason|what\s+went\s+wrong\s+(?:with|in)|what\s+caused|"
    r"what\s+(?:is|was)\s+the\s+(?:reason|cause)\s+(?:of|for|why)"
)
_SHARE = r"(?:share|percentage|percent|fraction|proportion|part)"
_DIFFERENT = r"(?:how\s+many|(?:the\s+)?number\s+of|count(?:\s+of)?)(?:\s+the)?(?:\s+(?:different|distinct))?"
_HOW_MANY = (
    rf"how\s+many\s+times|how\s+many(?!\s+{_LENGTHS})|how\s+much(?!\s+time)|how\s+often|"
    r"(?:what\s+(?:is|was)\s+)?(?:the\s+)?(?:total\s+)?number\s+of|"
    r"(?:the\s+)?count(?:\s+of)?"
)


_WITH_MOST = (
    r"(?:with|(?:that|which)(?:\s+(?:has|had|have))?)(?=(?:\s+\w+)?\s+(?:the\s+)?"
    r"(?:most|least|fewest|longest|slowest|highest|shortest|fastest|lowest)(?!\w))"
)


def _take_act(words: Words, parts: Parts, known: Knowledge) -> None:
    fields = "|".join(forms(word) for word in _field_words(known))
    nouns = {word for index in known.indexes for noun in index.nouns for word in noun.words}
    counted = "|".join(forms(word) for word in _field_words(known) if word not in nouns)
    if "person" in _field_words(known) and words.take("who"):
        parts.which_word = "person"
        return
    if "worksite" in _field_words(known) and words.take("where"):
        parts.which_word = "worksite"
        return
    if words.take(rf"(?:(?:what|which|how\s+many|how\s+much)\s+(?:(?:is|was)\s+)?)?(?:the\s+)?{_SHARE}\s+of"):
        parts.act = "share"
    elif match := words.take(r"(?:what\s+(?:is|was)\s+)?(?:the\s+)?(failure|success)\s+rate(?:\s+(?:of|for))?"):
        parts.act = "share"
        parts.conditions.append("failed" if match[1] == "failure" else "succeeded")
    elif words.take(_WHY):
        parts.act = "why"
    elif words.take(r"when\s+(?:did|was|were|has|had)|when"):
        parts.act = "when"
        if words.take("first"):
            parts.down = False
        else:
            words.take("last|latest|most recently")
    elif match := words.take(rf"{_DIFFERENT}\s+({counted})"):
        parts.act, parts.distinct_word = "distinct", _singular(match[1], known)
    elif words.take(_HOW_MANY):
        parts.act = "count"
    elif match := words.take(rf"(?:which|what|who|the)\s+({'|'.join(_INTERVALS)})(?!s)"):
        parts.which_interval = _INTERVALS[match[1]]
    elif match := words.take(rf"(?:which|what)\s+({fields})") or words.take(rf"({fields})\s+{_WITH_MOST}"):
        parts.which_word = _singular(match[1], known)
    elif words.take(r"list|show(?:\s+me)?|give\s+me|which|what\s+(?:are|were)|as\s+a\s+list"):
        parts.act = parts.act or "list"


def _singular(said: str, known: Knowledge) -> str:
    return next(word for word in _field_words(known) if re.fullmatch(forms(word), said.strip().lower()))


def _take_nouns(words: Words, parts: Parts, known: Knowledge) -> None:
    every = [(word, index, noun) for index in known.indexes for noun in index.nouns for word in noun.words]
    every.sort(key=lambda one: -len(one[0]))
    for word, index, noun in every:
        if parts.which_word == word:
            parts.nouns.append((index, noun))
    for word, index, noun in every:
        if any(other is noun for _, other in parts.nouns):
            words.take(forms(word))
        elif words.take(forms(word)):
            parts.nouns.append((index, noun))
            also = [(other, its) for same, other, its in every if same == word and its is not noun]
            parts.other_nouns += also


_MOST = r"(?:the\s+)?(most)(?:\s+often|\s+frequently|\s+times|\s+time|\s+common|\s+frequent)?"
_LEAST = r"(?:the\s+)?(least|fewest)(?:\s+often|\s+time)?"
_LONG = r"(?:the\s+|for\s+the\s+|for\s+)*(longest|slowest|highest|greatest|largest)(?:\s+time|\s+single)?"
_SHORT = r"(?:the\s+)?(shortest|fastest|quickest|lowest|smallest)"


def _take_superlative(words: Words, parts: Parts, known: Knowledge) -> None:
    measures = "|".join(
        sorted((forms(word) for word in _measure_words(known) if word != "time"), key=len, reverse=True)
    )
    for name, pattern, down in (
        ("most", _MOST, True),
        ("most", _LEAST, False),
        ("long", _LONG, True),
        ("long", _SHORT, False),
    ):
        ahead = re.search(rf"\b{pattern}\s+(?:{measures})\b", words.text, re.IGNORECASE) if name == "long" else None
        number = rf"(?:\d{{1,4}}|{'|'.join(_NUMBERS)})"
        if match := words.take(rf"(?:the\s+)?(?:{number}\s+)?{pattern}(?:\s+{number})?"):
            by_time = name == "most" and re.search(r"\btime\s*$", match[0]) is not None
            parts.superlative, parts.down = "long" if by_time else name, down
            parts.often = re.search("often|frequent|times|common", match[0]) is not None
            parts.single = ahead is not None
            if told := re.search(rf"\b{number}\b", match[0]):
                parts.size = int(told[0]) if told[0].isdigit() else _NUMBERS[told[0]]
            if re.search("common|frequent$", match[0].strip()) and not parts.which_word:
                _take_what_is_common(words, parts, known)
            return


def _take_what_is_common(words: Words, parts: Parts, known: Knowledge) -> None:
    """`most common reason of failures`"""
    fields = "|".join(forms(word) for word in _field_words(known))
    if of := words.take(rf"({fields})(?:\s+(?:of|for|in|why))?"):
        parts.which_word = _singular(of[1], known)


def _measure_words(known: Knowledge) -> list[str]:
    return sorted({word for index in known.indexes for one in index.fields if one.unit for word in one.words}, key=len)


_AVERAGE = r"(?:on|in|the|an)?\s*(?:average|mean|avg|typical)(?:ly)?"
_MEDIAN = r"(?:the\s+)?median"
_SUM = r"(?:the\s+)?total|in\s+total|in\s+sum|altogether|(?:the\s+)?sum\s+of"
_MAX = r"(?:the\s+)?(?:maximum|max)|at\s+most"
_MIN = r"(?:the\s+)?(?:minimum|min)|at\s+least"


def _take_measure(words: Words, parts: Parts, known: Knowledge) -> None:
    for how, pattern in (("avg", _AVERAGE), ("median", _MEDIAN), ("max", _MAX), ("min", _MIN), ("sum", _SUM)):
        if words.take(pattern):
            parts.how = how  # type: ignore[assignment]
            break
    asked_long = words.take(rf"how\s+(?:long|much\s+time|many\s+{_LENGTHS})") is not None
    for word in reversed(_measure_words(known)):
        if words.take(forms(word)):
            parts.measure_word = word
            break
    said, _, rest = parts.measure_word.partition(" ")
    alone = {word for index in known.indexes for one in index.conditions if one.alone for word in one.words}
    if not parts.nouns and not parts.ids and said in alone:
        # Nothing is said to have a wait, so it is somebody who waits.
        parts.conditions.append(said)
        parts.measure_word = rest
    if asked_long and not parts.act:
        parts.act = "measure"
        parts.measure_word = parts.measure_word or "?"
    words.take(r"(?:did\s+)?spen[dt]|need(?:ed)?")


def _take_conditions(words: Words, parts: Parts, known: Knowledge) -> None:
    every = {word for index in known.indexes for one in index.conditions for word in one.words}
    for word in sorted(every, key=lambda one: (-len(one), one)):
        if words.take(rf"{re.escape(word)}".replace(r"\ ", r"\s+")):
            parts.conditions.append(word)


def take_misspelt(words: Words, parts: Parts, known: Knowledge) -> None:
    """Names written a little differently: `rb01` is RB-01 where nothing else is as near. RB-99 is never RB-09."""
    spelled = {_bare(name): (kind, name) for kind, names in known.names.items() for name in names}
    for word in list(words.rest):
        if not re.search(r"[\d_]", word) or len(word) < 3:
            continue
        bare = _bare(word)
        alike = [name for name in spelled if _numbers(name) == _numbers(bare)]
        found = [bare] if bare in spelled else get_close_matches(bare, alike, n=3, cutoff=0.84)
        if not found:
            continue
        if len(found) > 1:
            names = tuple(spelled[one][1] for one in found)
            raise refusal(f"{word} could be {' or '.join(names)}; say which.", names, AMBIGUOUS)
        kind, name = spelled[found[0]]
        before = re.search(rf"(\w+)\s+{re.escape(word)}", words.text)
        words.take(re.escape(word))
        words.take(rf"(?:{forms(kind)})(?=\s*§)")
        parts.named.append(Named(kind, name, before[1].lower() if before else ""))
        parts.corrections.append(f"{word} was read as {name}.")


def _numbers(name: str) -> list[str]:
    return re.findall(r"\d+", name)


def _bare(name: str) -> str:
    """A name without its marks, numbers without zeros in front."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"[\W_]", "", name.lower()))
