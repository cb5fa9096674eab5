"""Access tokens: kept in the home as hashes, each with a name and a role."""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from beforehand.app.settings import Settings
from beforehand.model.errors import BadInputError, ConflictError, NotFoundError
from beforehand.model.event import iso

Role = Literal["viewer", "operator", "admin"]
ROLES: tuple[str, ...] = get_args(Role)


def may(role: str, needed: str) -> bool:
    """Whether a role is at least the needed one: viewer < operator < admin."""
    return ROLES.index(role) >= ROLES.index(needed)


class Tokens:
    def __init__(self, settings: Settings) -> None:
        self._path = settings.home / "tokens.json"
        self._setting: str | None = settings["token"]

    @property
    def any(self) -> bool:
        """Whether callers must show a token."""
        return bool(self._setting) or bool(self._read())

    def role_of(self, token: str) -> tuple[str, str] | None:
        """The name and role a token stands for, or None."""
        found: tuple[str, str] | None = None
        if self._setting and hmac.compare_digest(self._setting.encode(), token.encode()):
            found = ("admin", "admin")
        digest = _hash(token)
        for name, entry in self._read().items():
            if hmac.compare_digest(str(entry["hash"]), digest):
                found = (name, str(entry["role"]))
        return found

    def add(self, name: str, role: str, now_ms: int) -> str:
        """Make a token; it is shown once and kept only as a hash.

        BadInputError for a bad name or role, ConflictError for a name in use.
        """
        if role not in ROLES:
            raise BadInputError.unknown("role", role, ROLES, code="token.role")
        if not name.strip() or len(name) > 100:
            raise BadInputError("A token needs a name of up to 100 characters.", code="token.name")
        entries = self._read()
        if name in entries:
            raise ConflictError(f"There is a token {name!r} already; revoke it first.", code="token.exists")
        token = f"bh_{secrets.token_urlsafe(24)}"
        self._write({**entries, name: {"hash": _hash(token), "role": role, "createdAt": iso(now_ms)}})
        return token

    def list(self) -> list[dict[str, Any]]:
        """The tokens without their secrets: name, role and when each was made."""
        return [
            {"name": name, "role": item["role"], "createdAt": item["createdAt"]} for name, item in self._read().items()
        ]

    def revoke(self, name: str) -> None:
        """Forget a token; NotFoundError with the names there are."""
        entries = self._read()
        if name not in entries:
            raise NotFoundError.unknown("token", name, entries)
        self._write({key: value for key, value in entries.items() if key != name})

    def _read(self) -> dict[str, Any]:
        try:
            entries = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise BadInputError(f"{self._path} cannot be read: {error}.", code="token.file") from error
        return entries if isinstance(entries, dict) else {}

    def _write(self, entries: Mapping[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(f"{self._path}.new")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(entries, file, indent=1)
        draft.replace(self._path)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
