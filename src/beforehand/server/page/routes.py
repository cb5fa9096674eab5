"""The page and its parts. It shows what the calls show; the buttons use the same calls as everybody."""

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, FastAPI, Query
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles

from beforehand import __version__
from beforehand.app.inbox import list_decisions
from beforehand.app.plans import get_plan, preview
from beforehand.app.runs import list_runs, run_document
from beforehand.app.runtime import Runtime
from beforehand.app.tokens import may
from beforehand.crafts.cell.page.cards import cells_list
from beforehand.crafts.fleet.page.floor import floors_list
from beforehand.server.callers import Caller, CallerDep, RuntimeDep
from beforehand.server.page.decisions import decisions_list
from beforehand.server.page.events import SHOWN, events_list
from beforehand.server.page.html import Html, Part, el
from beforehand.server.page.live import live_scenes
from beforehand.server.page.preview import preview_part
from beforehand.server.page.runs import runs_list

router = APIRouter(include_in_schema=False)
STATIC = Path(__file__).parent / "static"
OPEN_RUNS = 10
ENDED_RUNS = 5


def install(app: FastAPI) -> None:
    app.include_router(router)
    app.mount("/static", StaticFiles(directory=STATIC))


@router.api_route("/", methods=["GET", "HEAD"])
async def page(runtime: RuntimeDep, caller: CallerDep) -> HTMLResponse:
    return document("Now", await _now(runtime, caller), live=True, caller=caller)


@router.get("/page/now")
async def now(runtime: RuntimeDep, caller: CallerDep) -> HTMLResponse:
    """The live part alone, for the page to take over what has changed."""
    return HTMLResponse(await _now(runtime, caller))


@router.get("/page/preview/{plan_id}")
async def previewed(
    runtime: RuntimeDep, plan_id: str, version: Annotated[int | None, Query(ge=1)] = None
) -> HTMLResponse:
    return HTMLResponse(preview_part(await preview(runtime, await get_plan(runtime, plan_id, version))))


@router.api_route("/login", methods=["GET", "HEAD"])
async def login_page() -> HTMLResponse:
    form = el(
        "form",
        {"class": "card login", "id": "login"},
        el("h2", {}, "Log in"),
        el("p", {}, "This server asks for a token. ", el("code", {}, "beforehand token add"), " makes one."),
        el("label", {"for": "token"}, "Token"),
        el("input", {"id": "token", "name": "token", "type": "password", "autocomplete": "current-password"}),
        el("button", {"type": "submit", "class": "first"}, "Log in"),
        el("p", {"class": "said", "role": "alert"}),
    )
    return document("Log in", el("main", {"class": "alone"}, form), live=False)


async def _now(runtime: Runtime, caller: Caller) -> Html:
    seq = await runtime.store.last_seq()
    may_write = may(caller.role, "operator")
    decisions = await list_decisions(runtime)
    heads = await list_runs(runtime, open=True, limit=OPEN_RUNS) + await list_runs(
        runtime, open=False, limit=ENDED_RUNS
    )
    runs = [await run_document(runtime, head["runId"]) for head in heads]
    events = await runtime.store.events(after=max(0, seq - SHOWN), limit=SHOWN)
    live = await live_scenes(runtime, decisions, runs)
    return el(
        "main",
        {"data-seq": seq, "data-waiting": len(decisions), "data-scenes": " · ".join(live.names)},
        el(
            "div",
            {"class": "work"},
            _section("floor", "On the floor", None, floors_list(live.fleets, may_write=may_write)),
            _section("needs-you", "Needs you", len(decisions), decisions_list(decisions, may_write=may_write)),
            _section("cells", "Cells", None, cells_list(live.cells)),
            _section("happening", "What runs", None, runs_list(runs, live.work, may_write=may_write)),
        ),
        _section("events", "Last events", None, events_list(events)),
    )


def _section(name: str, title: str, count: int | None, parts: list[Html]) -> Html:
    badge = el("span", {"class": "count"}, count) if count else None
    return el(
        "section",
        {"id": name, "aria-labelledby": f"{name}-title"},
        el("h2", {"id": f"{name}-title"}, title, badge),
        el("div", {"class": "cards", "data-live": name}, parts),
    )


def document(title: str, body: Part, *, live: bool, caller: Caller | None = None) -> HTMLResponse:
    head = el(
        "head",
        {},
        el("meta", {"charset": "utf-8"}),
        el("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        el("meta", {"name": "color-scheme", "content": "dark light"}),
        el("title", {}, f"{title} · Beforehand"),
        el("link", {"rel": "icon", "href": "/static/mark.svg", "type": "image/svg+xml"}),
        el("link", {"rel": "stylesheet", "href": f"/static/page.css?{__version__}"}),
        el("link", {"rel": "stylesheet", "href": f"/static/floor.css?{__version__}"}) if live else None,
        el("script", {"src": f"/static/page.js?{__version__}", "defer": True}),
        el("script", {"src": f"/static/floor.js?{__version__}", "type": "module"}) if live else None,
    )
    whole = el("html", {"lang": "en"}, head, el("body", {}, _bar(live, caller), body))
    return HTMLResponse(f"<!doctype html>{whole}")


def _bar(live: bool, caller: Caller | None) -> Html:
    return el(
        "header",
        {"class": "bar"},
        el("a", {"class": "name", "href": "/"}, el("span", {"class": "logo", "aria-hidden": "true"}), "Beforehand"),
        el("span", {"class": "scenes", "id": "scenes"}) if live else None,
        el("span", {"class": "room"}),
        el("a", {"class": "waiting", "id": "waiting", "href": "#needs-you"}) if live else None,
        el("span", {"class": "live connecting", "id": "live", "role": "status"}, el("span", {"class": "dot"}), _live())
        if live
        else None,
        el("button", {"type": "button", "class": "ghost small", "id": "logout"}, "Log out")
        if caller is not None and caller.name != "local"
        else None,
    )


def _live() -> list[Html]:
    return [el("span", {"id": "live-word"}, "Connecting"), el("span", {"id": "live-age", "class": "fine"})]
