"""The chain over the log: the link of an event is a hash of the link before it and of the event as it lies there.

Whoever changes, takes out or puts in an event later leaves a link that does not follow from the one before. The hash of
the last event is an anchor: kept outside, it shows that the whole log up to there is what it was. A chain without such
an anchor shows mistakes and small edits, not the work of somebody who writes the whole of it anew.
"""

from hashlib import sha256
from typing import NamedTuple

START = bytes(32)
"""What stands for the link before the first event of a chain."""
DELETED, GENERATION = "deleted", "generation"


class Anchor(NamedTuple):
    """The link of one event, known apart from it."""

    seq: int
    link: bytes

    def __str__(self) -> str:
        return f"{self.seq}:{self.link.hex()}"


class ChainMark(NamedTuple):
    """What the log keeps of its chain beside the events: the link at the end of a stretch that was deleted with an old
    archive (`deleted`; `note` is its first number), and behind which event another generation of the log began
    (`generation`, which `note` names)."""

    seq: int
    link: bytes
    why: str
    note: str = ""


def link(before: bytes, ts: int, version: int, owner: str, line: bytes) -> bytes:
    """The link of an event: its time, its version and its owner are not in its line, or not as they lie in the log."""
    name = owner.encode("utf-8", "surrogatepass")
    return sha256(b"%b%d %d %d %b%b" % (before, ts, version, len(name), name, line)).digest()
