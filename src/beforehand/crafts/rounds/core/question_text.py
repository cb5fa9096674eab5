"""A question in plain words, understood without a model: a grammar over the declared indexes and the names that exist.

Each part of a question (names, time, split, act, noun, condition, measure) is taken out of the text by its own rule. A
question in which words are left over, or which could mean two indexes, is refused with what could be asked.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NamedTuple

from beforehand.crafts.rounds.core.question_shape import Act, Filter, How, Interval, Question, Span
from beforehand.crafts.rounds.core.question_time import Moments, NoSuchMomentError, take_span
from beforehand.crafts.rounds.core.question_words import Words, forms, plural
from beforehand.model.errors import NotUnderstoodError
from beforehand.model.reason import name_list, nearest_names
from beforehand.ports.search import Condition, Index, Noun

MOST = 1_000
_INTERVALS: Mapping[str, Interval] = {"hour": "hour", "day": "day", "date": "day", "week": "week", "month": "month"}
_ADVERBS: Mapping[str, Interval] = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month"}
_EACH = r"(?:per|by|for\s+each|for\s+every|in\s+each|in\s+every|on\s+each|each|every|grouped\s+by|split\s+by|broken\s+down\s+by|over\s+the|across\s+the)"
_SECONDS = {"second": 1, "minute": 60, "hour": 3600}
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "ten": 10, "twenty": 20}
_COULD = (
    "Questions such as: how many picks failed at PICK_01 yesterday? which robot waited longest this week? "
    "average duration of tasks per stream in the last 7 days? why did task t13 fail? list failed tasks today."
)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a question is understood with: the indexes, the names that exist by their kind, and the time."""

    indexes: Sequence[Index]
    names: Mapping[str, Sequence[str]]
    """By kind: `robot`, `worksite`, `stream`, `scene` …; kinds that are not here are ids, such as a task's."""
    moments: Moments


class _Named(NamedTuple):
    kind: str
    value: str
    link: str


@dataclass(slots=True)
class _Parts:
    """What was found in a text so far."""

    named: list[_Named] = field(default_factory=list)
    ids: list[tuple[str, str]] = field(default_factory=list)
    span: Span | None = None
    over_all: bool = False
    act: Act | None = None
    how: How = ""
    superlative: str = ""
    down: bool = True
    single: bool = False
    """`longest wait` is one wait; `waited longest` is all of them."""
    group_word: str = ""
    which_word: str = ""
    interval: Interval = ""
    which_interval: Interval = ""
    nouns: list[tuple[Index, Noun]] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    measure_word: str = ""
    over: float | None = None
    under: float | None = None
    size: int | None = None
    distinct_word: str = ""
    corrections: list[str] = field(default_factory=list)


def understand(text: str, known: Knowledge, previous: Question | None = None) -> Question:
    """What the text asks; NotUnderstoodError, with what could be asked, where it would be a guess."""
    if not text.strip() or len(text) > MOST:
        raise _refusal("There is no question in that." if not text.strip() else "That is too long for a question.")
    words = Words(text)
    if previous is not None and (page := _turned(words, previous, text)) is not None:
        return page
    parts = _Parts()
    try:
        _take_all(words, parts, known)
    except NoSuchMomentError as error:
        raise _refusal(f"There has been no {error} yet, so nothing is since the last one.") from None
    if words.refused or words.rest:
        _take_misspelt(words, parts, known)
    if words.refused or words.rest:
        raise _left_over(words, known)
    return _whole(text, parts, known, previous)


def _turned(words: Words, previous: Question, text: str) -> Question | None:
    """The next page or the one before."""
    forward = words.take(r"(?:show\s+(?:me\s+)?)?(?:the\s+)?(?:next(?:\s+page|\s+ones)?|more|go on|continue)")
    back = None if forward else words.take(r"(?:show\s+(?:me\s+)?)?(?:the\s+)?(?:previous(?:\s+page|\s+ones)?|back)")
    if not (forward or back) or words.rest:
        if forward or back:
            raise _refusal(f"{name_list(words.rest)} was not understood beside a page.")
        return None
    if previous.act != "list":
        raise _refusal("Only lists have pages, and the question before was none.")
    start = previous.start + (previous.size if forward else -previous.size)
    return previous.model_copy(update={"start": max(start, 0), "text": text})


