"""Why a Temporal server does not do what it is asked: a plain sentence, and what to do about it."""

from typing import Any

import pytest

pytestmark = pytest.mark.needs("temporalio")


def address(**line: Any) -> Any:
    from beforehand.adapters.temporal.address import Address
    from beforehand.adapters.temporal.names import Names

    return Address("temporal:7233", "default", Names("b"), 10, **line)


def refused_call(status: str, message: str = "no") -> Any:
    from temporalio.service import RPCError, RPCStatusCode

    return RPCError(message, RPCStatusCode[status], b"")


def told(error: Exception, **line: Any) -> tuple[str, str, str]:
    from beforehand.adapters.temporal.faults import unreachable

    made = unreachable(address(**line), error)
    return made.code, made.says.removeprefix("The Temporal server at temporal:7233 "), made.hint


@pytest.mark.parametrize(
    ("why", "says", "hint"),
    [
        ("InvalidCertificate(UnknownIssuer)", "authority that is not known here", "BEFOREHAND_TLS_CA"),
        ("InvalidCertificate(Expired)", "has expired", "renewed"),
        ("InvalidCertificate(NotValidForName)", "for another name", "BEFOREHAND_TEMPORAL"),
        ("InvalidCertificate(BadSignature)", "is not believed", "replaced"),
        ("InvalidMessage(InvalidContentType)", "does not speak TLS at this port", "BEFOREHAND_TEMPORAL_TLS=false"),
        ("Status { code: Unauthenticated }", "does not let us in", "BEFOREHAND_TEMPORAL_API_KEY"),
        ("Status { code: PermissionDenied }", "does not let us in", "namespace"),
    ],
)
def test_a_server_that_refuses_is_told_apart_from_one_that_is_not_there(why: str, says: str, hint: str) -> None:
    code, sentence, remedy = told(RuntimeError(why))
    assert code == "temporal.refused"
    assert says in sentence
    assert sentence.endswith(".")
    assert "()" not in sentence
    assert hint in remedy


def test_the_reason_is_taken_out_of_the_words_it_is_wrapped_in() -> None:
    code, says, _ = told(RuntimeError('InvalidCertificate(UnknownIssuer) message: "unknown issuer" more'))
    assert (code, says) == (
        "temporal.refused",
        "shows a certificate of an authority that is not known here (unknown issuer).",
    )
    code, says, hint = told(RuntimeError('Server connection error: Transport { error: "Connection refused" }'))
    assert (code, says) == ("temporal.unreachable", "does not answer (Connection refused).")
    assert hint.startswith("Start it")
    assert told(RuntimeError("first line\nsecond line"))[1] == "does not answer (first line)."
    assert told(TimeoutError())[1] == "does not answer."
    assert len(told(RuntimeError("x" * 1_000))[1]) < 250


@pytest.mark.parametrize("status", ["UNAUTHENTICATED", "PERMISSION_DENIED"])
def test_a_call_that_is_not_allowed_is_a_refusal_whatever_it_says(status: str) -> None:
    assert told(refused_call(status))[0] == "temporal.refused"
    assert told(refused_call("UNAVAILABLE", "away"))[1] == "does not answer (away)."


def test_a_line_that_ends_at_once_is_told_with_what_the_server_may_want() -> None:
    from beforehand.adapters.temporal.address import Encryption

    ended = RuntimeError("hyper::Error(Io, BrokenPipe)")
    code, says, plain = told(ended)
    assert (code, says) == ("temporal.unreachable", "ends the connection at once.")
    assert "BEFOREHAND_TEMPORAL_TLS=true" in plain
    assert "BEFOREHAND_TEMPORAL_TLS_KEY" in told(ended, encryption=Encryption())[2]
    assert "may not believe" in told(ended, encryption=Encryption(certificate=b"pem"))[2]


def test_who_asked_something_of_a_run_hears_whether_it_may_have_been_taken() -> None:
    from beforehand.adapters.temporal.faults import unanswered

    open_ = unanswered(address(), "r1", TimeoutError())
    assert open_.code == "temporal.unanswered"
    assert "may have been taken" in open_.says
    assert "r1" in open_.hint
    assert open_.extra == {"runId": "r1", "retryAfterS": 5}
    assert unanswered(address(), "r1", refused_call("PERMISSION_DENIED")).code == "temporal.refused"


def test_keys_are_not_shown_where_an_address_is() -> None:
    from beforehand.adapters.temporal.address import Encryption

    assert "sesame" not in repr(address(api_key="sesame", encryption=Encryption(key=b"sesame")))
