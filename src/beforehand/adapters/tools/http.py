"""http_get: fetch a page of the open internet.

Each host is resolved here, its addresses are judged, and the connection goes to the very address that was judged, so
that neither a name that changes its address nor a redirect gets round the rule. Proxies set in the environment are not
used, since they would connect in our place.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from beforehand.adapters.tools.addresses import AllowedHosts, Resolve, is_public, resolve
from beforehand.adapters.tools.arguments import dependence, strict
from beforehand.model.errors import Fault
from beforehand.ports.tool import Preview, Tool, ToolContext, ToolSpec, Unknown

if TYPE_CHECKING:
    import ssl

    import httpx2

MAX_BODY_BYTES = 10 * 1024 * 1024
MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HOST = re.compile(r"[A-Za-z0-9_.-]{1,253}|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9_.-]+)?")
"""A name, or an IPv6 address; anything else is not sent to the resolver."""


class HttpGet(Tool):
    spec = ToolSpec(
        name="http_get",
        description="Fetch a web address with GET. Loopback and private addresses are refused unless their host is "
        "named in the setting http_allow.",
        input_schema=strict(
            {"url": {"type": "string", "minLength": 1, "description": "An http:// or https:// address."}}
        ),
        effect="pure",
        output="An object with status, contentType and text, and json when the text is JSON.",
        output_schema={
            "type": "object",
            "properties": {
                "status": {"type": "integer"},
                "contentType": {"type": "string"},
                "text": {"type": "string"},
                "json": {},
            },
            "required": ["status", "contentType", "text"],
        },
        estimate_s=1.0,
    )

    def __init__(
        self,
        allow: Iterable[str] = (),
        *,
        resolver: Resolve = resolve,
        transport: "Callable[[], httpx2.AsyncBaseTransport] | None" = None,
        timeout_s: float = 30.0,
    ) -> None:
        self._allowed = AllowedHosts(allow)
        self._transport = transport
        self._tls: ssl.SSLContext | None = None
        self._resolve = resolver
        self._timeout_s = timeout_s

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        # Loading the library and the certificates takes a while, which nobody else should wait for.
        opened = await asyncio.to_thread(self._new_client)
        import httpx2

        try:
            async with asyncio.timeout(self._timeout_s), opened as client:
                return await self._follow(client, _read_url(args["url"]), context)
        except (TimeoutError, httpx2.TimeoutException):
            raise _fault(
                f"{_short(args['url'])} did not answer within {self._timeout_s:g} s.", "timeout", True
            ) from None
        except httpx2.DecodingError as error:
            raise _fault(f"The answer of {_short(args['url'])} cannot be decoded: {error}.", "decoding") from None
        except httpx2.TransportError as error:
            said = str(error) or type(error).__name__
            raise _fault(f"{_short(args['url'])} cannot be fetched: {said}.", "network", True) from None

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        url, seconds, value = args.get("url"), self.spec.estimate_s, Unknown(f"what {args.get('url')} answers")
        if depends := dependence(args):
            return Preview(f"Fetches a page; which one depends on {depends}.", seconds, Unknown("what http_get gives"))
        try:
            _read_url(url)
        except Fault as fault:
            return Preview(f"http_get would fail: {fault.says}", seconds, value, problems=(fault.says,))
        return Preview(f"Fetches {_short(url)}.", seconds, value)

    def _new_client(self) -> "httpx2.AsyncClient":
        import httpx2

        if self._tls is None:
            self._tls = httpx2.create_ssl_context()
        return httpx2.AsyncClient(
            verify=self._tls,
            trust_env=False,
            follow_redirects=False,
            timeout=self._timeout_s,
            transport=self._transport() if self._transport else None,
        )

    async def _follow(self, client: "httpx2.AsyncClient", url: "httpx2.URL", context: ToolContext) -> dict[str, Any]:
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._get(client, url)
            try:
                location = response.headers.get("location")
                if response.status_code not in _REDIRECTS or not location:
                    return await _answer(url, response, context)
                url = _read_url(str(_joined(url, location)))
                context.log(f"Redirected to {_short(url)}.")
            finally:
                await response.aclose()
        raise _fault(f"{_short(url)} was reached after {MAX_REDIRECTS} redirects and redirects again.", "redirects")

    async def _get(self, client: "httpx2.AsyncClient", url: "httpx2.URL") -> "httpx2.Response":
        """Ask one of the host's judged addresses, the first that takes the connection."""
        import httpx2

        failure: httpx2.TransportError | None = None
        for address in await self._addresses(url):
            request = client.build_request(
                "GET",
                url.copy_with(host=address),
                headers={"Host": url.netloc.decode("ascii").rpartition("@")[2], "User-Agent": "beforehand"},
                extensions={"sni_hostname": url.raw_host.decode("ascii")},
            )
            try:
                return await client.send(request, stream=True)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
        raise failure or httpx2.ConnectError("the host has no address")

    async def _addresses(self, url: "httpx2.URL") -> list[str]:
        host, port = url.host, url.port or (443 if url.scheme == "https" else 80)
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise _fault(f"The host {host[:200]} cannot be found: {error}.", "no_host", True) from None
        if not self._allowed.admits(host, port):
            for address in addresses:
                if not is_public(address):
                    where = f"{host} is not" if host == address else f"{host} is at {address}, which is not"
                    name = f"[{host}]" if ":" in host else host
                    raise _fault(
                        f"http_get refuses {_short(url)}: {where} a public address.",
                        "refused_address",
                        hint=f"If it is meant to be used, name {name}:{port} in BEFOREHAND_HTTP_ALLOW.",
                    )
        return addresses


