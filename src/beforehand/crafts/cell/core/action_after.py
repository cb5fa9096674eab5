"""What may follow a routine: `move_safe`, or a routine at the same position that can always be done right behind it.

A follower is a step of the plan, so it must come to an end and its tool must be to be had: no chain comes back to
itself, tools can be changed on the way, and nothing that follows a tool change undoes it. With the last, a tool change
never asks for another one, so every chain ends. The work grows with the size of the scene only, however it is made.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from beforehand.crafts.cell.core.topology import strong_components
from beforehand.model.cell import ATTACH, MOVE_SAFE, RELEASE, Move, Position, Routine, ToolStand
from beforehand.model.paper import Paper
from beforehand.model.reason import unknown

MOST_LISTED = 200
"""Actions at one position that are searched for the nearest to a wrong one."""

MOST_SHOWN = 8
"""Routines of a chain that a sentence names."""

Site = tuple[str, str]
"""A routine and a position where it runs."""


class Link(NamedTuple):
    path: str
    follower: Site


class Ways:
    """The allowed moves, as far as it matters here: what can be left and come back to, and where `move_safe` leads."""

    def __init__(self, positions: Sequence[Position], moves: Sequence[Move]) -> None:
        self.roles = {place.name: place.role for place in reversed(positions)}
        self.moves = moves

    @cached_property
    def components(self) -> dict[str, int]:
        return strong_components(self.roles, self.moves)

    @cached_property
    def safe(self) -> dict[str, str]:
        """For every position its neighbour of role safe, the one with the smallest name."""
        found: dict[str, str] = {}
        for move in self.moves:
            for start, end in ((move.source, move.target),) + (() if move.one_way else ((move.target, move.source),)):
                if self.roles.get(end) == "safe" and start != end:
                    found[start] = min(end, found.get(start, end))
        return found

    def lead_there_and_back(self, *places: str) -> bool:
        """Whether each of these leads to each other; where one is not known, that is told elsewhere."""
        numbers = {self.components.get(place) for place in places}
        return len(numbers) == 1 or None in numbers


def check_actions_after(
    paper: Paper, routines: list[tuple[str, Routine]], tools: Sequence[ToolStand], ways: Ways
) -> None:
    links = _links(paper, routines)
    _check_cycles(paper, links)
    tool_work = _ToolWork(paper, [routine for _, routine in routines], tools, links, ways)
    if any(tool_work.needs[link.follower[0]] for link in links.values()):
        tool_work.check_ways()
        tool_work.check_stands()


def _links(paper: Paper, routines: list[tuple[str, Routine]]) -> dict[Site, Link]:
    """Every routine that another one follows, in the order of the scene; what cannot be read is told."""
    at_place: dict[str, dict[str, None]] = {}
    for _, routine in routines:
        for support in routine.supported_at:
            at_place.setdefault(support.position, {})[routine.name] = None
    links: dict[Site, Link] = {}
    for path, routine in routines:
        for at, support in enumerate(routine.supported_at):
            after, where = support.action_after, f"{path}.supported_at[{at}].action_after"
            if not after or after == MOVE_SAFE:
                continue
            if after not in at_place[support.position]:
                _tell_unknown(paper, where, after, support.position, at_place[support.position])
            elif after in (ATTACH, RELEASE):
                says = (
                    f"{after} cannot follow {routine.name}: a plan changes tools by itself where a routine needs one."
                )
                hint = "Name a routine that needs the tool, or remove this action_after."
                paper.add(where, f"{says} {hint}", code="scene.action_after")
            else:
                links.setdefault((routine.name, support.position), Link(where, (after, support.position)))
    return links


def _tell_unknown(paper: Paper, where: str, after: str, place: str, there: Iterable[str]) -> None:
    valid = [MOVE_SAFE, *(name for name in there if name not in (ATTACH, RELEASE))]
    listed = valid if len(valid) <= MOST_LISTED else None
    told = unknown("action_after", after, listed, inside=place, plural="actions there")
    paper.add(where, told.says, code="scene.unknown_action_after", nearest=told.nearest)


def _check_cycles(paper: Paper, links: dict[Site, Link]) -> None:
    rank = {site: at for at, site in enumerate(links)}
    for cycle in _cycles(links):
        at = cycle.index(min(cycle, key=rank.__getitem__))
        names = [name for name, _ in (*cycle[at:], *cycle[: at + 1])]
        says = f"At {cycle[0][1]} this would go on for ever: {_shown(names)}. Remove one of these action_after."
        paper.add(links[cycle[at]].path, says, code="scene.action_after")


def _cycles(links: dict[Site, Link]) -> Iterator[list[Site]]:
    """Every chain that comes back to itself, once."""
    seen: set[Site] = set()
    for start in links:
        way: dict[Site, None] = {}
        site = start
        while site in links and site not in seen:
            seen.add(site)
            way[site] = None
            site = links[site].follower
        if site in way:
            sites = list(way)
            yield sites[sites.index(site) :]


class _ToolWork:
    """What a follower's tool asks for: the change on the way to it, and what follows such a change at the stand."""

    def __init__(
        self,
        paper: Paper,
        routines: Sequence[Routine],
        tools: Sequence[ToolStand],
        links: dict[Site, Link],
        ways: Ways,
    ) -> None:
        self.paper, self.links, self.ways = paper, links, ways
        self.needs = {routine.name: routine.tool_needed for routine in reversed(routines)}
        self.stands = {tool.name: tool.stand for tool in reversed(tools)}
        self.safe_after = {
            (routine.name, support.position)
            for routine in routines
            for support in routine.supported_at
            if support.action_after == MOVE_SAFE
        }
        self.ends: dict[Site, str] = {}

    def check_ways(self) -> None:
        """A follower that needs another tool than the routine before it: that one is put back, its own fetched."""
        for (routine, place), (path, (follower, _)) in self.links.items():
            held, needed = self.needs[routine], self.needs[follower]
            if routine in (ATTACH, RELEASE) or needed in (None, held):
                continue
            amiss = self._amiss(place, needed, ATTACH) or self._amiss(place, held, RELEASE)
            if amiss:
                says = f"{follower} cannot follow {routine} at {place}: it needs {needed}, and {amiss}"
                self.paper.add(path, f"{says}, or remove this action_after.", code="scene.action_after")

    def _amiss(self, place: str, tool: str | None, change: str) -> str:
        """What keeps a tool from being changed on the way from a position and back to it."""
        if tool is None or tool not in self.stands:
            return ""
        stand = self.stands[tool]
        if stand is None:
            return f"the tool {tool} has no stand. Give it one"
        if self.ways.lead_there_and_back(place, stand, self._end(change, stand)):
            return ""
        return f"no moves lead from {place} to {stand}, where {tool} hangs, and back again. Add the missing moves"

    def _end(self, change: str, stand: str) -> str:
        """Where the robot stands after a tool change and all that follows it."""
        if (change, stand) not in self.ends:
            last = [(change, stand), *self._chain((change, stand))][-1]
            self.ends[change, stand] = self.ways.safe.get(stand, stand) if last in self.safe_after else stand
        return self.ends[change, stand]

    def _chain(self, site: Site) -> Iterator[Site]:
        """All that follows, up to where it comes back to itself."""
        passed: set[Site] = set()
        while site in self.links and site not in passed:
            passed.add(site)
            site = self.links[site].follower
            yield site

    def check_stands(self) -> None:
        """What follows a tool change at the stand must leave the tool as it is."""
        hanging: dict[str, list[str]] = {}
        for tool, stand in self.stands.items():
            if stand is not None:
                hanging.setdefault(stand, []).append(tool)
        for site in self.links:
            change, place = site
            there = hanging.get(place, [])
            if change in (ATTACH, RELEASE) and there:
                self._check_chain(site, {None, *(there if change == ATTACH and len(there) == 1 else ())})

    def _check_chain(self, start: Site, allowed: set[str | None]) -> None:
        names, before = [start[0]], start
        for site in self._chain(start):
            names.append(site[0])
            needed = self.needs[site[0]]
            if needed not in allowed:
                self.paper.add(self.links[before].path, _undone(names, site, needed), code="scene.action_after")
                return
            before = site


def _undone(names: list[str], site: Site, needed: str | None) -> str:
    says = f"At the stand {site[1]}, {_shown(names)}: {site[0]} needs {needed}"
    if names[0] == ATTACH:
        rule = "needs no tool, or the only tool that hangs there"
        return f"{says}, so what was just taken would be put down again. Let only follow what {rule}."
    return f"{says}, so what was just put down would be taken again. Let only follow what needs no tool."


def _shown(names: list[str]) -> str:
    """A chain as a sentence can hold it; of a very long one the beginning and the end."""
    if len(names) > MOST_SHOWN:
        names = [*names[: MOST_SHOWN - 2], "...", names[-1]]
    return " -> ".join(names)
