"""Where names go on a picture: next to what they name, off each other and off what else there is to see.

Each label has its spots, the best first. Labels are laid one after another at the spot that hides least, and then once
more now that all of them are there.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from beforehand.crafts.agent.core.font import HEIGHT, set_text

Area = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels; right and bottom lie outside."""
ROUNDS = 2
ON_LABEL, ON_THING, ON_LINE, LATER_SPOT = 60.0, 20.0, 6.0, 10.0
LONGEST = 24


@dataclass(frozen=True, slots=True)
class Label:
    text: str
    colour: str
    about: Area
    """What it names, as it is drawn."""
    inside: bool = False
    """Whether it may stand on what it names."""
    home: Area | None = None
    """What it may cover besides, such as the table its cup stands on."""


@dataclass(frozen=True, slots=True)
class Laid:
    label: Label
    left: int
    top: int

    @property
    def area(self) -> Area:
        return (self.left, self.top, self.left + set_text(self.label.text)[0], self.top + HEIGHT)


def shown_name(name: str) -> str:
    """A name that is not longer than there is room for."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}…"


def lay(
    labels: Sequence[Label], things: Sequence[Area], lines: Sequence[Area], sheet: Area, fixed: Sequence[Laid] = ()
) -> list[Laid]:
    """Every label at its spot; `things` and `lines` are kept free where it can be helped, `fixed` ones stay."""
    laid: list[Laid] = []
    for turn in range(ROUNDS):
        for number, label in enumerate(labels):
            others = [*fixed, *laid] if turn == 0 else [*fixed, *laid[:number], *laid[number + 1 :]]
            found = _best(label, [other.area for other in others], things, lines, sheet)
            laid = [*laid, found] if turn == 0 else [*laid[:number], found, *laid[number + 1 :]]
    return laid


def _best(label: Label, taken: Sequence[Area], things: Sequence[Area], lines: Sequence[Area], sheet: Area) -> Laid:
    width = set_text(label.text)[0]
    reach = _reach(label.about, width)
    near = [[area for area in areas if shared(area, reach)] for areas in (taken, things, lines)]
    best, least = Laid(label, 0, 0), math.inf
    for number, (left, top) in enumerate(_spots(label)):
        if LATER_SPOT * number >= least:
            break
        laid = Laid(label, *_within(left, top, width, sheet))
        cost = LATER_SPOT * number + _hides(laid, *near)
        if cost < least:
            best, least = laid, cost
    return best


def _reach(about: Area, width: int) -> Area:
    """Everything that some spot of a label comes near to."""
    across, down = width + 8, 3 * HEIGHT
    return (about[0] - across, about[1] - down, about[2] + across, about[3] + down)


def _hides(laid: Laid, taken: Iterable[Area], things: Iterable[Area], lines: Iterable[Area]) -> float:
    label, area = laid.label, laid.area
    own = {label.home} | ({label.about} if label.inside else set())
    on_things = sum(shared(area, thing) for thing in things if thing not in own)
    on_labels = sum(shared(_grown(area), other) for other in taken)
    return ON_LABEL * on_labels + ON_THING * on_things + ON_LINE * sum(shared(area, line) for line in lines)


def shared(one: Area, other: Area) -> int:
    """How many pixels two areas share."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across * down if across > 0 and down > 0 else 0


def _grown(area: Area) -> Area:
    return (area[0] - 2, area[1] - 1, area[2] + 2, area[3] + 1)


def _within(left: int, top: int, width: int, sheet: Area) -> tuple[int, int]:
    return max(sheet[0], min(left, sheet[2] - width)), max(sheet[1], min(top, sheet[3] - HEIGHT))


def _spots(label: Label) -> Iterator[tuple[int, int]]:
    """Upper left corners: inside, then at the sides, then at the corners, then a little further away."""
    left, top, right, bottom = label.about
    width = set_text(label.text)[0]
    middle, centre = (left + right - width) // 2, (top + bottom - HEIGHT) // 2
    if label.inside and width + 4 <= right - left and bottom - top >= HEIGHT + 3:
        rows, columns = (centre, bottom - HEIGHT - 2, top + 2), (middle, left + 3, right - width - 3)
        yield from ((x, y) for x in columns for y in rows)
    after, before, below, above = right + 3, left - width - 3, bottom + 2, top - HEIGHT - 1
    if label.inside:
        yield from ((middle, below), (middle, above), (after, centre), (before, centre))
    else:
        yield from ((after, centre), (before, centre), (middle, above), (middle, below))
    yield from ((x, y) for y in (above, below) for x in (right - 2, left - width + 2))
    yield from ((left, below), (left, above), (right - width, below), (right - width, above))
    yield from ((middle, below + HEIGHT), (middle, above - HEIGHT))
    yield from ((x, y) for x in (after + 2, before - 2) for y in (centre - HEIGHT, centre + HEIGHT))