def _fault(says: str, code: str, transient: bool = False, hint: str = "") -> Fault:
    return Fault(says, code=f"http.{code}", transient=transient, hint=hint, untouched=True)


def _short(url: object) -> str:
    """The address for a sentence, without a password and not too long."""
    text = str(url)
    head, at, tail = text.partition("@")
    if at and "/" not in head.partition("//")[2]:
        text = f"{head.partition('//')[0]}//{tail}"
    return text if len(text) <= 200 else text[:200] + "…"


def _read_url(url: object) -> "httpx2.URL":
    import httpx2

    if not isinstance(url, str):
        raise _fault(f"A web address must be text, not {type(url).__name__}.", "bad_url")
    try:
        read = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise _fault(f"{_short(url)!r} is not a web address: {error}.", "bad_url") from None
    if read.scheme not in ("http", "https") or not _HOST.fullmatch(read.raw_host.decode("ascii", "replace")):
        raise _fault(f"{_short(url)!r} is not an http:// or https:// address with a host.", "bad_url")
    return read


def _joined(url: "httpx2.URL", location: str) -> "httpx2.URL":
    import httpx2

    try:
        return url.join(location)
    except (httpx2.InvalidURL, ValueError) as error:
        raise _fault(f"{_short(url)} redirects to something that is not an address: {error}.", "bad_url") from None


async def _answer(url: "httpx2.URL", response: "httpx2.Response", context: ToolContext) -> dict[str, Any]:
    status = response.status_code
    if status == 429 or status >= 500:
        raise _fault(f"{_short(url)} answered {status}; trying again later may help.", f"status_{status}", True)
    if status >= 400:
        raise _fault(f"{_short(url)} answered {status}.", f"status_{status}", hint="Check the address.")
    body = await _body(url, response, context)
    text = _decoded(body, response.charset_encoding)
    value: dict[str, Any] = {"status": status, "contentType": response.headers.get("content-type", ""), "text": text}
    try:
        value["json"] = _strict_json(text)
    except (ValueError, RecursionError):
        return value
    return value


async def _body(url: "httpx2.URL", response: "httpx2.Response", context: ToolContext) -> bytes:
    body = bytearray()
    declared = response.headers.get("content-length", "")
    total = int(declared) if declared.isdigit() else 0
    async for chunk in response.aiter_bytes(65_536):
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise _fault(f"{_short(url)} answers with more than {MAX_BODY_BYTES} bytes (10 MiB).", "too_large")
        if total:
            context.progress(min(100.0, 100 * len(body) / total))
    return bytes(body)


def _decoded(body: bytes, charset: str | None) -> str:
    """Text in the charset the server names, else UTF-8; what does not fit becomes replacement characters."""
    try:
        return body.decode(charset or "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def _strict_json(text: str) -> Any:
    """JSON that can be kept: no NaN or Infinity, no broken Unicode."""

    def refuse(name: str) -> Any:
        raise ValueError(name)

    value = json.loads(text, parse_constant=refuse)
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    return value