# -- taking the parts out of the text --------------------------------------------------------------------------------


def _take_all(words: Words, parts: _Parts, known: Knowledge) -> None:
    _take_names(words, parts, known)
    _take_ids(words, parts, known)
    _take_limits(words, parts)
    parts.span = take_span(words, known.moments)
    parts.over_all = words.take(r"ever|so far|of all time|overall|in all|at all") is not None
    _take_split(words, parts, known)
    _take_size(words, parts)
    _take_act(words, parts, known)
    _take_nouns(words, parts, known)
    _take_superlative(words, parts, known)
    _take_measure(words, parts, known)
    _take_conditions(words, parts, known)


def _take_names(words: Words, parts: _Parts, known: Knowledge) -> None:
    kinds: dict[str, list[str]] = {}
    for kind, names in known.names.items():
        for name in names:
            kinds.setdefault(name.lower(), []).append(kind)
    spelled = {name.lower(): name for names in known.names.values() for name in names}
    while (found := words.take_exactly(spelled)) is not None:
        name, link = found[0].lower(), found[1]
        of = kinds[name]
        said = [kind for kind in of if kind == link]
        if len(of) > 1 and not said:
            raise _refusal(f"{found[0]} is the name of a {' and of a '.join(sorted(of))}; say which is meant.")
        parts.named.append(_Named((said or of)[0], spelled[name], link))
    for kind in known.names:  # "robot RB-01": the word before a name says nothing more
        words.take(rf"(?:{forms(kind)})(?=\s*§)")
    words.take(r"(?:and|or)(?=\s*§)")


def _take_ids(words: Words, parts: _Parts, known: Knowledge) -> None:
    """`task t13`, `run r_7f`: ids are too many to know, so the word before them says what they are."""
    kinds = {one.names for index in known.indexes for one in index.fields if one.names} - set(known.names)
    for kind in sorted(kinds):
        while (match := words.take(rf"{forms(kind)}\s+(?:number\s+)?([\w.-]*\d[\w.-]*)")) is not None:
            parts.ids.append((kind, match[1]))
    if "task" in kinds:
        while (match := words.take(r"((?:[\w]+-)?t\d+)")) is not None:
            parts.ids.append(("task", match[1]))


def _take_limits(words: Words, parts: _Parts) -> None:
    for pattern, is_over in (
        (r"(?:longer|more)\s+than|over|above", True),
        (r"(?:shorter|less)\s+than|under|below", False),
    ):
        if match := words.take(rf"(?:for\s+)?(?:{pattern})\s+(\d+(?:\.\d+)?)\s*(second|minute|hour)s?"):
            value = float(match[1]) * _SECONDS[match[2]]
            parts.over, parts.under = (value, parts.under) if is_over else (parts.over, value)


def _take_split(words: Words, parts: _Parts, known: Knowledge) -> None:
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


def _take_size(words: Words, parts: _Parts) -> None:
    number = rf"(\d{{1,4}}|{'|'.join(_NUMBERS)})"
    if match := words.take(rf"(?:the\s+)?(top|first|last|latest|newest|oldest)\s+{number}"):
        parts.size = int(match[2]) if match[2].isdigit() else _NUMBERS[match[2]]
        if match[1] == "top":
            parts.superlative = parts.superlative or "most"
        else:
            parts.act = "list"
            parts.down = match[1] not in ("first", "oldest")


