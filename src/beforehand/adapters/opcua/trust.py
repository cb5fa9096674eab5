"""Which server is believed on a signed line: the one whose certificate we were given, as a file or by its fingerprint.

The certificate that a server shows is the one its answers are then signed with, so that comparing it is enough.
"""

import hashlib
import re
from pathlib import Path

from beforehand.model.errors import Fault

MARK = "sha256:"
"""How a fingerprint begins; anything else is the path of a file."""


def fingerprint(certificate: bytes) -> str:
    """Of a certificate in DER, as people compare it."""
    return MARK + hashlib.sha256(certificate).hexdigest()


def first_of_chain(shown: bytes) -> bytes:
    """The server's own certificate, where it shows its authorities' behind it."""
    long = shown[1:2] == b"\x82"  # the length stands in two bytes, as it does for any certificate with a key of use
    return shown[: 4 + int.from_bytes(shown[2:4], "big")] if long else shown


def is_fingerprint(given: str) -> bool:
    return given.lower().startswith(MARK)


def plain_fingerprint(given: str) -> str | None:
    """A fingerprint in one spelling, whatever its case and colons; None where it is none."""
    digits = re.sub(r"[:\s]", "", given[len(MARK) :].lower())
    return MARK + digits if re.fullmatch(r"[0-9a-f]{64}", digits) else None


def refuse_stranger(url: str, shown: bytes, given: str) -> None:
    """A Fault unless the certificate that the server shows is the one given, or one of those in the file given."""
    known = {plain_fingerprint(given)} if is_fingerprint(given) else _in_file(given)
    if fingerprint(shown) not in known:
        raise Fault(
            f"The server at {url} shows another certificate than the one given as server_certificate: "
            f"its fingerprint is {fingerprint(shown)}.",
            code="cell.certificate",
            untouched=True,
            hint="If the controller has a new certificate, compare the fingerprint there and change the scene.",
        )


def _in_file(file: str) -> set[str | None]:
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    try:
        content = Path(file).read_bytes()
        pem = b"-----BEGIN" in content
        found = x509.load_pem_x509_certificates(content) if pem else [x509.load_der_x509_certificate(content)]
    except (OSError, ValueError) as error:
        why = "cannot be read" if isinstance(error, OSError) else "holds no certificate, neither as PEM nor as DER"
        raise Fault(
            f"The file {file}, given as server_certificate, {why}.", code="cell.certificate", untouched=True
        ) from None
    return {fingerprint(one.public_bytes(Encoding.DER)) for one in found}
