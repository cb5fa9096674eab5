"""Where robots can stand and be in nobody's way.

A node is a resting place if robots on all resting places at once still leave the lanes in one piece: from every resting
place and every worksite one can drive to the lanes and back. Where every robot can come to one of these, nobody is ever
shut in, and that is what makes traffic free of deadlocks. Park places are taken first, then chargers, worksites, starts
and the ends of dead ends; other nodes only while there are too few.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from beforehand.crafts.fleet.core.traffic.ground import Ground, Step
from beforehand.model.fleet import FleetScene

TRIALS = 60_000
"""How many nodes are looked at to try places out by a search of the whole map; dead ends need none."""
BIGGEST = 0
"""The first of the bodies: as long as the longest, as wide as the widest."""


def resting_places(ground: Ground, scene: FleetScene) -> frozenset[int]:
    parts = _parts(ground)
    worksites = {ground.index[site.node_id] for site in scene.worksites}
    lanes = _lanes(ground, parts, {})
    needed = {node for node in worksites if _joined(ground, node, lanes, {}, frozenset())}
    found: set[int] = set()
    taken: Counter[int] = Counter()
    """How many resting robots each piece would be covered by."""
    trials = max(20, TRIALS // max(1, len(ground.out)))
    enough = len(scene.robots) + max(3, len(scene.robots) // 4)
    for node, wanted in _candidates(ground, scene):
        if taken[node] or (not wanted and len(found) >= enough):
            continue
        covers = ground.clashes(node, BIGGEST, BIGGEST)
        if not _is_dead_end(ground, node, covers):
            trials -= 1
            after = taken + Counter(covers)
            if trials < 0 or not _lanes_hold(ground, parts, {*found, node}, after, needed):
                continue
        found.add(node)
        taken.update(covers)
    return frozenset(found)


def _candidates(ground: Ground, scene: FleetScene) -> Iterator[tuple[int, bool]]:
    """The nodes in the order they are tried, and whether they are wanted however many there are already."""
    parks = [robot.park_node_id for robot in scene.robots] + [scene.settings.park_node_id]
    by_kind: dict[str, list[str]] = {}
    for site in scene.worksites:
        by_kind.setdefault(site.worksite_type, []).append(site.node_id)
    named: list[str | None] = [*by_kind.pop("park", ()), *parks, *by_kind.pop("charger", ())]
    named += [node for nodes in by_kind.values() for node in nodes]
    named += [robot.node_id for robot in scene.robots]
    for name in named:
        if name is not None:
            yield ground.index[name], True
    degrees = [len({step.node for step in (*ground.out[node], *ground.into[node])}) for node in range(len(ground.out))]
    for node in sorted(range(len(degrees)), key=lambda one: (degrees[one], ground.names[one])):
        yield node, degrees[node] == 1


def _is_dead_end(ground: Ground, node: int, covers: Iterable[int]) -> bool:
    """Whether a robot there covers nothing but the end of a dead end that leads both ways."""
    ways = {step.node for step in ground.out[node]}
    if len(ways) != 1 or len(ground.out[next(iter(ways))]) < 2 or {step.node for step in ground.into[node]} != ways:
        return False
    own = {node, *(step.edge for step in ground.out[node])}
    return all(piece in own for piece in covers)


def _lanes_hold(
    ground: Ground, parts: list[list[int]], resting: set[int], taken: Mapping[int, int], needed: set[int]
) -> bool:
    """Whether the lanes stay in one piece, with every resting place and every worksite joined to them."""
    lanes = _lanes(ground, parts, taken)
    for node in resting | needed:
        own = ground.clashes(node, BIGGEST, BIGGEST) if node in resting else frozenset()
        if node not in lanes and not _joined(ground, node, lanes, taken, own):
            return False
    return True


def _joined(ground: Ground, start: int, lanes: set[int], taken: Mapping[int, int], own: frozenset[int]) -> bool:
    """Whether one comes from here to the lanes and back, over nothing that another resting robot covers."""

    def free(step: Step) -> bool:
        at_node, on_edge = taken.get(step.node, 0), taken.get(step.edge, 0)
        return at_node <= (step.node in own) and on_edge <= (step.edge in own)

    return all(any(node in lanes for node in _walk(start, steps, free)) for steps in (ground.out, ground.into))


def _lanes(ground: Ground, parts: list[list[int]], taken: Mapping[int, int]) -> set[int]:
    """In each part of the map the biggest piece of what is not taken that one can drive all over and back."""
    lanes: set[int] = set()
    for part in parts:
        left = [node for node in part if not taken.get(node)]
        best: set[int] = set()
        done: set[int] = set()
        for node in left:
            if node not in done:
                piece = _reached(node, ground.out, taken) & _reached(node, ground.into, taken)
                done |= piece
                best = max(best, piece, key=len)
                if 2 * len(best) >= len(left):
                    break
        lanes |= best
    return lanes


def _parts(ground: Ground) -> list[list[int]]:
    """The nodes, sorted by which can come together at all."""
    both = [[*out, *into] for out, into in zip(ground.out, ground.into, strict=True)]
    done: set[int] = set()
    parts = []
    for node in range(len(both)):
        if node not in done:
            part = sorted(_walk(node, both, lambda step: True))
            done.update(part)
            parts.append(part)
    return parts


def _reached(start: int, steps: list[list[Step]], taken: Mapping[int, int]) -> set[int]:
    return set(_walk(start, steps, lambda step: not taken.get(step.node) and not taken.get(step.edge)))


def _walk(start: int, steps: list[list[Step]], free: Callable[[Step], bool]) -> Iterator[int]:
    known = {start}
    todo = [start]
    yield start
    while todo:
        for step in steps[todo.pop()]:
            if step.node not in known and free(step):
                known.add(step.node)
                todo.append(step.node)
                yield step.node
