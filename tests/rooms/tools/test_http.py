"""http_get against real servers on this machine: what it gives, and that nothing gets round the address rule."""

import asyncio
import datetime
import gzip
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from beforehand.adapters.files import DiskWorkspace
from beforehand.adapters.tools.addresses import AllowedHosts
from beforehand.adapters.tools.http import MAX_BODY_BYTES, HttpGet
from beforehand.model.errors import Fault
from beforehand.ports.tool import ToolContext

Pages = dict[str, Callable[[asyncio.StreamWriter], None]]


def page(body: bytes | str, status: str = "200 OK", **headers: str) -> Callable[[asyncio.StreamWriter], None]:
    content = body.encode() if isinstance(body, str) else body

    def write(writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(content)}", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)

    return write


class Site:
    """A small server that remembers what it was asked."""

    def __init__(self) -> None:
        self.pages: Pages = {}
        self.asked: list[tuple[str, str]] = []
        self.port = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            path = head[0].split(" ")[1]
            host = next(line[6:] for line in head if line.lower().startswith("host: "))
            self.asked.append((host, path))
            if answer := self.pages.get(path):
                answer(writer)
                await writer.drain()
            else:
                await reader.read()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"


@asynccontextmanager
async def serving(host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    site = Site()
    server = await asyncio.start_server(site.handle, host, 0, ssl=tls)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serving() as running:
        yield running


def names(**known: str | list[str]) -> Callable[[str, int], Any]:
    """A resolver that knows these names (with `_` for `.`); addresses resolve to themselves."""
    table = {name.replace("_", "."): value for name, value in known.items()}

    async def resolve(host: str, port: int) -> list[str]:
        found = table.get(host, host)
        return [found] if isinstance(found, str) else found

    return resolve


@pytest.fixture
def get(tmp_path: Path, site: Site) -> Callable[..., Any]:
    """Fetch with the given tool, else with one that may reach the site by its address."""

    async def fetch(url: str, tool: HttpGet | None = None) -> Any:
        tool = tool or HttpGet([f"127.0.0.1:{site.port}"], resolver=names())
        return await tool.run({"url": url}, ToolContext("k", DiskWorkspace(tmp_path)))

    return fetch


async def test_text_and_json(site: Site, get: Callable[..., Any]) -> None:
    site.pages = {
        "/t?q=1": page("höllo", Content_Type="text/plain; charset=utf-8"),
        "/j": page('{"a": [1, 2]}', Content_Type="application/json"),
        "/latin": page("ä".encode("latin-1"), Content_Type="text/plain; charset=latin-1"),
        "/odd": page(b"\xff ok", Content_Type="text/plain; charset=no-such-thing"),
        "/zip": page(gzip.compress(b"zipped"), Content_Encoding="gzip"),
        "/empty": page("", "204 No Content"),
    }
    assert await get(site.url("/t?q=1")) == {"status": 200, "contentType": "text/plain; charset=utf-8", "text": "höllo"}
    assert (await get(site.url("/j")))["json"] == {"a": [1, 2]}
    assert (await get(site.url("/latin")))["text"] == "ä"
    assert (await get(site.url("/odd")))["text"] == "\ufffd ok"
    assert (await get(site.url("/zip")))["text"] == "zipped"
    assert (await get(site.url("/empty"))) == {"status": 204, "contentType": "", "text": ""}


@pytest.mark.parametrize("body", ["NaN", '{"a": Infinity}', '"\\ud800"', "[" * 100_000, "9" * 5000, "{"])
async def test_what_cannot_be_kept_as_json_is_only_text(site: Site, get: Callable[..., Any], body: str) -> None:
    site.pages = {"/": page(body, Content_Type="application/json")}
    value = await get(site.url())
    assert value["text"] == body
    assert "json" not in value


@pytest.mark.parametrize(
    ("status", "transient"), [(400, False), (404, False), (410, False), (429, True), (500, True), (503, True)]
)
async def test_refusals_of_the_server(site: Site, get: Callable[..., Any], status: int, transient: bool) -> None:
    site.pages = {"/": page("no", f"{status} No")}
    with pytest.raises(Fault, match=f"answered {status}") as caught:
        await get(site.url())
    assert caught.value.transient is transient


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://127.1:{port}/",
        "http://2130706433:{port}/",
        "http://0x7f000001:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://0.0.0.0:{port}/",
        "http://[::1]:{port}/",
        "http://user@127.0.0.1:{port}/",
    ],
)
async def test_addresses_of_this_machine_are_refused_however_written(
    site: Site, get: Callable[..., Any], url: str
) -> None:
    with pytest.raises(Fault) as caught:
        await get(url.format(port=site.port), HttpGet())
    assert caught.value.code in ("http.refused_address", "http.bad_url")
    assert not caught.value.transient
    assert site.asked == []


