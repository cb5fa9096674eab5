"""The record as a file: whatever is changed, taken out, put in, moved or cut off is found, and said where."""

import asyncio
import csv
import io
import json
from collections.abc import Callable

import pytest

from beforehand.app.audit_file import audit_lines, check_file, hash_of, read_anchor
from beforehand.app.stores import store_in_memory
from beforehand.model.errors import BadInputError
from beforehand.model.event import Event


def event(kind: str, n: int, /, **data: object) -> Event:
    return Event(kind, {"requestId": "secret"}, {"n": n, **data}, 1_000 * n, None, f"req_{n}", "hold")


async def _exported(form: str) -> list[str]:
    store = store_in_memory(lambda event: ())
    asked = {"id": "d1", "kind": "review", "title": "Well?\nReally, “so”?", "about": {}, "status": "open"}
    answer = {"verb": "start", "by": "ann", "note": '=1+1, "quoted"\nand more'}
    await store.append(
        [
            event("everythingHeld", 1, by="ann", since="then", what=[]),
            event("decisionOpened", 2, **asked),
            event("stepUpdated", 3),
            event("everythingCleared", 4, by="bob", since="then", what=[]),
            event("decisionAnswered", 5, **{**asked, "status": "answered", "answer": answer}),
            event("tokenRevoked", 6, name="eve", by="ann"),
            event("sceneSaved", 7, name="hall", document={"nodes": ["x" * 100] * 100}),
        ]
    )
    return [line async for line in audit_lines(store, form)]


@pytest.fixture(params=["jsonl", "csv"])
def lines(request: pytest.FixtureRequest) -> list[str]:
    """Five lines and the end; those of a table begin with its head."""
    return asyncio.run(_exported(request.param))


def test_what_is_in_it() -> None:
    told = [json.loads(line) for line in asyncio.run(_exported("jsonl"))]
    assert [(one["record"], one["kind"], one["by"]) for one in told] == [
        ("event", "everythingHeld", "ann"),
        ("event", "everythingCleared", "bob"),
        ("decision", "review", "ann"),
        ("event", "tokenRevoked", "ann"),
        ("event", "sceneSaved", None),
        ("end", "end", None),
    ]
    assert told[0]["title"] == "Everything is held by ann."
    assert told[0]["about"] == {}, "what marks repeated requests is nobody's business"
    assert (told[3]["openedAt"], told[3]["correlationId"]) == ("1970-01-01T00:00:06.000Z", "req_6")
    assert told[4]["value"].keys() == {"name", "bytes", "sha256"}
    assert told[5]["value"] == {"lines": 5, "log": "", "anchor": ""}
    table = list(csv.DictReader(io.StringIO("".join(asyncio.run(_exported("csv"))), newline="")))
    assert [row["record"] for row in table] == [one["record"] for one in told]


def head_of(lines: list[str]) -> int:
    return 1 if lines[0].startswith("decisionId") else 0


def found(lines: list[str], **how: str) -> list[str]:
    return [f"{one.code.removeprefix('audit.')} {one.about}" for one in check_file("".join(lines), **how).problems]


def edited(lines: list[str], place: int, old: str, new: str) -> list[str]:
    at = head_of(lines) + place - 1
    assert old in lines[at]
    return [*lines[:at], lines[at].replace(old, new), *lines[at + 1 :]]


def test_a_whole_one_is_whole(lines: list[str]) -> None:
    checked = check_file("".join(lines))
    assert (checked.problems, checked.lines, checked.last_hash) == ([], 6, hash_of(lines[-1]))
    assert found(lines, last_hash=hash_of(lines[-1])) == []
    assert found(lines, last_hash="0" * 64) == ["anew line 6"]


def drop(lines: list[str], place: int) -> list[str]:
    at = head_of(lines) + place - 1
    return [*lines[:at], *lines[at + 1 :]]


def double(lines: list[str], place: int) -> list[str]:
    at = head_of(lines) + place - 1
    return [*lines[: at + 1], *lines[at:]]


def swap(lines: list[str], place: int) -> list[str]:
    at = head_of(lines) + place - 1
    return [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]


CASES: dict[str, tuple[Callable[[list[str]], list[str]], list[str]]] = {
    "another person": (lambda lines: edited(lines, 2, "bob", "ann"), ["changed line 2"]),
    "another answer": (lambda lines: edited(lines, 3, "start", "cancel"), ["changed line 3"]),
    "another end": (lambda lines: edited(lines, 6, "5 lines", "9 lines"), ["changed line 6"]),
    "two of them": (
        lambda lines: edited(edited(lines, 1, "ann", "eve"), 4, "eve", "ann"),
        ["changed line 1", "changed line 4"],
    ),
    "one taken out": (lambda lines: drop(lines, 2), ["missing line 2"]),
    "the first taken out": (lambda lines: drop(lines, 1), ["missing line 1"]),
    "two taken out": (lambda lines: drop(drop(lines, 3), 3), ["missing line 3"]),
    "one put in": (lambda lines: double(lines, 2), ["moved line 3"]),
    "two swapped": (lambda lines: swap(lines, 2), ["missing line 2", "moved line 3"]),
    "the end cut off": (lambda lines: lines[:-1], ["cut line 5"]),
    "one behind the end": (lambda lines: [*lines, lines[-2]], ["inserted line 7"]),
}


@pytest.mark.parametrize("what", CASES)
def test_what_was_done_to_it_is_found(lines: list[str], what: str) -> None:
    change, wanted = CASES[what]
    assert found(change(lines)) == wanted


def test_a_hidden_second_value_is_found() -> None:
    """JSON readers keep the last of two values of one name; the hash is of what stands there."""
    lines = asyncio.run(_exported("jsonl"))
    assert found([lines[0].replace("{", '{"by": "nobody", ', 1), *lines[1:]]) == ["changed line 1"]


def test_what_is_no_record_is_refused() -> None:
    for text in ("", "hello", "[]"):
        with pytest.raises(BadInputError, match="no record"):
            check_file(text)
    assert found(['{"a": 1}\n']) == ["unreadable line 1", "cut line 1"]
    for anchor in ("", "5", "0:" + "0" * 64, "x:" + "0" * 64, "5:" + "g" * 64, "5:00"):
        with pytest.raises(BadInputError, match="NUMBER:HASH"):
            read_anchor(anchor)
