"""Small files that every server of an installation must know alike and that are no part of the log: tokens, the key of
sessions, files that scenes name. They lie in the home, or, where several servers share a database, in that.

Whoever makes a file's next content out of the one before does it with `change`; `write` is for what only one process
writes, or what is the same whoever writes it.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import NamedTuple, Protocol


class PrivateFiles(Protocol):
    are_shared: bool
    """Whether other servers find them too."""

    def stamp(self, name: str) -> Hashable:
        """What tells one writing of a file from the next; None when it is not there. Cheap enough for every request."""

    def read(self, name: str) -> bytes:
        """What the file holds; nothing when it is not there."""

    def read_all(self, prefix: str) -> Mapping[str, bytes]:
        """Every file whose name begins like this, by name."""

    def change(self, name: str, become: Callable[[bytes], bytes]) -> bytes:
        """Make the file what `become` makes of what it holds, and give that; it is on disk when this returns.

        Nobody else's change comes in between, whichever process makes it. `become` may be called several times; what it
        raises leaves the file as it was.
        """

    def write(self, name: str, content: bytes) -> None:
        """Put the content under the name, in one instant; it is on disk when this returns."""

    def write_soon(self, name: str, content: bytes) -> None:
        """The same where nobody needs to wait for it; of several contents of one name the newest is written."""

    def keep_up(self) -> None:
        """From now on be told beside everything else what others write, so that `stamp` asks nobody."""

    def close(self) -> None: ...


class KeptFile(NamedTuple):
    """One private file, for whoever needs just that: what an adapter must know again after a crash."""

    files: PrivateFiles
    name: str

    def read(self) -> bytes:
        return self.files.read(self.name)

    def change(self, become: Callable[[bytes], bytes]) -> bytes:
        return self.files.change(self.name, become)
