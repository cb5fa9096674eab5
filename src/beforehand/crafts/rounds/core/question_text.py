"""A question in plain words, understood without a model: a grammar over the declared indexes and the names that exist.

The parts that `question_parts` takes out of the text are put together here. A question in which words are left over, or
which could mean two indexes, is refused with what could be asked.
"""

import re
from collections.abc import Sequence
from typing import Any

from beforehand.crafts.rounds.core.question_parts import AMBIGUOUS, Knowledge, Parts, refusal, take_all, take_misspelt
from beforehand.crafts.rounds.core.question_shape import Filter, How, Question
from beforehand.crafts.rounds.core.question_time import NoSuchMomentError
from beforehand.crafts.rounds.core.question_words import Words, plural
from beforehand.model.errors import NotUnderstoodError
from beforehand.model.reason import name_list, nearest_names
from beforehand.ports.search import Condition, Index, Noun

MOST = 1_000
"""The longest question, and the most that a list shows."""


def understand(text: str, known: Knowledge, previous: Question | None = None) -> Question:
    """What the text asks; NotUnderstoodError, with what could be asked, where it would be a guess."""
    if not text.strip() or len(text) > MOST:
        raise refusal("There is no question in that." if not text.strip() else "That is too long for a question.")
    words = Words(text)
    if previous is not None and (page := _turned(words, previous, text)) is not None:
        return page
    if previous is not None:
        words.take("only|just|now|also|instead|the same")
    parts = Parts()
    try:
        take_all(words, parts, known)
    except NoSuchMomentError as error:
        raise refusal(f"There has been no {error} yet, so nothing is since the last one.") from None
    if words.refused or words.rest:
        take_misspelt(words, parts, known)
    if words.refused or words.rest:
        raise _left_over(words, known)
    return _whole(text, parts, known, previous)


def _turned(words: Words, previous: Question, text: str) -> Question | None:
    """The next page or the one before."""
    forward = words.take(r"(?:show\s+(?:me\s+)?)?(?:the\s+)?(?:next(?:\s+page|\s+ones)?|more|go on|continue)")
    back = None if forward else words.take(r"(?:show\s+(?:me\s+)?)?(?:the\s+)?(?:previous(?:\s+page|\s+ones)?|back)")
    if not (forward or back) or words.rest:
        if forward or back:
            raise refusal(f"{name_list(words.rest)} was not understood beside a page.")
        return None
    if previous.act != "list":
        raise refusal("Only lists have pages, and the question before was none.")
    start = previous.start + (previous.size if forward else -previous.size)
    return previous.model_copy(update={"start": max(start, 0), "text": text})


