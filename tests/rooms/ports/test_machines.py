"""Which kinds of machine a scene may name, and what each kind accepts."""

from collections.abc import Mapping
from typing import Any

import pytest

from beforehand.model.errors import BadInputError
from beforehand.model.machine import kind_of, options_of
from beforehand.model.reason import Problem
from beforehand.ports.machines import MachineKinds


def wants_host(options: Mapping[str, Any]) -> list[Problem]:
    if isinstance(options.get("host"), str):
        return []
    return [Problem(code="wire.host", about="", says="host is missing.", path="host")]


@pytest.fixture
def kinds() -> MachineKinds:
    kinds = MachineKinds("link")
    kinds.add("wire", wants_host)
    return kinds


def test_a_kind_stands_alone_or_with_what_it_needs() -> None:
    assert (kind_of("sim"), options_of("sim")) == ("sim", {})
    machine = {"kind": "wire", "host": "h"}
    assert (kind_of(machine), options_of(machine)) == ("wire", {"host": "h"})


def test_good_machines_have_no_problems(kinds: MachineKinds) -> None:
    assert kinds.known() == ("sim", "wire")
    for machine in ("sim", {"kind": "sim"}, {"kind": "wire", "host": "h"}):
        assert kinds.problems(machine, "robots[0].link") == []


def test_a_check_tells_the_key_and_the_scene_its_place(kinds: MachineKinds) -> None:
    for machine in ("wire", {"kind": "wire"}):
        [problem] = kinds.problems(machine, "robots[0].link")
        assert (problem.code, problem.path, problem.about) == (
            "wire.host",
            "robots[0].link.host",
            "robots[0].link.host",
        )


def test_an_unknown_kind_comes_with_the_known_ones(kinds: MachineKinds) -> None:
    [problem] = kinds.problems({"kind": "wired"}, "controller")
    assert (problem.code, problem.path, problem.nearest) == ("scene.unknown_link", "controller.kind", ("sim", "wire"))
    assert problem.says == "Unknown link kind 'wired'. Known link kinds: sim, wire."


def test_a_check_that_fails_is_a_problem_of_the_scene(kinds: MachineKinds) -> None:
    kinds.add("broken", lambda options: [][0])
    [problem] = kinds.problems("broken", "robots[0].link")
    assert (problem.code, problem.path) == ("scene.check_failed", "robots[0].link")
    assert "IndexError" in problem.says


@pytest.mark.parametrize("name", ["", "Wire", "../wire", "a" * 41, "1st"])
def test_a_kind_has_a_plain_name(kinds: MachineKinds, name: str) -> None:
    with pytest.raises(BadInputError, match="cannot be the name of a link kind"):
        kinds.add(name)
