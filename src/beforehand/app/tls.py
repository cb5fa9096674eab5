"""Encrypted connections: the certificate that this installation shows, and those it believes.

`tls_cert` and `tls_key` make `up` answer by https only. A certificate that was renewed is taken without a restart.
Others are believed when an authority of the system's or of `tls_ca` vouches for their name. A server on this machine
is also believed when it shows the very certificate that the settings name: its address here is seldom in it.
"""

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from beforehand.app.clock import wall_ms
from beforehand.app.settings import Settings
from beforehand.app.untrusted_urls import is_untrusted
from beforehand.model.errors import BadInputError
from beforehand.model.finding import Finding
from beforehand.model.hosts import is_loopback
from beforehand.model.reason import name_list
from beforehand.ports.log import Log

log = Log("beforehand.tls")
LOOK_AGAIN_S = 60.0
RENEW_WITHIN_S = 14 * 86_400
HANDSHAKE_TURNS = 3
_END = "-----END CERTIFICATE-----"


class _Named(NamedTuple):
    """What to say of a certificate and its key: which settings they are of, and what about a password."""

    files: str
    tried: str
    password: str


_SERVER = _Named(
    "Correct tls_cert or tls_key.",
    ", and the one that is set does not open it",
    "Set BEFOREHAND_TLS_KEY_PASSWORD, or use a key without one.",
)
_TEMPORAL = _Named(
    "Correct temporal_tls_cert or temporal_tls_key.", "", "Use a key without one: openssl pkey -in FILE."
)


class ServerTls:
    """What a listening server shows; `look` takes a certificate that was renewed since."""

    def __init__(self, certificate: Path, key: Path, password: str | None) -> None:
        self._files = (certificate, key)
        self._password = password
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._seen = self._ages()
        self._load(self.context)

    def look(self) -> bool:
        """Whether the files have changed and are shown from now on; the old ones stay where the new do not fit."""
        ages = self._ages()
        if ages == self._seen:
            return False
        self._seen = ages
        try:
            self._load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))  # half written files must not harm the one in use
            self._load(self.context)
        except BadInputError as error:
            log.error("the renewed certificate is not usable, the old one is kept", why=error.says)
            return False
        log.info("a renewed certificate is shown from now on")
        return True

    async def keep_fresh(self) -> None:
        """Look now and then, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_AGAIN_S)
            self.look()

    def _ages(self) -> tuple[int, ...]:
        try:
            return tuple(file.stat().st_mtime_ns for file in self._files)
        except OSError:
            return ()

    def _load(self, context: ssl.SSLContext) -> None:
        _load_pair(context, *self._files, self._password or "", _SERVER)

    def certificate(self) -> Mapping[str, Any]:
        """What a caller is shown, as `ssl` tells it; SSLCertVerificationError where nobody would believe it."""
        to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
        server = self.context.wrap_bio(to_server, to_client, server_side=True)
        client = _only(self._files[0]).wrap_bio(to_client, to_server)
        for _ in range(HANDSHAKE_TURNS):
            for side in (client, server):
                with suppress(ssl.SSLWantReadError):
                    side.do_handshake()
        return client.getpeercert() or {}


def check_tls(settings: Settings) -> list[Finding]:
    """How the server's own certificate stands; nothing where it has none."""
    tls = server_tls(settings)
    if tls is None:
        return []
    try:
        shown = tls.certificate()
    except ssl.SSLCertVerificationError as error:
        says = f"The certificate in {settings['tls_cert']} is not usable: {error.verify_message}."
        return [Finding("tls", "broken", says, "Renew it; a running server takes the new one by itself.")]
    until = ssl.cert_time_to_seconds(str(shown["notAfter"]))
    names = name_list(name for _, name in shown.get("subjectAltName", ())) or "no host name"
    says = f"https, with a certificate for {names}, until {shown['notAfter']}."
    soon = until - wall_ms() / 1000 < RENEW_WITHIN_S
    return [Finding("tls", "missing" if soon else "ok", says, "Renew it soon." if soon else "")]


