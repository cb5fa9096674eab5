"""`beforehand agent list|show|end|take-over|resume|reset`: at the home's server, or here where none runs.

Where a command without a server leads the home, nothing can be asked of it; then the log says how things are.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from beforehand.cli.backend import Call, Document
from beforehand.cli.run_async import run_async
from beforehand.cli.screen import Output, line, print_json, print_out, print_table
from beforehand.crafts.agent.session_documents import SESSION_ROW, session_told
from beforehand.crafts.agent.session_face import BY, at_home, path_of
from beforehand.crafts.agent.session_verbs import end_session, take_session_over
from beforehand.crafts.agent.sessions import Sessions
from beforehand.model.errors import NotFoundError, NotLeadingError
from beforehand.model.words import counted

if TYPE_CHECKING:
    from beforehand.app.runtime import Runtime
    from beforehand.app.settings import Settings
    from beforehand.ports.store import Store


def list_open(settings: "Settings", *, everything: bool) -> list[Document]:
    from beforehand.app.stores import store_exists

    if not store_exists(settings.database):
        return []
    still_open = None if everything else True

    async def here(runtime: "Runtime") -> Any:
        return await runtime.service(Sessions).listed(open=still_open)

    async def in_log(store: "Store") -> list[Document]:
        return [await _told_now(store, row) for row in await store.rows(SESSION_ROW, open=still_open)]

    path = "/sessions" if everything else "/sessions?open=true"
    return list(_looked(settings, here, Call("GET", path), in_log))


def show(settings: "Settings", session_id: str) -> Document:
    _refuse_missing(settings, session_id)

    async def here(runtime: "Runtime") -> Any:
        return await runtime.service(Sessions).show(session_id)

    async def in_log(store: "Store") -> Document:
        row = await store.row(SESSION_ROW, session_id)
        if row is None:
            known = await store.rows(SESSION_ROW, limit=200)
            raise NotFoundError.unknown("session", session_id, [one["sessionId"] for one in known])
        return await _told_now(store, row)

    return dict(_looked(settings, here, Call("GET", path_of(session_id)), in_log))


def _looked(settings: "Settings", here: Any, call: Call, in_log: Any) -> Any:
    from beforehand.cli.read_home import read_home

    try:
        return run_async(at_home(settings, here, call))
    except NotLeadingError:
        return read_home(settings, in_log, [], of_crafts=True)


async def _told_now(store: "Store", row: Mapping[str, Any]) -> Document:
    from beforehand.app.clock import WallClock

    return await session_told(store, row, WallClock().now_ms())


def end_open(settings: "Settings", session_id: str) -> Document:
    _refuse_missing(settings, session_id)

    async def here(runtime: "Runtime") -> Any:
        return await end_session(runtime.service(Sessions), session_id, by=BY)

    return dict(run_async(at_home(settings, here, Call("POST", path_of(session_id, "/end")))))


def take_over(settings: "Settings", session_id: str) -> Document:
    async def here(runtime: "Runtime") -> Any:
        return await take_session_over(runtime.service(Sessions), session_id, by=BY)

    return dict(run_async(at_home(settings, here, Call("POST", path_of(session_id, "/take-over")))))


def resume(settings: "Settings", session_id: str, given: Mapping[str, Any]) -> Document:
    from beforehand.cli.asking import tell

    value = {name: limit for name, limit in given.items() if limit is not None}
    path = path_of(session_id, "/resume")
    unknown, driven = f"there is no session {session_id!r}", "nobody would steer the session on"
    return dict(tell(settings, "POST", path, value, unknown=unknown, driven=driven))


def reset(settings: "Settings", scene: str) -> Document:
    from beforehand.cli.run import refuse_missing

    refuse_missing(settings, f"so {scene!r} is as its scene begins")

    async def here(runtime: "Runtime") -> Any:
        return await runtime.service(Sessions).homes.reset(scene, BY)

    return dict(run_async(at_home(settings, here, Call("POST", f"/homes/{quote(scene, safe='')}/reset"))))


def _refuse_missing(settings: "Settings", session_id: str) -> None:
    from beforehand.cli.run import refuse_missing

    refuse_missing(settings, f"so there is no session {session_id!r}")


# -- shown -----------------------------------------------------------------------------------------------------------


def print_sessions(sessions: Sequence[Document], output: Output) -> None:
    if output is Output.JSON:
        print_json(list(sessions))
        return
    columns = ("session", "scene", "held by", "status", "since", "idle", "left")
    rows = [
        (
            one["sessionId"],
            one["scene"],
            line(one.get("heldBy", "nobody")),
            status_of(one),
            one["startedAt"],
            f"{one['idleS']:.0f} s" if "idleS" in one else "",
            _left(one),
        )
        for one in sessions
    ]
    print_table(columns, rows, nothing="No session holds a body.")


def status_of(session: Mapping[str, Any]) -> str:
    """Its status, and why nothing goes on where that is so."""
    if session["status"] != "open":
        return str(session["status"])
    if session.get("waitsFor"):
        return "waits for a person"
    return "open" if session.get("driven", True) else "open, driven by nobody"


def _left(session: Mapping[str, Any]) -> str:
    words = {"requests": "request", "tokens": "token", "steps": "command"}
    units = {"seconds": "{:.0f} s", "money": "{:.2f} US dollars"}
    found = session.get("budgetLeft", {})
    counts = [counted(int(found[name]), word) for name, word in words.items() if name in found]
    return ", ".join([*counts, *(unit.format(found[name]) for name, unit in units.items() if name in found)])


def print_session(session: Document, output: Output) -> None:
    if output is Output.JSON:
        print_json(session)
        return
    print_out(line(session["says"]))
    if session["status"] == "open":
        print_out(f"Held by {line(session['heldBy'])} since {session['startedAt']}: {status_of(session)}.")
    if _left(session):
        reckoned = " (tokens reckoned from bytes)" if session.get("used", {}).get("estimated") else ""
        print_out(f"Left: {_left(session)}{reckoned}.")
    print_out("", session["state"])
    if session.get("waitsFor"):
        print_out("", f"Answer: beforehand inbox show {session['waitsFor']}")
