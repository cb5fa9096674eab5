"""Access tokens: kept in the home as hashes, each with a name and a role; and the sessions browsers get for them.

A session is a signed note of whose token it was opened with. It says nothing about the token itself, and it ends when
that token is revoked.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from typing import Any, Literal, get_args

from beforehand.app.private_files import read_private, stamp_of, write_private
from beforehand.app.settings import Settings
from beforehand.model.errors import BadInputError, ConflictError, NotFoundError
from beforehand.model.event import iso

Role = Literal["viewer", "operator", "admin"]
ROLES: tuple[str, ...] = get_args(Role)
SESSION_S = 30 * 86_400
_SETTING = "admin"
"""Whose token the one from the settings is."""


def may(role: str, needed: str) -> bool:
    """Whether a role is at least the needed one: viewer < operator < admin."""
    return ROLES.index(role) >= ROLES.index(needed)


class Tokens:
    def __init__(self, settings: Settings) -> None:
        self._path = settings.home / "tokens.json"
        self._key_path = settings.home / "session.key"
        self._setting: str | None = settings["token"]
        self._seen: tuple[Any, dict[str, Any]] = (None, {})

    @property
    def any(self) -> bool:
        """Whether callers must show a token."""
        return bool(self._setting) or bool(self._read())

    def role_of(self, token: str) -> tuple[str, str] | None:
        """The name and role a token stands for, or None."""
        found: tuple[str, str] | None = None
        digest = _hash(token)
        for name, role, known in self._known():
            if hmac.compare_digest(known, digest):
                found = (name, role)
        return found

    def open_session(self, token: str, now_ms: int) -> str:
        """What a browser shows from now on in place of a known token."""
        digest, until = _hash(token), now_ms // 1000 + SESSION_S
        name = next(name for name, _, known in self._known() if known == digest)
        return f"{name.encode().hex()}.{until}.{self._signed(name, digest, until)}"

    def role_of_session(self, session: str, now_ms: int) -> tuple[str, str] | None:
        """The name and role a session stands for; None when it has ended, or its token was revoked."""
        given, _, rest = session.partition(".")
        until, _, signature = rest.partition(".")
        if not (until.isascii() and until.isdigit() and len(until) < 12) or int(until) * 1000 < now_ms:
            return None
        found: tuple[str, str] | None = None
        for name, role, digest in self._known():
            if name.encode().hex() == given:
                signed = self._signed(name, digest, int(until))
                if hmac.compare_digest(signed.encode(), signature.encode("utf-8", "replace")):
                    found = (name, role)
        return found

    def _known(self) -> list[tuple[str, str, str]]:
        """Name, role and hash of every token."""
        known = [(name, str(entry["role"]), str(entry["hash"])) for name, entry in self._read().items()]
        return [*known, (_SETTING, "admin", _hash(self._setting))] if self._setting else known

    def _signed(self, name: str, digest: str, until: int) -> str:
        return hmac.new(self._session_key(), f"{name}\0{digest}\0{until}".encode(), "sha256").hexdigest()

    def _session_key(self) -> bytes:
        """The home's own key, made when it is first needed."""
        key = read_private(self._key_path)
        if not key:
            key = secrets.token_bytes(32)
            write_private(self._key_path, key)
        return key

    def add(self, name: str, role: str, now_ms: int) -> str:
        """Make a token; it is shown once and kept only as a hash. Raises as `check_new` does."""
        self.check_new(name, role)
        token = f"bh_{secrets.token_urlsafe(24)}"
        self._write({**self._read(), name: {"hash": _hash(token), "role": role, "createdAt": iso(now_ms)}})
        return token

    def check_new(self, name: str, role: str) -> None:
        """Whether such a token can be made: BadInputError for a bad name or role, ConflictError for a name in use."""
        if role not in ROLES:
            raise BadInputError.unknown("role", role, ROLES, code="token.role")
        if not name.strip() or len(name) > 100:
            raise BadInputError("A token needs a name of up to 100 characters.", code="token.name")
        if name in self._read():
            raise ConflictError(f"There is a token {name!r} already; revoke it first.", code="token.exists")

    def list(self) -> list[dict[str, Any]]:
        """The tokens without their secrets: name, role and when each was made."""
        return [
            {"name": name, "role": item["role"], "createdAt": item["createdAt"]} for name, item in self._read().items()
        ]

    def revoke(self, name: str) -> None:
        """Forget a token; NotFoundError with the names there are."""
        self.check_known(name)
        self._write({key: value for key, value in self._read().items() if key != name})

    def check_known(self, name: str) -> None:
        """NotFoundError with the names there are, where there is no such token."""
        if name not in self._read():
            raise NotFoundError.unknown("token", name, self._read())

    def _read(self) -> dict[str, Any]:
        """The entries, read anew when the file is another one: every call and every open stream asks."""
        stamp = stamp_of(self._path)
        if stamp != self._seen[0] or stamp is None:
            self._seen = (stamp, self._read_file())
        return self._seen[1]

    def _read_file(self) -> dict[str, Any]:
        try:
            entries = json.loads(read_private(self._path) or "{}")
            if not isinstance(entries, dict) or not all(
                isinstance(entry, dict) and entry.get("role") in ROLES and "hash" in entry for entry in entries.values()
            ):
                raise ValueError("it does not hold tokens")
        except (OSError, ValueError) as error:
            raise BadInputError(f"{self._path} cannot be read: {error}.", code="token.file") from error
        return entries

    def _write(self, entries: Mapping[str, Any]) -> None:
        write_private(self._path, json.dumps(entries, indent=1).encode())


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
