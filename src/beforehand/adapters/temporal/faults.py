"""Why a Temporal server does not do what it is asked, in one plain sentence, and what to do about it."""

import re
from dataclasses import dataclass

from temporalio.service import RPCError, RPCStatusCode

from beforehand.adapters.temporal.address import Address
from beforehand.model.errors import UnavailableError

_CAUSE = re.compile(r'(?:message|error): "([^"]+)"')
"""What went wrong, inside the words in which the library wraps it."""
_ENDED = "hyper::Error("
_DENIED = (RPCStatusCode.UNAUTHENTICATED, RPCStatusCode.PERMISSION_DENIED)
_START = "Start it, or correct BEFOREHAND_TEMPORAL; `beforehand doctor` says what it finds."


@dataclass(frozen=True, slots=True)
class _Refusal:
    words: tuple[str, ...]
    """Of the library; any of them."""
    says: str
    hint: str


_NOT_LET_IN = _Refusal(
    ("code: Unauthenticated", "code: PermissionDenied"),
    "does not let us in",
    "Look at BEFOREHAND_TEMPORAL_API_KEY, at our certificate, and at what we may do in the namespace.",
)
_REFUSALS = (
    _Refusal(
        ("InvalidCertificate(UnknownIssuer",),
        "shows a certificate of an authority that is not known here",
        "Set BEFOREHAND_TLS_CA to the file with the authority's certificate.",
    ),
    _Refusal(
        ("InvalidCertificate(Expired",),
        "shows a certificate that has expired",
        "Have it renewed; look at the clocks, too.",
    ),
    _Refusal(
        ("InvalidCertificate(NotValidForName",),
        "shows a certificate for another name",
        "Write the name that it is for in BEFOREHAND_TEMPORAL.",
    ),
    _Refusal(
        ("InvalidCertificate(",),
        "shows a certificate that is not believed",
        "Have it replaced, or set BEFOREHAND_TLS_CA.",
    ),
    _Refusal(
        ("InvalidMessage(InvalidContentType",),
        "does not speak TLS at this port",
        "Name its encrypted port in BEFOREHAND_TEMPORAL, or set BEFOREHAND_TEMPORAL_TLS=false.",
    ),
    _NOT_LET_IN,
)


def unanswered(address: Address, run_id: str, error: Exception) -> UnavailableError:
    """Something was asked of a run and no answer came: unless it was refused, it may have been taken, or may be yet."""
    if _refusal(error, str(error)):
        return unreachable(address, error)
    return UnavailableError(
        f"The Temporal server at {address.target} did not say whether the run {run_id} has taken this. "
        "It may have been taken, or may be taken yet.",
        code="temporal.unanswered",
        hint=f"Look at the run before asking again: `beforehand runs show {run_id}`, or GET /api/v1/runs/{run_id}.",
        extra={"runId": run_id, "retryAfterS": 5},
    )


def unreachable(address: Address, error: Exception) -> UnavailableError:
    """The server does not do what it is asked, and nothing was asked of a run."""
    why = error.message if isinstance(error, RPCError) else str(error)
    server, told = f"The Temporal server at {address.target}", _CAUSE.search(why)
    if refusal := _refusal(error, why):
        detail = f" ({told[1][:200]})" if told else ""
        return UnavailableError(f"{server} {refusal.says}{detail}.", code="temporal.refused", hint=refusal.hint)
    if _ENDED in why:
        says, hint = f"{server} ends the connection at once.", _other_line(address)
        return UnavailableError(says, code="temporal.unreachable", hint=hint)
    detail = f" ({(told[1] if told else why.splitlines()[0])[:200]})" if why else ""
    return UnavailableError(f"{server} does not answer{detail}.", code="temporal.unreachable", hint=_START)


def _refusal(error: Exception, why: str) -> _Refusal | None:
    if isinstance(error, RPCError) and error.status in _DENIED:
        return _NOT_LET_IN
    return next((one for one in _REFUSALS if any(words in why for words in one.words)), None)


def _other_line(address: Address) -> str:
    """What a server may want that takes a connection and then ends it."""
    if address.encryption is None:
        return "It may want an encrypted line: set BEFOREHAND_TEMPORAL_TLS=true."
    if address.encryption.certificate is None:
        return "It may want a certificate of ours: set BEFOREHAND_TEMPORAL_TLS_CERT and BEFOREHAND_TEMPORAL_TLS_KEY."
    return "It may not believe our certificate: look at BEFOREHAND_TEMPORAL_TLS_CERT."
