"""A cell's graph in Neo4j, or whatever answers the official driver over Bolt.

Each call is one transaction on a connection of its own choosing; a push that breaks off anywhere leaves the old scene.
Every single answer must come within the timeout, so a big scene may take long and a server that went silent may not.
The driver is loaded when it is first needed.
"""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar
from uuid import uuid4

from beforehand.adapters.graph import cypher
from beforehand.adapters.graph.address import GraphAddress
from beforehand.adapters.graph.faults import no_driver, unavailable, unknown_scene
from beforehand.adapters.graph.rows import Row, Rows, Tables, digest, rows_of, scene_of
from beforehand.model.cell import CellScene
from beforehand.model.errors import UnavailableError

T = TypeVar("T")
TIMEOUT_S = 5.0
BATCH = 500
"""Rows a statement writes or deletes, and a reader fetches, at once."""


ATTEMPTS = 3
"""How often a transaction is tried when another one was in its way."""


class Talk:
    """One transaction: statements in, rows out, each answer within the timeout."""

    def __init__(self, transaction: Any, timeout_s: float) -> None:
        self._transaction = transaction
        self._timeout_s = timeout_s

    async def ask(self, query: str, **parameters: Any) -> list[Row]:
        result = await within(self._timeout_s, self._transaction.run(query, parameters))
        rows: list[Row] = []
        while batch := await within(self._timeout_s, result.fetch(BATCH)):
            rows += [dict(record) for record in batch]
        return rows


async def within(seconds: float, answer: Awaitable[T]) -> T:
    async with asyncio.timeout(seconds):
        return await answer


class BoltGraph:
    """`any_name` reads nodes that belong to no scene under whatever name is asked for, if there are no others.

    `trust` says whose certificates are believed where the address asks for encryption.
    """

    def __init__(
        self,
        address: GraphAddress,
        *,
        timeout_s: float = TIMEOUT_S,
        any_name: bool = False,
        trust: Callable[[], ssl.SSLContext] = ssl.create_default_context,
    ) -> None:
        self.address = address
        self._timeout_s = timeout_s
        self._any_name = any_name
        self._trust = trust
        self._driver: Any = None
        self._naming = asyncio.Lock()
        self._names_unique = False

    # -- the port ------------------------------------------------------------------------------------------------

    async def read(self, name: str) -> CellScene:
        async with self._talk() as talk:
            tables = await self._tables(talk, name)
        return scene_of(name, _rows(tables))

    async def fingerprint(self, name: str) -> str:
        """Every row is fetched: a graph that anybody may edit has no cheaper sign of change one could trust."""
        async with self._talk() as talk:
            tables = await self._tables(talk, name)
        return digest(tables)

    async def names(self) -> tuple[str, ...]:
        async with self._talk() as talk:
            known = await self._named(talk)
            if self.address.unnamed and await self._has_unnamed(talk):
                known.add(self.address.unnamed)
            return tuple(sorted(known))

    async def write(self, scene: CellScene) -> None:
        await self._keep_names_unique()
        rows = rows_of(scene)
        await self._insist(lambda talk: _replace(talk, scene.name, rows), writing=True)

    async def _keep_names_unique(self) -> None:
        """Before the first push, and waited for by all: best effort, since this user may not be allowed to say so."""
        async with self._naming:
            if self._names_unique:
                return
            try:
                await self._insist(lambda talk: talk.ask(cypher.ONE_EACH))
            except UnavailableError as fault:
                if fault.code not in ("graph.forbidden", "graph.failed", "graph.busy"):
                    raise
            self._names_unique = True

    async def _insist(self, work: Callable[[Talk], Awaitable[object]], *, writing: bool = False) -> None:
        """One transaction; a new one when somebody else's was in its way."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                async with self._talk(writing=writing) as talk:
                    await work(talk)
                return
            except UnavailableError as fault:
                if fault.code != "graph.busy" or attempt == ATTEMPTS:
                    raise

    async def close(self) -> None:
        driver, self._driver = self._driver, None
        if driver is not None:
            with suppress(Exception):
                await within(self._timeout_s, driver.close())

    # -- reading -------------------------------------------------------------------------------------------------

    async def _named(self, talk: Talk) -> set[str]:
        return {str(row["name"]) for query in (cypher.SCENES, cypher.NAMES) for row in await talk.ask(query)}

    async def _has_unnamed(self, talk: Talk) -> bool:
        return any(row["positions"] for row in await talk.ask(cypher.UNNAMED))

    async def _tables(self, talk: Talk, name: str) -> Tables:
        """Everything the graph holds of a scene, as it came."""
        named = await self._is_named(talk, name)
        rule = cypher.OF_SCENE if named else cypher.OF_NONE
        asked = {table: columns.query(rule) for table, columns in cypher.TABLES.items()}
        if named:
            asked["about"] = cypher.ABOUT.query("name = $scene")
        return {table: (await talk.ask(query, scene=name))[0]["rows"] for table, query in asked.items()}

    async def _is_named(self, talk: Talk, name: str) -> bool:
        """Whether the scene's nodes carry its name; NotFoundError when there is no such scene in either way."""
        known = await self._named(talk)
        if name in known:
            return True
        others = await self._has_unnamed(talk)
        meant = self.address.unnamed or (name if self._any_name and not known else None)
        if others and name == meant:
            return False
        hint = f"Add ?scene={name} to BEFOREHAND_GRAPH if the positions without a scene are meant." if others else ""
        raise unknown_scene(name, known, f"the graph at {self.address.shown}", hint)

    # -- the line ------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _talk(self, *, writing: bool = False) -> AsyncIterator[Talk]:
        """A transaction that is committed at the end, or never was."""
        session = self._open().session(database=self.address.database, fetch_size=BATCH)
        committing = False
        try:
            transaction = await within(self._timeout_s, session.begin_transaction())
            yield Talk(transaction, self._timeout_s)
            committing = True
            await within(self._timeout_s, transaction.commit())
        except BaseException as error:
            session.cancel()
            if not _is_transport(error):
                raise
            raise unavailable(error, self.address, self._timeout_s, in_doubt=writing and committing) from error
        finally:
            with suppress(Exception):
                await within(self._timeout_s, session.close())

    def _open(self) -> Any:
        if self._driver is None:
            try:
                from neo4j import AsyncGraphDatabase
            except ImportError:
                raise no_driver() from None
            # What it would log as errors comes to the caller as one, in a sentence.
            logging.getLogger("neo4j").setLevel(logging.CRITICAL)
            address = self.address
            # The driver takes a context of ours only for schemes that do not ask for one of its own.
            encryption: dict[str, Any] = {"ssl_context": self._trust()} if address.encrypted else {}
            self._driver = AsyncGraphDatabase.driver(
                address.url.replace("+s:", ":", 1) if encryption else address.url,
                **encryption,
                auth=(address.user, address.password or "") if address.user else None,
                connection_timeout=self._timeout_s,
                connection_acquisition_timeout=self._timeout_s,
                liveness_check_timeout=0,
                notifications_min_severity="OFF",
                telemetry_disabled=True,
                user_agent="beforehand",
            )
        return self._driver


