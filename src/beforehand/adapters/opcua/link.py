"""The line to an OPC UA server: connected when it is first needed, watched, and connected anew after it was cut.

Every question has its time. One that is not answered ends the session: the next one is asked in a new session, not
before the back-off is over. A subscription to the cell's state wakes whoever waits for a change; the values themselves
are always read anew, so that a lost notification costs a moment and never the truth.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from beforehand.adapters.opcua.model import (
    ALL_METHODS,
    NAMESPACES,
    NUMBER,
    STATE_TYPES,
    TEXT,
    WHOLE,
    PlcState,
    read_state,
    wrong_model,
)
from beforehand.adapters.opcua.nodes import find_nodes
from beforehand.adapters.opcua.options import Access
from beforehand.adapters.opcua.trust import refuse_stranger
from beforehand.model.errors import Fault, UnavailableError
from beforehand.ports.tasks import job, lasting

T = TypeVar("T")
APPLICATION = "urn:beforehand"
"""Who we are by our certificate, too; many servers compare."""
ANSWER_S = 4.0
CONNECT_S = 8.0
CLOSE_S = 2.0
BEAT_S = 1.0
PUBLISH_MS = 50
BACK_OFF_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


_DENIED = ("AccessDenied", "NotExecutable", "NotReadable")


class LinkDownError(Fault):
    """The controller does not answer now. Whether it heard the question is not known."""

    code = "cell.link"

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"The controller at {url} does not answer: {why}",
            transient=True,
            untouched=True,
            hint="Look whether it runs and can be reached; Beforehand goes on trying.",
        )


@dataclass(slots=True)
class Session:
    """What is known of one connection: where the nodes are on this server."""

    client: Any
    cell: Any
    methods: dict[str, Any]
    state: dict[str, Any]
    execute: tuple[str, ...]
    """What Execute takes, in the server's order."""
    tasks: list["asyncio.Task[None]"] = field(default_factory=list)


