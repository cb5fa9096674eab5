"""Whatever a server answers, it is a value of the type that was asked for or a sentence that names what is wrong."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.adapters.opcua.model import (
    COMMAND_TYPES,
    METHODS,
    NEEDS_TYPES,
    STATE_TYPES,
    STATUSES,
    command_values,
    execute_arguments,
    read_beat,
    read_command,
    read_probed,
    read_reply,
    read_state,
)
from beforehand.model.errors import Fault
from beforehand.ports.cell import CellCommand

WHERE = "opc.tcp://cell:4840"
RIGHT: dict[str, st.SearchStrategy[Any]] = {
    "String": st.text(max_size=8),
    "Boolean": st.booleans(),
    "Double": st.floats(allow_nan=False, allow_infinity=False),
    "Int64": st.integers(-(2**63), 2**63 - 1),
}
ANYTHING = st.one_of(
    *RIGHT.values(), st.none(), st.binary(max_size=4), st.floats(), st.lists(st.integers(), max_size=2)
)


def one_wrong(types: dict[str, str]) -> st.SearchStrategy[dict[str, Any]]:
    """Mostly right values, some of another type, some missing."""
    values = {name: st.one_of(RIGHT[kind], RIGHT[kind], ANYTHING) for name, kind in types.items()}
    return st.fixed_dictionaries({}, optional=values) | st.fixed_dictionaries(values)


def fits(value: Any, kind: str) -> bool:
    if value is None:
        return kind == "String"  # many servers say so of text that is empty
    python = {"String": str, "Boolean": bool, "Double": (int, float), "Int64": int}[kind]
    is_kind = isinstance(value, python) and isinstance(value, bool) == (kind == "Boolean")
    return is_kind and (kind != "Double" or (abs(value) != float("inf") and value == value))


@given(one_wrong(STATE_TYPES))
def test_a_state_is_read_or_every_wrong_node_is_named(values: dict[str, Any]) -> None:
    sensible = {**values}
    if isinstance(values.get("progress"), float):
        sensible["progress"] = 0.0  # one that is no number is one that is not there
    wrong = [name for name, kind in STATE_TYPES.items() if name not in values or not fits(sensible[name], kind)]
    if not wrong:
        state = read_state(values, WHERE)
        said = values["position"] or "", values["busy"], values["memory"]
        assert (state.position, state.busy, state.memory) == said
        return
    with pytest.raises(Fault) as told:
        read_state(values, WHERE)
    assert (told.value.code, told.value.untouched) == ("cell.model", True)
    assert all(f"Cell.State.{name} " in told.value.says for name in wrong)


ANSWERS: dict[str, Callable[[Any], Any]] = {
    "Heartbeat": lambda answer: read_beat(answer, WHERE),
    "Execute": lambda answer: read_reply("Execute", answer, WHERE),
    "Place": lambda answer: read_reply("Place", answer, WHERE),
    "Probe": lambda answer: read_probed(answer, WHERE),
}


@given(st.sampled_from(sorted(ANSWERS)), st.data())
def test_an_answer_is_read_or_refused_and_never_taken_for_done(method: str, data: st.DataObject) -> None:
    types = METHODS[method].gives
    exact = st.tuples(*(st.one_of(RIGHT[kind], ANYTHING) for kind in types.values()))
    answer = data.draw(exact | st.lists(ANYTHING, max_size=8))
    good = len(answer) == len(types) and all(map(fits, answer, types.values()))
    good = good and (method != "Probe" or answer[0] in STATUSES)
    if good:
        ANSWERS[method](answer)
        return
    with pytest.raises(Fault) as told:
        ANSWERS[method](answer)
    assert told.value.code == "cell.model"


@given(st.lists(ANYTHING, max_size=12))
def test_a_plc_given_nonsense_refuses_it(values: list[Any]) -> None:
    types = [*COMMAND_TYPES.values(), *NEEDS_TYPES.values()]
    fit = all(map(fits, values, types)) and len(values) >= len(COMMAND_TYPES)
    if fit and values[0] and values[2] in ("move", "routine") and values[3]:
        assert read_command(values)[0].key == values[0]
        return
    with pytest.raises(Fault) as refused:
        read_command(values)
    assert refused.value.untouched


@given(
    st.builds(
        CellCommand,
        key=st.text(min_size=1),
        action=st.sampled_from(["move", "routine"]),
        target=st.text(min_size=1),
        position=st.none() | st.text(min_size=1),
        tool=st.none() | st.text(min_size=1),
        stabilize=st.none() | st.floats(0, 1e6),
        verify=st.none() | st.text(min_size=1),
        needs_position=st.none() | st.text(min_size=1),
        needs_tool=st.none() | st.text(min_size=1),
        seconds=st.floats(0, 1e6),
    ),
    RIGHT["Int64"],
)
def test_a_command_arrives_as_it_was_sent(command: CellCommand, deadline: int) -> None:
    values = command_values(command, deadline)
    assert list(values) == [*COMMAND_TYPES, *NEEDS_TYPES]
    assert read_command(list(values.values())) == (command, deadline)


@given(st.permutations(["client", *COMMAND_TYPES, *NEEDS_TYPES]), st.booleans())
def test_a_server_is_given_what_it_declares_in_its_own_order(declared: list[str], big: bool) -> None:
    shown = [name.upper() for name in declared] if big else declared
    assert execute_arguments(shown, 1) == tuple(declared)


@pytest.mark.parametrize(
    "declared", [None, [], ["client"], ["a", "b"], ["client", *COMMAND_TYPES, "speed"], ["client", *COMMAND_TYPES] * 2]
)
def test_a_server_that_does_not_say_or_says_something_else_is_given_what_its_version_has(declared: Any) -> None:
    assert execute_arguments(declared, 1) == ("client", *COMMAND_TYPES)
    assert execute_arguments(declared, 2) == ("client", *COMMAND_TYPES, *NEEDS_TYPES)
