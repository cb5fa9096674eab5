"""On the floor: a shell per active fleet that the browser fills with its map, its robots and the details of one.

The shell only changes with the scene, so that a live map is never taken away from under the cursor.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beforehand.crafts.fleet.fleets import KIND
from beforehand.crafts.fleet.verbs import ROBOT_VERBS
from beforehand.server.page.html import Html, el
from beforehand.server.page.panels import PageContext, Panel
from beforehand.server.page.parts import card

MAP_WIDTH = 1200
FLATTEST, TALLEST = 0.42, 0.8
MARGIN_M = 3.0
VERBS_SHOWN = [verb for verb in ROBOT_VERBS if not verb.endswith("-service")]


async def live_card(context: PageContext, scene: Mapping[str, Any]) -> Html:
    return floor_card(scene, may_write=context.may_write)


def floor_card(scene: Mapping[str, Any], *, may_write: bool) -> Html:
    name = str(scene["name"])
    return card(
        f"floor-{name}",
        "floor",
        el(
            "div",
            {
                "class": "floor-shell",
                "data-floor": name,
                "data-saved": scene["savedAt"],
                "data-may-write": may_write,
                "data-robot-verbs": json.dumps(VERBS_SHOWN),
            },
            _head(name),
            el("div", {"class": "floor-body"}, _map(name, scene["document"]), _side(name)),
            el("div", {"class": "floor-legend", "role": "group", "aria-label": "What the shapes mean"}),
        ),
    )


def _head(name: str) -> Html:
    return el(
        "header",
        {},
        el("h3", {}, name),
        el("span", {"class": "floor-state", "role": "status"}),
        el("dl", {"class": "floor-counts", "aria-label": "Tasks"}),
        el("span", {"class": "room"}),
        el(
            "div",
            {"class": "floor-hold"},
            el(
                "button",
                {"type": "button", "class": "small hold", "data-fleet-verb": "hold", "disabled": True},
                "Hold all",
            ),
            el(
                "button",
                {"type": "button", "class": "small ghost", "data-fleet-verb": "clear", "disabled": True},
                "Clear",
            ),
        ),
        el(
            "p",
            {"class": "floor-told fine"},
            el(
                "span",
                {"class": "no-stop"},
                "Hold all stops dispatch and pauses the robots. This is not an emergency stop.",
            ),
            el("span", {"class": "asked", "aria-live": "polite", "data-asked": "fleet"}),
        ),
    )


def _map(name: str, document: Mapping[str, Any]) -> Html:
    return el(
        "div",
        {"class": "floor-map"},
        el(
            "canvas",
            {
                "width": MAP_WIDTH,
                "height": round(MAP_WIDTH * _ratio(document)),
                "role": "img",
                "aria-label": f"Map of {name}; the same robots and worksites stand in the list beside it",
            },
        ),
        el("p", {"class": "floor-note", "role": "status", "hidden": True}),
    )


def _ratio(document: Mapping[str, Any]) -> float:
    """How high the map is for its width, so that the page keeps its place while the map is still empty."""
    nodes = document.get("nodes") or [{"x": 0, "y": 0}]
    spans = []
    for axis in ("x", "y"):
        values = [float(node.get(axis, 0)) for node in nodes]
        spans.append(max(values) - min(values) + 2 * MARGIN_M)
    return min(TALLEST, max(FLATTEST, spans[1] / spans[0]))


def _side(name: str) -> Html:
    return el(
        "div",
        {"class": "floor-side"},
        el(
            "div",
            {"class": "floor-lists"},
            el("h4", {}, "Robots"),
            el("ul", {"class": "floor-robots", "aria-label": f"Robots of {name}"}),
            el("p", {"class": "floor-waiting fine"}),
            el("h4", {}, "Worksites"),
            el("ul", {"class": "floor-sites", "aria-label": f"Worksites of {name}"}),
        ),
        el(
            "div", {"class": "floor-panel", "hidden": True, "tabindex": "-1", "role": "region", "aria-label": "Details"}
        ),
    )


PANEL = Panel(
    "floor",
    "On the floor",
    KIND,
    live_card,
    place="first",
    static=Path(__file__).parent / "static",
    styles=("floor.css",),
    scripts=("floor.js",),
)
