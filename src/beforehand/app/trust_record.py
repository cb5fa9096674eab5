"""Which settings files were trusted, in the log: the server that leads writes there what only the home's list has."""

import asyncio

from beforehand.app.runtime import Runtime
from beforehand.app.trust import trusted
from beforehand.ports.store import EventFilter

KIND, OWNER, BY = "fileTrusted", "trust", "command line"
_PAGE = 1000


async def record_trust(runtime: Runtime) -> None:
    """Only the command line can trust a file, and it does so before anything is open."""
    logged: dict[str, str] = {}
    only, after = EventFilter(kinds=frozenset({KIND})), 0
    while events := await runtime.store.events(after=after, limit=_PAGE, only=only):
        logged |= {event.data["file"]: event.data["sha256"] for event in events}
        after = events[-1].seq
    kept = await asyncio.to_thread(trusted, runtime.settings.home)
    for file, sha256 in kept.items():
        if logged.get(file) != sha256:
            await runtime.log(KIND, {"file": file, "sha256": sha256, "by": BY}, owner=OWNER)
