"""What Postgres's complaints mean to a person, and what to do about them; no password is in the sentences."""

from beforehand.adapters.log.refusals import no_room
from beforehand.model.errors import BeforehandError, TooLargeError, UnavailableError

_LOOK = "Check that the server runs and that the URL is right."
_ENCRYPTION = (
    "Look at sslmode and sslrootcert in the URL, and at the name in the server's certificate; "
    "doctor says whether a line is encrypted."
)
_REFUSED = {
    "28P01": ("store.refused", "refuses the user name or the password", "Correct the user name and the password."),
    "28000": ("store.refused", "refuses the user name or the password", "Correct the user name and the password."),
    "3D000": ("store.missing", "is not there", "Make the database first, for example with createdb."),
    "42501": ("store.forbidden", "does not allow this user to do it", "Give the user rights to it."),
    "25006": ("store.reading_only", "can only be read now", "Name the server that takes writes."),
    "53300": ("store.busy", "has too many connections", "Close some, or allow more."),
}


def no_driver() -> UnavailableError:
    return UnavailableError(
        "The driver for Postgres databases is not installed.",
        code="store.no_driver",
        hint="Install it beside Beforehand: pip install 'psycopg[binary]>=3.2', or in its checkout: "
        "pip install '.[postgres]'.",
    )


def explained(problem: BaseException, where: str, password: str = "") -> BeforehandError:
    """The error for a fault of the database or of the line to it."""
    from psycopg import OperationalError

    if isinstance(problem, BeforehandError):
        return problem
    state = str(getattr(problem, "sqlstate", None) or "")
    text = _first_line(problem, password)
    if state == "53100" or "No space left" in text:
        return no_room(where)
    if state == "54000":
        return TooLargeError(
            f"A name in it is longer than the database {where} can look for; nothing was written.",
            code="store.too_long",
            hint="Use shorter ids.",
        )
    code, says, hint = _REFUSED.get(state) or _by_words(text)
    if says:
        return UnavailableError(f"The database {where} {says}.", code=code, hint=hint)
    if isinstance(problem, OperationalError | OSError | TimeoutError):
        return gone(where, text)
    return UnavailableError(f"The database {where} could not do it: {text}.", code="store.fault")


def gone(where: str, why: str = "") -> UnavailableError:
    """Nobody answers there; nothing that was asked for is written."""
    told = f": {why}" if why else ""
    return UnavailableError(f"The database {where} does not answer{told}.", code="store.unreachable", hint=_LOOK)


def ends_session(problem: BaseException) -> bool:
    """Whether the session is over, even if the line does not show it yet: an answer may have been lost with it."""
    from psycopg import Error, OperationalError

    if not isinstance(problem, Error):
        return True
    state = problem.sqlstate
    lost = isinstance(problem, OperationalError) and (state is None or state.startswith(("57P", "08")))
    return lost or problem.diag.severity_nonlocalized in ("FATAL", "PANIC")


def _by_words(text: str) -> tuple[str, str, str]:
    """A server that refuses a connection says why in words only."""
    if "password authentication failed" in text or "no password supplied" in text:
        return _REFUSED["28P01"]
    if "certificate" in text or "SSL error" in text or "does not support SSL" in text:
        return ("store.certificate", "cannot be reached with the encryption that is asked for", _ENCRYPTION)
    if "database" in text and "does not exist" in text:
        return _REFUSED["3D000"]
    return ("", "", "")


def _first_line(problem: BaseException, password: str) -> str:
    text = next((line.strip() for line in str(problem).splitlines() if line.strip()), type(problem).__name__)
    return (text.replace(password, "(hidden)") if password else text).rstrip(".")
