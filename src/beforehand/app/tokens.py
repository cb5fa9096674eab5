"""Access tokens: kept as hashes, each with a name and a role; and the sessions browsers get for them.

They lie in the home, or, where the log is in a database, beside it, so that every server on it knows the same ones.

A session is a signed note of whose token it was opened with. It says nothing about the token itself, and it ends when
that token is revoked, or when its browser logs out.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from typing import Any, Literal, get_args

from beforehand.app.kept_files import files_of
from beforehand.app.settings import Settings
from beforehand.model.errors import BadInputError, ConflictError, NotFoundError, UnavailableError
from beforehand.model.event import iso
from beforehand.ports.private_files import PrivateFiles

Role = Literal["viewer", "operator", "admin"]
ROLES: tuple[str, ...] = get_args(Role)
SESSION_S = 30 * 86_400
KEPT, KEY, ENDED = "tokens.json", "session.key", "session.ended"
_SETTING = "admin"
"""Whose token the one from the settings is."""
_PEER = "another server"
_NUMBER = 16
"""How many characters tell a session from others of the same token."""


def may(role: str, needed: str) -> bool:
    """Whether a role is at least the needed one: viewer < operator < admin."""
    return ROLES.index(role) >= ROLES.index(needed)


class Tokens:
    def __init__(self, settings: Settings, files: PrivateFiles | None = None) -> None:
        self._files = files or files_of(settings)
        self._setting: str | None = settings["token"]
        self._seen: tuple[Any, dict[str, Any]] = (None, {})
        self._key: tuple[Any, bytes] = (None, b"")
        self._ended: tuple[Any, dict[str, int]] = (None, {})

    @property
    def any(self) -> bool:
        """Whether callers must show a token."""
        return bool(self._setting) or bool(self._read())

    def role_of(self, token: str) -> tuple[str, str] | None:
        """The name and role a token stands for, or None."""
        found: tuple[str, str] | None = None
        if token.startswith("bhpeer_") and hmac.compare_digest(token.encode(), self.peer_token().encode()):
            return (_PEER, "viewer")
        digest = _hash(token)
        for name, role, known in self._known():
            if hmac.compare_digest(known, digest):
                found = (name, role)
        return found

    def open_session(self, token: str, now_ms: int) -> str:
        """What a browser shows from now on in place of a known token."""
        digest, until = _hash(token), now_ms // 1000 + SESSION_S
        name = next(name for name, _, known in self._known() if known == digest)
        number = secrets.token_hex(_NUMBER // 2)
        return f"{name.encode().hex()}.{until}.{number}{self._signed(name, digest, until, number)}"

    def role_of_session(self, session: str, now_ms: int) -> tuple[str, str] | None:
        """The name and role a session stands for; None when it has ended, or its token was revoked."""
        given, _, rest = session.partition(".")
        until, _, signature = rest.partition(".")
        number, signature = signature[:_NUMBER], signature[_NUMBER:]
        if not (until.isascii() and until.isdigit() and len(until) < 12) or int(until) * 1000 < now_ms:
            return None
        found: tuple[str, str] | None = None
        for name, role, digest in self._known():
            if name.encode().hex() == given:
                signed = self._signed(name, digest, int(until), number)
                if hmac.compare_digest(signed.encode(), signature.encode("utf-8", "replace")):
                    found = (name, role)
        return None if found is not None and number in self._ended_sessions() else found

    def end_session(self, session: str, now_ms: int) -> None:
        """Refuse a session from now on; what is no session, or has ended, is left alone."""
        if self.role_of_session(session, now_ms) is None:
            return
        _, until, signed = session.split(".")
        lasting = {number: at for number, at in self._ended_sessions().items() if at * 1000 >= now_ms}
        self._files.write(ENDED, json.dumps({**lasting, signed[:_NUMBER]: int(until)}).encode())

    def _ended_sessions(self) -> dict[str, int]:
        """The numbers of sessions that were logged out of, each with when it would have ended by itself."""
        stamp = self._files.stamp(ENDED)
        if stamp != self._ended[0]:
            try:
                kept = json.loads(self._files.read(ENDED) or b"{}")
                self._ended = (stamp, {str(number): int(at) for number, at in kept.items()})
            except (OSError, ValueError, AttributeError, TypeError) as error:
                raise UnavailableError(f"{ENDED} cannot be read: {error}.", code="session.file") from error
        return self._ended[1]

    def _known(self) -> list[tuple[str, str, str]]:
        """Name, role and hash of every token."""
        known = [(name, str(entry["role"]), str(entry["hash"])) for name, entry in self._read().items()]
        return [*known, (_SETTING, "admin", _hash(self._setting))] if self._setting else known

    def _signed(self, name: str, digest: str, until: int, number: str) -> str:
        text = f"{name}\0{digest}\0{until}\0{number}"
        return hmac.new(self._session_key(), text.encode("utf-8", "replace"), "sha256").hexdigest()

    def _session_key(self) -> bytes:
        """The installation's own key, made when it is first needed."""
        stamp = self._files.stamp(KEY)
        if stamp is None:
            self._files.write(KEY, secrets.token_bytes(32))
            stamp = self._files.stamp(KEY)
        if stamp != self._key[0]:
            self._key = (stamp, self._files.read(KEY))
        return self._key[1]

    def peer_token(self) -> str:
        """What servers of one installation show each other; whoever shows it may look."""
        return "bhpeer_" + hmac.new(self._session_key(), b"peer", "sha256").hexdigest()

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
        stamp = self._files.stamp(KEPT)
        if stamp != self._seen[0] or stamp is None:
            self._seen = (stamp, self._read_file())
        return self._seen[1]

    def _read_file(self) -> dict[str, Any]:
        try:
            entries = json.loads(self._files.read(KEPT) or "{}")
            if not isinstance(entries, dict) or not all(
                isinstance(entry, dict) and entry.get("role") in ROLES and "hash" in entry for entry in entries.values()
            ):
                raise ValueError("it does not hold tokens")
        except (OSError, ValueError) as error:
            raise BadInputError(f"{KEPT} cannot be read: {error}.", code="token.file") from error
        return entries

    def _write(self, entries: Mapping[str, Any]) -> None:
        self._files.write(KEPT, json.dumps(entries, indent=1).encode())


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
