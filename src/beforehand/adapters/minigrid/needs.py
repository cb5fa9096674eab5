"""What speaks against an action before it starts: somebody else uses the body, the hand is full, a door is locked."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from beforehand.adapters.minigrid.grid import Grid
from beforehand.adapters.minigrid.words import Action
from beforehand.model.reason import Reason


class Holder(Protocol):
    """An action under way."""

    @property
    def text(self) -> str: ...

    @property
    def holds(self) -> tuple[str, ...]: ...


def reason(code: str, about: str, says: str, try_next: str = "") -> Reason:
    return Reason(code=code, about=about, says=says, try_next=try_next)


def held_reasons(needs: tuple[str, ...], others: Iterable[Holder]) -> Iterator[Reason]:
    """Who holds what is needed, told once for each."""
    for other in others:
        held = [need for need in needs if need in other.holds]
        if held:
            says = f"It needs the {' and the '.join(held)}, which {other.text} holds."
            yield reason("action.needs_held", held[0], says, f'Stop that first: stop("{other.text}").')


def thing_reasons(action: Action, grid: Grid) -> Iterator[Reason]:
    """What speaks against it in the things themselves."""
    if action.verb == "take":
        yield from _take_reasons(str(action.thing), grid)
    elif action.verb == "place":
        yield from _place_reasons(action, grid)
    elif action.thing is not None and action.thing == grid.held:
        yield reason("action.in_hand", action.thing, f"{action.thing} is in the hand.")
    elif action.verb in ("open", "close"):
        yield from _door_reasons(str(action.thing), grid, opens=action.verb == "open")


def _take_reasons(thing: str, grid: Grid) -> Iterator[Reason]:
    if grid.held == thing:
        yield reason("action.in_hand", thing, f"{thing} is in the right hand already.")
        return
    if not grid.things()[thing].can_pickup():
        yield reason("action.not_afforded", thing, f"{thing} cannot be carried.")
    if grid.held is not None:
        says = f"It needs a free hand. The right hand holds {grid.held}, and there is only one hand here."
        yield reason("action.hands", "right hand", says, f'Put it down first: start("putting down {grid.held}").')


def _place_reasons(action: Action, grid: Grid) -> Iterator[Reason]:
    if grid.held != action.thing:
        says = f"The hand does not hold {action.thing}."
        try_next = f'Take it first: start("taking {action.thing}").'
        yield reason("action.not_held", str(action.thing), says, try_next)
    if action.other is not None and action.other in (action.thing, grid.held):
        says = f"{action.thing} cannot be placed there: {action.other} is in the hand."
        yield reason("action.no_place", action.other, says)


def _door_reasons(name: str, grid: Grid, *, opens: bool) -> Iterator[Reason]:
    thing = grid.things()[name]
    if thing.type != "door":
        if thing.type != "box" or not opens:
            yield reason("action.not_afforded", name, f"{name} is not made for {'opening' if opens else 'closing'}.")
    elif thing.is_open is opens:
        yield reason("action.already", name, f"{name} is {'open' if opens else 'closed'} already.")
    elif thing.is_locked and not _holds_key(grid, thing.color):
        says = f"{name} is locked, and no {thing.color} key is in the hand."
        yield reason("action.locked", name, says, f'Take the key first: start("taking {thing.color} key").')


def _holds_key(grid: Grid, color: str) -> bool:
    held = grid.env.carrying
    return held is not None and held.type == "key" and bool(held.color == color)
