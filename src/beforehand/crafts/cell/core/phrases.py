"""Clauses of a sentence: a verb, and the tool or the places it is for.

A clause either yields goals and where it ends, or a Mishap at the first word it has no use for.
"""

from collections.abc import Sequence

from beforehand.crafts.cell.core.lexicon import ARTICLES, ORDER, SMALL_TALK, TOOL_ROUTINES, Lexicon, Token
from beforehand.crafts.cell.core.place_lists import Mishap, PlaceReader
from beforehand.crafts.cell.core.sites import Sites, is_label
from beforehand.model.cell import CellScene, Goal
from beforehand.model.reason import name_list

LETS_GO = ("release", "detach", "unmount", "tool")
"""How a clause begins that may leave out which tool: there is only the one that is held."""

Clause = tuple[int, list[Goal], str]
"""Where it ends, its goals, and what it was read as."""


class Reader(PlaceReader):
    def __init__(self, tokens: Sequence[Token], lexicon: Lexicon, scene: CellScene) -> None:
        super().__init__(tokens, lexicon, scene)
        self.kit = Sites(lexicon.kit)
        self.needs = {one.name: one.tool_needed for one in scene.routines}

    def clause(self, at: int, before: Sequence[Goal], joined_by: str) -> Clause:
        """`joined_by` is what stands before the clause: start, then, and, sign, or nothing."""
        verb, after_verb = self.longest(self.lexicon.verbs, at)
        routine, after_routine = self.longest(self.lexicon.routines, at)
        if routine is not None and after_routine >= after_verb:
            self._refuse_place_or_routine(at, after_routine, before)
            return self._routine(at, at, before)
        if verb == "home":
            return self._move(after_verb - 1, "move") if self._goes_on_as_name(after_verb) else self._home(after_verb)
        if verb in ("move", "visit"):
            return self._move(after_verb, verb)
        if verb == "attach":
            return self._attach(after_verb)
        if verb in ("release", "put"):
            return self._release(at, after_verb, verb)
        if verb == "put it back":
            return after_verb, [Goal(action="release_tool")], "Release the tool"
        if verb == "run":
            named = self.skip(after_verb, (*ARTICLES, "routine"))
            if self.words[named : named + 2] in TOOL_ROUTINES:
                return self.clause(named, before, joined_by)
            return self._routine(at, named, before)
        if verb == "same":
            return self._same(at, after_verb, before)
        if self.words[at] == "home" and joined_by in ("start", "then"):
            return self._home(at + 1)
        return self._more_places(at, before, joined_by)

    def _refuse_place_or_routine(self, at: int, after: int, before: Sequence[Goal]) -> None:
        """`go to load 1 and load 2`: the second may be a place to go to, or a routine to run there."""
        named, end = self.longest(self.lexicon.places, at)
        last = before[-1] if before else None
        if named is None or last is None or last.position is None:
            return
        if end < after or (end == after and not self._ends_clause(end)):
            return
        routines = self.longest(self.lexicon.routines, at)[0] or []
        came_here = last.action == "move" and last.position == named[0]
        same = end > after and last.routine in routines
        if came_here or same or (last.routine and named[0] not in self.supports[last.routine]):
            return
        says = f"It is not clear whether {routines[0]} is to run, or {named[0]} is one more place."
        verb = f"{last.routine} at" if last.routine else "go to"
        raise Mishap(at, f"{says} Say '{routines[0]} at {named[0]}' or '{verb} {named[0]}'.")

    def _goes_on_as_name(self, at: int) -> bool:
        """Whether the `home` that ends here is only the first word of a longer name."""
        return self.words[at - 1] == "home" and self.longest(self.lexicon.places, at - 1)[1] > at

    def _home(self, at: int) -> Clause:
        home = self.lexicon.home
        if home is None:
            raise Mishap(at - 1, "This cell has no single home position to go to.")
        return at, [Goal(action="move", position=home)], f"Move to {home}"

    def _move(self, at: int, verb: str) -> Clause:
        whole = self.whole_kind(at, None)
        end, places = whole or self.places(at, None, ranges=True if verb == "visit" else None)
        goals = [Goal(action="move", position=place) for place in places]
        return end, goals, f"Move to {name_list(places)}"

    def _attach(self, at: int) -> Clause:
        tool, end = self._tool(self._tool_name_begins(at))
        if self.word(end) == "off":
            return end + 1, [Goal(action="release_tool", tool=tool)], f"Release {tool}"
        end = end + 1 if self.word(end) == "up" else end
        return end, [Goal(action="attach_tool", tool=tool)], f"Attach {tool}"

    def _release(self, start: int, at: int, verb: str) -> Clause:
        at = self._tool_name_begins(at)
        tool: str | None = None
        named = self.longest(self.lexicon.tools, at)[0] is not None
        if self.word(at) == "tool" and not named:
            end = at + 1
        elif self._ends_clause(self.skip(at, ("routine",))) and self.words[start] in LETS_GO and not named:
            end = self.skip(at, ("routine",))
        else:
            tool, end = self._tool(at)
        tail = self.word(end)
        if tail == "on" and verb == "put" and tool:
            return end + 1, [Goal(action="attach_tool", tool=tool)], f"Attach {tool}"
        if tail in ("back", "away", "down", "off"):
            end += 1
        elif verb == "put":
            raise Mishap(start)
        return end, [Goal(action="release_tool", tool=tool)], f"Release {tool or 'the tool'}"

    def _tool_name_begins(self, at: int) -> int:
        """Behind the verb and the article, unless a name begins before: `attach tool 2`, `release the A1`."""
        end = self.skip(at, ARTICLES)
        starts = range(at - (self.words[at - 1] == "tool"), end)
        return next((start for start in starts if self.longest(self.lexicon.tools, start)[0] is not None), end)

    def _tool(self, at: int) -> tuple[str, int]:
        """A tool by its name, or by its kind where there is only one of that kind."""
        found, end = self.longest(self.lexicon.tools, at)
        if found is None:
            found, end = self._tool_of_kind(at)
        if len(found) > 1:
            raise Mishap(at, f"Several tools are called that: {name_list(sorted(found))}.")
        return found[0], end + 1 if self.word(end) == "tool" else end

    def _tool_of_kind(self, at: int) -> tuple[list[str], int]:
        own = {word for tool in self.kit.all for word in tool.family if not is_label(word)}
        end = at
        while self.word(end) in own:
            end += 1
        found = [tool.name for tool in self.kit.of(self.words[at:end])] if end > at else []
        if self.words[at:end] == ("tool",):
            found = [tool.name for tool in self.kit.all]
        if not found:
            raise Mishap(min(at, len(self.words) - 1), "" if at < len(self.words) else "The sentence names no tool.")
        return found, end

    def _routine(self, start: int, at: int, before: Sequence[Goal]) -> Clause:
        found, end = self.longest(self.lexicon.routines, at)
        if found is None:
            raise Mishap(min(at, len(self.words) - 1))
        if len(found) > 1:
            raise Mishap(at, f"'{self.tokens[at].text}' can mean {name_list(sorted(found))}.")
        routine, end = found[0], self.skip(end, ("routine",)) if at > start else end
        return self._where(start, self._with_tool(end, routine), routine, before)

    def _where(self, start: int, at: int, routine: str, before: Sequence[Goal]) -> Clause:
        whole = self.whole_kind(at, routine)
        if whole is not None:
            end, places = whole
        elif self.is_place(at, routine):
            end, places = self.places(at, routine, ranges=True)
        else:
            return self._nowhere(start, at, routine, before)
        end = self._with_tool(end, routine)
        goals = [Goal(action="routine", routine=routine, position=place) for place in places]
        return end, goals, f"{routine} at {name_list(places)}"

    def _with_tool(self, at: int, routine: str) -> int:
        """`with the camera` says nothing new when the routine needs the camera, and is refused otherwise."""
        if self.word(at) not in ("with", "using"):
            return at
        tool, end = self._tool(self.skip(at + 1, ARTICLES))
        if tool != self.needs[routine]:
            raise Mishap(at, f"{routine} runs with {self.needs[routine] or 'any tool'}, not by choice with {tool}.")
        return end

    def _nowhere(self, start: int, end: int, routine: str, before: Sequence[Goal]) -> Clause:
        """A routine without a place: its only one, or where the clause before went to."""
        places = self.supports[routine]
        came_to = before[-1].position if before and before[-1].action == "move" else None
        joined = self.word(end) == "and"
        if joined and self.longest(self.lexicon.routines, end + 1)[0] is not None:
            raise Mishap(start, f"It is not clear where {routine} is to run: name the position for each routine.")
        if came_to and len(before) > 1 and before[-2].action == "move":
            raise Mishap(start, f"It is not clear at which of these positions {routine} is to run: name them with it.")
        if not self._ends_clause(end):
            raise Mishap(self.skip(end, (*ARTICLES, "at", "in", "on")))
        if came_to in places:
            return end, [Goal(action="routine", routine=routine, position=came_to)], f"{routine} at {came_to}"
        if len(places) == 1 and came_to is None:
            return end, [Goal(action="routine", routine=routine, position=places[0])], f"{routine} at {places[0]}"
        raise Mishap(start, f"Say where {routine} is to run: {name_list(places)}.")

    def _ends_clause(self, at: int) -> bool:
        if at >= len(self.words) or self.words[at] in (",", ";", ".", "..", "!", "and", "&", "+"):
            return True
        joints = (*(phrase for phrases in ORDER.values() for phrase in phrases), *SMALL_TALK)
        return self.opens_clause(at) or any(self.words[at : at + len(phrase)] == phrase for phrase in joints)

    def _same(self, start: int, at: int, before: Sequence[Goal]) -> Clause:
        """`do the same at 3`: the one routine there was so far, at other places."""
        done = {(goal.action, goal.routine) for goal in before}
        routine = before[-1].routine if before else None
        if len(done) != 1 or routine is None:
            raise Mishap(start, "It is not clear what is to be done the same way: name the routine.")
        return self._placed(self.skip(at, ("for",)), routine)

    def _placed(self, at: int, routine: str) -> Clause:
        end, places = self.whole_kind(at, routine) or self.places(at, routine, ranges=True, goes_on=True)
        goals = [Goal(action="routine", routine=routine, position=place) for place in places]
        return self._with_tool(end, routine), goals, f"{routine} at {name_list(places)}"

    def _more_places(self, at: int, before: Sequence[Goal], joined_by: str) -> Clause:
        """More places for the verb before: `weld 1, then 2`."""
        last = before[-1] if before else None
        if last is None or last.position is None or joined_by not in ("and", "sign", "then"):
            raise Mishap(at)
        if last.action == "routine":
            return self._placed(at, str(last.routine))
        end, places = self.places(self.skip(at, ("to",)), None, ranges=False, goes_on=True)
        return end, [Goal(action="move", position=place) for place in places], f"Move to {name_list(places)}"
