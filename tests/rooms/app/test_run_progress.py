"""Whose progress is asked for: never more than a few at a time, and everybody's turn comes."""

import pytest

from beforehand.app.run_progress import taken_in_turn


@pytest.mark.parametrize("runs", [0, 1, 20, 21, 45])
def test_every_run_comes_up(runs: int) -> None:
    names = [f"run_{number}" for number in range(runs)]
    turns = [taken_in_turn(names, turn, 20) for turn in range(3)]
    assert {name for turn in turns for name in turn} == set(names)
    assert all(len(turn) == len(set(turn)) == min(20, runs) for turn in turns)
