"""What was sent to a controller, on disk before it is sent, where the next server finds it too.

A controller that restarts without its memory says of every command that it never heard of it. With what stands here
that can be told from a command that really never reached it: the memory it had then, and until when it may arrive.
"""

import json
import secrets
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import NamedTuple

from beforehand.ports.private_files import KeptFile

KEPT = 500


@dataclass(frozen=True, slots=True)
class Sent:
    deadline: int
    """By the controller's clock: later it is not begun any more."""
    memory: str


class _Known(NamedTuple):
    client: str
    sent: dict[str, Sent]


class SentCommands:
    """`kept` None keeps nothing beyond this process.

    Each change is made to what the file holds then, so that a server which has just lost the lead takes nothing away
    that the next one wrote.
    """

    def __init__(self, kept: KeptFile | None) -> None:
        self._kept = kept
        self._known = _read(b"" if kept is None else kept.read())

    @property
    def client(self) -> str:
        """Who we are to the controller: the same after a restart, so that control is ours still."""
        if not self._known.client:
            drawn = f"Beforehand {secrets.token_hex(4)}"
            self._change(lambda known: known._replace(client=known.client or drawn))
        return self._known.client

    def get(self, key: str) -> Sent | None:
        return self._known.sent.get(key)

    def is_before(self, key: str, other: str) -> bool:
        """Whether both are known, and the first was sent before the other."""
        keys = list(self._known.sent)
        return key in keys and other in keys and keys.index(key) < keys.index(other)

    def add(self, key: str, sent: Sent) -> None:
        def with_it(known: _Known) -> _Known:
            every = {**known.sent, key: sent}
            return known._replace(sent=dict(list(every.items())[-KEPT:]))

        self._change(with_it)

    def forget(self, key: str) -> None:
        """It was refused, so it is as if it had not been sent."""
        if key in self._known.sent:
            self._change(lambda known: known._replace(sent={k: v for k, v in known.sent.items() if k != key}))

    def _change(self, become: Callable[[_Known], _Known]) -> None:
        if self._kept is None:
            self._known = become(self._known)
        else:
            self._known = _read(self._kept.change(lambda content: _written(become(_read(content)))))


def _read(content: bytes) -> _Known:
    known = json.loads(content or b"{}")
    sent = {key: Sent(int(one["deadline"]), str(one["memory"])) for key, one in known.get("sent", {}).items()}
    return _Known(str(known.get("client") or ""), sent)


def _written(known: _Known) -> bytes:
    sent = {key: asdict(one) for key, one in known.sent.items()}
    return json.dumps({"client": known.client, "sent": sent}).encode()
