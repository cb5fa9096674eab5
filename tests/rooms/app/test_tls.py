"""Certificates by settings: what is wrong with them is said, and a renewed one is shown without a restart."""

import asyncio
import os
import ssl
from pathlib import Path

import pytest
from tests.certificates import Authority

from beforehand.app.settings import load_settings
from beforehand.app.tls import client_context, server_tls, trusting
from beforehand.model.errors import BadInputError

HERE = "https://127.0.0.1:8700"
THERE = "https://localhost:8700"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def settings(tmp_path: Path, **flags: object):
    return load_settings({name: str(value) for name, value in flags.items()}, {}, tmp_path / "none.toml")


async def greeted(shows: ssl.SSLContext, believes: ssl.SSLContext, name: str | None = "localhost") -> str:
    """The common name in the certificate that a caller was shown; SSLError where it does not believe it."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=shows)
    async with server:
        port = server.sockets[0].getsockname()[1]
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=believes, server_hostname=name)
        shown = writer.get_extra_info("peercert")
        writer.close()
    return str(shown["subject"][0][0][1])


def test_without_files_there_is_no_encryption(tmp_path):
    assert server_tls(settings(tmp_path)) is None


async def test_a_certificate_is_believed_by_its_authority_and_its_name(tmp_path, authority):
    cert, key = authority.issue("localhost")
    tls = server_tls(settings(tmp_path, tls_cert=cert, tls_key=key))
    assert tls is not None
    believes = trusting(settings(tmp_path, tls_ca=authority.file))
    assert await greeted(tls.context, believes) == "localhost"
    with pytest.raises(ssl.SSLCertVerificationError, match="mismatch"):
        await greeted(tls.context, believes, "plant.example.com")
    with pytest.raises(ssl.SSLCertVerificationError):
        await greeted(tls.context, trusting(settings(tmp_path)))


async def test_on_this_machine_the_very_certificate_is_believed_by_any_name_and_no_other_is(tmp_path, authority):
    cert, key = authority.issue("plant.example.com")
    own = settings(tmp_path, tls_cert=cert, tls_key=key)
    tls = server_tls(own)
    assert tls is not None
    assert await greeted(tls.context, client_context(own, HERE), "127.0.0.1") == "plant.example.com"
    other = server_tls(
        settings(
            tmp_path, tls_cert=authority.issue("plant.example.com", file="other")[0], tls_key=tmp_path / "other.key"
        )
    )
    assert other is not None
    with pytest.raises(ssl.SSLCertVerificationError):
        await greeted(other.context, client_context(own, HERE), "127.0.0.1")
    assert client_context(own, "https://plant.example.com:8700").check_hostname


async def test_a_renewed_certificate_is_shown_and_a_spoilt_one_is_not(tmp_path, authority):
    cert, key = authority.issue("localhost", "old")
    tls = server_tls(settings(tmp_path, tls_cert=cert, tls_key=key))
    assert tls is not None
    assert not tls.look()
    believes = trusting(settings(tmp_path, tls_ca=authority.file))
    cert.write_text("half a cert")
    os.utime(cert, (1, 1))
    assert not tls.look()
    assert await greeted(tls.context, believes) == "localhost"
    authority.issue("renewed", "localhost")
    assert tls.look()
    assert await greeted(tls.context, believes) == "renewed"


async def test_an_expired_certificate_is_not_believed(tmp_path, authority):
    cert, key = authority.issue("localhost", days=-1)
    tls = server_tls(settings(tmp_path, tls_cert=cert, tls_key=key))
    assert tls is not None
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        await greeted(tls.context, trusting(settings(tmp_path, tls_ca=authority.file)))


def test_what_is_wrong_with_the_files_is_said(tmp_path, authority):
    cert, key = authority.issue("localhost")
    other = authority.issue("localhost", file="other")[1]
    locked = authority.issue("localhost", file="locked", password="sesame")
    (tmp_path / "text.pem").write_text("nothing")
    for flags, says in (
        ({"tls_key": key}, "tls_key is set, and tls_cert is not"),
        ({"tls_cert": tmp_path / "gone.pem"}, "gone.pem cannot be read: No such file"),
        ({"tls_cert": cert, "tls_key": other}, "does not belong to the certificate"),
        ({"tls_cert": tmp_path / "text.pem"}, "are not a certificate and its key"),
        ({"tls_cert": locked[0], "tls_key": locked[1]}, "needs a password"),
        ({"tls_cert": locked[0], "tls_key": locked[1], "tls_key_password": "wrong"}, "needs a password"),
    ):
        with pytest.raises(BadInputError, match=says):
            server_tls(settings(tmp_path, **flags))
    assert server_tls(settings(tmp_path, tls_cert=locked[0], tls_key=locked[1], tls_key_password="sesame"))
    with pytest.raises(BadInputError, match="holds no certificate"):
        trusting(settings(tmp_path, tls_ca=tmp_path / "text.pem"))
    with pytest.raises(BadInputError, match="holds no certificate"):
        client_context(settings(tmp_path, tls_cert=tmp_path / "text.pem"), HERE)


def test_a_folder_from_somebody_else_does_not_say_whom_to_believe(tmp_path, authority):
    file = tmp_path / "beforehand.toml"
    file.write_text(f'tls_ca = "{authority.file}"\n')
    found = load_settings({"workspace": str(tmp_path), "home": str(tmp_path / "home")}, {}, file)
    with pytest.raises(BadInputError, match="was not trusted"):
        trusting(found)
