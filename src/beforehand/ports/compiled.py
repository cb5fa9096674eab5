"""Whether scipy is there: it searches big maps and matches many robots in compiled code.

It is optional. Without it plain Python does the same and gives the same answers, only later; a small cell or hall does
not notice.
"""

from functools import cache
from importlib.util import find_spec


@cache
def has_scipy() -> bool:
    """Whether scipy is installed; looked up once."""
    return find_spec("scipy") is not None
