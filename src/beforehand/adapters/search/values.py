"""The different values that listed fields have had, kept as documents come: the names that a question may mean.

To find them among the documents would be to read all of those, millions, before every question.
"""

import sqlite3
from collections.abc import Iterable

from beforehand.ports.search import Document, Index

_TABLE = '"values of fields"'


def make(connection: sqlite3.Connection) -> None:
    connection.execute(
        f"CREATE TABLE {_TABLE} (number INTEGER PRIMARY KEY, name TEXT, field TEXT, value TEXT,"
        " UNIQUE (name, field, value))"
    )


def add(connection: sqlite3.Connection, index: Index, documents: Iterable[Document]) -> None:
    """Keep values that are new; what a document had before it changed stays known."""
    documents = list(documents)
    for field in index.listed:
        there = dict.fromkeys(str(value) for one in documents if isinstance(value := one.get(field), str | int | float))
        rows = [(index.name, field, value) for value in there]
        connection.executemany(f"INSERT OR IGNORE INTO {_TABLE} (name, field, value) VALUES (?, ?, ?)", rows)


def find(connection: sqlite3.Connection, index: Index, most: int) -> dict[str, list[str]]:
    """The values of each listed field, the newest first."""
    sql = f"SELECT value FROM {_TABLE} WHERE name = ? AND field = ? ORDER BY number DESC LIMIT ?"
    return {field: [value for (value,) in connection.execute(sql, (index.name, field, most))] for field in index.listed}
