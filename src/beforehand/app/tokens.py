"""Access tokens: kept as hashes, each with a name and a role; and the sessions browsers get for them.

They lie in the home, or, where the log is in a database, beside it, so that every server on it knows the same ones.

The file holds the truth, and whoever changes it, a server or a command beside it, notes in it what was done; the server
that leads writes the notes to the log (`token_verbs`).

A session is a signed note of whose token it was opened with. It says nothing about the token itself, and it ends when
that token is revoked, or when its browser logs out.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Collection, Hashable
from typing import Any, Literal, NamedTuple, get_args

from beforehand.app.kept_files import files_of
from beforehand.app.settings import Settings
from beforehand.model.errors import BadInputError, ConflictError, NotFoundError, RefusedError, UnavailableError
from beforehand.model.event import iso
from beforehand.ports.private_files import PrivateFiles

Role = Literal["viewer", "operator", "admin"]
ROLES: tuple[str, ...] = get_args(Role)
SESSION_S = 30 * 86_400
KEPT, KEY, ENDED = "tokens.json", "session.key", "session.ended"
ADDED, REVOKED = "tokenAdded", "tokenRevoked"
_FORMAT = 2
_SETTING = "admin"
"""Whose token the one from the settings is."""
_PEER = "another server"
_NUMBER = 16
"""How many characters tell a session from others of the same token."""


def may(role: str, needed: str) -> bool:
    """Whether a role is at least the needed one: viewer < operator < admin."""
    return ROLES.index(role) >= ROLES.index(needed)


class Note(NamedTuple):
    """What was done to a token and is not in the log yet."""

    kind: str
    name: str
    role: str
    token_id: str
    by: str
    at: str
    request_id: str = ""
    request_hash: str = ""
    """The write with a key that it was done for, if any."""


class WriteKey(NamedTuple):
    """The key of a write and what it asks for, each as a hash."""

    id: str = ""
    content: str = ""


NO_KEY = WriteKey()


class Kept(NamedTuple):
    """What the file holds: each token's hash, role and time by its name, and the notes for the log, oldest first."""

    entries: dict[str, dict[str, Any]]
    notes: tuple[Note, ...] = ()

    def noting(self, kind: str, name: str, entry: dict[str, Any], by: str, now_ms: int, key: WriteKey) -> "Kept":
        return Kept(self.entries, (*self.notes, Note(kind, name, entry["role"], id_of(entry), by, iso(now_ms), *key)))

    def begun(self, kind: str, name: str, key: WriteKey) -> Note | None:
        """What the same write did before, where it is not in the log: a crash came between."""
        of_it = (note for note in self.notes if key.id and note.request_id == key.id)
        return next((note for note in of_it if (note.kind, note.name) == (kind, name)), None)

    def without(self, token_id: str) -> "Kept":
        """As if a token had never been made; nobody was shown it."""
        left = {name: entry for name, entry in self.entries.items() if id_of(entry) != token_id}
        return Kept(left, tuple(note for note in self.notes if note.token_id != token_id))


def id_of(entry: dict[str, Any]) -> str:
    """What tells one token from the next of the same name, and says nothing about it."""
    return str(entry["hash"])[:12]


