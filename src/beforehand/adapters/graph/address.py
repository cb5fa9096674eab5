"""Where a graph database is and who asks it: `bolt://user:password@host:7687/database?scene=NAME`.

The password may also come on its own, so that the address can be written down anywhere. Only `shown` ever reaches a
sentence.
"""

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from beforehand.model.errors import BadInputError
from beforehand.model.reason import name_list

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
PORT = 7687


@dataclass(frozen=True, slots=True)
class GraphAddress:
    scheme: str
    host: str
    port: int = PORT
    database: str | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    unnamed: str | None = None
    """The scene that nodes without a `scene` property make up."""

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self._place}"

    @property
    def encrypted(self) -> bool:
        """Whether the server's certificate must be believed; `+ssc` takes any."""
        return self.scheme.endswith("+s")

    @property
    def shown(self) -> str:
        """The address as sentences name it, without user and password."""
        return self._place + (f"/{self.database}" if self.database else "")

    @property
    def _place(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def read_address(text: str, *, user: str | None = None, password: str | None = None) -> GraphAddress:
    """The address in a text; user and password in it win over those that come beside it."""
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _bad("it cannot be read as an address") from None
    if parts.scheme not in SCHEMES:
        raise _bad(f"it must begin with one of {name_list(f'{scheme}://' for scheme in SCHEMES)}")
    if not host:
        raise _bad("it has no host")
    database = unquote(parts.path.strip("/")) or None
    if database is not None and "/" in database:
        raise _bad("what follows the host is one database name")
    given = unquote(parts.username) if parts.username else None
    return GraphAddress(
        scheme=parts.scheme,
        host=host,
        port=port or PORT,
        database=database,
        user=given or user,
        password=unquote(parts.password) if given and parts.password is not None else password,
        unnamed=_unnamed(parts.query),
    )


def _unnamed(query: str) -> str | None:
    pairs = dict(parse_qsl(query, keep_blank_values=True))
    scene = pairs.pop("scene", None)
    if pairs:
        raise _bad(f"the only thing that may follow the question mark is scene=NAME, not {name_list(sorted(pairs))}")
    return scene or None


def _bad(why: str) -> BadInputError:
    return BadInputError(
        f"The graph's address is not usable: {why}.",
        code="graph.address",
        hint="Write it as bolt://host:7687 or bolt://host:7687/database, in BEFOREHAND_GRAPH or with --graph.",
    )
