"""Tables: the quick way to draw one gives what the library would, and leaves it what has to be folded or measured."""

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.cli import screen

CELLS = st.text(st.sampled_from("ab c-."), max_size=40)


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    width = draw(st.integers(1, 5))
    return draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=2, max_size=5))


def by_rich(columns: list[str], rows: list[list[str]]) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", io.StringIO())
        screen._print_rich_table(columns, rows)
        return sys.stdout.getvalue()  # type: ignore[attr-defined, no-any-return]


@given(tables())
def test_a_plain_table_is_the_one_rich_would_draw(table: list[list[str]]) -> None:
    columns, *rows = table
    drawn = screen.plain_table(columns, rows)
    if drawn is not None:
        assert "".join(f"{line}\n" for line in drawn) == by_rich(columns, rows)


@pytest.mark.parametrize("cell", ["Überführung", "two\nlines", "a\ttab", "x" * 201])
def test_what_must_be_folded_or_measured_is_left_to_rich(cell: str) -> None:
    assert screen.plain_table(["what"], [[cell]]) is None


def test_most_tables_are_plain() -> None:
    assert screen.plain_table(["step", "what"], [["1", "Move to Home"]]) == [
        "step   what        ",
        "───────────────────",
        "1      Move to Home",
    ]
