"""Stream kinds: each says which pallets it would move where, through one small interface.

A handler looks at the scene through a `StreamView` and yields candidates, best first; the view already hides what is
reserved, also what was reserved a moment ago in the same tick, so a handler never has to look twice. Plug-ins add
kinds with `register_kind`, as the built-in ones are added here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Protocol

from beforehand.crafts.fleet.core.params import (
    BatchParams,
    BufferedParams,
    DropPolicy,
    PickDropParams,
    ReplenishParams,
    RoundRobinParams,
    ShuttleParams,
)
from beforehand.model.base import WireModel
from beforehand.model.fleet import Stream, Worksite


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pallet that could be moved now, had we a robot."""

    stream_id: str
    source_id: str
    target_id: str
    since_ms: int
    """Since when the pallet has been waiting."""
    more: tuple[tuple[str, str], ...] = ()
    """Further pallets that the same robot picks before its first drop: where each stands and where it goes."""


Pallets = tuple[str | None, tuple[str, ...]]
"""Which stream asks for which pallets, by where they stand and wherever they go."""


@dataclass(frozen=True, slots=True)
class StreamView:
    """What a handler may see: its stream, its parameters, and the worksites as they are at this moment of the tick."""

    stream: Stream
    params: Any
    site: Callable[[str], Worksite]
    can_pick: Callable[[str], bool]
    can_drop: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class TaskUpdate:
    """What a kind wants of one of its tasks; what is None stays as it is."""

    target_id: str | None = None
    """Another of its places, while the drop is not committed and that place is empty."""
    priority: float | None = None
    hold: str | None = None
    """Why a person has to look at it, as a sentence."""
    cancel: str | None = None
    """Why it is not wanted any more; a task whose pallet is on a fork goes on."""


class StreamHandler(Protocol):
    """A kind of stream. Two more methods are optional: `ways(params)` yields pairs of groups, where pallets do not
    simply go from each group to the next; `on_tick(view, task, robot)` is asked about each of its tasks in every
    tick and answers a `TaskUpdate` or None. With `steady = True` a candidate, where no lane has its say, is right as
    long as its own places are free, and the kind is not asked again after each task that other streams start."""

    kind: str
    params: type[WireModel]

    def groups(self, params: Any) -> Mapping[str, tuple[str, ...]]:
        """The worksite lists in the parameters, by their wire name. The handler looks at no other worksites."""
        ...

    def evaluate(self, view: StreamView) -> Iterator[Candidate]:
        """Candidates, best first. Between two of them the core may have reserved the one before."""
        ...

    def retarget(self, view: StreamView, source_id: str, target_id: str) -> str | None:
        """Another drop for a pallet already on its way, or None."""
        ...

    def silence(self, view: StreamView) -> str:
        """Why there is no candidate, as a sentence."""
        ...


KINDS: dict[str, StreamHandler] = {}


Way = tuple[tuple[str, ...], tuple[str, ...]]
"""Places that pallets are picked from, and places that they are taken to."""


def ways_of(handler: StreamHandler, params: Any) -> Iterator[Way]:
    """From where to where pallets of the stream go: from each group to the next, unless the kind says otherwise."""
    own: Callable[[Any], Iterator[Way]] | None = getattr(handler, "ways", None)
    return pairwise(handler.groups(params).values()) if own is None else own(params)


def sources_of(handler: StreamHandler, params: Any) -> tuple[str, ...]:
    """Every place it picks from, each once."""
    return tuple(dict.fromkeys(site for sources, _ in ways_of(handler, params) for site in sources))


def register_kind(handler: StreamHandler) -> None:
    KINDS[handler.kind] = handler