class Link:
    """`beat` is called every second of a session, to keep what the controller gives only to those who are there."""

    def __init__(self, access: Callable[[], Access], url: str, beat: Callable[[], Awaitable[None]]) -> None:
        self.url = url
        self._access = access
        self._beat = beat
        self._session: Session | None = None
        self.closed = False
        self.can_hold = False
        """Whether the controller can stand still in the middle of a command, as the last session knew it."""
        self._turn = asyncio.Lock()
        self._failures = 0
        self._not_before = 0.0
        self._fault: Fault | None = None
        self._changes = asyncio.Event()
        self._closing: set[asyncio.Task[None]] = set()

    # -- asking --------------------------------------------------------------------------------------------------

    async def call(self, method: str, *values: Any) -> list[Any]:
        """Call a method of the cell; LinkDownError where no answer comes."""
        return await self._call(method, dict(zip(ALL_METHODS[method].takes, values, strict=True)))

    async def execute(self, client: str, command: Mapping[str, Any]) -> list[Any]:
        """Call Execute with as much of the command as this server takes."""
        return await self._call("Execute", {"client": client, **command})

    async def _call(self, method: str, values: Mapping[str, Any]) -> list[Any]:
        async def ask(session: Session) -> list[Any]:
            from asyncua import ua

            names = session.execute if method == "Execute" else takes
            request = ua.CallMethodRequest(
                ObjectId=session.cell.nodeid,
                MethodId=session.methods[method].nodeid,
                InputArguments=[_variant(values[name], takes[name]) for name in names],
            )
            [result] = await session.client.uaclient.session.call([request])
            result.StatusCode.check()
            return [output.Value for output in result.OutputArguments or ()]

        takes = ALL_METHODS[method].takes
        return await self._ask(ask, f"call {method}")

    async def state(self) -> PlcState:
        """The cell's state, read now."""

        async def ask(session: Session) -> list[Any]:
            nodes = list(session.state.values())
            return list(await session.client.read_values(nodes))

        values = await self._ask(ask, "read its state")
        return read_state(dict(zip(STATE_TYPES, values, strict=True)), self.url)

    async def change(self, seconds: float) -> None:
        """Return when the cell's state has changed, the line was cut or came back, or after so many seconds."""
        self._changes.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changes.wait()

    async def until_retry(self, at_most_s: float = BACK_OFF_S[-1]) -> None:
        """Wait until the next attempt to connect is due, or for so long."""
        await asyncio.sleep(max(min(self._not_before - _now(), at_most_s), 0.01))

    async def _ask(self, question: Callable[[Session], Awaitable[T]], what: str) -> T:
        session = await self._connected()
        try:
            return await self._within(ANSWER_S, question(session))
        except _Refusal as refusal:
            if any(word in str(refusal) for word in _DENIED):
                raise Fault(
                    f"The controller at {self.url} does not let us {what}: {refusal}.",
                    code="cell.refused",
                    untouched=True,
                    hint="Give the user of the scene's controller the right to it there.",
                ) from None
            raise wrong_model(self.url, f"asked to {what} it answers {refusal}.") from None
        except _LostError as lost:
            self._drop(session)
            raise LinkDownError(self.url, str(lost)) from None

    async def _within(self, seconds: float, answer: Awaitable[T]) -> T:
        """The answer. asyncua tells a cut in many ways, being cancelled among them; here they are one."""
        from asyncua import ua

        task = asyncio.current_task()
        assert task is not None
        before = task.cancelling()  # whoever is being ended may still ask how things are
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except asyncio.CancelledError:
            if task.cancelling() > before:
                raise
            raise _LostError("The connection was cut.") from None
        except TimeoutError:
            raise _LostError(f"No answer came within {seconds:g} s.") from None
        except ua.UaStatusCodeError as error:
            if _is_about_line(error):
                raise _LostError(f"{_named(error)}.") from None
            raise _Refusal(_named(error)) from None
        except (ua.UaError, OSError, EOFError, RuntimeError) as error:
            raise _LostError(f"{_named(error)}.") from None

    # -- the session ---------------------------------------------------------------------------------------------

    async def _connected(self) -> Session:
        async with self._turn:
            if self._session is not None:
                return self._session
            if self.closed:
                raise LinkDownError(self.url, "It was let go.")
            if self._fault is not None and _now() < self._not_before:
                raise self._fault
            try:
                self._session = await self._connect()
            except Fault as fault:
                self._back_off(fault)
                raise
            self._failures, self._not_before = 0, 0.0
            self._changes.set()
            return self._session

    async def _connect(self) -> Session:
        access = self._access()
        client = new_client(access)
        try:
            await self._within(CONNECT_S, secured(client, access))
            await self._within(CONNECT_S, client.connect())
            session = await self._find_nodes(client)
            await self._subscribe(session)
        except _Refusal as refusal:
            await close_client(client)
            raise Fault(
                f"The controller at {self.url} refuses: {refusal}.",
                code="cell.refused",
                untouched=True,
                hint="Look at user, password and certificates of the scene's controller.",
            ) from None
        except _LostError as lost:
            await close_client(client)
            raise LinkDownError(self.url, str(lost)) from None
        except BaseException:
            await close_client(client)
            raise
        watching = lasting(lambda: self._watch(session), f"the watch over {self.url}", may_end=True)
        session.tasks.append(watching)
        return session

    async def _find_nodes(self, client: Any) -> Session:
        """Every node of the model by its path; a Fault names all that are missing."""

        async def ask(question: Awaitable[Any]) -> Any:
            try:
                return await self._within(ANSWER_S, question)
            except _Refusal:
                return None

        found = await find_nodes(client, ask)
        if found is None:
            raise wrong_model(self.url, f"it has no namespace {' or '.join(NAMESPACES.values())}.")
        if found.missing:
            raise wrong_model(self.url, f"{', '.join(found.missing)} missing.")
        self.can_hold = found.can_hold
        return Session(client, found.cell, found.methods, found.state, found.execute)

    async def _subscribe(self, session: Session) -> None:
        subscription = await self._within(
            ANSWER_S, session.client.create_subscription(PUBLISH_MS, _Wake(self._changes))
        )
        await self._within(ANSWER_S, subscription.subscribe_data_change(list(session.state.values())))

    async def _watch(self, session: Session) -> None:
        """Find out that the line is cut also while nobody asks anything."""
        while self._session is session or self._session is None:
            await asyncio.sleep(BEAT_S)
            if self._session is session:
                with suppress(Fault):
                    await self._beat()

    def _back_off(self, fault: Fault) -> None:
        self._fault = fault
        self._not_before = _now() + BACK_OFF_S[min(self._failures, len(BACK_OFF_S) - 1)]
        self._failures += 1

    def _drop(self, session: Session) -> None:
        if self._session is session:
            self._session = None
            self._changes.set()
            closing = job(_end(session), f"closing a session with {self.url}")
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        self.closed = True
        session, self._session = self._session, None
        if session is not None:
            await _end(session)
        if self._closing:
            await asyncio.wait(self._closing, timeout=CLOSE_S)


