"""What was sent to a controller, on disk before it is sent, where the next server finds it too.

A controller that restarts without its memory says of every command that it never heard of it. With what stands here
that can be told from a command that really never reached it: the memory it had then, and until when it may arrive.
"""

import json
import secrets
from dataclasses import asdict, dataclass
from typing import Any

from beforehand.ports.private_files import KeptFile

KEPT = 500


@dataclass(frozen=True, slots=True)
class Sent:
    deadline: int
    """By the controller's clock: later it is not begun any more."""
    memory: str


class SentCommands:
    """`kept` None keeps nothing beyond this process."""

    def __init__(self, kept: KeptFile | None) -> None:
        self._kept = kept
        known = _read(kept)
        self._sent = {key: Sent(int(one["deadline"]), str(one["memory"])) for key, one in known.get("sent", {}).items()}
        self._client = str(known.get("client") or "")

    @property
    def client(self) -> str:
        """Who we are to the controller: the same after a restart, so that control is ours still."""
        if not self._client:
            self._client = f"Beforehand {secrets.token_hex(4)}"
            self._save()
        return self._client

    def get(self, key: str) -> Sent | None:
        return self._sent.get(key)

    def is_before(self, key: str, other: str) -> bool:
        """Whether both are known, and the first was sent before the other."""
        keys = list(self._sent)
        return key in self._sent and other in self._sent and keys.index(key) < keys.index(other)

    def add(self, key: str, sent: Sent) -> None:
        self._sent[key] = sent
        while len(self._sent) > KEPT:
            del self._sent[next(iter(self._sent))]
        self._save()

    def forget(self, key: str) -> None:
        """It was refused, so it is as if it had not been sent."""
        if self._sent.pop(key, None) is not None:
            self._save()

    def _save(self) -> None:
        if self._kept is not None:
            sent = {key: asdict(one) for key, one in self._sent.items()}
            self._kept.write(json.dumps({"client": self._client, "sent": sent}).encode())


def _read(kept: KeptFile | None) -> dict[str, Any]:
    content = b"" if kept is None else kept.read()
    return dict(json.loads(content)) if content else {}
