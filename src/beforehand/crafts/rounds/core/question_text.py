"""A question in plain words, understood without a model: a grammar over the declared indexes and the names that exist.

The parts that `question_parts` takes out of the text are put together here. A question in which words are left over, or
which could mean two indexes, is refused with what could be asked.
"""

import re

from beforehand.crafts.rounds.core.question_following import followed, is_noun_alone, take_pointers, turned
from beforehand.crafts.rounds.core.question_narrowing import (
    check_nouns,
    condition_of,
    filters_of,
    group_of,
    index_of,
    measure_of,
    noun_for_all,
    of_what,
    present_filters,
    refuse_what_goes_on,
    refuse_what_was_going_on,
    time_of,
)
from beforehand.crafts.rounds.core.question_parts import Knowledge, Parts, refusal, take_all, take_misspelt
from beforehand.crafts.rounds.core.question_shape import How, Question
from beforehand.crafts.rounds.core.question_spelling import respelled
from beforehand.crafts.rounds.core.question_time import NoSuchMomentError
from beforehand.crafts.rounds.core.question_words import Words
from beforehand.model.errors import NotUnderstoodError
from beforehand.model.reason import name_list, nearest_names
from beforehand.model.words import named
from beforehand.ports.search import Index

MOST = 1_000
"""The longest question, and the most that a list shows."""


def understand(text: str, known: Knowledge, previous: Question | None = None) -> Question:
    """What the text asks; NotUnderstoodError, with what could be asked, where it would be a guess."""
    if not text.strip() or len(text) > MOST:
        raise refusal("There is no question in that." if not text.strip() else "That is too long for a question.")
    words = Words(text)
    if previous is not None and (page := turned(words, previous, text)) is not None:
        return page
    if previous is not None:
        take_pointers(words)
    words, parts = _taken(words, known)
    if words.rest and (spelled := respelled(words, known)):
        mended = Words(spelled.text)
        if previous is not None:
            take_pointers(mended)
        again, better = _taken(mended, known)
        if not again.refused and not again.rest:
            words, parts = again, better
            parts.corrections += spelled.corrections
    if words.refused or words.rest:
        raise _left_over(words, known)
    return _whole(text, parts, known, previous)


def _taken(words: Words, known: Knowledge) -> tuple[Words, Parts]:
    parts = Parts()
    try:
        take_all(words, parts, known)
    except NoSuchMomentError as error:
        raise refusal(f"There has been no {error} yet, so nothing is since the last one.") from None
    if words.refused or words.rest:
        take_misspelt(words, parts, known)
    return words, parts


def _whole(text: str, parts: Parts, known: Knowledge, previous: Question | None) -> Question:
    index = index_of(parts, known, previous)
    if previous is not None and index.name == previous.index and not parts.nouns:
        return followed(text, parts, index, previous)
    if previous is not None and is_noun_alone(text, parts):
        if index.name != previous.index:
            raise refusal(f"The question before was about {previous.many}; ask this one as a whole.")
        return followed(text, parts, index, previous)
    conditions = [condition_of(index, word) for word in parts.conditions]
    said = [noun for of, noun in (*parts.nouns, *parts.other_nouns) if of is index]
    nouns = said or [index.nouns[0]]
    noun = noun_for_all(index, nouns)
    filters = [*filters_of(index, parts, conditions, nouns), *present_filters(index, parts, conditions)]
    check_nouns(index, nouns, filters)
    refuse_what_was_going_on(index, parts, conditions)
    measure = measure_of(index, parts, conditions)
    question = Question(
        text=text,
        index=index.name,
        act="count",
        noun=noun.words[0],
        filters=tuple(filters),
        span=parts.span,
        time=time_of(index, conditions, parts) or noun.time or index.time,
        measure=measure,
        group=group_of(index, parts.group_word) if parts.group_word else "",
        interval=parts.interval,
        down=parts.down,
        size=min(parts.size, MOST) if parts.size else 10,
        corrections=tuple(parts.corrections),
    )
    question = _acted(question, index, parts)
    if question.measure == index.measure and (question.how or parts.superlative == "long"):
        refuse_what_goes_on(index, parts, conditions)
    if question.group and question.interval:
        raise refusal(f"It can be split by one thing only: per {question.interval}, or by {named(question.group)}.")
    return question


