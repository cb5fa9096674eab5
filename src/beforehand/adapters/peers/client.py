"""What a server asks of another one of the same installation: a call handed on as it came, and live frames."""

import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from typing import NamedTuple

import httpx2

CONNECT_S = 1.0
ANSWER_S = 120.0
SILENCE_S = 45.0
"""A stream of frames is never silent for so long: the server sends its time when it has nothing else."""

Headers = Sequence[tuple[bytes, bytes]]


class Call(NamedTuple):
    """A call as it came in: the target is its path with the query."""

    method: str
    target: str
    headers: Headers
    body: bytes


class Answer(NamedTuple):
    status: int
    headers: Headers
    body: bytes


class GoneError(Exception):
    """The other server did not answer; `heard` says whether it may have got the call."""

    def __init__(self, heard: bool) -> None:
        super().__init__("The other server does not answer.")
        self.heard = heard


class Peers:
    def __init__(self, believed: Callable[[str], ssl.SSLContext]) -> None:
        """`believed` says which certificates count for a URL by https."""
        self._believed = believed
        self._clients: dict[str, httpx2.AsyncClient] = {}

    def _client(self, url: str) -> httpx2.AsyncClient:
        if url not in self._clients:
            # A proxy set for the outside world has no business between two servers of one installation.
            self._clients[url] = httpx2.AsyncClient(
                base_url=url.rstrip("/"),
                timeout=httpx2.Timeout(ANSWER_S, connect=CONNECT_S),
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
                trust_env=False,
                follow_redirects=False,
                verify=self._believed(url) if url.startswith("https:") else True,
            )
        return self._clients[url]

    async def ask(self, url: str, call: Call) -> Answer:
        """The answer of the server at `url`, as it gave it; GoneError where none came."""
        http = self._client(url)
        request = http.build_request(call.method, call.target, headers=list(call.headers), content=call.body)
        try:
            answer = await http.send(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            raise GoneError(heard=False) from error
        except httpx2.TransportError as error:
            raise GoneError(heard=True) from error
        return Answer(answer.status_code, answer.headers.raw, answer.content)

    async def frames(self, url: str, target: str, headers: dict[str, str]) -> AsyncIterator[bytes]:
        """Server-sent events from there, each as it is sent on; they end when the other server does."""
        timeout = httpx2.Timeout(SILENCE_S, connect=CONNECT_S)
        try:
            async with self._client(url).stream("GET", target, headers=headers, timeout=timeout) as answer:
                if answer.status_code == 200:
                    async for line in answer.aiter_lines():
                        if line.startswith("data:"):
                            yield line.encode() + b"\n\n"
        except httpx2.TransportError:
            return

    async def close(self) -> None:
        for http in self._clients.values():
            await http.aclose()