def _whole(text: str, parts: Parts, known: Knowledge, previous: Question | None) -> Question:
    index = _index_of(parts, known, previous)
    if previous is not None and index.name == previous.index and not parts.nouns:
        return _followed(text, parts, index, previous)
    conditions = [_condition(index, word) for word in parts.conditions]
    nouns = [noun for of, noun in parts.nouns if of is index] or [index.nouns[0]]
    noun = nouns[0]
    filters = _filters(index, parts, conditions, nouns)
    measure = _measure(index, parts, conditions)
    question = Question(
        text=text,
        index=index.name,
        act="count",
        noun=noun.words[0],
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


def _acted(question: Question, index: Index, parts: Parts) -> Question:
    """What is to be done: the act that was said, or that the words amount to."""
    of_index = any(of is index and parts.which_word in noun.words for of, noun in parts.nouns)
    if parts.act == "why":
        # Of a thing that is named, everything is shown: it may not be so at all.
        filters = [one for one in question.filters if not (parts.ids and one.source == "condition")]
        return question.model_copy(update={"act": "why", "size": 5, "filters": tuple(filters)})
    if parts.act == "when":
        return question.model_copy(update={"act": "when", "size": 1})
    if parts.act == "share":
        return _shared(question, parts)
    if parts.act == "distinct" or (parts.act == "count" and not parts.nouns and parts.which_word):
        return question.model_copy(update={"act": "distinct", "measure": _group(index, parts.distinct_word)})
    if parts.superlative:
        return _topped(question, index, parts, of_index)
    if parts.how or parts.act == "measure":
        if not question.measure:
            raise refusal(f"{question.many.capitalize()} have nothing that could be averaged or summed.")
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
    raise refusal("It does not say what to do: count, list, average …")


def _shared(question: Question, parts: Parts) -> Question:
    if not parts.conditions:
        raise refusal("A share needs a condition: what share of tasks failed?")
    return question.model_copy(update={"act": "share"})


def _topped(question: Question, index: Index, parts: Parts, of_index: bool) -> Question:
    group = _group(index, parts.which_word) if parts.which_word and not of_index else question.group
    interval = parts.which_interval or question.interval
    by_length = parts.superlative == "long"
    if by_length and not question.measure:
        raise refusal(f"{question.many.capitalize()} have no length that could be compared.")
    how: How = (
        (parts.how or ("max" if parts.single and parts.down else "min" if parts.single else "sum")) if by_length else ""
    )
    size = parts.size or (1 if parts.which_word or parts.which_interval else 10)
    if not group and not interval:
        if not by_length:
            raise refusal("Most of what? Say which robot, which worksite, which stream, which hour …")
        if parts.act == "count" or (parts.nouns == [] and not of_index and parts.which_word == ""):
            return question.model_copy(update={"act": "measure", "how": "max" if parts.down else "min"})
        if of_index or parts.act == "list" or parts.size:
            return question.model_copy(update={"act": "list", "size": size, "how": ""})
        return question.model_copy(update={"act": "measure", "how": "max" if parts.down else "min"})
    if by_length and how == "sum" and not parts.how and not any(_condition(index, w).alone for w in parts.conditions):
        how = "avg"
    changes = {"act": "top", "group": group, "interval": interval, "size": size, "how": how, "down": parts.down}
    return question.model_copy(update=changes | ({} if by_length else {"measure": ""}))


def _index_of(parts: Parts, known: Knowledge, previous: Question | None) -> Index:
    found = _unique([index for index, _ in parts.nouns])
    if len(found) > 1:
        found = [one for one in found if _fits(one, parts)]
    if not found:
        found = [one for one in known.indexes if _fits(one, parts)]
        alone = [one for one in found if any(_condition(one, word).alone for word in parts.conditions)]
        by_id = [one for one in found if any(one.fields[0].names == kind for kind, _ in parts.ids)]
        measured = parts.measure_word not in ("", "?") or any(
            _condition(one, word).measure for one in found for word in parts.conditions
        )
        found = alone or by_id or (found if measured and previous is None else [])
        if not found and previous is not None:
            found = [one for one in known.indexes if one.name == previous.index]
    found = [one for one in found if _fits(one, parts)] or found
    if len(found) != 1:
        raise _no_index(found, known)
    index = found[0]
    for word in parts.conditions:
        if not any(word in one.words for one in index.conditions):
            raise refusal(
                f"{plural(index.nouns[0].words[0]).capitalize()} are never {word!r}.", _condition_words(index)
            )
    return index


def _unique(found: list[Index]) -> list[Index]:
    return list({one.name: one for one in found}.values())


def _fits(index: Index, parts: Parts) -> bool:
    words = [word for word in (parts.group_word, parts.which_word, parts.distinct_word, *parts.mentions) if word]
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
        raise refusal(f"{plural(index.nouns[0].words[0]).capitalize()} cannot be split by {word}.", known)
    return found[0]


def _measure(index: Index, parts: Parts, conditions: Sequence[Condition]) -> str:
    for one in index.fields:
        if one.unit and parts.measure_word in one.words:
            return one.name
    return next((one.measure for one in conditions if one.measure), index.measure)


def _filters(index: Index, parts: Parts, conditions: Sequence[Condition], nouns: Sequence[Noun]) -> list[Filter]:
    either: dict[str, list[Any]] = {}
    for noun in nouns:
        for name, value in noun.terms.items():
            either.setdefault(name, []).append(value)
    made = [_term(name, values, "noun") for name, values in either.items()]
    for condition in conditions:
        made += [_term(name, value, "condition") for name, value in condition.terms.items()]
    made += _name_filters(index, parts)
    for kind, value in parts.ids:
        fields = tuple(one.name for one in index.fields if one.names == kind)
        made.append(Filter(fields=fields, values=(value,), source=f"name:{kind}", ends_with=True))
    if parts.over is not None or parts.under is not None:
        measure = _measure(index, parts, conditions)
        if not measure:
            raise refusal(f"{plural(index.nouns[0].words[0]).capitalize()} have no length that could be compared.")
        made.append(Filter(fields=(measure,), source="more", over=parts.over, under=parts.under))
    return made


def _term(name: str, value: Any, source: str) -> Filter:
    return Filter(fields=(name,), values=tuple(value) if isinstance(value, list) else (value,), source=source)


def _name_filters(index: Index, parts: Parts) -> list[Filter]:
    by_fields: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for kind, value, link in parts.named:
        fields = [one for one in index.fields if one.names == kind]
        if not fields:
            raise refusal(f"{plural(index.nouns[0].words[0]).capitalize()} have no {kind}, so {value} says nothing.")
        linked = [one for one in fields if one.link == link and link]
        by_fields.setdefault((kind, tuple(one.name for one in linked or fields)), []).append(value)
    return [
        Filter(fields=fields, values=tuple(values), source=f"name:{kind}")
        for (kind, fields), values in by_fields.items()
    ]


def _followed(text: str, parts: Parts, index: Index, previous: Question) -> Question:
    """The question before with what the new text changes: another time, another name, another split."""
    conditions = [_condition(index, word) for word in parts.conditions]
    new = _filters(index, parts, conditions, ())
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
            raise refusal(f"{previous.many.capitalize()} have nothing that could be averaged or summed.")
        changes |= {"act": "measure", "how": parts.how, "measure": measure}
    elif parts.act in ("count", "list") and not parts.interval and not parts.group_word:
        changes |= {"act": parts.act, "group": "", "interval": "", "measure": "", "how": ""}
        changes["size"] = parts.size or 10
    elif parts.size:
        changes["size"] = parts.size
    if parts.which_word or parts.superlative or parts.act in ("why", "when", "share", "distinct"):
        raise refusal("It does not say of what; name it, such as tasks, picks or runs.")
    return previous.model_copy(update=changes)


def _left_over(words: Words, known: Knowledge) -> NotUnderstoodError:
    rest = [*words.refused, *words.rest]
    shown = ", ".join(repr(one) for one in rest[:5])
    nearest: tuple[str, ...] = ()
    looks_named = next((one for one in words.rest if re.search(r"[\d_]", one)), None)
    if looks_named is not None:
        nearest = nearest_names(looks_named, [name for names in known.names.values() for name in names])
    near = f" Names that are near: {name_list(nearest)}." if nearest else ""
    return refusal(f"{shown} was not understood, and nothing is guessed.{near}", nearest)


def _no_index(found: Sequence[Index], known: Knowledge) -> NotUnderstoodError:
    nouns = [plural(noun.words[0]) for one in (found or known.indexes) for noun in one.nouns[:1]]
    if found:
        return refusal(f"This could be about {' or '.join(nouns)}; say which.", nouns, AMBIGUOUS)
    return refusal(f"It does not say what it is about. There are {name_list(nouns)}.", nouns)