async def test_the_refusal_says_what_to_set(site: Site, get: Callable[..., Any]) -> None:
    with pytest.raises(Fault) as caught:
        await get(site.url(), HttpGet(["127.0.0.1:1", "other"]))
    assert caught.value.says == f"http_get refuses {site.url()}: 127.0.0.1 is not a public address."
    assert f"127.0.0.1:{site.port} in BEFOREHAND_HTTP_ALLOW" in caught.value.hint
    with pytest.raises(Fault) as caught:
        await get("http://[::1]:81/", HttpGet())
    assert "name [::1]:81 in BEFOREHAND_HTTP_ALLOW" in caught.value.hint
    assert AllowedHosts(["[::1]:81"]).admits("::1", 81)


async def test_a_named_host_is_asked_by_its_name(site: Site, get: Callable[..., Any]) -> None:
    site.pages = {"/": page("hello")}
    tool = HttpGet(["pages.test"], resolver=names(pages_test="127.0.0.1"))
    assert (await get(site.url(host="pages.test"), tool))["text"] == "hello"
    assert site.asked == [(f"pages.test:{site.port}", "/")]


async def test_a_name_with_one_private_address_is_refused(site: Site, get: Callable[..., Any]) -> None:
    tool = HttpGet(resolver=names(mixed_test=["93.184.216.34", "127.0.0.1"]))
    with pytest.raises(Fault, match=r"mixed\.test is at 127\.0\.0\.1"):
        await get(site.url(host="mixed.test"), tool)
    assert site.asked == []


async def test_redirects_are_followed_and_judged_one_by_one(site: Site, get: Callable[..., Any]) -> None:
    site.pages = {
        "/a": page("", "302 Found", Location="b"),
        "/b": page("", "308 Moved", Location="/c#part"),
        "/c": page("there"),
        "/out": page("", "302 Found", Location=f"http://inner.test:{site.port}/c"),
        "/metadata": page("", "302 Found", Location="//169.254.169.254/latest"),
        "/file": page("", "302 Found", Location="file:///etc/passwd"),
        "/bad": page("", "302 Found", Location="http://[broken"),
        "/plain": page("no location", "302 Found"),
        "/loop": page("", "302 Found", Location="/loop"),
    }
    assert (await get(site.url("/a")))["text"] == "there"
    assert (await get(site.url("/plain")))["status"] == 302
    tool = HttpGet([f"127.0.0.1:{site.port}"], resolver=names(inner_test="127.0.0.1"))
    for path, code in {
        "/out": "http.refused_address",
        "/metadata": "http.refused_address",
        "/file": "http.bad_url",
        "/bad": "http.bad_url",
    }.items():
        with pytest.raises(Fault) as caught:
            await get(site.url(path), tool)
        assert caught.value.code == code
    site.asked.clear()
    with pytest.raises(Fault, match="5 redirects"):
        await get(site.url("/loop"))
    assert len(site.asked) == 6