class PickDrop:
    """From any filled place of `pickGroup` to the `dropGroup`, as its policy orders it."""

    kind = "pickDrop"
    params: type[WireModel] = PickDropParams
    steady = True

    def groups(self, params: Any) -> Mapping[str, tuple[str, ...]]:
        return {"pickGroup": params.pick_group, "dropGroup": params.drop_group}

    def evaluate(self, view: StreamView) -> Iterator[Candidate]:
        yield from self._pairs(view, view.params.pick_group, lambda: self._drops(view))

    def retarget(self, view: StreamView, source_id: str, target_id: str) -> str | None:
        return next((site for site in self._drops(view) if site != source_id), None)

    def silence(self, view: StreamView) -> str:
        pick, drop = view.params.pick_group, view.params.drop_group
        if not any(view.can_pick(site) for site in pick):
            return f"None of its pick places holds a pallet that is free: {_as_they_are(view, pick)}."
        if next(iter(self._drops(view)), None) is None:
            barred = next((site for site in drop if view.can_drop(site)), None)
            if barred is not None and view.params.drop_policy.access_rule is not None:
                return f"{_barred(view, drop, barred)}: {_as_they_are(view, drop)}."
            return f"None of its drop places can be used: {_as_they_are(view, drop)}."
        return "There is a pallet to move."

    def _drops(self, view: StreamView) -> Iterator[str]:
        return in_order(view, view.params.drop_group, view.params.drop_policy)

    def _pairs(
        self, view: StreamView, picks: tuple[str, ...], drops: Callable[[], Iterator[str]]
    ) -> Iterator[Candidate]:
        targets = drops()
        target = next(targets, None)
        if target is None:
            return
        sources = sorted((site for site in picks if view.can_pick(site)), key=lambda site: view.site(site).since_ts_ms)
        for source in sources:
            while target is not None and not view.can_drop(target):
                target = next(targets, None)
            if target is None:
                return
            if view.can_pick(source) and target != source:
                yield Candidate(view.stream.stream_id, source, target, view.site(source).since_ts_ms)
                if not view.can_drop(target):
                    target = next(targets, None)


class RoundRobin(PickDrop):
    """As pickDrop, but the drop places take turns in their fixed order; one that cannot be used misses its turn."""

    kind = "roundRobin"
    params: type[WireModel] = RoundRobinParams

    def _drops(self, view: StreamView) -> Iterator[str]:
        group = view.params.drop_group
        first = group.index(view.stream.cursor) + 1 if view.stream.cursor in group else 0
        turns = group[first:] + group[:first]
        rule = view.params.drop_policy.access_rule
        for site in turns:
            if view.can_drop(site) and (rule is None or _preceding_empty(view, group, site)):
                yield site


class Replenish(PickDrop):
    """Fills the drop places until `threshold` of them are filled or on their way to be, then waits."""

    kind = "replenish"
    params: type[WireModel] = ReplenishParams
    steady = False

    def evaluate(self, view: StreamView) -> Iterator[Candidate]:
        """What is given out counts at once; what no robot could take does not, so that the next pallet is offered."""
        for candidate in super().evaluate(view):
            if self._missing(view) <= 0:
                return
            yield candidate

    def silence(self, view: StreamView) -> str:
        if self._missing(view) <= 0:
            return f"At least {view.params.threshold} of its drop places are filled or about to be, as it asks for."
        return super().silence(view)

    def _missing(self, view: StreamView) -> int:
        there = sum(1 for site in view.params.drop_group if view.site(site).occupancy in ("filled", "reserved"))
        return int(view.params.threshold) - there


class Buffered(PickDrop):
    """Source to buffer, then buffer to target, each its own task; emptying the buffer comes first."""

    kind = "buffered"
    params: type[WireModel] = BufferedParams

    def groups(self, params: Any) -> Mapping[str, tuple[str, ...]]:
        return {"pickGroup": params.pick_group, "bufferGroup": params.buffer_group, "dropGroup": params.drop_group}

    def evaluate(self, view: StreamView) -> Iterator[Candidate]:
        yield from self._pairs(view, view.params.buffer_group, lambda: self._drops(view))
        yield from self._pairs(view, view.params.pick_group, lambda: self._buffers(view))

    def retarget(self, view: StreamView, source_id: str, target_id: str) -> str | None:
        places = self._buffers(view) if source_id in view.params.pick_group else self._drops(view)
        return next((site for site in places if site != source_id), None)

    def silence(self, view: StreamView) -> str:
        params = view.params
        return (
            "Nothing can go into the buffer or out of it: "
            f"{_as_they_are(view, params.pick_group + params.buffer_group + params.drop_group)}."
        )

    def _buffers(self, view: StreamView) -> Iterator[str]:
        return (site for site in view.params.buffer_group if view.can_drop(site))


