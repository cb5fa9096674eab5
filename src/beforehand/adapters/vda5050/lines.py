"""A line to an MQTT broker: who we are there, whose certificate is believed, and in a sentence why there is none.

Users, passwords and certificates come from the settings, where the broker's address does not name a secret. The
broker's certificate is always looked at: it is of a known authority, for this host, and in time, or there is no line.
"""

import socket
import ssl
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from beforehand.model.broker import Broker, read_broker
from beforehand.model.errors import BadInputError, BeforehandError, UnavailableError

KEEPALIVE_S = 10
CONNECT_S = 10.0
CANCEL_AGAIN_S = 0.5
"""A cancellation may get lost inside the library; whoever speaks MQTT ends fast, so it is said again soon."""
_EXPIRED, _EARLY = 10, 9
_OTHER_NAME = (62, 64)
_REFUSED = (4, 5, 134, 135)
"""Answers to CONNECT, by both numberings: a wrong user or password, or one who may not."""


def broker_of(url: str, with_secrets: Callable[[Any], Any], setting: Callable[[str], Any]) -> Broker | None:
    """The broker that a URL names, with what the settings say of lines to brokers; None where it names none."""
    found = read_broker(str(with_secrets(url)))
    if found is None:
        return None
    if found.user is None:
        found = replace(found, user=setting("broker_user"), password=setting("broker_password"))
    files = {"ca": "tls_ca", "certificate": "broker_cert", "private_key": "broker_key"}
    return replace(found, **{name: setting(named) for name, named in files.items()}) if found.encrypted else found


def client_of(broker: Broker, **more: Any) -> Any:
    """An MQTT client for the broker. UnavailableError where the extra that brings it is not installed; BadInputError
    where a file with a certificate cannot be used."""
    try:
        from aiomqtt import Client
    except ImportError as error:
        raise UnavailableError(
            "Robots over VDA 5050 need the package aiomqtt.",
            code="robot.no_mqtt",
            hint="Install Beforehand with the extra vda5050.",
        ) from error
    return Client(
        broker.host,
        broker.port,
        username=broker.user,
        password=broker.password,
        keepalive=KEEPALIVE_S,
        tls_context=_encryption(broker) if broker.encrypted else None,
        **{"timeout": CONNECT_S, **more},
    )


def _encryption(broker: Broker) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context()
        if broker.ca is not None:
            context.load_verify_locations(broker.ca)
    except (OSError, ValueError) as error:
        raise _bad_file("tls_ca", broker.ca, "certificates of authorities", error) from None
    if broker.certificate is None:
        if broker.private_key is not None:
            raise BadInputError("The setting broker_key needs broker_cert beside it.", code="settings.broker")
        return context
    try:
        context.load_cert_chain(broker.certificate, broker.private_key, password=lambda: b"")
    except (OSError, ValueError) as error:
        raise _bad_file("broker_cert and broker_key", broker.certificate, "a certificate and its key", error) from None
    return context


def _bad_file(setting: str, file: str | None, holds: str, error: Exception) -> BadInputError:
    unread = isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError)
    why = "it cannot be read" if unread else f"it does not hold {holds} as PEM, without a password"
    return BadInputError(
        f"The file {file} cannot be used for the line to the broker: {why}.",
        code="settings.broker",
        hint=f"Look at the setting {setting}.",
    )


def is_no_line(error: Exception) -> bool:
    """Whether it is the line that failed, and not our own code."""
    from aiomqtt import MqttError

    return isinstance(error, MqttError | OSError | BeforehandError)


def why_no_line(error: BaseException, broker: Broker) -> str:
    """A sentence on why there is no line to the broker, and what to do."""
    found = error.__cause__ or error.__context__ or error
    at = f"The broker {broker}"
    if isinstance(error, BadInputError | UnavailableError):
        return error.says
    if isinstance(found, ssl.SSLCertVerificationError):
        return f"{at} is not believed: {_distrust(found, broker)}"
    if isinstance(found, ssl.SSLError) or (isinstance(found, ConnectionResetError) and broker.encrypted):
        return f"{at} does not speak TLS as we do ({_short(found)}): is {broker.port} its encrypted port?"
    if isinstance(found, socket.gaierror):
        return f"{at} cannot be found: there is no host {broker.host}."
    if isinstance(found, ConnectionRefusedError):
        return f"{at} cannot be reached: nothing listens on this port."
    code = getattr(getattr(error, "rc", None), "value", getattr(error, "rc", None))
    if code in _REFUSED:
        who = f"as {broker.user}" if broker.user else "without a user"
        return f"{at} does not let us in {who}: look at the user and the password."
    if isinstance(found, TimeoutError) or "timed out" in str(error):
        return f"{at} does not answer as a broker does.{_other_line(broker)}"
    return f"{at} cannot be reached: {_short(error)}.{_other_line(broker)}"


def _distrust(error: ssl.SSLCertVerificationError, broker: Broker) -> str:
    if error.verify_code == _EXPIRED:
        return "its certificate has expired."
    if error.verify_code == _EARLY:
        return "its certificate is not valid yet; look at the clocks, its and ours."
    if error.verify_code in _OTHER_NAME:
        return f"its certificate is for another name than {broker.host}. Write the name that it is for."
    named = "is not among those in the file of tls_ca" if broker.ca else "is not known here; set tls_ca"
    return f"the authority that signed its certificate {named} ({error.verify_message})."


def _other_line(broker: Broker) -> str:
    if not broker.encrypted:
        return " If its line is encrypted, write mqtts://."
    return "" if broker.certificate else " It may want a certificate of ours: set broker_cert and broker_key."


def _short(error: BaseException) -> str:
    return (str(error) or type(error).__name__)[:200].rstrip(". \n")