class _LostError(Exception):
    """No answer: the line, the server or the time."""


class _Refusal(Exception):  # noqa: N818  an answer, if not the one that was wanted
    """The server answered that it will not."""


class _Wake:
    """What asyncua tells of changes; any of them wakes who waits."""

    def __init__(self, event: asyncio.Event) -> None:
        self._event = event

    def datachange_notification(self, node: Any, value: Any, data: Any) -> None:
        self._event.set()


def library() -> Any:
    """asyncua, loaded when it is first needed; UnavailableError where it is not installed."""
    try:
        import asyncua
    except ImportError:
        raise UnavailableError(
            "The library for OPC UA is not installed.",
            code="cell.no_opcua",
            hint="Install it: pip install 'asyncua>=2.1', or in the checkout: pip install '.[opcua]'.",
        ) from None
    logging.getLogger("asyncua").setLevel(logging.CRITICAL)  # what it has to say, we say ourselves
    return asyncua


def new_client(access: Access) -> Any:
    client = library().Client(access.url, timeout=ANSWER_S)
    client.name = client.description = "Beforehand"
    client.application_uri = APPLICATION
    client.session_timeout = 60_000
    if access.user is not None:
        client.set_user(access.user)
        client.set_password(access.password or "")
    return client


async def secured(client: Any, access: Access) -> None:
    """Sign and encrypt, where we have a certificate. A Fault where its files cannot be used, or the server is not the
    one that is believed."""
    if not (access.certificate and access.private_key):
        return
    _refuse_unreadable(access.certificate, access.private_key)
    await client.set_security_string(f"Basic256Sha256,SignAndEncrypt,{access.certificate},{access.private_key}")
    if access.server_certificate:
        refuse_stranger(access.url, client.security_policy.peer_certificate, access.server_certificate)


def _refuse_unreadable(*files: str) -> None:
    for file in files:
        if not Path(file).is_file():
            says = f"The file {file} for the line to the controller cannot be read."
            raise Fault(says, code="cell.certificate", untouched=True)


async def _end(session: Session) -> None:
    for task in session.tasks:
        if task is not asyncio.current_task():
            task.cancel()
    await close_client(session.client)


async def close_client(client: Any) -> None:
    """Let go of a connection, whatever state it is in."""
    with suppress(Exception):
        async with asyncio.timeout(CLOSE_S):
            await client.disconnect()
    with suppress(Exception):
        client.disconnect_socket()


def _variant(value: Any, kind: str) -> Any:
    from asyncua import ua

    kinds = {TEXT: ua.VariantType.String, NUMBER: ua.VariantType.Double, WHOLE: ua.VariantType.Int64}
    return ua.Variant(value, kinds[kind])


def _named(error: BaseException) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "nothing listens on this port"
    return f"{type(error).__name__}: {error}"[:200].rstrip(". \n")


def _is_about_line(error: Any) -> bool:
    """Whether a status code speaks of the connection, and not of what was asked."""
    name = type(error).__name__
    words = ("Connection", "Session", "SecureChannel", "Timeout", "Communication", "Server", "Tcp", "Shutdown")
    return any(word in name for word in words)


def _now() -> float:
    return asyncio.get_running_loop().time()