def _acted(question: Question, index: Index, parts: Parts) -> Question:
    """What is to be done: the act that was said, or that the words amount to."""
    of_index = any(of is index and parts.which_word in noun.words for of, noun in parts.nouns)
    measured = [one for one in (condition_of(index, word) for word in parts.conditions) if one.measure]
    if parts.how == "sum" and not parts.measure_word and not measured and not parts.superlative:
        parts.how = ""  # `in total` of what is counted
        parts.act = parts.act or "count"
    if parts.one and parts.act not in ("why", "when"):
        if parts.act != "list" or parts.how or parts.superlative or parts.group_word or parts.interval:
            raise refusal(f"Of a single {question.noun} only this can be told: what it is, when and why.")
        return question.model_copy(update={"act": "list", "size": 1, "how": "", "measure": ""})
    if parts.act == "why":
        # Of a thing that is named, everything is shown: it may not be so at all.
        itself = any(kind == index.fields[0].names for kind, _ in parts.ids)
        filters = [one for one in question.filters if not (itself and one.source == "condition")]
        size = 1 if parts.one else 5
        return question.model_copy(update={"act": "why", "size": size, "filters": tuple(filters)})
    if parts.act == "when":
        return question.model_copy(update={"act": "when", "size": 1})
    if parts.act == "share":
        return _shared(question, parts)
    if parts.act == "distinct" or (parts.act == "count" and not parts.nouns and parts.which_word):
        return question.model_copy(update={"act": "distinct", "measure": group_of(index, parts.distinct_word)})
    if parts.superlative:
        return _topped(question, index, parts, of_index)
    if parts.how or parts.act == "measure" or _asks_length(question, parts):
        if not question.measure:
            raise refusal(f"{question.many.capitalize()} have nothing that could be averaged or summed.")
        if parts.act != "measure" and not parts.measure_word and not measured:
            raise of_what(question, index)
        if parts.has_been and parts.span is None:
            raise refusal("How long it has been so until now is not known; name a time, such as today.")
        how = parts.how or ("sum" if any(one.alone for one in measured) else "avg")
        return question.model_copy(update={"act": "measure", "how": how})
    if parts.which_word and not of_index:
        return question.model_copy(
            update={
                "act": "top",
                "group": group_of(index, parts.which_word),
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


def _asks_length(question: Question, parts: Parts) -> bool:
    """`idle time per robot`: a length is named and nothing is said to be done with it."""
    is_split = bool(question.group or question.interval)
    return parts.act is None and parts.measure_word not in ("", "?") and (is_split or not parts.nouns)


def _shared(question: Question, parts: Parts) -> Question:
    if not parts.conditions:
        raise refusal("A share needs a condition: what share of tasks failed?")
    return question.model_copy(update={"act": "share"})


def _topped(question: Question, index: Index, parts: Parts, of_index: bool) -> Question:
    group = group_of(index, parts.which_word) if parts.which_word and not of_index else question.group
    interval = parts.which_interval or question.interval
    conditions = [condition_of(index, word) for word in parts.conditions]
    drove_most = parts.superlative == "most" and not parts.often and not parts.nouns
    by_length = parts.superlative == "long" or (drove_most and any(one.alone and one.measure for one in conditions))
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
        if of_index or parts.act == "list" or parts.size or not parts.measure_word:
            many = re.search(rf"\b(?:{question.many})\b", question.text, re.IGNORECASE)
            one = parts.size or (1 if of_index or not many else 10)
            return question.model_copy(update={"act": "list", "size": one, "how": ""})
        return question.model_copy(update={"act": "measure", "how": "max" if parts.down else "min"})
    if by_length and how == "sum" and not parts.how and not any(condition_of(index, w).alone for w in parts.conditions):
        how = "avg"
    changes = {"act": "top", "group": group, "interval": interval, "size": size, "how": how, "down": parts.down}
    return question.model_copy(update=changes | ({} if by_length else {"measure": ""}))


def _left_over(words: Words, known: Knowledge) -> NotUnderstoodError:
    rest = [*words.refused, *words.rest]
    shown = ", ".join(repr(one) for one in rest[:5])
    nearest: tuple[str, ...] = ()
    looks_named = next((one for one in words.rest if re.search(r"[\d_]", one) and not re.search(r"[:.]", one)), None)
    if looks_named is not None:
        nearest = nearest_names(looks_named, [name for names in known.names.values() for name in names])
    near = f" Names that are near: {name_list(nearest)}." if nearest else ""
    return refusal(f"{shown} was not understood, and nothing is guessed.{near}", nearest)