class Batch(PickDrop):
    """As pickDrop, but a robot picks `batchSize` pallets before its first drop; all their places are reserved at once.

    It waits until there are so many, unless `partial` lets it set out with fewer.
    """

    kind = "batch"
    params: type[WireModel] = BatchParams

    def evaluate(self, view: StreamView) -> Iterator[Candidate]:
        """A batch that no robot could take is offered smaller, if it may be, and then without its oldest pallet."""
        passed: set[str] = set()
        while pairs := self._next_batch(view, passed):
            first = pairs[0][0]
            passed.add(first)
            least = 1 if view.params.partial else len(pairs)
            for size in range(len(pairs), least - 1, -1):
                if view.can_pick(first):
                    since = min(view.site(source).since_ts_ms for source, _ in pairs[:size])
                    yield Candidate(view.stream.stream_id, *pairs[0], since, tuple(pairs[1:size]))

    def silence(self, view: StreamView) -> str:
        wanted, pick = view.params.batch_size, view.params.pick_group
        pallets = sum(1 for site in pick if view.can_pick(site))
        places = sum(1 for _ in self._drops(view))
        if not view.params.partial and pallets and pallets < wanted:
            shown = _as_they_are(view, pick)
            return f"It waits for {wanted} pallets to go together, and {pallets} can be picked: {shown}."
        if not view.params.partial and pallets and 0 < places < wanted:
            drop = view.params.drop_group
            return f"It needs {wanted} drop places at once, and {places} can be used: {_as_they_are(view, drop)}."
        return super().silence(view)

    def _next_batch(self, view: StreamView, passed: set[str]) -> list[tuple[str, str]]:
        waiting = [site for site in view.params.pick_group if site not in passed and view.can_pick(site)]
        waiting.sort(key=lambda site: view.site(site).since_ts_ms)
        pairs = list(islice(zip(waiting, self._drops(view), strict=False), view.params.batch_size))
        return pairs if view.params.partial or len(pairs) == view.params.batch_size else []


class Shuttle(PickDrop):
    """Between two fixed places, there and back.

    What stands on one end goes to the other as soon as that is empty. What the stream brought itself stays there until
    somebody takes it away or says anew what lies there; without that rule one pallet would go to and fro for ever.
    """

    kind = "shuttle"
    params: type[WireModel] = ShuttleParams

    def ways(self, params: Any) -> Iterator[Way]:
        yield params.pick_group, params.drop_group
        if params.both_ways:
            yield params.drop_group, params.pick_group

    def evaluate(self, view: StreamView) -> Iterator[Candidate]:
        for (source,), (target,) in self.ways(view.params):
            brought = view.site(source).brought_by == view.stream.stream_id
            if not brought and view.can_pick(source) and view.can_drop(target):
                yield Candidate(view.stream.stream_id, source, target, view.site(source).since_ts_ms)

    def retarget(self, view: StreamView, source_id: str, target_id: str) -> str | None:
        """Both ends are fixed, so there is nowhere else."""
        return None

    def silence(self, view: StreamView) -> str:
        ends = view.params.pick_group + view.params.drop_group
        shown = _as_they_are(view, ends)
        brought = [site for site in ends if view.site(site).brought_by == view.stream.stream_id]
        if brought:
            return f"It brought what stands on {brought[0]} and waits until somebody takes it away: {shown}."
        return f"It needs a pallet on one end and nothing on the other: {shown}."


def in_order(view: StreamView, group: tuple[str, ...], policy: DropPolicy) -> Iterator[str]:
    """The drop places that may be used now, in the order of the policy.

    With `preceding_empty` only the places of the empty run at the head of the list may be used, asked again for each,
    since the one before may have been reserved meanwhile, and `reserved` is not `empty`. A lane filled from its far
    end takes one pallet at a time: a nearer place reserved now would stand in the way of the farther drop.
    """
    backwards = policy.selection == "last_available_in_order"
    if policy.access_rule is None:
        yield from (site for site in (reversed(group) if backwards else group) if view.can_drop(site))
        return
    reachable = list(_empty_run(view, group))
    for site in reversed(reachable) if backwards else reachable:
        if backwards and any(view.site(other).occupancy == "reserved" for other in group):
            return
        if view.can_drop(site) and (backwards or _preceding_empty(view, group, site)):
            yield site


def _empty_run(view: StreamView, group: tuple[str, ...]) -> Iterator[str]:
    for site in group:
        if view.site(site).occupancy != "empty":
            return
        yield site


def _preceding_empty(view: StreamView, group: tuple[str, ...], site: str) -> bool:
    return all(view.site(before).occupancy == "empty" for before in group[: group.index(site)])


def _barred(view: StreamView, group: tuple[str, ...], site: str) -> str:
    """Which rule of a lane keeps a free place from being used."""
    before = [one for one in group[: group.index(site)] if view.site(one).occupancy != "empty"]
    if before:
        lies = view.site(before[0]).occupancy
        return f"{site} is free, but by preceding_empty {before[0]} before it must be empty, and it is {lies}"
    return f"{site} is free, but its lane takes one pallet at a time, and another is on its way"


def _as_they_are(view: StreamView, group: tuple[str, ...]) -> str:
    shown = [f"{site} is {view.site(site).occupancy}" for site in group[:6]]
    return ", ".join(shown) + (f" and {len(group) - 6} more" if len(group) > 6 else "")


for _handler in (PickDrop(), RoundRobin(), Replenish(), Buffered(), Batch(), Shuttle()):
    register_kind(_handler)
