"""Secrets are taken out of text that comes in pieces, wherever it is cut."""

import pytest

from beforehand.model.secrets import Veil, hide

SECRET = "sk-veiled-and-never-seen"


@pytest.mark.parametrize("size", range(1, len(SECRET) + 3))
def test_no_cut_lets_a_secret_through(size: int) -> None:
    hide(SECRET)
    text, veil = f"It is {SECRET}, and {SECRET}.", Veil()
    shown = [veil.take(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join([*shown, veil.rest()]) == "It is (hidden), and (hidden)."


def test_what_only_begins_like_a_secret_is_shown() -> None:
    hide(SECRET)
    veil = Veil()
    assert veil.take("a sk-") == "a "
    assert veil.take("etch") == "sk-etch"
    assert veil.take("s") == ""
    assert veil.rest() == "s"


def test_half_a_secret_at_the_end_is_not_shown() -> None:
    hide(SECRET)
    veil = Veil()
    assert veil.take(f"It is {SECRET[:12]}") == "It is "
    assert veil.rest() == "(hidden)"