def server_tls(settings: Settings) -> ServerTls | None:
    """What the server shows by its settings, or None without any; BadInputError says what is wrong with it."""
    certificate, key = settings["tls_cert"], settings["tls_key"]
    if not certificate:
        if key:
            raise BadInputError("tls_key is set, and tls_cert is not.", code="tls.files", hint="Set both, or neither.")
        return None
    return ServerTls(Path(certificate), Path(key or certificate), settings["tls_key_password"])


def client_context(settings: Settings, url: str) -> ssl.SSLContext:
    """Whom to believe when calling this URL; BadInputError where the files in the settings cannot be used."""
    own = settings["tls_cert"]
    if own and is_loopback(urlsplit(url).hostname or ""):
        return _only(Path(own))
    return trusting(settings)


def trusting(settings: Settings) -> ssl.SSLContext:
    """Whom to believe: the authorities of the system, and those of `tls_ca`."""
    context = ssl.create_default_context()
    if authorities := settings["tls_ca"]:
        _refuse_strangers(settings)
        _believe(context, Path(authorities))
    return context


def authorities(settings: Settings) -> bytes | None:
    """Whom to believe, as PEM, for libraries that take no context; None where that is the system's alone."""
    if not settings["tls_ca"]:
        return None
    known = trusting(settings).get_ca_certs(binary_form=True)
    return Path(settings["tls_ca"]).read_bytes() + "\n".join(["", *map(ssl.DER_cert_to_PEM_cert, known)]).encode()


def client_pair(certificate: Path, key: Path) -> tuple[bytes, bytes]:
    """The certificate that we show Temporal and its key, as PEM; BadInputError says what is wrong with them."""
    _load_pair(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), certificate, key, "", _TEMPORAL)
    return certificate.read_bytes(), key.read_bytes()


def _load_pair(context: ssl.SSLContext, certificate: Path, key: Path, password: str, named: _Named) -> None:
    for file in (certificate, key):
        _refuse_unreadable(file, named.files)
    try:
        context.load_cert_chain(certificate, key, password)
    except (ssl.SSLError, ValueError) as error:
        raise _bad_pair(certificate, key, error, named) from None


def _only(certificate: Path) -> ssl.SSLContext:
    """Believe the holder of this very certificate, by whatever name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    _refuse_unreadable(certificate)
    first, end, _ = certificate.read_text(encoding="ascii", errors="replace").partition(_END)
    try:
        context.load_verify_locations(cadata=first[first.find("-----BEGIN CERTIFICATE") :] + end)
    except (ssl.SSLError, ValueError):
        raise _no_certificate(certificate) from None
    return context


def _believe(context: ssl.SSLContext, authorities: Path) -> None:
    _refuse_unreadable(authorities)
    try:
        context.load_verify_locations(authorities)
    except ssl.SSLError:
        raise _no_certificate(authorities) from None


def _refuse_strangers(settings: Settings) -> None:
    """A folder from somebody else must not say whom to believe."""
    if is_untrusted(settings, "tls_ca"):
        says = f"tls_ca is set by {settings.file}, which lies inside the workspace and was not trusted."
        raise BadInputError(says, code="tls.files", hint="Read the file, then: beforehand config trust")


def _refuse_unreadable(file: Path, hint: str = "Correct tls_cert or tls_ca.") -> None:
    try:
        file.open("rb").close()
    except OSError as error:
        says = f"{file} cannot be read: {error.strerror or error}."
        raise BadInputError(says, code="tls.files", hint=hint) from None


def _no_certificate(file: Path) -> BadInputError:
    return BadInputError(f"{file} holds no certificate in PEM format.", code="tls.files")


def _bad_pair(certificate: Path, key: Path, error: Exception, named: _Named) -> BadInputError:
    reason = getattr(error, "reason", None) or ""
    if "KEY_VALUES_MISMATCH" in reason:
        return BadInputError(f"The key in {key} does not belong to the certificate in {certificate}.", code="tls.files")
    if b"ENCRYPTED" in key.read_bytes():
        return BadInputError(
            f"The key in {key} needs a password{named.tried}.",
            code="tls.files",
            hint=named.password,
        )
    return BadInputError(
        f"{certificate} and {key} are not a certificate and its key in PEM format.",
        code="tls.files",
        hint="The certificate comes first, then those of the authorities between it and the root.",
    )
