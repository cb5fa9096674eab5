"""An encrypted line to Temporal: whose certificate is believed, who we are there, and why there is no line."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import serving
from tests.certificates import Authority

from beforehand.app.engines import check_engine, temporal_address
from beforehand.app.settings import Settings, load_settings
from beforehand.app.tool_worker import work
from beforehand.model.errors import BadInputError, UnavailableError
from beforehand.testing.temporal_server import TemporalServer

pytestmark = pytest.mark.needs("temporal", "temporalio", "grpc")
SECRET = "sesame-open"


@dataclass
class Door:
    """What stands before a hosted Temporal server: it speaks TLS, and asks for a certificate and an API key."""

    port: int = 0
    keys: set[str] = field(default_factory=set)
    """What callers showed as `authorization`."""


@asynccontextmanager
async def door(temporal: TemporalServer, authority: Authority, *names: str, days: int = 1) -> AsyncIterator[Door]:
    import grpc

    made, behind = Door(), grpc.aio.insecure_channel(temporal.address)

    async def pass_on(method: str, request: bytes, context: Any) -> bytes:
        shown = dict(context.invocation_metadata()).get("authorization", "")
        made.keys.add(shown)
        if shown != f"Bearer {SECRET}":
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "Request unauthorized.")
        try:
            answer: bytes = await behind.unary_unary(method)(request, timeout=context.time_remaining())
        except grpc.aio.AioRpcError as error:
            await context.abort(error.code(), error.details() or "", error.trailing_metadata())
        return answer

    class Everything(grpc.GenericRpcHandler):  # type: ignore[misc]
        def service(self, details: Any) -> Any:
            return grpc.unary_unary_rpc_method_handler(partial(pass_on, details.method))

    certificate, key = authority.issue(*names, file=f"door{names[0]}{days}", days=days)
    pair, known = (key.read_bytes(), certificate.read_bytes()), authority.file.read_bytes()
    server = grpc.aio.server(handlers=[Everything()])
    shows = grpc.ssl_server_credentials([pair], root_certificates=known, require_client_auth=True)
    made.port = server.add_secure_port("127.0.0.1:0", shows)
    await server.start()
    try:
        yield made
    finally:
        await server.stop(None)
        await behind.close()


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def let_in(authority: Authority, port: int) -> dict[str, str]:
    """The settings with which one is let in."""
    certificate, key = authority.issue("beforehand", file="ours")
    files = {"tls_ca": authority.file, "temporal_tls_cert": certificate, "temporal_tls_key": key}
    where = {"engine": "temporal", "temporal": f"127.0.0.1:{port}", "temporal_api_key": SECRET}
    return {**where, **{name: str(file) for name, file in files.items()}}


def settings_of(folder: Path, flags: dict[str, str]) -> Settings:
    return load_settings({"home": str(folder / "home"), **flags}, {}, folder / "none.toml")


async def test_runs_and_workers_meet_behind_a_door_that_asks_for_a_certificate_and_a_key(
    tmp_path: Path, temporal: TemporalServer, authority: Authority
) -> None:
    async with door(temporal, authority, "127.0.0.1") as entered:
        flags = {**let_in(authority, entered.port), "temporal_prefix": tmp_path.name}
        async with serving(tmp_path, **flags) as server, work(server.runtime.settings):
            write = server.step("write", "write_file", {"path": "a.txt", "content": "hello"})
            ask = server.step("ask", "ask_person", {"question": "?"}, dependsOn=["write"])
            run = await server.start(write, ask)
            asked = await server.asked(runId=run["runId"])
            await server.call("POST", f"/inbox/{asked['id']}", {"verb": "answer", "value": 1})
            assert (await server.ended(run["runId"]))["status"] == "completed"
            found, *_ = await check_engine(server.runtime.settings, [], server.runtime.identity)
            assert found.says.startswith(f"Temporal at 127.0.0.1:{entered.port}, encrypted; 1 process")
        assert entered.keys == {f"Bearer {SECRET}"}


async def test_why_there_is_no_line_is_a_sentence(
    tmp_path: Path, temporal: TemporalServer, authority: Authority
) -> None:
    async def refusal(port: int, **other: str) -> tuple[str, str]:
        flags = {name: value for name, value in {**let_in(authority, port), **other}.items() if value}
        with pytest.raises(UnavailableError) as refused:
            async with work(settings_of(tmp_path, flags)):
                pass
        assert SECRET not in refused.value.says + refused.value.hint
        return refused.value.says.removeprefix(f"The Temporal server at 127.0.0.1:{port} "), refused.value.hint

    stranger = Authority(tmp_path, "Other CA")
    theirs, key = stranger.issue("beforehand", file="theirs")
    async with door(temporal, authority, "127.0.0.1") as right:
        says, hint = await refusal(right.port, tls_ca="")
        assert says == "shows a certificate of an authority that is not known here."
        assert "BEFOREHAND_TLS_CA" in hint
        says, hint = await refusal(right.port, temporal_tls_cert="", temporal_tls_key="")
        assert says == "ends the connection at once."
        assert "It may want a certificate of ours" in hint
        says, hint = await refusal(right.port, temporal_tls_cert=str(theirs), temporal_tls_key=str(key))
        assert "It may not believe our certificate" in hint
        says, hint = await refusal(right.port, temporal_api_key="wrong")
        assert says == "does not let us in (Request unauthorized.)."
        assert "BEFOREHAND_TEMPORAL_API_KEY" in hint
        plain = {"temporal_tls": "false", "temporal_tls_cert": "", "temporal_tls_key": ""}
        says, hint = await refusal(right.port, **plain)
        assert "It may want an encrypted line" in hint
    async with door(temporal, authority, "127.0.0.1", days=-1) as late:
        assert (await refusal(late.port))[0] == "shows a certificate that has expired."
    async with door(temporal, authority, "temporal.example.com") as away:
        assert (await refusal(away.port))[0] == "shows a certificate for another name."
    assert (await refusal(temporal.port))[0] == "does not speak TLS at this port."


def test_settings_that_do_not_fit_together_are_refused(tmp_path: Path, authority: Authority) -> None:
    right = {**let_in(authority, 7233), "temporal": "temporal.example.com:7233"}

    def refusal(**other: str) -> BadInputError:
        with pytest.raises(BadInputError) as refused:
            temporal_address(
                settings_of(tmp_path, {name: value for name, value in {**right, **other}.items() if value})
            )
        return refused.value

    locked, locked_key = authority.issue("beforehand", file="locked", password="x")
    assert refusal(temporal_tls_cert="").says == "temporal_tls_key is set, and temporal_tls_cert is not."
    assert refusal(temporal_tls="false").says == "temporal_tls is off, and temporal_tls_cert is set."
    off = {"temporal_tls": "false", "temporal_tls_cert": "", "temporal_tls_key": ""}
    assert "could read the key" in refusal(**off).says
    assert refusal(temporal_tls_cert="/none").hint == "Correct temporal_tls_cert or temporal_tls_key."
    assert refusal(temporal_tls_cert=str(locked), temporal_tls_key=str(locked_key)).says.endswith("needs a password.")
    other, _ = authority.issue("other", file="other")
    assert "does not belong to" in refusal(temporal_tls_cert=str(other)).says


def test_what_is_believed_and_shown_is_what_the_settings_name(tmp_path: Path, authority: Authority) -> None:
    assert temporal_address(settings_of(tmp_path, {})).encryption is None
    secret = {"temporal_api_key": "secret:TEMPORAL"}
    (tmp_path / "home" / "secrets").mkdir(parents=True)
    (tmp_path / "home" / "secrets" / "TEMPORAL").write_text(f"{SECRET}\n")
    address = temporal_address(settings_of(tmp_path, secret))
    assert address.api_key == SECRET
    assert SECRET not in repr(address)
    assert address.encryption is not None, "with a key the line is encrypted"
    assert address.encryption.authorities is None, "those of the system"
    encryption = temporal_address(settings_of(tmp_path, let_in(authority, 7233))).encryption
    assert encryption is not None
    assert encryption.authorities is not None
    assert encryption.certificate == (tmp_path / "ours.pem").read_bytes()
    system = len(ssl.create_default_context().get_ca_certs())
    assert encryption.authorities.count(b"BEGIN CERTIFICATE") >= system + 1
