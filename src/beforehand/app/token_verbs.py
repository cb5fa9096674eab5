"""Tokens made and revoked while a server runs: what was done is in the log, the token itself never is."""

from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.app.tokens import Tokens
from beforehand.model.event import Event, iso
from beforehand.ports.store import EventFilter

TURN = "tokens"
OWNER = "tokens"
LATER = 10_000
"""How many later events of tokens are looked at."""


async def add_token(runtime: Runtime, tokens: Tokens, name: str, role: str, *, by: str = "") -> dict[str, Any]:
    """Make a token; the answer is the only place where it ever stands.

    Raises BadInputError for a bad name or role, ConflictError for a name in use.
    """
    async with runtime.turns[TURN]:
        tokens.check_new(name, role)
        await runtime.log("tokenAdded", {"name": name, "role": role, "by": by}, owner=OWNER)
        token = tokens.add(name, role, runtime.now())
        made = next(entry for entry in tokens.list() if entry["name"] == name)
    return {**made, "token": token}


async def added_by(runtime: Runtime, tokens: Tokens, event: Event) -> dict[str, Any]:
    """The token that an event says was made; made now, and with its secret, where a crash came before that.

    Its secret is shown to nobody a second time, and what was revoked since stays revoked.
    """
    name, role, owner = event.data["name"], event.data["role"], EventFilter(owner=OWNER)
    async with runtime.turns[TURN]:
        since = [one.kind for one in await runtime.store.events(event.seq, LATER, owner) if one.data["name"] == name]
        found = next((entry for entry in tokens.list() if entry["name"] == name), None)
        if found is not None and not since:
            return found
        made = {"name": name, "role": role, "createdAt": iso(event.ts)}
        return made if since else {**made, "token": tokens.add(name, role, event.ts)}


async def revoked_by(runtime: Runtime, tokens: Tokens, event: Event) -> None:
    """Revoke what an event says was revoked, where a crash came before that; one made since under its name stays."""
    name, owner = event.data["name"], EventFilter(owner=OWNER)
    async with runtime.turns[TURN]:
        since = [one.kind for one in await runtime.store.events(event.seq, LATER, owner) if one.data["name"] == name]
        if not since and any(entry["name"] == name for entry in tokens.list()):
            tokens.revoke(name)


async def revoke_token(runtime: Runtime, tokens: Tokens, name: str, *, by: str = "") -> None:
    """Forget a token; whoever uses it is refused from now on. NotFoundError with the names there are."""
    async with runtime.turns[TURN]:
        tokens.check_known(name)
        await runtime.log("tokenRevoked", {"name": name, "by": by}, owner=OWNER)
        tokens.revoke(name)
