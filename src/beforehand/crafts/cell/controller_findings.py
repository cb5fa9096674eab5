"""What doctor says of the controllers of active cells: whether they answer, and what they cannot refuse.

Each is only read, in a session of its own: no method is called, nothing moves.
"""

import asyncio
from typing import Any

from beforehand.app.clock import WallClock
from beforehand.app.settings import Settings
from beforehand.model.errors import BeforehandError
from beforehand.model.finding import Finding
from beforehand.model.machine import kind_of, options_of, spelled
from beforehand.ports.store import Store

AT_MOST_S = 10.0


async def controller_findings(settings: Settings, store: Store) -> list[Finding]:
    """One for each active cell over OPC UA."""
    rows = [row for row in await store.rows("scene") if row.get("kind") == "cell" and row.get("active")]
    named = [(row["name"], row["document"].get("controller")) for row in rows]
    over_opcua = [(name, controller) for name, controller in named if controller and kind_of(controller) == "opcua"]
    return list(await asyncio.gather(*(_finding(settings, name, controller) for name, controller in over_opcua)))


async def _finding(settings: Settings, name: str, controller: Any) -> Finding:
    from beforehand.adapters.opcua.checkup import check_cell
    from beforehand.adapters.opcua.options import KEYS, Access

    about = f"cell {name}"
    try:
        access = Access(**settings.with_secrets(spelled(options_of(controller), KEYS)))
        async with asyncio.timeout(AT_MOST_S):
            found = await check_cell(access, {}, WallClock().now_ms)
    except BeforehandError as error:
        return Finding(about, "missing", error.says, error.hint)
    except TimeoutError:
        return Finding(about, "missing", f"Its controller did not answer within {AT_MOST_S:g} s.", "See that it runs.")
    if not found.speaks:
        return Finding(about, "missing", " ".join(found.troubles), "See that it runs and can be reached.")
    if found.misfits:
        says = f"Its controller does not have the information model: {' '.join(found.misfits)}"
        return Finding(about, "broken", says, f"Look at it: beforehand robot check {access.url}")
    limits = " ".join(["", *found.limits])
    return Finding(about, "ok", f"Its controller answers, by version {found.version} of the information model.{limits}")