def _take_act(words: Words, parts: _Parts, known: Knowledge) -> None:
    fields = "|".join(forms(word) for word in _field_words(known))
    if match := words.take(r"(?:what|which)\s+(?:share|percentage|percent|fraction|proportion|part)\s+of"):
        parts.act = "share"
    elif words.take(
        r"why\s+(?:did|was|were|is|has|had)|for\s+what\s+reason|what\s+went\s+wrong\s+(?:with|in)|what\s+caused|what\s+(?:is|was)\s+the\s+(?:reason|cause)\s+(?:of|for|why)"
    ):
        parts.act = "why"
    elif words.take(r"when\s+(?:did|was|were|has|had)|when"):
        parts.act = "when"
        if words.take("first"):
            parts.down = False
        else:
            words.take("last|latest|most recently")
    elif match := words.take(
        rf"(?:how\s+many|(?:the\s+)?number\s+of|count(?:\s+of)?)(?:\s+the)?\s+(?:different|distinct)\s+({fields})"
    ):
        parts.act, parts.distinct_word = "distinct", _singular(match[1], known)
    elif words.take(
        r"how\s+many\s+times|how\s+many|how\s+often|(?:what\s+(?:is|was)\s+)?(?:the\s+)?(?:total\s+)?number\s+of|(?:the\s+)?count(?:\s+of)?"
    ):
        parts.act = "count"
    elif match := words.take(rf"(?:which|what|who|the)\s+({'|'.join(_INTERVALS)})(?!s)"):
        parts.which_interval = _INTERVALS[match[1]]
    elif match := words.take(rf"(?:which|what)\s+({fields})"):
        parts.which_word = _singular(match[1], known)
    elif words.take(r"list|show(?:\s+me)?|give\s+me|which|what\s+(?:are|were)|as\s+a\s+list"):
        parts.act = parts.act or "list"


def _singular(said: str, known: Knowledge) -> str:
    return next(word for word in _field_words(known) if re.fullmatch(forms(word), said.strip().lower()))


def _take_nouns(words: Words, parts: _Parts, known: Knowledge) -> None:
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


_MOST = r"(?:the\s+)?(most)(?:\s+often|\s+frequently|\s+time)?"
_LEAST = r"(?:the\s+)?(least|fewest)(?:\s+often|\s+time)?"
_LONG = r"(?:the\s+|for\s+the\s+|for\s+)*(longest|slowest|highest|greatest|largest)(?:\s+time|\s+single)?"
_SHORT = r"(?:the\s+)?(shortest|fastest|quickest|lowest|smallest)"


def _take_superlative(words: Words, parts: _Parts, known: Knowledge) -> None:
    measures = "|".join(sorted((forms(word) for word in _measure_words(known)), key=len, reverse=True))
    for name, pattern, down in (
        ("most", _MOST, True),
        ("most", _LEAST, False),
        ("long", _LONG, True),
        ("long", _SHORT, False),
    ):
        ahead = re.search(rf"\b{pattern}\s+(?:{measures})\b", words.text, re.IGNORECASE) if name == "long" else None
        if match := words.take(pattern):
            by_time = name == "most" and "time" in match[0]
            parts.superlative, parts.down = "long" if by_time else name, down
            parts.single = ahead is not None
            return


def _measure_words(known: Knowledge) -> list[str]:
    return sorted({word for index in known.indexes for one in index.fields if one.unit for word in one.words}, key=len)


_AVERAGE = r"(?:on|in|the|an)?\s*(?:average|mean|avg|typical)(?:ly)?"
_MEDIAN = r"(?:the\s+)?median"
_SUM = r"(?:the\s+)?total|in\s+total|in\s+sum|altogether|(?:the\s+)?sum\s+of"
_MAX = r"(?:the\s+)?(?:maximum|max)|at\s+most"
_MIN = r"(?:the\s+)?(?:minimum|min)|at\s+least"


def _take_measure(words: Words, parts: _Parts, known: Knowledge) -> None:
    for how, pattern in (("avg", _AVERAGE), ("median", _MEDIAN), ("max", _MAX), ("min", _MIN), ("sum", _SUM)):
        if words.take(pattern):
            parts.how = how  # type: ignore[assignment]
            break
    asked_long = words.take(r"how\s+(?:long|much\s+time)") is not None
    for word in reversed(_measure_words(known)):
        if words.take(forms(word)):
            parts.measure_word = word
            break
    if asked_long and not parts.act:
        parts.act = "measure"
        parts.measure_word = parts.measure_word or "?"
    words.take(r"(?:did\s+)?spen[dt]|need(?:ed)?")


def _take_conditions(words: Words, parts: _Parts, known: Knowledge) -> None:
    every = {word for index in known.indexes for one in index.conditions for word in one.words}
    for word in sorted(every, key=lambda one: (-len(one), one)):
        if words.take(rf"{re.escape(word)}".replace(r"\ ", r"\s+")):
            parts.conditions.append(word)


