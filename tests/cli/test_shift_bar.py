"""The bar of a long shift: on a terminal only, on standard error only."""

import io
import sys

import pytest

from beforehand.adapters.sim.fleet import SimFleet
from beforehand.app.scenes import find_document
from beforehand.crafts.fleet import shift_bar as module
from beforehand.crafts.fleet.core.scene import read_fleet
from beforehand.crafts.fleet.core.simulate import simulate


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("for_s", [120.0, None])
def test_a_long_shift_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch, for_s: float | None) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(module, "QUICK_S", 0.0)
    scene = read_fleet(find_document("line_pick_drop"))
    with module.shift_bar(for_s) as watch:
        simulate(scene, SimFleet(scene), for_s=for_s, watch=watch)
    assert "virtual" in screen.getvalue()


def test_without_a_terminal_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with module.shift_bar(None) as watch:
        assert watch is None
