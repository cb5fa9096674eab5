"""What is installed, how it is set, whether it is well; and a scene checked without being kept."""

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest
import yaml
from tests.contract.test_backup_disk import damage

from beforehand.app.examples import find_document
from beforehand.app.settings import load_settings, shown_settings


async def test_plugins_doctor_and_settings(serve_with: Any) -> None:
    async with serve_with(graph_password="not-to-be-told", model_url="http://m/v1?api_key=hush", speed=3) as server:
        brought = await server.call("GET", "/plugins")
        assert {"cell", "fleet"} <= {*brought["crafts"]}
        assert {"wait", "cell.move"} <= {tool["name"] for tool in brought["tools"]}
        found = await server.call("GET", "/doctor")
        checks = {one["check"]: one for one in found["checks"]}
        assert {"python", "home", "log", "leader", "tokens", "tools"} <= checks.keys()
        assert checks["log"]["state"] == "ok"
        shown = {one["name"]: one for one in (await server.call("GET", "/settings"))["settings"]}
        assert (shown["speed"]["value"], shown["speed"]["source"]) == (3, "flag")
        assert (shown["port"]["value"], shown["port"]["source"]) == (8700, "default")
        assert shown["graph_password"]["value"] == "(hidden)"
        assert shown["model_url"]["value"] == "http://m/v1?api_key=(hidden)"


def test_no_secret_of_an_address_is_shown() -> None:
    given = {
        "postgresql://me:pass@word@host/db": "postgresql://me:(hidden)@host/db",
        "postgresql://host/db?user=me&password=p&sslmode=on": "postgresql://host/db?user=me&password=(hidden)&sslmode=on",
        "secret:db": "secret:db",
    }
    for url, expected in given.items():
        rows = shown_settings(load_settings({"db": url}, {}))["settings"]
        assert next(row["value"] for row in rows if row["name"] == "db") == expected


async def test_a_scene_is_checked_and_not_kept(server: Any) -> None:
    document = find_document("weld_star")
    found = await server.call("POST", "/scenes/check", document)
    assert (found["ok"], found["kind"], found["name"], found["problems"]) == (True, "cell", "weld_star", [])
    assert found["summary"]["positions"] == len(document["positions"])
    assert await server.call("POST", "/scenes/check", yaml.safe_dump(document)) == found
    assert await server.call("POST", "/scenes/check", json.dumps(document)) == found
    text = {"Content-Type": "application/yaml"}
    as_yaml = await server.http.post("/scenes/check", content=yaml.safe_dump(document), headers=text)
    assert as_yaml.json() == found
    assert await server.call("GET", "/scenes") == []
    assert (await server.call("GET", "/state"))["seq"] == 0


async def test_every_problem_of_a_scene_is_told(server: Any) -> None:
    document = {**find_document("weld_star"), "tools": [{"name": "Saw", "stand": "Nowhere"}], "colour": "red"}
    found = await server.call("POST", "/scenes/check", document)
    assert (found["ok"], found["kind"], found["name"]) == (False, "cell", "weld_star")
    assert {problem["path"] for problem in found["problems"]} >= {"colour", "tools[0].stand"}
    for wrong in ({}, [], 5, "kind: [", "", {"kind": "submarine"}, {"kind": 5}):
        found = await server.call("POST", "/scenes/check", wrong)
        assert found["ok"] is False
        assert found["problems"][0]["says"]
    server.problem(await server.http.post("/scenes/check"), 400)
    huge = await server.http.post("/scenes/check", json={"kind": "x" * 9_000_000})
    server.problem(huge, 413)


async def test_the_documentation_is_served_page_by_page(server: Any) -> None:
    pages = {page["name"]: page["title"] for page in await server.call("GET", "/docs")}
    assert pages["http"] == "HTTP"
    answer = await server.http.get("/docs/http")
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.text.startswith(f"# {pages['http']}\n")
    told = await server.refused("GET", "/docs/htpp", status=404)
    assert "http" in told["nearest"]
    for path in ("/docs/..", "/docs/%2e%2e%2fREADME", "/docs/openapi"):
        server.problem(await server.http.get(path), 404)


@pytest.mark.parametrize(
    ("table", "says"), [("rows", "made from the events cannot be read: rows"), ("events", "events cannot be read")]
)
async def test_doctor_answers_while_a_server_runs_on_a_damaged_log(server: Any, table: str, says: str) -> None:
    await server.ended((await server.start(server.step("a")))["runId"])
    log = server.runtime.settings.home / "log.db"
    with closing(sqlite3.connect(log)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    damage(log, table)
    told = await server.call("GET", "/doctor")
    assert not told["ok"]
    assert any(check["check"] == "pages" and says in check["says"] for check in told["checks"])
    await server.refused("GET", "/health", status=503)
