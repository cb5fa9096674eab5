"""The page and its parts. It shows what the calls show; the buttons use the same calls as everybody."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Query, Request
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles

from beforehand import __version__
from beforehand.app.inbox import list_decisions
from beforehand.app.plans import get_plan, preview
from beforehand.app.runs import list_runs, run_document
from beforehand.app.runtime import Runtime
from beforehand.app.tokens import may
from beforehand.server.callers import Caller, CallerDep, RuntimeDep
from beforehand.server.page.decisions import decisions_list
from beforehand.server.page.events import SHOWN, events_list
from beforehand.server.page.html import Html, Part, el
from beforehand.server.page.panels import PageContext, Panel, cards_of
from beforehand.server.page.preview import preview_part
from beforehand.server.page.runs import runs_list

router = APIRouter(include_in_schema=False)
STATIC = Path(__file__).parent / "static"
OPEN_RUNS = 10
ENDED_RUNS = 5


def install(app: FastAPI, panels: Sequence[Panel] = ()) -> None:
    """Add the page, with the sections that crafts bring."""
    app.state.panels = tuple(panels)
    app.include_router(router)
    for panel in panels:
        if panel.static is not None:
            app.mount(f"/static/{panel.name}", StaticFiles(directory=panel.static))
    app.mount("/static", StaticFiles(directory=STATIC))


def _panels(request: Request) -> tuple[Panel, ...]:
    panels: tuple[Panel, ...] = request.app.state.panels
    return panels


PanelsDep = Annotated[tuple[Panel, ...], Depends(_panels)]


@router.api_route("/", methods=["GET", "HEAD"])
async def page(runtime: RuntimeDep, caller: CallerDep, panels: PanelsDep) -> HTMLResponse:
    return document("Now", await _now(runtime, caller, panels), panels, live=True, caller=caller)


@router.get("/page/now")
async def now(runtime: RuntimeDep, caller: CallerDep, panels: PanelsDep) -> HTMLResponse:
    """The live part alone, for the page to take over what has changed."""
    return HTMLResponse(await _now(runtime, caller, panels))


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


async def _now(runtime: Runtime, caller: Caller, panels: Sequence[Panel]) -> Html:
    seq = await runtime.store.last_seq()
    decisions = await list_decisions(runtime)
    heads = await list_runs(runtime, open=True, limit=OPEN_RUNS)
    heads += await list_runs(runtime, open=False, limit=ENDED_RUNS)
    runs = [await run_document(runtime, head["runId"]) for head in heads]
    events = await runtime.store.events(after=max(0, seq - SHOWN), limit=SHOWN)
    scenes = await runtime.store.rows("scene", open=True)
    context = PageContext(runtime, decisions, runs, may_write=may(caller.role, "operator"))
    brought: dict[str, list[Html]] = {"first": [], "after decisions": []}
    for panel in panels:
        brought[panel.place].append(_section(panel.name, panel.title, None, await cards_of(panel, context, scenes)))
    names = " · ".join(scene["name"] for scene in scenes)
    return el(
        "main",
        {"data-seq": seq, "data-waiting": len(decisions), "data-scenes": names},
        el(
            "div",
            {"class": "work"},
            brought["first"],
            _section("needs-you", "Needs you", len(decisions), decisions_list(decisions, may_write=context.may_write)),
            brought["after decisions"],
            _section(
                "happening",
                "What runs",
                None,
                runs_list(runs, await _other_work(runtime, scenes), may_write=context.may_write),
            ),
        ),
        _section("events", "Last events", None, events_list(events, runtime.sentences)),
    )


async def _other_work(runtime: Runtime, scenes: list[dict[str, Any]]) -> list[str]:
    """What goes on in the live scenes besides runs, a sentence each."""
    told: list[str] = []
    for scene in scenes:
        brought = runtime.scenes_of(scene["kind"])
        if brought is not None and brought.summary is not None:
            told += await brought.summary(scene["name"])
    return told


def _section(name: str, title: str, count: int | None, parts: list[Html]) -> Html:
    badge = el("span", {"class": "count"}, count) if count else None
    return el(
        "section",
        {"id": name, "aria-labelledby": f"{name}-title"},
        el("h2", {"id": f"{name}-title"}, title, badge),
        el("div", {"class": "cards", "data-live": name}, parts),
    )


def document(
    title: str, body: Part, panels: Sequence[Panel] = (), *, live: bool, caller: Caller | None = None
) -> HTMLResponse:
    styles = [f"/static/{panel.name}/{file}?{__version__}" for panel in panels for file in panel.styles]
    scripts = [f"/static/{panel.name}/{file}?{__version__}" for panel in panels for file in panel.scripts]
    head = el(
        "head",
        {},
        el("meta", {"charset": "utf-8"}),
        el("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        el("meta", {"name": "color-scheme", "content": "dark light"}),
        el("title", {}, f"{title} · Beforehand"),
        el("link", {"rel": "icon", "href": "/static/mark.svg", "type": "image/svg+xml"}),
        el("link", {"rel": "stylesheet", "href": f"/static/page.css?{__version__}"}),
        [el("link", {"rel": "stylesheet", "href": href}) for href in styles],
        el("script", {"src": f"/static/page.js?{__version__}", "defer": True}),
        [el("script", {"src": src, "type": "module"}) for src in scripts],
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
