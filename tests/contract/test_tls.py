"""Encrypted lines to the servers that others run: a graph over Bolt, and Postgres."""

import asyncio
import ssl
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.certificates import Authority
from tests.contract.test_store_postgres import opened as opened_store

from beforehand.adapters.graph.bolt import BoltGraph
from beforehand.app.examples import find_document
from beforehand.app.settings import load_settings
from beforehand.app.stores import check_store
from beforehand.app.tls import trusting
from beforehand.crafts.cell.core.scene import read_cell
from beforehand.crafts.cell.graphs import open_graph
from beforehand.model.errors import UnavailableError


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@asynccontextmanager
async def encrypted(port: int, cert: Path, key: Path):
    """A line that is encrypted to the caller, and plain to the server behind it; its port."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, to_behind = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pass_on(reader, to_behind), pass_on(behind, writer))

    server = await asyncio.start_server(relay, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def test_a_graph_is_read_over_an_encrypted_line_by_those_it_certifies_for(server, authority, tmp_path):
    scene = read_cell(find_document("weld_star"))
    async with encrypted(server.port, *authority.issue("127.0.0.1")) as port:
        flags = {
            "graph": f"bolt+s://127.0.0.1:{port}/cells",
            "graph_user": "root",
            "graph_password": server.password,
            "home": str(tmp_path),
        }
        for known in (True, False):
            trusted = {"tls_ca": str(authority.file)} if known else {}
            graph = open_graph(load_settings({**flags, **trusted}, {}, tmp_path / "none.toml"))
            assert isinstance(graph, BoltGraph)
            try:
                if known:
                    await graph.write(scene)
                    assert await graph.names() == ("weld_star",)
                else:
                    with pytest.raises(UnavailableError, match="shows a certificate that is not believed") as refused:
                        await graph.names()
                    assert "BEFOREHAND_TLS_CA" in refused.value.hint
            finally:
                await graph.close()


async def test_a_log_in_postgres_is_kept_over_an_encrypted_line(durable_postgres, authority, tmp_path):
    url = durable_postgres.new_database()
    assert any("not encrypted" in found.says for found in await asyncio.to_thread(check_store, url))
    cert, key = authority.issue("127.0.0.1")
    durable_postgres.encrypt(cert.read_text(), key.read_text())
    stranger = Authority(tmp_path, "Other CA").file
    strict = f"{url}?sslmode=verify-full&sslrootcert={authority.file}"
    store = await opened_store(strict)
    await store.close()
    assert any(", encrypted" in found.says for found in await asyncio.to_thread(check_store, strict))
    with pytest.raises(UnavailableError, match="cannot be reached with the encryption") as refused:
        await opened_store(f"{url}?sslmode=verify-full&sslrootcert={stranger}")
    assert "sslrootcert" in refused.value.hint


def test_whom_to_believe_is_checked_by_name(authority, tmp_path):
    context = trusting(load_settings({"tls_ca": str(authority.file)}, {}, tmp_path / "none.toml"))
    assert context.check_hostname
    assert context.verify_mode == ssl.CERT_REQUIRED
