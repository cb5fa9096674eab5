"""Settings files that somebody has read and trusts: the home keeps a hash of each, so a changed one is neither."""

import hashlib
import json
import os
from pathlib import Path

from beforehand.app.private_files import read_private, write_private

FILE = "trusted.json"


def trust(home: Path, file: Path) -> str:
    """Trust a file as it is now; gives its hash."""
    digest = _digest(file)
    write_private(home / FILE, json.dumps({**_kept(home), _name(file): digest}, indent=1).encode())
    return digest


def is_trusted(home: Path, file: Path) -> bool:
    """Whether the file is the one that was trusted, byte by byte."""
    try:
        return _kept(home).get(_name(file)) == _digest(file)
    except OSError:
        return False


def _kept(home: Path) -> dict[str, str]:
    try:
        kept = json.loads(read_private(home / FILE) or "{}")
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _name(file: Path) -> str:
    return os.path.realpath(file)


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
