"""New ids: short, in the order they were drawn, and unlike any other."""

import secrets
from collections.abc import Iterator

from beforehand.app.clock import wall_ms

_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"


def _rising() -> Iterator[int]:
    """The time, which does not go back where the machine's clock does."""
    last = 0
    while True:
        last = max(last, wall_ms())
        yield last


_times = _rising()


def new_id(prefix: str) -> str:
    """`run_06d8k2m4x7q1`: milliseconds first, so that they sort by time, then chance."""
    number = next(_times) << 25 | secrets.randbits(25)
    letters = ""
    while number:
        number, digit = divmod(number, 32)
        letters = _LETTERS[digit] + letters
    return f"{prefix}_{letters}"
