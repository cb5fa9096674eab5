"""Stores by URL: the one place that knows which kinds of stores there are.

`sqlite:///path`, or just a path, is a log in a file; `postgresql://host/database` one in a database; `memory:` is one
that is gone with the process. What a kind can do is a module of its adapter's folder, imported when one of its URLs is
used.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from beforehand.model.chain import GENERATION, ChainMark
from beforehand.model.errors import BadInputError
from beforehand.model.event import Event
from beforehand.model.finding import Finding
from beforehand.model.log_identity import LogIdentity
from beforehand.model.versions import UPCASTERS, Upcasters
from beforehand.ports.private_files import PrivateFiles
from beforehand.ports.store import COLUMNS, Leader, Part, Projection, Row, Server, Standby, Store, StoreScheme


def _memory() -> StoreScheme:
    from beforehand.adapters.memory import url

    return url


def _sqlite() -> StoreScheme:
    from beforehand.adapters.sqlite import url

    return url


def _postgres() -> StoreScheme:
    from beforehand.adapters.postgres import url

    return url


SCHEMES: Mapping[str, Callable[[], StoreScheme]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    "postgresql": _postgres,
    "postgres": _postgres,
}


def scheme_of(url: str) -> StoreScheme:
    """What knows the store a URL names; BadInputError when nobody does."""
    scheme, colon, rest = url.partition(":")
    if colon and scheme in SCHEMES:
        return SCHEMES[scheme]()
    if colon and rest.startswith("//"):
        raise BadInputError.unknown(
            "kind of store",
            scheme,
            SCHEMES,
            code="settings.db",
            plural="kinds of stores",
            hint="Or give the path of a file.",
        )
    return _sqlite()


async def open_store(
    url: str,
    *,
    project: Projection,
    lead: bool = True,
    now_ms: Callable[[], int],
    url_of_server: str | None = None,
    note: str = "",
    upcasters: Upcasters | None = None,
) -> Store:
    """Open a store for leading or for reading; NotLeadingError when another process leads it already.

    `upcasters` are those that crafts bring for their own kinds of events; Beforehand's own are always there.
    """
    return await scheme_of(url).open_store(
        url,
        project=project,
        lead=lead,
        now_ms=now_ms,
        url_of_server=url_of_server,
        note=note,
        upcasters={**(upcasters or {}), **UPCASTERS},
    )


async def stand_by(
    url: str,
    *,
    server_id: str,
    project: Projection,
    now_ms: Callable[[], int],
    upcasters: Upcasters | None = None,
) -> Standby | None:
    """A place among the servers of one store; None for a store that only one server can use."""
    return await scheme_of(url).stand_by(
        url,
        server_id=server_id,
        project=project,
        now_ms=now_ms,
        upcasters={**(upcasters or {}), **UPCASTERS},
    )


def read_servers(url: str) -> list[Server]:
    """The servers that use a store now, without opening it; those that say so."""
    return scheme_of(url).read_servers(url)


def shared_files(url: str) -> PrivateFiles | None:
    """Where the servers of a store keep what they all must know; None where that is each one's home."""
    return scheme_of(url).private_files(url)


@asynccontextmanager
async def open_reading(url: str, upcasters: Upcasters | None = None) -> AsyncIterator[Store]:
    """A store for reading only, beside whoever leads it; crafts are loaded only where it was written by older code.

    Whoever reads what crafts wrote gives their `upcasters`.
    """
    store = await open_store(url, project=_all_rows, lead=False, now_ms=lambda: 0, upcasters=upcasters)
    try:
        yield store
    finally:
        await store.close()


def store_in_memory(project: Projection, rows: Iterable[Row] = ()) -> Store:
    """A store that is gone with the process, with rows that are there from the start."""
    from beforehand.adapters.memory.url import seeded_store

    return seeded_store(project, rows)


def _all_rows(event: Event) -> Iterable[Row]:
    from beforehand.app.crafts import load_crafts

    return load_crafts().projection()(event)


def store_exists(url: str) -> bool:
    """Whether there is a store to read, without opening it."""
    return scheme_of(url).store_exists(url)


