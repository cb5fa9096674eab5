"""What a model is shown of a workspace: names, sizes, and the first lines of small text files, all of it bounded.

What looks like a secret is left out by its name, and blanked out inside what is shown. What file tools may not reach is
never looked at in the first place.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST_FILES = 200
MOST_LOOKED_AT = 2_000
DEEPEST = 4
HEAD_BYTES = 600
"""How much of a text file is shown."""
SMALL_BYTES = 64 * 1024
"""Of bigger files only the size is shown."""
MOST_TEXT = 16_000
"""Characters of all the heads together."""
HIDDEN = "(hidden)"

_SECRET_NAMES = re.compile(
    r"(^\.env)|(^\.(netrc|npmrc|pypirc|pgpass|htpasswd|git-credentials)$)|(^id_(rsa|dsa|ecdsa|ed25519))"
    r"|(\.(pem|key|p12|pfx|jks|keystore|kdbx|asc|gpg)$)|secret|credential|passw|token|api[_-]?key|private[_-]?key",
    re.IGNORECASE,
)
_LEFT_OUT = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})
_WORD = (
    r"[\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|private[_-]?key|access[_-]?key|account[_-]?key"
    r"|credential|authorization)[\w.-]*"
)
_VALUE = r"\"[^\"\n]*\"|'[^'\n]*'"
_ASSIGNED = re.compile(rf"(?i)({_WORD}[\"']?\s*[:=]\s*)(?!\(hidden\))({_VALUE}|[|>][-+\d]*(?:\n[ \t]+[^\n]*)+|[^\n]+)")
_GIVEN = re.compile(rf"(?i)(--{_WORD}[ \t]+|<{_WORD}>)(?!\(hidden\))({_VALUE}|[^\s<>]+)|(\b{_WORD}\()({_VALUE})")
"""As an option, in an element, or as the argument of a call."""
_SHAPES = re.compile(
    r"sk-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|glpat-[\w-]{16,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|xox[abprs]-[A-Za-z0-9-]{10,}|(?i:(?<=bearer ))[\w.~+/=-]{8,}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*|(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"
)
_KEY_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Seen:
    """One file: where it is, how big, and how it begins where it is a small text."""

    path: str
    size: int
    head: str | None = None

    def wire(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"path": self.path, "bytes": self.size}
        return shown if self.head is None else shown | {"begins": self.head}


@dataclass(frozen=True, slots=True)
class Snapshot:
    files: tuple[Seen, ...] = ()
    left_out: int = 0
    """Names that were left out: secrets, hidden folders, what cannot be reached, what was too much."""

    def items(self) -> list[dict[str, Any]]:
        """What the model is shown, one item a file."""
        shown = [file.wire() for file in self.files]
        return [*shown, {"leftOut": self.left_out}] if self.left_out else shown

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(file.path for file in self.files)


def is_shown(name: str) -> bool:
    """Whether a file or folder of this name is shown at all; folders end with `/`."""
    bare = name.removesuffix("/")
    if _SECRET_NAMES.search(bare) or bare in _LEFT_OUT:
        return False
    return not (name.endswith("/") and bare.startswith("."))


def head_of(content: bytes, size: int) -> str | None:
    """The beginning of a small text file without what looks like a secret; None where it is big or no text."""
    if size > SMALL_BYTES or b"\0" in content:
        return None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(content) - 3:  # not just a character that was cut in two
            return None
        text = content[: error.start].decode("utf-8")
    return without_secret_looks(text)


def without_secret_looks(text: str) -> str:
    """A text whose values that look like secrets are blanked out."""
    text = _KEY_BLOCK.sub(HIDDEN, text)
    for known_by_name in (_ASSIGNED, _GIVEN):
        text = known_by_name.sub(_blanked, text)
    return _SHAPES.sub(HIDDEN, text)


def _blanked(found: re.Match[str]) -> str:
    """The name of a value, and nothing of the value."""
    return f"{next(name for name in found.groups()[::2] if name)}{HIDDEN}"


def bounded(files: Sequence[Seen], left_out: int) -> Snapshot:
    """No more files, and no more text, than a model is to be shown; names go before heads."""
    kept: list[Seen] = []
    text = 0
    for file in files[:MOST_FILES]:
        room = file.head is not None and text + len(file.head) <= MOST_TEXT
        text += len(file.head or "") if room else 0
        kept.append(file if room else Seen(file.path, file.size))
    return Snapshot(tuple(kept), left_out + max(0, len(files) - MOST_FILES))
