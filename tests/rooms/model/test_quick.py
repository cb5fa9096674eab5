"""Frozen records that are quick to make."""

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from beforehand.model.event import Event
from beforehand.model.quick import quick


@quick
@dataclass(frozen=True, slots=True)
class Made:
    name: str
    count: int = 3
    parts: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Plain:
    name: str
    count: int = 3
    parts: list[int] = field(default_factory=list)


def test_it_is_made_like_any_dataclass() -> None:
    assert Made("a") == Made("a", 3, []) == Made(name="a", count=3)
    assert Made("a").parts is not Made("a").parts
    assert repr(Made("a", 1)).endswith("Made(name='a', count=1, parts=[])")
    taken = [(one.name, one.kind, one.default) for one in inspect.signature(Made).parameters.values()][:2]
    assert taken == [(one.name, one.kind, one.default) for one in inspect.signature(Plain).parameters.values()][:2]


def test_what_is_missing_or_too_much_is_refused() -> None:
    with pytest.raises(TypeError, match="name"):
        Made()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="other"):
        Made("a", other=1)  # type: ignore[call-arg]


def test_it_stays_frozen() -> None:
    made = Made("a")
    with pytest.raises(FrozenInstanceError):
        made.name = "b"  # type: ignore[misc]


def test_it_can_be_replaced_copied_and_sent() -> None:
    event = Event("kind", {"a": 1}, {}, 5, seq=7)
    for other in (replace(event), copy.deepcopy(event), pickle.loads(pickle.dumps(event))):
        assert other == event
    assert replace(event, seq=8).seq == 8