class Tokens:
    def __init__(self, settings: Settings, files: PrivateFiles | None = None) -> None:
        self._files = files or files_of(settings)
        self._setting: str | None = settings["token"]
        self._seen: tuple[Any, Kept] = (None, Kept({}))
        self._was_read = False
        self._key: tuple[Any, bytes] = (None, b"")
        self._ended: tuple[Any, dict[str, int]] = (None, {})

    @property
    def any(self) -> bool:
        """Whether callers must show a token."""
        return bool(self._setting) or bool(self._read().entries)

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

        def with_it(kept: bytes) -> bytes:
            lasting = {number: at for number, at in _ended_in(kept).items() if at * 1000 >= now_ms}
            return json.dumps({**lasting, signed[:_NUMBER]: int(until)}).encode()

        self._files.change(ENDED, with_it)

    def _ended_sessions(self) -> dict[str, int]:
        """The numbers of sessions that were logged out of, each with when it would have ended by itself."""
        stamp = self._files.stamp(ENDED)
        if stamp != self._ended[0]:
            self._ended = (stamp, _ended_in(self._files.read(ENDED)))
        return self._ended[1]

    def _known(self) -> list[tuple[str, str, str]]:
        """Name, role and hash of every token."""
        known = [(name, str(entry["role"]), str(entry["hash"])) for name, entry in self._read().entries.items()]
        return [*known, (_SETTING, "admin", _hash(self._setting))] if self._setting else known

    def _signed(self, name: str, digest: str, until: int, number: str) -> str:
        text = f"{name}\0{digest}\0{until}\0{number}"
        return hmac.new(self._session_key(), text.encode("utf-8", "replace"), "sha256").hexdigest()

    def _session_key(self) -> bytes:
        """The installation's own key, made when it is first needed."""
        stamp = self._files.stamp(KEY)
        if stamp is None:
            self._files.change(KEY, lambda kept: kept or secrets.token_bytes(32))
            stamp = self._files.stamp(KEY)
        if stamp != self._key[0]:
            self._key = (stamp, self._files.read(KEY))
        return self._key[1]

    def peer_token(self) -> str:
        """What servers of one installation show each other; whoever shows it may look."""
        return "bhpeer_" + hmac.new(self._session_key(), b"peer", "sha256").hexdigest()

    def add(self, name: str, role: str, now_ms: int, by: str = "", key: WriteKey = NO_KEY) -> str:
        """Make a token; it is shown once and kept only as a hash.

        Raises BadInputError for a bad name or role, ConflictError for a name in use, and RefusedError where nobody
        could administer with it.
        """

        def anew(kept: Kept) -> Kept:
            begun = kept.begun(ADDED, name, key)
            return kept if begun is None else kept.without(begun.token_id)

        self._check_new(anew(self._read_file()), name, role)  # what is refused leaves nothing behind, not even a home
        token = f"bh_{secrets.token_urlsafe(24)}"
        entry = {"hash": _hash(token), "role": role, "createdAt": iso(now_ms)}

        def with_it(kept: Kept) -> Kept:
            kept = anew(kept)
            self._check_new(kept, name, role)
            return Kept({**kept.entries, name: entry}, kept.notes).noting(ADDED, name, entry, by, now_ms, key)

        self._change(with_it)
        return token

    def take_back(self, token: str) -> None:
        """Have a token never been made: it could not be written down, and nobody was shown it."""
        self._change(lambda kept: kept.without(id_of({"hash": _hash(token)})))

    def _check_new(self, kept: Kept, name: str, role: str) -> None:
        if role not in ROLES:
            raise BadInputError.unknown("role", role, ROLES, code="token.role")
        if not name.strip() or len(name) > 100:
            raise BadInputError("A token needs a name of up to 100 characters.", code="token.name")
        if name in kept.entries:
            raise ConflictError(f"There is a token {name!r} already; revoke it first.", code="token.exists")
        if role != "admin" and not self._has_admin(kept):
            says = "No admin's token is left, so the next one" if kept.entries else "The first token"
            raise RefusedError(
                f"{says} must be an admin's: without one nobody could make and revoke tokens over HTTP.",
                code="token.first_admin",
                hint="Make an admin's first: beforehand token add NAME --role admin",
            )

    def _has_admin(self, kept: Kept) -> bool:
        return bool(self._setting) or any(entry["role"] == "admin" for entry in kept.entries.values())

    def list(self) -> list[dict[str, Any]]:
        """The tokens without their secrets: name, role and when each was made."""
        kept = self._read().entries
        return [{"name": name, "role": item["role"], "createdAt": item["createdAt"]} for name, item in kept.items()]

    def revoke(self, name: str, now_ms: int, by: str = "", key: WriteKey = NO_KEY) -> str:
        """Forget a token; NotFoundError with the names there are. Gives what to know now, if anything.

        It is never refused, not even for the last admin's token: it may be in the wrong hands.
        """

        def without_it(kept: Kept) -> Kept:
            if kept.begun(REVOKED, name, key) is not None:
                return kept
            _check_known(kept, name)
            left = {other: entry for other, entry in kept.entries.items() if other != name}
            return Kept(left, kept.notes).noting(REVOKED, name, kept.entries[name], by, now_ms, key)

        if (now := self._read_file()).begun(REVOKED, name, key) is None:
            _check_known(now, name)
        return self._warning(self._change(without_it))

    def _warning(self, left: Kept) -> str:
        """What the tokens that are left mean for those who administer."""
        if self._has_admin(left):
            return ""
        how = "Make one on its machine: beforehand token add NAME --role admin"
        if left.entries:
            return f"No admin's token is left, so nobody can administer over HTTP. {how}"
        return f"No token is left: a server that other machines can reach lets nobody in now. {how}"

    def kept(self) -> Kept:
        """The tokens, and what was done to them and is not in the log yet, as of this moment.

        Read anew, since what another server did may not have been noticed here yet.
        """
        return self._read_file()

    def forget_notes(self, noted: Collection[Note]) -> None:
        """They are in the log."""
        self._change(lambda kept: Kept(kept.entries, tuple(note for note in kept.notes if note not in noted)))

    @property
    def stamp(self) -> Hashable:
        """Another one whenever the tokens have changed."""
        return self._files.stamp(KEPT)

    def _change(self, become: Callable[[Kept], Kept]) -> Kept:
        return _kept_in(self._files.change(KEPT, lambda content: _written(become(_kept_in(content)))))

    def _read(self) -> Kept:
        """The entries, read anew when the file is another one: every call and every open stream asks.

        Of files that servers share it is known that one is missing; nobody waits for a database to say so again.
        """
        stamp = self._files.stamp(KEPT)
        is_known = self._was_read and (stamp is not None or self._files.are_shared)
        if stamp != self._seen[0] or not is_known:
            self._seen, self._was_read = (stamp, self._read_file()), True
        return self._seen[1]

    def _read_file(self) -> Kept:
        try:
            return _kept_in(self._files.read(KEPT))
        except OSError as error:
            raise _unreadable(error) from error


