"""Which index a question is about, and what narrows it: nouns, conditions, names, lengths, and what is so right now."""

from collections.abc import Sequence
from typing import Any

from beforehand.crafts.rounds.core.question_parts import AMBIGUOUS, Knowledge, Parts, refusal
from beforehand.crafts.rounds.core.question_shape import Filter, Question
from beforehand.crafts.rounds.core.question_words import plural
from beforehand.model.errors import NotUnderstoodError
from beforehand.model.reason import name_list
from beforehand.model.words import named
from beforehand.ports.search import Condition, Index, Noun


def index_of(parts: Parts, known: Knowledge, previous: Question | None) -> Index:
    found = _unique([index for index, _ in parts.nouns])
    if found and not any(_fits(one, parts) for one in found):
        found = _unique([index for index, _ in parts.other_nouns if _fits(index, parts)]) or found
    if len(found) > 1:
        found = [one for one in found if _fits(one, parts)]
    if not found:
        found = [one for one in known.indexes if _fits(one, parts)]
        alone = [one for one in found if any(condition_of(one, word).alone for word in parts.conditions)]
        by_id = [one for one in found if any(one.fields[0].names == kind for kind, _ in parts.ids)]
        measured = parts.measure_word not in ("", "?") or any(
            condition_of(one, word).measure for one in found for word in parts.conditions
        )
        split = bool(parts.group_word or parts.which_word) and bool(parts.conditions)
        found = by_id or alone or (found if (measured or split) and previous is None else [])
        if not found and previous is not None:
            found = [one for one in known.indexes if one.name == previous.index]
    found = [one for one in found if _fits(one, parts)] or found
    if len(found) != 1:
        raise _no_index(found, known)
    index = found[0]
    for word in parts.conditions:
        if not any(word in one.words for one in index.conditions):
            many, words = plural(index.nouns[0].words[0]).capitalize(), _condition_words(index)
            raise refusal(f"{many} cannot be asked for by {word!r}, only by {name_list(words)}.", words)
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
            parts.measure_word in ("", "?")
            or any(parts.measure_word in one.words for one in index.fields if one.unit)
            or any(condition_of(index, word).measure for word in parts.conditions)
        )
        and (parts.measure_word != "?" or bool(index.measure))
    )


def condition_of(index: Index, word: str) -> Condition:
    return next((one for one in index.conditions if word in one.words), Condition(()))


def _condition_words(index: Index) -> tuple[str, ...]:
    return tuple(one.words[0] for one in index.conditions)


def group_of(index: Index, word: str) -> str:
    found = [one.name for one in index.fields if word in one.words]
    if len(found) != 1:
        known = [one.words[0] for one in index.fields if one.words and not one.unit]
        raise refusal(f"{plural(index.nouns[0].words[0]).capitalize()} cannot be split by {word}.", known)
    return found[0]


def measure_of(index: Index, parts: Parts, conditions: Sequence[Condition]) -> str:
    for one in index.fields:
        if one.unit and parts.measure_word in one.words:
            return one.name
    return next((one.measure for one in conditions if one.measure), index.measure)


def filters_of(index: Index, parts: Parts, conditions: Sequence[Condition], nouns: Sequence[Noun]) -> list[Filter]:
    either: dict[str, list[Any]] = {}
    for noun in nouns:
        for name, value in noun.terms.items():
            either.setdefault(name, []).append(value)
    made = [_term(name, values, "noun") for name, values in either.items()]
    made += [_term(name, values, "condition") for name, values in _joined(conditions, parts).items()]
    made += _name_filters(index, parts)
    for kind, value in parts.ids:
        fields = tuple(one.name for one in index.fields if one.names == kind)
        made.append(Filter(fields=fields, values=(value,), source=f"name:{kind}", ends_with=True))
    if parts.over is not None or parts.under is not None:
        measure = measure_of(index, parts, conditions)
        if not measure:
            raise refusal(f"{plural(index.nouns[0].words[0]).capitalize()} have no length that could be compared.")
        refuse_what_goes_on(index, parts, conditions)
        made.append(Filter(fields=(measure,), source="more", over=parts.over, under=parts.under))
    return made


def refuse_what_goes_on(index: Index, parts: Parts, conditions: Sequence[Condition]) -> None:
    """Nothing is written about how long something is that has not ended."""
    if parts.now or any(_goes_on(index, one) for one in conditions):
        raise refusal("What is not over yet has no length that could be compared.")


