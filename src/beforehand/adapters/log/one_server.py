"""What kinds of stores say that only one server can use: nobody stands by, and what it keeps lies in its home."""

from collections.abc import Callable

from beforehand.model.versions import Upcasters
from beforehand.ports.private_files import PrivateFiles
from beforehand.ports.store import Projection, Server, Standby


async def stand_by(
    url: str,
    *,
    server_id: str,
    project: Projection,
    upcasters: Upcasters,
    now_ms: Callable[[], int],
) -> Standby | None:
    return None


def read_servers(url: str) -> list[Server]:
    return []


def private_files(url: str) -> PrivateFiles | None:
    return None