def _is_transport(error: BaseException) -> bool:
    from neo4j.exceptions import DriverError, Neo4jError

    return isinstance(error, DriverError | Neo4jError | TimeoutError | OSError)


def _rows(tables: Tables) -> Rows:
    columns = {**cypher.TABLES, "about": cypher.ABOUT}
    named = {
        table: [dict(zip(columns[table].columns, row, strict=True)) for row in rows] for table, rows in tables.items()
    }
    stands: dict[Any, list[Any]] = {}
    for row in named.pop("stands"):
        stands.setdefault(row["name"], []).append(row["stand"])
    # A tool with two stands comes twice, which whoever checks the scene will report.
    named["tools"] = [{**tool, "stand": stand} for tool in named["tools"] for stand in stands.get(tool["name"], [None])]
    about = named.pop("about", [])
    return Rows(about=about[0] if about else {}, **named)


async def _replace(talk: Talk, scene: str, rows: Rows) -> None:
    await talk.ask(cypher.CLAIM, scene=scene, about=rows.about, push=uuid4().hex)
    for label in cypher.LABELS:
        await _forget(talk, label, scene)
    places = await _create(talk, "Position", scene, rows.positions)
    tools = await _create(talk, "Tool", scene, [_without(row, "stand") for row in rows.tools])
    routines = await _create(talk, "Routine", scene, rows.routines)
    await _relate(talk, "ONLY_ALLOWED_MOVE_TO", rows.moves, ("source", places), ("target", places))
    await _relate(talk, "SUPPORTED_AT", rows.supports, ("routine", routines), ("position", places))
    located = [{"name": row["name"], "stand": row["stand"]} for row in rows.tools if "stand" in row]
    await _relate(talk, "LOCATED_AT", located, ("name", tools), ("stand", places))


async def _forget(talk: Talk, label: str, scene: str) -> None:
    query = cypher.FORGET.format(label=label)
    while any(row["gone"] for row in await talk.ask(query, scene=scene, most=BATCH)):
        pass


async def _create(talk: Talk, label: str, scene: str, rows: list[Row]) -> dict[str, str]:
    """Write nodes; the ids the database gave them, by name."""
    ids: dict[str, str] = {}
    for start in range(0, len(rows), BATCH):
        batch = [{"scene": scene, **row} for row in rows[start : start + BATCH]]
        made = await talk.ask(cypher.CREATE.format(label=label), rows=batch)
        ids |= {row["name"]: row["id"] for row in made}
    return ids


End = tuple[str, Mapping[str, str]]


async def _relate(talk: Talk, kind: str, rows: list[Row], begin: End, end: End) -> None:
    """Write relations between nodes just made, found by their ids: no index is needed and none is left behind."""
    (a, starts), (b, ends) = begin, end
    for start in range(0, len(rows), BATCH):
        batch = [
            {"a": starts[row[a]], "b": ends[row[b]], "about": _without(row, a, b)}
            for row in rows[start : start + BATCH]
        ]
        await talk.ask(cypher.RELATE.format(kind=kind), rows=batch)


def _without(row: Row, *keys: str) -> Row:
    return {key: value for key, value in row.items() if key not in keys}
