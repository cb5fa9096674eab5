"""What a scene says beside `kind: opcua`: the address, and by reference who asks.

controller: {kind: opcua, url: "opc.tcp://cell-3:4840", user: line1, password: "secret:CELL3"}
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit, urlunsplit

from beforehand.adapters.opcua.trust import is_fingerprint, plain_fingerprint
from beforehand.model.errors import BadInputError
from beforehand.model.machine import spelled
from beforehand.model.reason import Problem, unknown

KIND = "opcua"
KEYS = ("url", "user", "password", "certificate", "private_key", "server_certificate")
PORT = 4840
"""The port that OPC UA has everywhere, unless the URL names another."""


@dataclass(frozen=True, slots=True)
class Access:
    url: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    certificate: str | None = None
    private_key: str | None = None
    server_certificate: str | None = None
    """The file with the certificate of the server that is believed, or its fingerprint; without it, any."""


def check_options(options: Mapping[str, Any]) -> Iterator[Problem]:
    """Everything that is wrong with what stands beside the kind."""
    options = spelled(options, KEYS)
    for key in options:
        if key not in KEYS:
            told = unknown("key", key, KEYS, inside="a controller over OPC UA")
            yield Problem(code="scene.unknown_key", about=key, says=told.says, path=key, nearest=told.nearest)
    for key in KEYS[1:]:
        if key in options and not (isinstance(options[key], str) and options[key].strip()):
            yield _problem(key, f"{key} must be text.")
    yield from _url_problems(options.get("url"))
    password = options.get("password")
    if isinstance(password, str) and not re.fullmatch(r"secret:[A-Za-z0-9_-]{1,100}", password):
        yield _problem("password", "A password does not belong in a scene: write secret:NAME.")
    believed = options.get("server_certificate")
    if isinstance(believed, str) and is_fingerprint(believed) and plain_fingerprint(believed) is None:
        yield _problem("server_certificate", "A fingerprint is sha256: and 64 hexadecimal digits; else name a file.")
    needs = {"password": "user", "certificate": "private_key", "private_key": "certificate"}
    for one, other in {**needs, "server_certificate": "certificate"}.items():
        if one in options and other not in options:
            yield _problem(other, f"{one} needs {other} beside it.")


def access_of(
    url: str,
    certificate: str | None = None,
    private_key: str | None = None,
    server_certificate: str | None = None,
) -> dict[str, Any]:
    """What a scene would say beside the kind, for a URL in which a user may stand; BadInputError names what is wrong.

    The password stands there as a reference: `opc.tcp://line1:secret:CELL3@cell-3:4840`.
    """
    parts = _parts(url.strip())
    who, _, host = ("", "", "") if parts is None else parts.netloc.rpartition("@")
    user, _, password = who.partition(":")
    given = {"user": user, "password": password, "certificate": certificate, "private_key": private_key}
    given["server_certificate"] = server_certificate
    plain = url.strip() if parts is None else urlunsplit(parts._replace(netloc=host))
    options = {"url": plain, **{key: value for key, value in given.items() if value}}
    problems = list(check_options(options))
    if problems:
        raise BadInputError(problems[0].says, code="usage", problems=problems)
    return options


def address(options: Mapping[str, Any]) -> str:
    """What tells one controller from every other: a server has one cell, so its host and port."""
    url = urlsplit(str(options["url"]).strip())
    return f"opc.tcp://{(url.hostname or '').rstrip('.')}:{url.port or PORT}"


def _url_problems(url: Any) -> Iterator[Problem]:
    if not isinstance(url, str) or not url.strip():
        yield _problem("url", "url is missing: opc.tcp://host:port.")
        return
    parts = _parts(url.strip())
    if parts is None or parts.scheme != "opc.tcp" or not parts.hostname:
        yield _problem("url", f"{url[:80]!r} is not the address of an OPC UA server; write opc.tcp://host:port.")
    elif "@" in parts.netloc:
        yield _problem("url", "Users and passwords do not belong in the address; write user and password: secret:NAME.")


def _parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        return parts if parts.port != 0 else None
    except ValueError:  # a port that is no number, a bracket that is not closed
        return None


def _problem(key: str, says: str) -> Problem:
    return Problem(code="scene.opcua", about=key, says=says, path=key, fixable_by="user")
