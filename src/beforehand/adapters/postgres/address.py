"""Where a database is: a URL as libpq reads it, and the same place as it may stand in a sentence.

No password is ever in `where`. What the URL leaves out comes from where every Postgres program takes it (PGPASSWORD,
~/.pgpass).
"""

import os
from dataclasses import dataclass, field
from typing import Any

from beforehand.adapters.postgres.faults import no_driver
from beforehand.model.errors import BadInputError

# A peer that is gone is noticed within seconds, on either side of the line.
_PATIENCE: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 3,
    "keepalives_interval": 1,
    "keepalives_count": 2,
    "tcp_user_timeout": 5000,
    "application_name": "beforehand",
}


@dataclass(frozen=True, slots=True)
class Address:
    where: str
    parameters: dict[str, Any] = field(repr=False)

    @property
    def password(self) -> str:
        return str(self.parameters.get("password") or "")


def address_of(url: str) -> Address:
    """The database a URL names; BadInputError, without its text, where the URL cannot be read."""
    try:
        from psycopg import Error
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as missing:
        raise no_driver() from missing
    try:
        given = {name: value for name, value in conninfo_to_dict(url).items() if value is not None}
    except Error:
        raise BadInputError(
            "The URL of the Postgres database cannot be read.",
            code="settings.db",
            hint="It looks like postgresql://user@host:5432/database; special characters in it are written as %40.",
        ) from None
    return Address(_shown(given), {**_PATIENCE, **given, "client_encoding": "utf8"})


def _shown(given: dict[str, Any]) -> str:
    host = str(given.get("host") or os.environ.get("PGHOST") or "localhost")
    port = str(given.get("port") or os.environ.get("PGPORT") or "5432")
    database = str(given.get("dbname") or os.environ.get("PGDATABASE") or given.get("user") or "")
    return f"postgresql://{host}:{port}/{database}"
