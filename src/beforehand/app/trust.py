"""Settings files that somebody has read and trusts: the home keeps a hash of each, so a changed one is neither."""

import hashlib
import json
import os
from pathlib import Path

from beforehand.app.private_files import change_private, read_private

FILE = "trusted.json"


def trust(home: Path, file: Path) -> str:
    """Trust a file as it is now; gives its hash."""
    name, digest = _name(file), _digest(file)
    change_private(home, FILE, lambda kept: json.dumps({**_read(kept), name: digest}, indent=1).encode())
    return digest


def is_trusted(home: Path, file: Path) -> bool:
    """Whether the file is the one that was trusted, byte by byte."""
    try:
        return trusted(home).get(_name(file)) == _digest(file)
    except OSError:
        return False


def trusted(home: Path) -> dict[str, str]:
    """The files that are trusted, each with the hash it had then."""
    return _read(read_private(home / FILE))


def _read(content: bytes) -> dict[str, str]:
    try:
        kept = json.loads(content or b"{}")
    except ValueError:
        return {}
    return kept if isinstance(kept, dict) else {}


def _name(file: Path) -> str:
    return os.path.realpath(file)


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
