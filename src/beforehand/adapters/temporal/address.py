"""Where an installation's runs are, and how the line to the server there is kept."""

from dataclasses import dataclass, field

from beforehand.adapters.temporal.names import Names


@dataclass(frozen=True, slots=True)
class Encryption:
    """Whom to believe and what to show, as PEM."""

    authorities: bytes | None = None
    """Who may vouch for the server; those of the system without."""
    certificate: bytes | None = None
    """Our own, for a server that asks for one."""
    key: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Address:
    """Where an installation's runs are, as its settings say."""

    target: str
    """`host:port`."""
    namespace: str
    names: Names
    lost_after_s: float
    """How long a worker may give no sign of life before its steps are taken up by another."""
    encryption: Encryption | None = None
    api_key: str | None = field(default=None, repr=False)