async def test_a_name_that_changes_its_address_is_connected_where_it_was_judged(get: Callable[..., Any]) -> None:
    """The first answer is public, every later one is this machine: the connection goes to the first."""
    answers = [["93.184.216.34"], ["127.0.0.1"]]
    connected: list[tuple[str, str, str]] = []

    async def resolver(host: str, port: int) -> list[str]:
        return answers.pop(0)

    def answer(request: httpx2.Request) -> httpx2.Response:
        connected.append((request.url.host, request.headers["host"], request.extensions["sni_hostname"]))
        return httpx2.Response(302, headers={"Location": "/again"})

    tool = HttpGet(resolver=resolver, transport=lambda: httpx2.MockTransport(answer))
    with pytest.raises(Fault, match=r"rebind\.test is at 127\.0\.0\.1"):
        await get("https://rebind.test/", tool)
    assert connected == [("93.184.216.34", "rebind.test", "rebind.test")]


async def test_the_next_address_is_tried_when_one_does_not_take_the_connection(
    get: Callable[..., Any], site: Site
) -> None:
    site.pages = {"/": page("second")}
    tool = HttpGet(["two.test"], resolver=names(two_test=["127.0.0.9", "127.0.0.1"]))
    assert (await get(site.url(host="two.test"), tool))["text"] == "second"


async def test_ipv6(get: Callable[..., Any]) -> None:
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6 loopback")
    async with serving("::1") as site:
        site.pages = {"/": page("six")}
        assert (await get(site.url(host="[::1]"), HttpGet(["::1"])))["text"] == "six"
        assert site.asked == [(f"[::1]:{site.port}", "/")]


async def test_nobody_there_no_such_host_and_silence_are_transient(site: Site, get: Callable[..., Any]) -> None:
    async def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        for url, tool in (
            (f"http://127.0.0.1:{port}/", HttpGet(["127.0.0.1"], resolver=names())),
            ("http://gone.test/", HttpGet(resolver=unknown)),
            (site.url("/silence"), HttpGet(["127.0.0.1"], resolver=names(), timeout_s=0.2)),
        ):
            with pytest.raises(Fault) as caught:
                await get(url, tool)
            assert caught.value.transient
            assert caught.value.says.endswith(".")


@pytest.mark.parametrize(
    "url", ["", "example.org", "ftp://example.org/", "http://", "http://a b/", "http://\0/", 5, None]
)
async def test_what_is_no_web_address(get: Callable[..., Any], url: Any) -> None:
    with pytest.raises(Fault) as caught:
        await get(url)
    assert caught.value.code == "http.bad_url"


async def test_too_much_is_not_read(site: Site, get: Callable[..., Any]) -> None:
    site.pages = {
        "/": page(b"x" * (MAX_BODY_BYTES + 1)),
        "/bomb": page(gzip.compress(b"0" * (MAX_BODY_BYTES + 1)), Content_Encoding="gzip"),
    }
    for path in site.pages:
        with pytest.raises(Fault, match="10 MiB"):
            await get(site.url(path))


async def test_passwords_stay_out_of_sentences(site: Site, get: Callable[..., Any]) -> None:
    with pytest.raises(Fault) as caught:
        await get(f"http://user:secret@127.0.0.1:{site.port}/", HttpGet())
    assert "secret" not in caught.value.says


async def test_certificates_are_checked_for_the_name_not_the_address(tmp_path: Path, get: Callable[..., Any]) -> None:
    certificate, key = self_signed("pages.test", tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    trust = ssl.create_default_context(cafile=str(certificate))
    async with serving(tls=tls) as site:
        site.pages = {"/": page("safe")}

        def tool(host: str, verify: ssl.SSLContext | bool) -> HttpGet:
            return HttpGet(
                [host],
                resolver=names(pages_test="127.0.0.1", other_test="127.0.0.1"),
                transport=lambda: httpx2.AsyncHTTPTransport(verify=verify),
            )

        assert (await get(f"https://pages.test:{site.port}/", tool("pages.test", trust)))["text"] == "safe"
        for host, verify in (("other.test", trust), ("pages.test", True)):
            with pytest.raises(Fault, match="certificate"):
                await get(f"https://{host}:{site.port}/", tool(host, verify))


def self_signed(name: str, folder: Path) -> tuple[Path, Path]:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    alternatives = x509.SubjectAlternativeName([x509.DNSName(name), x509.IPAddress(ipaddress.ip_address("10.0.0.1"))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(alternatives, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return files
