"""Clauses of a sentence: a verb, a place or tool, and lists and ranges of places.

A clause either yields goals and where it ends, or a Mishap at the first word it has no use for.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from beforehand.crafts.cell.core.lexicon import (
    ARTICLES,
    LAST,
    NOUNS,
    ORDINALS,
    SMALL_TALK,
    THEN,
    Lexicon,
    Phrase,
    Token,
    is_number,
)
from beforehand.model.cell import CellScene, Goal
from beforehand.model.reason import name_list

Places = list[str]
Meaning = TypeVar("Meaning", str, list[str])
LONGEST_RANGE = 1_000
BRIDGES = ("to", "through", "-", "–", "—", "till", "..")
"""What stands between the first and the last place of a range."""


class Mishap(Exception):  # noqa: N818  not an error of the program: a clause that is not one
    def __init__(self, at: int, says: str = "") -> None:
        super().__init__(says)
        self.at = at
        self.says = says


class Reader:
    def __init__(self, tokens: Sequence[Token], lexicon: Lexicon, scene: CellScene) -> None:
        self.tokens = tokens
        self.words: Phrase = tuple(token.word for token in tokens)
        self.lexicon = lexicon
        self.supports = {one.name: [place.position for place in one.supported_at] for one in scene.routines}
        self.needs = {one.name: one.tool_needed for one in scene.routines}

    def clause(self, at: int, before: Sequence[Goal], joined_by: str) -> tuple[int, list[Goal], str]:
        """Where the clause ends, its goals, and what it was read as."""
        verb, after_verb = self._longest(self.lexicon.verbs, at)
        routine, after_routine = self._longest(self.lexicon.routines, at)
        if routine is not None and after_routine >= after_verb:
            return self._routine(at, at, before)
        if verb == "home":
            return self._home(after_verb)
        if verb in ("move", "visit"):
            return self._move(after_verb, verb)
        if verb == "attach":
            return self._attach(after_verb)
        if verb in ("release", "put"):
            return self._release(at, after_verb, verb)
        if verb == "put it back":
            return after_verb, [Goal(action="release_tool")], "Release the tool"
        if verb == "run":
            return self._routine(at, self._skip(after_verb, (*ARTICLES, "routine")), before)
        if self.words[at] == "home" and joined_by in ("start", "then", "last"):
            return self._home(at + 1)
        return self._more_places(at, before, joined_by)

    def _longest(self, table: Mapping[Phrase, Meaning], at: int) -> tuple[Meaning | None, int]:
        """What the most words from here on stand for, and where they end."""
        for many in range(min(self.lexicon.longest, len(self.words) - at), 0, -1):
            found = table.get(self.words[at : at + many])
            if found is not None:
                return found, at + many
        return None, at

    def _skip(self, at: int, words: Sequence[str]) -> int:
        while at < len(self.words) and self.words[at] in words:
            at += 1
        return at

    def _home(self, at: int) -> tuple[int, list[Goal], str]:
        home = self.lexicon.home
        if home is None:
            raise Mishap(at - 1, "This cell has no single home position to go to.")
        return at, [Goal(action="move", position=home)], f"Move to {home}"

    def _move(self, at: int, verb: str) -> tuple[int, list[Goal], str]:
        said_to = verb == "visit" or self.words[at - 1] == "to"
        end, places = self._places(at, None, ranges=said_to)
        goals = [Goal(action="move", position=place) for place in places]
        return end, goals, f"Move to {name_list(places)}"

    def _attach(self, at: int) -> tuple[int, list[Goal], str]:
        tool, end = self._tool(self._skip(at, ARTICLES))
        end = end + 1 if end < len(self.words) and self.words[end] == "up" else end
        return end, [Goal(action="attach_tool", tool=tool)], f"Attach {tool}"

    def _release(self, start: int, at: int, verb: str) -> tuple[int, list[Goal], str]:
        at = self._skip(at, ARTICLES)
        named, _ = self._longest(self.lexicon.tools, at)
        if named is None and at < len(self.words) and self.words[at] == "tool":
            tool, end = None, at + 1
        elif named is None and self._ends_clause(at) and self.words[start] in ("release", "detach", "unmount"):
            tool, end = None, at
        else:
            tool, end = self._tool(at)
        tail = self.words[end] if end < len(self.words) else ""
        if tail == "on" and verb == "put" and tool:
            return end + 1, [Goal(action="attach_tool", tool=tool)], f"Attach {tool}"
        if tail in ("back", "away", "down", "off"):
            end += 1
        elif verb == "put":
            raise Mishap(start)
        return end, [Goal(action="release_tool", tool=tool)], f"Release {tool or 'the tool'}"

    def _tool(self, at: int) -> tuple[str, int]:
        found, end = self._longest(self.lexicon.tools, at)
        if found is None:
            raise Mishap(min(at, len(self.words) - 1), "" if at < len(self.words) else "The sentence names no tool.")
        if len(found) > 1:
            raise Mishap(at, f"Several tools are called that: {name_list(sorted(found))}.")
        end = end + 1 if end < len(self.words) and self.words[end] == "tool" else end
        return found[0], end

    def _routine(self, start: int, at: int, before: Sequence[Goal]) -> tuple[int, list[Goal], str]:
        found, end = self._longest(self.lexicon.routines, at)
        if found is None:
            raise Mishap(min(at, len(self.words) - 1))
        if len(found) > 1:
            raise Mishap(at, f"'{self.tokens[at].text}' can mean {name_list(sorted(found))}.")
        routine: str = found[0]
        end = self._with_tool(end, routine)
        if self._everywhere(end):
            end, places = self._everywhere(end), list(self.supports[routine])
        elif self._is_place(end, routine):
            end, places = self._places(end, routine, ranges=True)
        else:
            return self._nowhere(start, end, routine, before)
        end = self._with_tool(end, routine)
        goals = [Goal(action="routine", routine=routine, position=place) for place in places]
        return end, goals, f"{routine} at {name_list(places)}"

    def _with_tool(self, at: int, routine: str) -> int:
        """`with the camera` says nothing new when the routine needs the camera, and is refused otherwise."""
        if at >= len(self.words) or self.words[at] not in ("with", "using"):
            return at
        tool, end = self._tool(self._skip(at + 1, ARTICLES))
        if tool != self.needs[routine]:
            raise Mishap(at, f"{routine} runs with {self.needs[routine] or 'any tool'}; it cannot use {tool}.")
        return end

    def _nowhere(self, start: int, end: int, routine: str, before: Sequence[Goal]) -> tuple[int, list[Goal], str]:
        """A routine without a place: its only one, or where the clause before went to."""
        places = self.supports[routine]
        came_to = before[-1].position if before and before[-1].action == "move" else None
        joined = end < len(self.words) and self.words[end] == "and"
        if joined and self._longest(self.lexicon.routines, end + 1)[0] is not None:
            raise Mishap(start, f"It is not clear where {routine} is to run: name the position for each routine.")
        if came_to and len(before) > 1 and before[-2].action == "move":
            raise Mishap(start, f"It is not clear at which of these positions {routine} is to run: name them with it.")
        if came_to in places:
            return end, [Goal(action="routine", routine=routine, position=came_to)], f"{routine} at {came_to}"
        if len(places) == 1 and came_to is None:
            return end, [Goal(action="routine", routine=routine, position=places[0])], f"{routine} at {places[0]}"
        if not self._ends_clause(end):
            raise Mishap(self._skip(end, (*ARTICLES, "at", "in", "on")))
        raise Mishap(start, f"Say where {routine} is to run: {name_list(places)}.")

    def _ends_clause(self, at: int) -> bool:
        if at >= len(self.words) or self.words[at] in (",", ";", ".", "..", "!", "and", "&", "+"):
            return True
        joints = (*THEN, *LAST, *SMALL_TALK)
        return self._opens_clause(at) or any(self.words[at : at + len(phrase)] == phrase for phrase in joints)

    def _everywhere(self, at: int) -> int:
        """The end of `everywhere`, `at all positions`, `every position`, or 0."""
        at = self._skip(at, ("at", "in", "on"))
        if at < len(self.words) and self.words[at] == "everywhere":
            return at + 1
        if at + 1 < len(self.words) and self.words[at] in ("all", "every", "each"):
            noun = self._skip(at + 1, ("the",))
            if noun < len(self.words) and self.words[noun] in NOUNS:
                beyond = self.words[noun + 1] if noun + 1 < len(self.words) else ""
                return 0 if is_number(beyond) else noun + 1
        return 0

    def _more_places(self, at: int, before: Sequence[Goal], joined_by: str) -> tuple[int, list[Goal], str]:
        """More places for the verb before: `weld 1, then 2`."""
        last = before[-1] if before else None
        if last is None or last.position is None or joined_by not in ("comma", "and", "then"):
            raise Mishap(at)
        if last.action == "routine":
            end, places = self._places(at, last.routine, ranges=True)
        else:
            end, places = self._places(at, None, ranges=False, family=self._family(last.position))
        goals = [last.model_copy(update={"position": place, "after": ()}) for place in places]
        return end, goals, f"{last.routine or 'Move'} {'at' if last.routine else 'to'} {name_list(places)}"

    def _is_place(self, at: int, routine: str) -> bool:
        try:
            self._places(at, routine, ranges=True)
        except Mishap as mishap:
            if mishap.says:
                raise
            return False
        return True

    def _family(self, place: str) -> Phrase:
        """The words before the number in a place's name, without which the number alone would mean another place."""
        phrase = next(phrase for phrase, names in self.lexicon.places.items() if place in names)
        return phrase[:-1] if phrase and is_number(phrase[-1]) else ()

    def _places(self, at: int, routine: str | None, *, ranges: bool, family: Phrase = ()) -> tuple[int, Places]:
        """A list of places; it ends where what follows a comma or `and` is no place.

        A bare number is of the kind named last: `safe positions 1 and 3` are two safe positions.
        """
        both = at < len(self.words) and self.words[self._skip(at, ("at",)) : self._skip(at, ("at",)) + 1] == ("both",)
        at = self._skip(at, ("at",)) + 1 if both else at
        end, places, family = self._span(at, routine, ranges, family)
        while True:
            following = self._skip(end, (",", "and", "&", "+"))
            if following == end or self._opens_clause(following):
                break
            try:
                end, more, family = self._span(following, routine, ranges, family)
            except Mishap as mishap:
                if mishap.says:
                    raise
                break
            places += more
        if both and len(places) != 2:
            raise Mishap(at - 1, f"'both' goes with two positions, not {len(places)}.")
        return end, places

    def _opens_clause(self, at: int) -> bool:
        if self._longest(self.lexicon.routines, at)[0] is not None:
            return True
        verb, end = self._longest(self.lexicon.verbs, at)
        place, place_end = self._longest(self.lexicon.places, at)
        joint = any(self.words[at : at + len(phrase)] == phrase for phrase in (*THEN, *LAST))
        return joint or (verb is not None and (place is None or place_end < end))

    def _span(self, at: int, routine: str | None, ranges: bool, family: Phrase) -> tuple[int, Places, Phrase]:
        """One place, or all from one to another of its kind; and the kind."""
        at = self._skip(at, ("at", "in", "on"))
        if ranges and at < len(self.words) and self.words[at] == "from":
            at += 1
        end, first, number, family = self._place(at, routine, family)
        kind = family if number is not None else ()
        bridge, beyond = (*self.words[end : end + 2], "", "")[:2]
        if bridge not in BRIDGES or (bridge == ".." and not is_number(beyond)):
            return end, [first], kind
        if not ranges or number is None:
            raise Mishap(end)
        last_end, last, last_number, last_kind = self._place(end + 1, routine, kind)
        named = bool(kind or last_kind)
        if last_number is None or abs(last_number - number) >= LONGEST_RANGE:
            raise Mishap(end)
        if named and self._family(first) != self._family(last):
            raise Mishap(end, f"{first} and {last} are not of one kind, so there is no range from one to the other.")
        step = 1 if last_number >= number else -1
        inner = [self._numbered(end, each, routine, kind or last_kind) for each in range(number, last_number, step)]
        return last_end, [first, *inner[1:], last] if last != first else [first], kind or last_kind

    def _place(self, at: int, routine: str | None, family: Phrase = ()) -> tuple[int, str, int | None, Phrase]:
        """A place by name, by noun and number, or by number; its number and the words before it."""
        for skip in (at, self._skip(at, ARTICLES)):
            named, end = self._longest(self.lexicon.places, skip)
            if named is not None:
                if len(named) > 1:
                    raise Mishap(skip, f"Several positions are called that: {name_list(sorted(named))}.")
                last = self.words[end - 1]
                number = int(last) if is_number(last) else None
                return end, named[0], number, self.words[skip : end - 1]
        at = self._skip(at, ARTICLES)
        at = self._skip(at, ("number",))
        word = self.words[at] if at < len(self.words) else ""
        if word in NOUNS:
            at = self._skip(at + 1, ("number",))
            word = self.words[at] if at < len(self.words) else ""
            if is_number(word):
                return at + 1, self._numbered(at, int(word), routine, ("pos",)), int(word), ("pos",)
            raise Mishap(at - 1)
        if is_number(word):
            return at + 1, self._numbered(at, int(word), routine, family), int(word), family
        return self._ordinal(at, word, routine)

    def _ordinal(self, at: int, word: str, routine: str | None) -> tuple[int, str, int | None, Phrase]:
        number = _ordinal_number(word)
        beyond = at + 1
        while number is not None and beyond < len(self.words) and self._goes_on_counting(beyond):
            beyond += 1
        noun = self.words[beyond] if beyond < len(self.words) else ""
        if number is None or (noun not in NOUNS and self.tokens[beyond : beyond + 1] != [Token("one", "1")]):
            raise Mishap(min(at, len(self.words) - 1))
        return at + 2 if beyond == at + 1 else at + 1, self._numbered(at, number, routine, ("pos",)), number, ("pos",)

    def _goes_on_counting(self, at: int) -> bool:
        """`, second and third` between an ordinal and the noun they share."""
        return self.words[at] in (",", "and", "&", "the") or _ordinal_number(self.words[at]) is not None

    def _numbered(self, at: int, number: int, routine: str | None, family: Phrase) -> str:
        """The position meant by a number: of the same family, else the only one where the routine runs."""
        if family and (named := self.lexicon.places.get((*family, str(number)))) and len(named) == 1:
            return named[0]
        candidates = self.lexicon.numbered.get(number, [])
        fitting = [name for name in candidates if routine and name in self.supports[routine]]
        plain = self.lexicon.places.get(("pos", str(number)), [])
        for choice in (fitting, plain, candidates):
            if len(choice) == 1 and (not family or family == ("pos",)):
                return choice[0]
            if len(choice) > 1:
                break
        if not candidates:
            raise Mishap(at, f"There is no position {number} in this cell.")
        raise Mishap(at, f"Position {number} can be {name_list(sorted(candidates))}: use the full name.")


def _ordinal_number(word: str) -> int | None:
    if word in ORDINALS:
        return ORDINALS.index(word)
    return int(word[1:]) if word.startswith("#") and is_number(word[1:]) else None
