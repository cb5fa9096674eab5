"""The small files that all processes of an installation share, changed by many at once and killed in the middle."""

import json
import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.fork_server import Forked

from beforehand.adapters.postgres.store import PostgresStore
from beforehand.app.kept_files import HomeFiles, files_of
from beforehand.app.private_files import stamp_of, write_private
from beforehand.app.settings import Settings, load_settings
from beforehand.app.tokens import Tokens
from beforehand.testing.postgres_server import PostgresServer

PATIENCE_S = 60
COUNTER = """
import json, sys
from beforehand.app.kept_files import files_of
from beforehand.app.settings import load_settings
home, db, who, times = sys.argv[1:]
files = files_of(load_settings({"home": home, "db": db or None}, {}))
def one_more(kept):
    told = json.loads(kept or b"{}")
    return json.dumps({**told, who: told.get(who, 0) + 1, "filler": "x" * 20_000}).encode()
n = 0
while n < int(times):
    files.change("counts", one_more)
    n += 1
    print(n, flush=True)
"""


@pytest.fixture(params=["home", "postgres"])
async def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """An installation whose shared files lie in its home, and one where they lie in a database."""
    flags: dict[str, Any] = {"home": str(tmp_path / "home")}
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        flags["db"] = server.new_database()
        await (await PostgresStore.open(flags["db"], project=lambda event: (), now_ms=lambda: 0)).close()
    return load_settings(flags, {}, tmp_path / "none")


def begun(program: str, settings: Settings, *words: str) -> "subprocess.Popen[str]":
    db = settings["db"] or ""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    return Forked(["-c", program, str(settings.home), db, *words], text=True, **pipes)  # type: ignore[call-overload,no-any-return]


def beforehand(settings: Settings, *words: str, stderr: Any = subprocess.PIPE) -> "subprocess.Popen[str]":
    where = ["--home", str(settings.home), *(["--db", settings["db"]] if settings["db"] else [])]
    pipes = {"stdout": subprocess.PIPE, "stderr": stderr, "stdin": subprocess.DEVNULL}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BEFOREHAND_")}
    return Forked([*words, *where], text=True, env=environment, **pipes)  # type: ignore[call-overload,no-any-return]


def ended(process: "subprocess.Popen[str]") -> str:
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    return out


def test_no_change_of_many_processes_is_lost(settings: Settings) -> None:
    every = [begun(COUNTER, settings, str(number), "40") for number in range(4)]
    for process in every:
        ended(process)
    counts = json.loads(files_of(settings).read("counts"))
    assert {name: count for name, count in counts.items() if name != "filler"} == {str(n): 40 for n in range(4)}


def test_a_killed_process_leaves_a_whole_file_and_holds_up_nobody(settings: Settings) -> None:
    other = begun(COUNTER, settings, "other", "1000000")
    for kill in range(5):
        process = begun(COUNTER, settings, "killed", "1000000")
        assert process.stdout is not None
        for _ in range(kill + 1):
            process.stdout.readline()
        process.kill()
        process.communicate()
        assert json.loads(files_of(settings).read("counts"))["killed"] > kill
    assert other.stdout is not None
    now = json.loads(files_of(settings).read("counts"))["other"]
    while int(other.stdout.readline()) <= now:
        pass
    other.kill()
    other.communicate()


