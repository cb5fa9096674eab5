"""Where the message broker of a scene is: `mqtt://host:port`, or `mqtts://` for an encrypted line.

A user and a password may stand before the host; the password only as a reference, `${secret:NAME}`, never itself.
"""

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

_SHAPE = re.compile(
    r"(?P<scheme>mqtts?)://(?:(?P<user>[^:@/\s]+)(?::(?P<password>[^@/\s]*))?@)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]{1,253})(?::(?P<port>\d{1,5}))?/?"
)
_REFERENCE = re.compile(r"\$\{secret:[A-Za-z0-9_-]{1,100}\}")
_PORTS = {"mqtt": 1883, "mqtts": 8883}


@dataclass(frozen=True, slots=True)
class Broker:
    host: str
    port: int
    encrypted: bool = False
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    ca: str | None = None
    """The file with the certificates of the authorities that are believed besides the machine's own."""
    certificate: str | None = None
    """The file with our own certificate, where the broker asks for one."""
    private_key: str | None = None
    """The file with its key, where the certificate's file does not hold it."""

    def __str__(self) -> str:
        """Without what is secret."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'mqtts' if self.encrypted else 'mqtt'}://{host}:{self.port}"


def read_broker(url: str) -> Broker | None:
    """The broker that a URL names, its secrets filled in or not; None where it names none."""
    found = _SHAPE.fullmatch(url.strip())
    if found is None:
        return None
    port = int(found["port"] or _PORTS[found["scheme"]])
    if not 0 < port < 65536:
        return None
    user, password = (None if found[name] is None else unquote(found[name]) for name in ("user", "password"))
    return Broker(found["host"].strip("[]"), port, found["scheme"] == "mqtts", user, password)


def holds_a_secret(url: str) -> bool:
    """Whether a password stands in the URL itself and not as a reference."""
    found = _SHAPE.fullmatch(url.strip())
    return bool(found and found["password"] and not _REFERENCE.fullmatch(found["password"]))
