"""Every call, with whatever a caller may send: never a bug's 500, always the one shape, and the server goes on."""

import copy
import json
import random
import re
from typing import Any

from beforehand.server.schema import schema_text

LEAVES: list[Any] = [
    None, True, False, 0, -1, 1, 2**63, -(2**70), 1e308, 0.5, "", "a", "b", "$a", "${a.b[9]}", "$", "$$", "\0",
    "\ud800", "../../etc/passwd", "x" * 5000, "١", "\u202e", [], {}, [[]], {"": ""}, {"a": {"b": []}},
    "write_file", "wait", "start",
]  # fmt: skip
KEYS = ["plan", "steps", "id", "tool", "args", "dependsOn", "when", "forEach", "version", "edits", "op", "set", "verb"]
KEYS += [
    "value",
    "parameters",
    "scene",
    "text",
    "intent",
    "kind",
    "name",
    "note",
    "order",
    "workspace",
    "occupancy",
    "",
]
VALID: list[Any] = [
    {"plan": {"steps": [{"id": "a", "tool": "wait", "args": {"seconds": 0}}, {"id": "b", "tool": "wait"}]}},
    {"edits": [{"op": "edit", "id": "a", "set": {"args": {"seconds": 1}}}, {"op": "move", "id": "b", "before": "a"}]},
    {"edits": [{"op": "add", "step": {"id": "c", "tool": "wait", "args": {"seconds": 0}}, "after": "a"}]},
    {"version": 1},
    {"verb": "start", "note": "now", "value": {"args": {}}},
    {"parameters": {"word": "x"}},
    {"plan": {"steps": [{"id": "a", "tool": "wait", "args": "$params.s"}]}, "parameters": {"s": {"type": "object"}}},
    {"kind": "cell", "name": "tiny", "positions": ["A", "B"], "moves": [["A", "B"]], "tools": [], "routines": []},
    {"kind": "fleet", "name": "f", "nodes": [{"id": "N", "x": 0, "y": 0}], "edges": [], "worksites": [], "robots": []},
    {"scene": "tiny", "intent": {"goal": "g", "steps": [{"action": "move", "position": "B"}]}},
]
ROUNDS = 25


def any_json(draw: random.Random, depth: int = 0) -> Any:
    if depth > 3 or draw.random() < 0.5:
        return copy.deepcopy(draw.choice(LEAVES))
    if draw.random() < 0.5:
        return [any_json(draw, depth + 1) for _ in range(draw.randint(0, 3))]
    return {draw.choice(KEYS): any_json(draw, depth + 1) for _ in range(draw.randint(0, 4))}


def almost_valid(draw: random.Random) -> Any:
    """A good document with one to three things in it exchanged, added or taken out."""
    document = copy.deepcopy(draw.choice(VALID))
    for _ in range(draw.randint(0, 3)):
        places = list(_places(document))
        if not places:
            break
        holder, key = draw.choice(places)
        change = draw.random()
        if change < 0.6:
            holder[key] = any_json(draw, 2)
        elif change < 0.8 and isinstance(holder, dict):
            holder[draw.choice(KEYS)] = any_json(draw, 2)
        else:
            del holder[key]
    return document


def _places(thing: Any) -> Any:
    items = thing.items() if isinstance(thing, dict) else enumerate(thing) if isinstance(thing, list) else ()
    for key, value in list(items):
        yield thing, key
        yield from _places(value)


async def test_no_body_makes_a_bug(server: Any) -> None:
    draw = random.Random(20)
    calls = [
        (method, path)
        for path, methods in json.loads(schema_text())["paths"].items()
        for method in methods
        if method != "get" and not path.endswith(("/login", "/logout"))
    ]
    for number in range(ROUNDS):
        names = await _known_names(server)
        for method, path in calls:
            body = almost_valid(draw) if draw.random() < 0.7 else any_json(draw)
            where = _filled_in(path, names, draw)
            headers = {"Content-Type": "application/json", "If-Match": draw.choice(["1", "2", '"1"'])}
            answer = await server.http.request(method, where, content=json.dumps(body), headers=headers)
            told = f"{number} {method} {where} {json.dumps(body)[:2000]} -> {answer.text[:2000]}"
            assert answer.status_code < 500, told
            if answer.status_code >= 400:
                refusal(server, where, answer)
    assert (await server.call("GET", "/health"))["status"] == "ok"
    await _the_log_is_whole(server)


def refusal(server: Any, where: str, answer: Any) -> None:
    """A refusal in its one shape; searches are refused as their clients know it."""
    if where.startswith("/search") and answer.headers["content-type"].startswith("application/json"):
        told = answer.json()
        assert told["status"] == answer.status_code
        assert told["error"]["reason"]
    else:
        server.problem(answer, answer.status_code)


def _filled_in(path: str, names: dict[str, list[str]], draw: random.Random) -> str:
    return re.sub(r"\{(\w+)\}", lambda part: draw.choice(names.get(part[1], ["none"])), path.removeprefix("/api/v1"))


async def _known_names(server: Any) -> dict[str, list[str]]:
    """Ids there are, and one there is not, for every part of a path."""
    plans = [head["id"] for head in await server.call("GET", "/plans?limit=3")]
    runs = [head["runId"] for head in await server.call("GET", "/runs?limit=3")]
    decisions = [one["id"] for one in await server.call("GET", "/inbox")][-3:]
    sessions = [one["sessionId"] for one in await server.call("GET", "/sessions")][:3]
    return {
        "plan_id": [*plans, "none"],
        "run_id": [*runs, "none"],
        "decision_id": [*decisions, "none"],
        "step_id": ["a", "b", "none"],
        "name": ["tiny", "f", "greet", "none"],
        "scene": ["tiny", "f", "none"],
        "session_id": [*sessions, "none"],
        **{part: ["none"] for part in ("robot_id", "worksite_id", "stream_id", "task_id")},
    }


async def _the_log_is_whole(server: Any) -> None:
    last = await server.runtime.store.last_seq()
    assert [event["seq"] for event in await server.take(last)] == list(range(1, last + 1))


async def test_no_question_makes_a_bug(server: Any) -> None:
    draw = random.Random(4)
    odd = ["", "0", "-1", "x", "1e9", "%00", "%ff", "9" * 400, "true", "null", "a,b", "%2e%2e", "'", "[]", "{}"]
    for path, methods in json.loads(schema_text())["paths"].items():
        asked = methods.get("get")
        if asked is None or path.endswith(("/events", "/telemetry", "/live")):
            continue
        for _ in range(6):
            where = re.sub(r"\{\w+\}", lambda part: draw.choice(odd[1:]), path.removeprefix("/api/v1"))
            given = "&".join(f"{one['name']}={draw.choice(odd)}" for one in asked.get("parameters", []))
            answer = await server.http.get(f"{where}?{given}")
            assert answer.status_code < 500, f"{where}?{given} -> {answer.text}"
            if answer.status_code >= 400:
                refusal(server, where, answer)
