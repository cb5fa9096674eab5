"""What goes wrong between Beforehand and a graph database, in plain sentences without secrets.

The server's own words stay out of them, except its error code: they may hold paths and values nobody asked for.
"""

import ssl
from collections.abc import Iterable

from beforehand.adapters.graph.address import GraphAddress
from beforehand.model.errors import NotFoundError, UnavailableError


def unknown_scene(name: str, known: Iterable[str], where: str, hint: str = "") -> NotFoundError:
    return NotFoundError.unknown("scene", name, known, code="graph.unknown_scene", inside=where, hint=hint)


def no_driver() -> UnavailableError:
    return UnavailableError(
        "The driver for graph databases is not installed.",
        code="graph.no_driver",
        hint="Install it beside Beforehand: pip install 'neo4j>=6', or in its checkout: pip install '.[graph]'.",
    )


def unavailable(
    error: BaseException, address: GraphAddress, timeout_s: float, *, in_doubt: bool = False
) -> UnavailableError:
    """A fault of the driver, the server or the line between them; `in_doubt` when a push was about to be kept."""
    code, says, hint = _explained(error, address, timeout_s)
    if in_doubt and not getattr(error, "code", None):  # a code is the server's own word that it did not keep it
        says += " It may or may not have kept the scene; push it again: that replaces the whole scene."
    return UnavailableError(says, code=f"graph.{code}", hint=hint)


def _explained(error: BaseException, address: GraphAddress, timeout_s: float) -> tuple[str, str, str]:
    from neo4j import exceptions as said

    server = f"The graph server at {address.shown}"
    code = str(getattr(error, "code", None) or "")
    if code.endswith(".Forbidden"):
        return ("forbidden", f"{server} does not allow this user to do it.", "Ask the administrator of the database.")
    if isinstance(error, said.AuthError) or code.startswith("Neo.ClientError.Security"):
        return (
            "refused",
            f"{server} refuses the user name or the password.",
            "Set BEFOREHAND_GRAPH_USER and BEFOREHAND_GRAPH_PASSWORD, or put them into the address.",
        )
    if code.startswith("Neo.ClientError.Database"):
        named = f"no database {address.database!r}" if address.database else "no database to open"
        return ("no_database", f"{server} has {named}.", "Name the database after the host: bolt://host/name.")
    if isinstance(error, said.UnsupportedServerProduct) or "looks like HTTP" in str(error):
        return ("not_bolt", f"What answers at {address.shown} does not speak Bolt.", _LOOK)
    if isinstance(error, TimeoutError) or "deadline" in str(error):
        return ("slow", f"{server} gave no answer within {timeout_s:g} s.", "Try again when it is less busy.")
    if _is_certificate(error):
        says = f"{server} shows a certificate that is not believed."
        return ("certificate", says, "Name its authority in BEFOREHAND_TLS_CA, or call it by the name it certifies.")
    if isinstance(error, said.DriverError | OSError):
        return ("gone", f"{server} does not answer, or closed the connection.", _LOOK)
    if code.startswith("Neo.TransientError") or code.endswith(".ConstraintValidationFailed"):
        return ("busy", f"{server} could not do it just now ({code}).", "Try again.")
    return ("failed", f"{server} could not do it ({code or type(error).__name__}).", "Its own log says why.")


def _is_certificate(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


_LOOK = "Check that it runs, and that host, port and encryption in BEFOREHAND_GRAPH are right."