def _take_misspelt(words: Words, parts: _Parts, known: Knowledge) -> None:
    """Names written a little differently: `rb01` is RB-01 where nothing else is as near."""
    spelled = {_bare(name): (kind, name) for kind, names in known.names.items() for name in names}
    for word in list(words.rest):
        if not re.search(r"[\d_]", word) or len(word) < 3:
            continue
        found = [_bare(word)] if _bare(word) in spelled else get_close_matches(_bare(word), spelled, n=3, cutoff=0.84)
        if not found:
            continue
        if len(found) > 1:
            names = tuple(spelled[one][1] for one in found)
            raise _refusal(f"{word} could be {' or '.join(names)}; say which.", names)
        kind, name = spelled[found[0]]
        before = re.search(rf"(\w+)\s+{re.escape(word)}", words.text)
        words.take(re.escape(word))
        words.take(rf"(?:{forms(kind)})(?=\s*§)")
        parts.named.append(_Named(kind, name, before[1].lower() if before else ""))
        parts.corrections.append(f"{word} was read as {name}.")


def _bare(name: str) -> str:
    """A name without its marks, numbers without zeros in front."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"[\W_]", "", name.lower()))


# -- putting the parts together --------------------------------------------------------------------------------------


def _whole(text: str, parts: _Parts, known: Knowledge, previous: Question | None) -> Question:
    index = _index_of(parts, known, previous)
    if previous is not None and index.name == previous.index and not parts.nouns:
        return _followed(text, parts, index, previous)
    conditions = [_condition(index, word) for word in parts.conditions]
    noun = next((noun for of, noun in parts.nouns if of is index), index.nouns[0])
    filters = _filters(index, parts, conditions, noun)
    measure = _measure(index, parts, conditions)
    question = Question(
        text=text,
        index=index.name,
        act="count",
        noun=plural(noun.words[0]),
        filters=tuple(filters),
        span=parts.span,
        time=next((one.time for one in conditions if one.time), noun.time or index.time),
        measure=measure,
        group=_group(index, parts.group_word) if parts.group_word else "",
        interval=parts.interval,
        down=parts.down,
        size=min(parts.size, MOST) if parts.size else 10,
        corrections=tuple(parts.corrections),
    )
    return _acted(question, index, parts)


def _acted(question: Question, index: Index, parts: _Parts) -> Question:
    """What is to be done: the act that was said, or that the words amount to."""
    of_index = any(of is index and parts.which_word in noun.words for of, noun in parts.nouns)
    if parts.act in ("why", "when"):
        return question.model_copy(update={"act": parts.act, "size": 5 if parts.act == "why" else 1})
    if parts.act == "share":
        return _shared(question, parts)
    if parts.act == "distinct" or (parts.act == "count" and not parts.nouns and parts.which_word):
        return question.model_copy(update={"act": "distinct", "measure": _group(index, parts.distinct_word)})
    if parts.superlative:
        return _topped(question, index, parts, of_index)
    if parts.how or parts.act == "measure":
        if not question.measure:
            raise _refusal(f"{question.noun.capitalize()} have nothing that could be averaged or summed.")
        how = parts.how or ("sum" if question.group or question.interval else "avg")
        if not parts.how and parts.act == "measure":
            how = "sum" if index.conditions and any(_condition(index, w).alone for w in parts.conditions) else "avg"
        return question.model_copy(update={"act": "measure", "how": how})
    if parts.which_word and not of_index:
        return question.model_copy(
            update={
                "act": "top",
                "group": _group(index, parts.which_word),
                "size": parts.size or 100,
                "how": "",
                "measure": "",
            }
        )
    if parts.act == "count" or (parts.act is None and (question.group or question.interval)):
        return question.model_copy(update={"act": "count"})
    if parts.act == "list" and (question.group or question.interval):
        return question.model_copy(update={"act": "count"})
    if parts.act == "list" or of_index or parts.act is None:
        return question.model_copy(update={"act": "list", "how": "", "measure": ""})
    raise _refusal("It does not say what to do: count, list, average …")


def _shared(question: Question, parts: _Parts) -> Question:
    if not parts.conditions:
        raise _refusal("A share needs a condition: what share of tasks failed?")
    return question.model_copy(update={"act": "share"})


def _topped(question: Question, index: Index, parts: _Parts, of_index: bool) -> Question:
    group = _group(index, parts.which_word) if parts.which_word and not of_index else question.group
    interval = parts.which_interval or question.interval
    by_length = parts.superlative == "long"
    if by_length and not question.measure:
        raise _refusal(f"{question.noun.capitalize()} have no length that could be compared.")
    how: How = (
        (parts.how or ("max" if parts.single and parts.down else "min" if parts.single else "sum")) if by_length else ""
    )
    size = parts.size or (1 if parts.which_word or parts.which_interval else 10)
    if not group and not interval:
        if not by_length:
            raise _refusal("Most of what? Say which robot, which worksite, which stream, which hour …")
        if parts.act == "count" or (parts.nouns == [] and not of_index and parts.which_word == ""):
            return question.model_copy(update={"act": "measure", "how": "max" if parts.down else "min"})
        if of_index or parts.act == "list" or parts.size:
            return question.model_copy(update={"act": "list", "size": size, "how": ""})
        return question.model_copy(update={"act": "measure", "how": "max" if parts.down else "min"})
    if by_length and how == "sum" and not parts.how and not any(_condition(index, w).alone for w in parts.conditions):
        how = "avg"
    changes = {"act": "top", "group": group, "interval": interval, "size": size, "how": how, "down": parts.down}
    return question.model_copy(update=changes | ({} if by_length else {"measure": ""}))


def _index_of(parts: _Parts, known: Knowledge, previous: Question | None) -> Index:
    found = _unique([index for index, _ in parts.nouns])
    if len(found) > 1:
        found = [one for one in found if _fits(one, parts)]
    if not found:
        found = [one for one in known.indexes if _fits(one, parts)]
        alone = [one for one in found if any(_condition(one, word).alone for word in parts.conditions)]
        by_id = [one for one in found if any(one.fields[0].names == kind for kind, _ in parts.ids)]
        found = alone or by_id or (found if parts.measure_word not in ("", "?") and previous is None else [])
        if not found and previous is not None:
            found = [one for one in known.indexes if one.name == previous.index]
    found = [one for one in found if _fits(one, parts)] or found
    if len(found) != 1:
        raise _no_index(found, known)
    index = found[0]
    for word in parts.conditions:
        if not any(word in one.words for one in index.conditions):
            raise _refusal(
                f"{plural(index.nouns[0].words[0]).capitalize()} are never {word!r}.", _condition_words(index)
            )
    return index


def _unique(found: list[Index]) -> list[Index]:
    return list({one.name: one for one in found}.values())


def _fits(index: Index, parts: _Parts) -> bool:
    words = [word for word in (parts.group_word, parts.which_word, parts.distinct_word) if word]
    nouns = {word for noun in index.nouns for word in noun.words}
    kinds = {one.names for one in index.fields}
    return (
        all(any(word in one.words for one in index.conditions) for word in parts.conditions)
        and all(word in nouns or any(word in one.words for one in index.fields) for word in words)
        and all(one.kind in kinds for one in parts.named)
        and all(kind in kinds for kind, _ in parts.ids)
        and (
            parts.measure_word in ("", "?") or any(parts.measure_word in one.words for one in index.fields if one.unit)
        )
        and (parts.measure_word != "?" or bool(index.measure))
    )


def _condition(index: Index, word: str) -> Condition:
    return next((one for one in index.conditions if word in one.words), Condition(()))


def _condition_words(index: Index) -> tuple[str, ...]:
    return tuple(one.words[0] for one in index.conditions)


def _group(index: Index, word: str) -> str:
    found = [one.name for one in index.fields if word in one.words]
    if len(found) != 1:
        known = [one.words[0] for one in index.fields if one.words and not one.unit]
        raise _refusal(f"{plural(index.nouns[0].words[0]).capitalize()} cannot be split by {word}.", known)
    return found[0]


def _measure(index: Index, parts: _Parts, conditions: Sequence[Condition]) -> str:
    for one in index.fields:
        if one.unit and parts.measure_word in one.words:
            return one.name
    return next((one.measure for one in conditions if one.measure), index.measure)


def _filters(index: Index, parts: _Parts, conditions: Sequence[Condition], noun: Noun | None) -> list[Filter]:
    made: list[Filter] = []
    if noun is not None:
        made += [_term(name, value, "noun") for name, value in noun.terms.items()]
    for condition in conditions:
        made += [_term(name, value, "condition") for name, value in condition.terms.items()]
    made += _name_filters(index, parts)
    for kind, value in parts.ids:
        fields = tuple(one.name for one in index.fields if one.names == kind)
        made.append(Filter(fields=fields, values=(value,), source=f"name:{kind}", ends_with=True))
    if parts.over is not None or parts.under is not None:
        measure = _measure(index, parts, conditions)
        if not measure:
            raise _refusal(f"{plural(index.nouns[0].words[0]).capitalize()} have no length that could be compared.")
        made.append(Filter(fields=(measure,), source="more", over=parts.over, under=parts.under))
    return made


def _term(name: str, value: Any, source: str) -> Filter:
    return Filter(fields=(name,), values=tuple(value) if isinstance(value, list) else (value,), source=source)


def _name_filters(index: Index, parts: _Parts) -> list[Filter]:
    by_fields: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for kind, value, link in parts.named:
        fields = [one for one in index.fields if one.names == kind]
        if not fields:
            raise _refusal(f"{plural(index.nouns[0].words[0]).capitalize()} have no {kind}, so {value} says nothing.")
        linked = [one for one in fields if one.link == link and link]
        by_fields.setdefault((kind, tuple(one.name for one in linked or fields)), []).append(value)
    return [
        Filter(fields=fields, values=tuple(values), source=f"name:{kind}")
        for (kind, fields), values in by_fields.items()
    ]


def _followed(text: str, parts: _Parts, index: Index, previous: Question) -> Question:
    """The question before with what the new text changes: another time, another name, another split."""
    conditions = [_condition(index, word) for word in parts.conditions]
    new = _filters(index, parts, conditions, None)
    replaced = {one.source for one in new}
    kept = [one for one in previous.filters if one.source not in replaced]
    changes: dict[str, Any] = {"text": text, "filters": (*kept, *new), "start": 0}
    changes |= {"corrections": tuple(parts.corrections)}
    if parts.span is not None or parts.over_all:
        changes["span"] = parts.span
    if parts.interval or parts.group_word:
        changes |= {"interval": parts.interval, "group": _group(index, parts.group_word) if parts.group_word else ""}
        changes["act"] = (
            "count" if previous.act in ("list", "count", "when", "why", "top") and not previous.how else "measure"
        )
    if conditions and any(one.time for one in conditions):
        changes["time"] = next(one.time for one in conditions if one.time)
    if parts.how:
        measure = _measure(index, parts, conditions) or previous.measure
        if not measure:
            raise _refusal(f"{previous.noun.capitalize()} have nothing that could be averaged or summed.")
        changes |= {"act": "measure", "how": parts.how, "measure": measure}
    elif parts.act in ("count", "list") and not parts.interval and not parts.group_word:
        changes |= {"act": parts.act, "group": "", "interval": "", "measure": "", "how": ""}
        changes["size"] = parts.size or 10
    elif parts.size:
        changes["size"] = parts.size
    if parts.which_word or parts.superlative or parts.act in ("why", "when", "share", "distinct"):
        raise _refusal("It does not say of what; name it, such as tasks, picks or runs.")
    return previous.model_copy(update=changes)


# -- refusing --------------------------------------------------------------------------------------------------------


def _refusal(says: str, nearest: Sequence[str] = ()) -> NotUnderstoodError:
    return NotUnderstoodError(says, code="question.not_understood", hint=_COULD, nearest=tuple(nearest))


def _left_over(words: Words, known: Knowledge) -> NotUnderstoodError:
    rest = [*words.refused, *words.rest]
    shown = ", ".join(repr(one) for one in rest[:5])
    nearest: tuple[str, ...] = ()
    looks_named = next((one for one in words.rest if re.search(r"[\d_]", one)), None)
    if looks_named is not None:
        nearest = nearest_names(looks_named, [name for names in known.names.values() for name in names])
    near = f" Names that are near: {name_list(nearest)}." if nearest else ""
    return _refusal(f"{shown} was not understood, and nothing is guessed.{near}", nearest)


def _no_index(found: Sequence[Index], known: Knowledge) -> NotUnderstoodError:
    nouns = [plural(noun.words[0]) for one in (found or known.indexes) for noun in one.nouns[:1]]
    if found:
        return _refusal(f"This could be about {' or '.join(nouns)}; say which.", nouns)
    return _refusal(f"It does not say what it is about. There are {name_list(nouns)}.", nouns)