def _check_known(kept: Kept, name: str) -> None:
    if name not in kept.entries:
        raise NotFoundError.unknown("token", name, kept.entries)


def _kept_in(content: bytes) -> Kept:
    """What the file says; in its first format it was the entries alone."""
    try:
        held = json.loads(content or b"{}")
        if not isinstance(held, dict):
            raise ValueError("it does not hold tokens")
        is_new = held.get("format") == _FORMAT
        entries, notes = (held["tokens"], held["notes"]) if is_new else (held, [])
        if not isinstance(entries, dict) or not all(
            isinstance(entry, dict) and entry.get("role") in ROLES and "hash" in entry for entry in entries.values()
        ):
            raise ValueError("it does not hold tokens")
        return Kept(entries, tuple(Note(**note) for note in notes))
    except (ValueError, KeyError, TypeError) as error:
        raise _unreadable(error) from error


def _written(kept: Kept) -> bytes:
    notes = [note._asdict() for note in kept.notes]
    return json.dumps({"format": _FORMAT, "tokens": kept.entries, "notes": notes}, indent=1).encode()


def _unreadable(error: Exception) -> BadInputError:
    return BadInputError(f"{KEPT} cannot be read: {error}.", code="token.file")


def _ended_in(content: bytes) -> dict[str, int]:
    """The numbers of sessions that were logged out of, each with when it would have ended by itself."""
    try:
        return {str(number): int(at) for number, at in json.loads(content or b"{}").items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise UnavailableError(f"{ENDED} cannot be read: {error}.", code="session.file") from error


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