def test_a_file_never_has_a_stamp_again_that_it_had_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its place on the disk is used again, its size is the same, and the clock may stand still or go back."""
    seen = set()
    monkeypatch.setattr("beforehand.app.private_files.time.time_ns", lambda: 10**18)
    for number in range(300):
        write_private(tmp_path / "a", b"%03d" % number)
        seen.add(stamp_of(tmp_path / "a"))
    assert len(seen) == 300


def test_what_a_change_refuses_is_left_as_it_was(settings: Settings) -> None:
    files = files_of(settings)
    assert files.change("a", lambda kept: kept + b"1") == b"1"
    stamp = files.stamp("a")

    def refuse(kept: bytes) -> bytes:
        raise ValueError(kept)

    with pytest.raises(ValueError, match="1"):
        files.change("a", refuse)
    assert files.change("a", lambda kept: kept) == b"1"
    assert (files.read("a"), files.stamp("a")) == (b"1", stamp), "the same content again is no writing"


def test_drafts_of_killed_writers_are_cleared_away(tmp_path: Path) -> None:
    old, new = tmp_path / "a.1.new", tmp_path / "a.2.new"
    for draft in (old, new):
        draft.write_text("half")
    os.utime(old, (0, 0))
    HomeFiles(tmp_path).change("a", lambda kept: b"1")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "a.2.new"], "somebody may be writing the new one"


def test_of_many_tokens_made_and_revoked_at_once_none_is_lost_and_none_lives_on(settings: Settings) -> None:
    tokens = Tokens(settings)
    tokens.add("root", "admin", 0)
    old = {f"old {n}": tokens.add(f"old {n}", "operator", 0) for n in range(8)}
    adding = [beforehand(settings, "token", "add", f"new {n}") for n in range(12)]
    revoking = [beforehand(settings, "token", "revoke", name) for name in old]
    made = [ended(process).strip() for process in adding]
    for process in revoking:
        ended(process)
    fresh = Tokens(settings)
    for known in (tokens, fresh):
        assert {one["name"] for one in known.list()} == {"root", *(f"new {n}" for n in range(12))}
        assert [known.role_of(token) for token in old.values()] == [None] * 8
        assert [known.role_of(token) for token in made] == [(f"new {n}", "operator") for n in range(12)]


@pytest.mark.soak
def test_twenty_tokens_made_at_once_are_twenty(settings: Settings) -> None:
    Tokens(settings).add("root", "admin", 0)
    for go in range(10):
        for process in [beforehand(settings, "token", "add", f"{go} {n}") for n in range(20)]:
            ended(process)
        assert len(Tokens(settings).list()) == 1 + 20 * (go + 1)


def up(settings: Settings) -> tuple["subprocess.Popen[str]", str]:
    with (settings.home.parent / "up.log").open("ab") as log:  # a pipe that nobody empties would hold it up
        server = beforehand(settings, "up", "--no-open", "--port", "0", stderr=log)
    assert server.stdout is not None
    first = server.stdout.readline()
    assert first.startswith("Beforehand is at http://"), first
    return server, first.split()[-1] + "/api/v1"


def token_events(base: str, token: str, until: Callable[[list[Any]], bool]) -> list[Any]:
    """The tokens' events, once they are as awaited."""
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(trust_env=False, timeout=PATIENCE_S, headers=headers) as http:
        while True:
            found = http.get(f"{base}/events", params={"kinds": "tokenAdded,tokenRevoked", "limit": 1000}).json()
            if until(found):
                return [(one["kind"], one["data"]["name"], one["data"]["by"]) for one in found]


def test_what_the_command_line_does_to_tokens_is_in_the_log_and_at_once_so(settings: Settings) -> None:
    """Before the server, beside it while a revoked one follows the events, and by a file put there by hand."""
    root = ended(beforehand(settings, "token", "add", "root", "--role", "admin")).strip()
    ended(beforehand(settings, "token", "add", "ann"))
    ended(beforehand(settings, "token", "revoke", "ann"))
    server, base = up(settings)
    try:
        first = token_events(base, root, lambda found: len(found) == 3)
        assert [one[:2] for one in first] == [("tokenAdded", "root"), ("tokenAdded", "ann"), ("tokenRevoked", "ann")]
        assert all(one[2].startswith("command line (") for one in first)
        eve = ended(beforehand(settings, "token", "add", "eve")).strip()
        headers = {"Authorization": f"Bearer {eve}"}
        with httpx2.Client(trust_env=False, timeout=PATIENCE_S) as http:
            while http.get(f"{base}/me", headers=headers).status_code != 200:
                pass
            with http.stream("GET", f"{base}/telemetry", headers=headers) as following:
                lines = following.iter_lines()
                assert next(lines).startswith(": now ")
                ended(beforehand(settings, "token", "revoke", "eve"))
                with suppress(httpx2.TransportError):
                    for _ in lines:
                        pass
            assert http.get(f"{base}/me", headers=headers).status_code == 401
        token_events(base, root, lambda found: len(found) == 5)

        def by_hand(kept: bytes) -> bytes:
            held = json.loads(kept)
            return json.dumps({"mallory": held["tokens"]["root"], **held["tokens"]}).encode()  # and the old format

        files_of(settings).change("tokens.json", by_hand)
        last = token_events(base, root, lambda found: len(found) == 6)[-1]
        assert last == ("tokenAdded", "mallory", "found by the server")
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE_S)


def test_the_first_token_is_an_admins_and_revoking_is_never_refused(settings: Settings) -> None:
    refused = beforehand(settings, "token", "add", "ann")
    _, err = refused.communicate(timeout=PATIENCE_S)
    assert refused.returncode == 3
    assert "The first token must be an admin's" in err
    assert "beforehand token add NAME --role admin" in err
    assert Tokens(settings).list() == []
    for words in (("add", "root", "--role", "admin"), ("add", "ann")):
        ended(beforehand(settings, "token", *words))
    done = beforehand(settings, "token", "revoke", "root")
    _, err = done.communicate(timeout=PATIENCE_S)
    assert done.returncode == 0
    assert "No admin's token is left" in err
    refused = beforehand(settings, "token", "add", "bob")
    assert "No admin's token is left" in refused.communicate(timeout=PATIENCE_S)[1]
    last = beforehand(settings, "token", "revoke", "ann")
    assert "lets nobody in now" in last.communicate(timeout=PATIENCE_S)[1]
