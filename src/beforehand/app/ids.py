"""New ids: short, in the order they were drawn, and unlike any other."""

import secrets
import time

_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(prefix: str) -> str:
    """`run_06d8k2m4x7q1`: milliseconds first, so that they sort by time, then chance."""
    number = (time.time_ns() // 1_000_000) << 25 | secrets.randbits(25)
    letters = ""
    while number:
        number, digit = divmod(number, 32)
        letters = _LETTERS[digit] + letters
    return f"{prefix}_{letters}"