def _goes_on(index: Index, condition: Condition) -> bool:
    """Whether a condition holds only for what has not ended: `open`, `running`."""
    open_for = {name: _listed(values) for name, values in index.present.items()}
    return bool(condition.terms) and all(
        all(value in open_for.get(name, ()) for value in _listed(values)) for name, values in condition.terms.items()
    )


def _joined(conditions: Sequence[Condition], parts: Parts) -> dict[str, list[Any]]:
    """The values by field: nothing is both failed and cancelled, so of one field each of them will do."""
    joined: dict[str, list[Any]] = {}
    for condition in conditions:
        for name, value in condition.terms.items():
            joined.setdefault(name, []).extend(one for one in _listed(value) if one not in joined.get(name, []))
    if parts.either and any(condition.terms.keys() != joined.keys() for condition in conditions):
        raise refusal("'or' between these was not understood, and nothing is guessed; ask one after the other.")
    return joined


def _term(name: str, value: Any, source: str) -> Filter:
    return Filter(fields=(name,), values=tuple(value) if isinstance(value, list) else (value,), source=source)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


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


def present_filters(index: Index, parts: Parts, conditions: Sequence[Condition]) -> list[Filter]:
    """What narrows an index to that which goes on right now: said in so many words, or `which robot is charging`."""
    is_so = parts.is_so and any(one.alone for one in conditions) and not (parts.superlative or parts.how)
    if not parts.now and not (is_so and parts.span is None and not parts.over_all and parts.act != "measure"):
        return []
    if parts.span is not None or not index.present:
        raise refusal(f"What is so now of {plural(index.nouns[0].words[0])} cannot be told from this.")
    told = {name: value for one in conditions for name, value in one.terms.items()}
    made = []
    for name, value in index.present.items():
        if value is None:
            made.append(Filter(fields=(name,), source="now", missing=True))
        elif name not in told:
            made.append(_term(name, value, "now"))
        elif not {*_listed(told[name])} <= {*_listed(value)}:
            raise refusal(f"What is {told[name]} is over, so it is not so now.")
    return made


def time_of(index: Index, conditions: Sequence[Condition], parts: Parts) -> str:
    """The date that the time is about: that of what happened, before that of what is measured."""
    happened = list(dict.fromkeys(one.time for one in conditions if one.time and not one.measure))
    if len(happened) > 1 and parts.span is not None:
        says = " or ".join(named(name) for name in happened)
        raise refusal(f"{parts.span.says.capitalize()} could be about {says}; say one of them.", code=AMBIGUOUS)
    return next(iter(happened), "") or next((one.time for one in conditions if one.time), "")


def noun_for_all(index: Index, nouns: Sequence[Noun]) -> Noun:
    """What all that is asked about is called: picks and drops are handlings."""
    first = nouns[0]
    differ = any(noun.terms.get(name, value) != value for noun in nouns for name, value in first.terms.items())
    return next((noun for noun in index.nouns if not noun.terms), first) if differ else first


def check_nouns(index: Index, nouns: Sequence[Noun], filters: Sequence[Filter]) -> None:
    """A pallet that was picked and dropped is one; where both are asked for it would be two."""
    for noun in nouns:
        one_of = [one for one in filters if noun.split_by in one.fields and len(one.values) == 1]
        if noun.split_by and not one_of:
            words = [one.words[0] for one in index.conditions if noun.split_by in one.terms]
            says = f"The same {noun.words[0]} would be counted more than once; say {' or '.join(words)}."
            raise refusal(says, words, AMBIGUOUS)


def refuse_what_was_going_on(index: Index, parts: Parts, conditions: Sequence[Condition]) -> None:
    """`were open yesterday`: of what ended since, it is not known what it was then."""
    if parts.was_so and parts.span is not None and any(_goes_on(index, one) for one in conditions):
        many = plural(index.nouns[0].words[0])
        raise refusal(f"What {many} were like {parts.span.says} is not known, only what they are now.")


def _no_index(found: Sequence[Index], known: Knowledge) -> NotUnderstoodError:
    nouns = [plural(noun.words[0]) for one in (found or known.indexes) for noun in one.nouns[:1]]
    if found:
        return refusal(f"This could be about {' or '.join(nouns)}; say which.", nouns, AMBIGUOUS)
    return refusal(f"It does not say what it is about. There are {name_list(nouns)}.", nouns)


def of_what(question: Question, index: Index) -> NotUnderstoodError:
    """`average tasks per hour` could be how many, and it could be how long."""
    words = [one.words[0] for one in index.fields if one.unit and one.words]
    if not words:
        return refusal(f"{question.many.capitalize()} have nothing that could be averaged or summed.")
    return refusal(f"It does not say what of {question.many}: {' or '.join(words)}?", words)