def read_leader(url: str) -> Leader | None:
    """Who leads a store, without opening it; None when nobody ever did or it cannot be read."""
    return scheme_of(url).read_leader(url)


def store_location(url: str) -> str:
    """Where a store is, as it may stand in a sentence: no password is in it."""
    return scheme_of(url).store_location(url)


def store_files(url: str) -> list[Path]:
    """The files a store consists of, and those that may appear beside them."""
    return scheme_of(url).store_files(url)


def check_log(url: str) -> list[Finding]:
    """Whether the log that is there can be read and written, found out quickly; nothing is changed."""
    return scheme_of(url).check_log(url)


def check_room(url: str) -> list[Finding]:
    """Whether a few more events find room, as far as a quick look at a disk tells."""
    return scheme_of(url).check_room(url)


def check_store(url: str) -> list[Finding]:
    """How the things stand that this kind of store needs."""
    return scheme_of(url).check_store(url)


async def migrate_store(url: str) -> tuple[int, int]:
    """Make or upgrade a store's tables; the version there was (0 for none) and the one there is.

    Raises NotLeadingError while a process leads it.
    """
    return await scheme_of(url).migrate_store(url)


async def mend_store(url: str) -> None:
    """Have what is made from the events made anew where it is damaged; NotLeadingError while a process leads it."""
    await scheme_of(url).mend_store(url)


async def give_room_back(url: str) -> None:
    """Give room that nothing uses any more back to the disk; NotLeadingError while a process leads the store."""
    await scheme_of(url).give_room_back(url)


async def copy_beside(url: str, target: Path) -> None:
    """A log as it stands at one instant, beside whoever leads it, as a new SQLite log with its archive."""
    await scheme_of(url).copy_beside(url, target)


def stand_of_copy(path: Path) -> tuple[int, int]:
    """The number of the last event in a log that `copy_beside` made, and the epoch of its last leader."""
    from beforehand.adapters.sqlite import url

    return url.stand_in(path)


def check_copy(path: Path, stand: tuple[int, int]) -> str:
    """What is wrong with a log that `copy_beside` made, as the end of a sentence; empty where it is whole."""
    from beforehand.adapters.sqlite import url

    return url.check_copy(path, stand)


async def copy_store(source: str, target: str, *, raise_epoch: int = 0) -> Mapping[str, int]:
    """Copy a log into an empty store of any kind, all or nothing; how many rows of each table were copied.

    Nobody may lead either of them meanwhile. Raises RefusedError when the target holds anything. `raise_epoch` is added
    to the epoch of its leaders. The copy is another generation of the log: from now on the two go their own ways.
    """
    copied = dict.fromkeys(COLUMNS, 0)

    async def counted(parts: AsyncIterator[Part]) -> AsyncGenerator[Part, None]:
        identity, end = LogIdentity.drawn(), None
        async for part in parts:
            copied[part.table] += len(part.rows)
            end = _end_of(part) or end
            if part.table == "identity":
                identity = LogIdentity(*part.rows[0][1:3]).next_generation()
            else:
                yield _raised(part, raise_epoch) if part.table == "lead" else part
        yield Part("identity", [(1, identity.id, identity.generation, int(identity.legacy), "")])
        if end is not None:
            yield Part("chain_marks", [ChainMark(*end, GENERATION, str(identity))])

    async with aclosing(scheme_of(source).read_parts(source)) as given, aclosing(counted(given)) as parts:
        await scheme_of(target).write_parts(target, parts)
    return copied


def _end_of(part: Part) -> tuple[int, bytes] | None:
    """The number and the link of the last of these events."""
    if part.table != "events" or not part.rows:
        return None
    last = dict(zip(COLUMNS["events"], part.rows[-1], strict=True))
    return (last["seq"], last["chain"]) if last["chain"] else None


def _raised(lead: Part, by: int) -> Part:
    place = COLUMNS["lead"].index("epoch")
    return Part(lead.table, [(*row[:place], row[place] + by, *row[place + 1 :]) for row in lead.rows])
