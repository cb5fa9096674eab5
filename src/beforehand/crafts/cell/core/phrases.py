"""Clauses of a sentence: a verb, and the tool or the places it is for.

A clause either yields goals and where it ends, or a Mishap at the first word it has no use for.
"""

from collections.abc import Sequence

from beforehand.crafts.cell.core.lexicon import ARTICLES, ORDER, SMALL_TALK, Lexicon, Token
from beforehand.crafts.cell.core.place_lists import Mishap, PlaceReader
from beforehand.crafts.cell.core.sites import Sites
from beforehand.model.cell import CellScene, Goal
from beforehand.model.reason import name_list

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
            return self._routine(at, self.skip(after_verb, (*ARTICLES, "routine")), before)
        if verb == "same":
            return self._same(at, after_verb, before)
        if self.words[at] == "home" and joined_by in ("start", "then"):
            return self._home(at + 1)
        return self._more_places(at, before, joined_by)

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
        tool, end = self._tool(self.skip(at, ARTICLES))
        if self.word(end) == "off":
            return end + 1, [Goal(action="release_tool", tool=tool)], f"Release {tool}"
        end = end + 1 if self.word(end) == "up" else end
        return end, [Goal(action="attach_tool", tool=tool)], f"Attach {tool}"

    def _release(self, start: int, at: int, verb: str) -> Clause:
        at = self.skip(at, ARTICLES)
        tool: str | None = None
        if self.word(at) == "tool":
            end = at + 1
        elif self._ends_clause(at) and self.words[start] in ("release", "detach", "unmount"):
            end = at
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

    def _tool(self, at: int) -> tuple[str, int]:
        """A tool by its name, or by its kind where there is only one of that kind."""
        found, end = self.longest(self.lexicon.tools, at)
        if found is None:
            found, end = self._tool_of_kind(at)
        if len(found) > 1:
            raise Mishap(at, f"Several tools are called that: {name_list(sorted(found))}.")
        return found[0], end + 1 if self.word(end) == "tool" else end

    def _tool_of_kind(self, at: int) -> tuple[list[str], int]:
        own = {word for tool in self.kit.all for word in tool.family}
        end = at
        while self.word(end) in own:
            end += 1
        found = [tool.name for tool in self.kit.of(self.words[at:end])] if end > at else []
        if not found:
            raise Mishap(min(at, len(self.words) - 1), "" if at < len(self.words) else "The sentence names no tool.")
        return found, end

    def _routine(self, start: int, at: int, before: Sequence[Goal]) -> Clause:
        found, end = self.longest(self.lexicon.routines, at)
        if found is None:
            raise Mishap(min(at, len(self.words) - 1))
        if len(found) > 1:
            raise Mishap(at, f"'{self.tokens[at].text}' can mean {name_list(sorted(found))}.")
        routine = found[0]
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
