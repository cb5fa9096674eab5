"""Tokens made and revoked while a server runs: what was done is in the log, the token itself never is."""

from typing import Any

from beforehand.app.runtime import Runtime
from beforehand.app.tokens import Tokens

TURN = "tokens"
OWNER = "tokens"


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


async def revoke_token(runtime: Runtime, tokens: Tokens, name: str, *, by: str = "") -> None:
    """Forget a token; whoever uses it is refused from now on. NotFoundError with the names there are."""
    async with runtime.turns[TURN]:
        tokens.check_known(name)
        await runtime.log("tokenRevoked", {"name": name, "by": by}, owner=OWNER)
        tokens.revoke(name)
