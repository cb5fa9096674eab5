"""The members of a compressed tar, one after the other, in little memory whatever the file claims.

Only plain files are read; links, devices and folders are refused. Nothing is believed about a size before that many
bytes have come, and no part of a header is taken in that is larger than a header needs to be.
"""

import tarfile
import zlib
from collections.abc import Generator, Iterator
from gzip import GzipFile
from pathlib import Path
from typing import NamedTuple

CHUNK = 1024 * 1024
_BLOCK = tarfile.BLOCKSIZE
_NOTES = 64 * 1024
"""Bytes of further notes on one member: a long name, a size of more than 8 GiB."""
_TAIL = 1024 * 1024
"""Bytes that a tar may be filled up with behind its end."""


class NotWholeError(ValueError):
    """Why a file is no whole backup, as the end of a sentence."""


class Member(NamedTuple):
    name: str
    size: int
    content: Iterator[bytes]


def members(path: Path) -> Generator[Member, None, None]:
    """What is in the file, up to its very end; what is left of a member's content is read over."""
    with path.open("rb") as file, GzipFile(fileobj=file, mode="rb") as stream:
        notes: dict[str, str] = {}
        while head := _head(stream):
            if head.type == tarfile.XHDTYPE and not notes:
                notes = _notes(stream, head.size)
                continue
            name, size = notes.get("path", head.name), _size(head, notes)
            if head.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
                raise NotWholeError(f"{shown(name)} in it is no plain file")
            content = _chunks(stream, size)
            yield Member(name, size, content)
            for _ in content:
                pass
            _exactly(stream, -size % _BLOCK)
            notes = {}
        if any(_read(stream, _TAIL)) or _read(stream, 1):
            raise NotWholeError("something follows its end")


def shown(name: str) -> str:
    """A name from a file, as it may stand in a sentence."""
    return ascii(name[:120])


def _head(stream: GzipFile) -> tarfile.TarInfo | None:
    block = _exactly(stream, _BLOCK)
    if not any(block):
        return None
    try:
        return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.TarError, ValueError) as error:
        raise NotWholeError(f"it is damaged ({error})") from error


def _notes(stream: GzipFile, size: int) -> dict[str, str]:
    """The records of an extended header, each `LENGTH KEY=VALUE` and a line's end."""
    if not 0 < size <= _NOTES:
        raise NotWholeError(f"a header in it takes {size} bytes")
    raw, found = _exactly(stream, size), {}
    _exactly(stream, -size % _BLOCK)
    try:
        while raw:
            length = int(raw[: raw.index(b" ")])
            _, _, record = raw[:length].partition(b" ")
            key, _, value = record.decode("utf-8", "surrogateescape").removesuffix("\n").partition("=")
            if length < len("5 a=\n"):
                raise ValueError("a record is too short")
            found[key], raw = value, raw[length:]
    except ValueError as error:
        raise NotWholeError(f"it is damaged ({error})") from error
    return found


def _size(head: tarfile.TarInfo, notes: dict[str, str]) -> int:
    told = notes.get("size", str(head.size))
    if not (told.isascii() and told.isdigit() and len(told) < 20):
        raise NotWholeError(f"{shown(head.name)} in it has an impossible size")
    return int(told)


def _chunks(stream: GzipFile, size: int) -> Iterator[bytes]:
    while size:
        chunk = _read(stream, min(size, CHUNK))
        if not chunk:
            raise NotWholeError("it is cut off")
        size -= len(chunk)
        yield chunk


def _exactly(stream: GzipFile, size: int) -> bytes:
    return b"".join(_chunks(stream, size))


def _read(stream: GzipFile, size: int) -> bytes:
    try:
        return stream.read(size)
    except EOFError as error:
        raise NotWholeError("it is cut off") from error
    except (OSError, zlib.error) as error:
        raise NotWholeError(f"it is damaged ({error})") from error
