"""A question that goes on from the one before: another page, another time, another name, another split."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from beforehand.crafts.rounds.core.question_narrowing import (
    condition_of,
    filters_of,
    group_of,
    measure_of,
    noun_for_all,
    of_what,
)
from beforehand.crafts.rounds.core.question_parts import Parts, refusal
from beforehand.crafts.rounds.core.question_shape import Act, Question
from beforehand.crafts.rounds.core.question_words import Words
from beforehand.model.reason import name_list
from beforehand.ports.search import Condition, Index


def take_pointers(words: Words) -> None:
    """What only points at the question before: `only failed ones`, `how long did they take`."""
    words.text = re.sub(r"^\s*now\s+(?=\w)", " ", words.text, flags=re.IGNORECASE)
    for pointer in ("only", "just", "also", "instead", "the same", "ones?", "they"):
        words.take(pointer)


def turned(words: Words, previous: Question, text: str) -> Question | None:
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


def is_noun_alone(text: str, parts: Parts) -> bool:
    """`and drops?` asks of drops what was asked before."""
    goes_on = re.match(r"\s*(?:and|what about|how about)\b", text, re.IGNORECASE)
    return goes_on is not None and parts.act is None and not (parts.conditions or parts.superlative or parts.how)


def followed(text: str, parts: Parts, index: Index, previous: Question) -> Question:
    """The question before with what the new text changes: another time, another name, another split."""
    conditions = [condition_of(index, word) for word in parts.conditions]
    nouns = [noun for of, noun in parts.nouns if of is index]
    new = filters_of(index, parts, conditions, nouns)
    replaced = {one.source for one in new} | ({"noun"} if nouns else set())
    kept = [one for one in previous.filters if one.source not in replaced]
    changes: dict[str, Any] = {"text": text, "filters": (*kept, *new), "start": 0}
    if nouns:
        changes["noun"] = noun_for_all(index, nouns).words[0]
    changes |= {"corrections": tuple(parts.corrections)}
    if parts.span is not None or parts.over_all:
        changes["span"] = parts.span
    if parts.interval or parts.group_word:
        changes |= {"interval": parts.interval, "group": group_of(index, parts.group_word) if parts.group_word else ""}
        changes["act"] = _split_act(previous)
    if conditions:
        changes["time"] = next((one.time for one in conditions if one.time), "") or _time_of(index, changes, previous)
    if parts.how == "sum" and not parts.measure_word and not previous.how:
        changes |= {"act": "count", "group": "", "interval": "", "measure": ""}  # `and in total?`
    elif parts.how and not parts.measure_word and not previous.how and not any(one.measure for one in conditions):
        raise of_what(previous, index)
    elif parts.how:
        changes |= _measured(index, parts, conditions, previous)
    elif parts.act == "measure":
        parts.how = "sum" if any(one.alone for one in conditions) else "avg"
        changes |= _measured(index, parts, conditions, previous)
    elif parts.act in ("count", "list") and not parts.interval and not parts.group_word:
        changes |= {"act": parts.act, "group": "", "interval": "", "measure": "", "how": ""}
        changes["size"] = parts.size or 10
    elif parts.size:
        changes["size"] = parts.size
    if parts.interval and parts.group_word:
        raise refusal("It can be split by one thing only.")
    if parts.which_word or parts.superlative or parts.now or parts.act in ("why", "when", "share", "distinct"):
        raise refusal("It does not say of what; name it, such as tasks, picks or runs.")
    return previous.model_copy(update=changes)


def _split_act(previous: Question) -> Act:
    """What is done of each part: what was done of all, where that can be."""
    if previous.how:
        return "measure"
    return previous.act if previous.act in ("share", "distinct") else "count"


def _time_of(index: Index, changes: Mapping[str, Any], previous: Question) -> str:
    """The date of what is asked about, where nothing is said to have happened to it."""
    said = changes.get("noun", previous.noun)
    return next((noun.time for noun in index.nouns if noun.words[0] == said), "") or index.time


def _measured(index: Index, parts: Parts, conditions: Sequence[Condition], previous: Question) -> dict[str, Any]:
    """Another measure of the same: what is named, else what was measured before."""
    said = parts.measure_word not in ("", "?") or any(one.measure for one in conditions)
    measure = (not said and previous.how and previous.measure) or measure_of(index, parts, conditions)
    if not measure:
        raise refusal(f"{previous.many.capitalize()} have nothing that could be averaged or summed.")
    return {"act": "measure", "how": parts.how, "measure": measure}
