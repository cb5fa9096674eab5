"""The built console as it is served: one page for every path, files kept for good, no token needed."""

import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from beforehand.server import console_files

INDEX = '<!doctype html><script type="module" src="/assets/index-Ab12.js"></script>'
SCRIPT = "export const told = 'ü';\n" * 200
PLAIN = {"Accept-Encoding": "identity"}


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as a build leaves it."""
    folder = tmp_path / "console"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX, encoding="utf-8")
    (folder / "mark.svg").write_text("<svg/>", encoding="utf-8")
    (folder / "assets" / "index-Ab12.js").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "secret.txt").write_text("not for browsers", encoding="utf-8")
    monkeypatch.setattr(console_files, "FOLDER", folder)
    return folder


@pytest.fixture
async def console(built: Path, serve_with: Any) -> AsyncIterator[Any]:
    async with serve_with() as server:
        yield server


async def get(server: Any, path: str, **headers: str) -> Any:
    return await server.http.get(
        server.url + path, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )


@pytest.mark.parametrize(
    "path", ["/", "/login", "/inbox", "/inbox/dec_1", "/plans/pl_1?version=2", "/scenes/hall.v2", "/apiary", "/a/b/c/d"]
)
async def test_every_path_that_is_no_call_is_the_page(console: Any, path: str) -> None:
    answer = await get(console, path)
    assert (answer.status_code, answer.text) == (200, INDEX)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


async def test_the_policy_lets_the_page_load_only_its_own_files(console: Any) -> None:
    policy = (await get(console, "/")).headers["content-security-policy"]
    assert "unsafe" not in policy
    for kind in ("script-src", "style-src", "worker-src", "connect-src", "font-src"):
        assert f"{kind} 'self'" in policy


async def test_calls_are_left_alone(console: Any) -> None:
    for path in ("/api", "/api/", "/api/v1", "/api/v1/nothing", "/api/v2/state"):
        console.problem(await get(console, path), 404)
    console.problem(await console.http.post("/nothing", json={}), 404)
    answer = await console.http.put("/plans", json={})
    assert console.problem(answer, 405)["nearest"] == ["GET", "HEAD", "POST"]


async def test_a_page_is_only_read(console: Any) -> None:
    answer = await console.http.post(f"{console.url}/inbox", json={})
    assert console.problem(answer, 405)["nearest"] == ["GET", "HEAD"]
    head = await console.http.head(f"{console.url}/")
    assert (head.status_code, head.content) == (200, b"")


async def test_a_file_that_is_not_there_is_not_found(console: Any) -> None:
    for path in (
        "/assets/index-Old1.js",
        "/assets/nothing",
        "/assets/",
        "/favicon.ico",
        "/robots.txt",
        "/plans/x.js.map",
    ):
        console.problem(await get(console, path), 404)


async def test_nothing_outside_the_folder_is_served(console: Any) -> None:
    for path in ("/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "/assets/%00", "/..%2fsecret.txt"):
        answer = await get(console, path)
        assert answer.status_code == 404, path
        assert "not for browsers" not in answer.text
    assert (await get(console, "/" + "x" * 5_000)).text == INDEX


async def test_a_link_out_of_the_folder_leads_nowhere(console: Any, built: Path) -> None:
    (built / "out.txt").symlink_to(built.parent / "secret.txt")
    console.problem(await get(console, "/out.txt"), 404)


async def test_assets_are_packed_and_kept_for_good(console: Any) -> None:
    path = "/assets/index-Ab12.js"
    packed = await get(console, path, Accept_Encoding="br, gzip")
    plain = await get(console, path, **PLAIN)
    assert packed.text == plain.text == SCRIPT
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 5
    assert "content-encoding" not in plain.headers
    assert "content-encoding" not in (await get(console, path, Accept_Encoding="gzip;q=0")).headers
    for answer in (packed, plain):
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["vary"] == "Accept-Encoding"
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert packed.headers["etag"] != plain.headers["etag"]


async def test_the_page_is_asked_about_by_its_tag_and_a_new_build_is_seen(console: Any, built: Path) -> None:
    first = await get(console, "/", **PLAIN)
    tag = first.headers["etag"]
    for given in (tag, f"W/{tag}", f'"other", {tag}'):
        again = await get(console, "/inbox", If_None_Match=given, **PLAIN)
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
    (built / "index.html").write_text(INDEX + "<p>new</p>", encoding="utf-8")
    newer = await get(console, "/", If_None_Match=tag, **PLAIN)
    assert (newer.status_code, newer.text) == (200, INDEX + "<p>new</p>")


async def test_without_a_build_the_page_says_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve_with: Any
) -> None:
    monkeypatch.setattr(console_files, "FOLDER", tmp_path / "nothing")
    async with serve_with() as server:
        answer = await get(server, "/inbox")
        assert answer.status_code == 503
        assert "make console" in answer.text
        server.problem(await get(server, "/assets/index-Ab12.js"), 404)
        assert (await server.http.get("/health")).status_code == 200


async def test_with_tokens_the_files_are_open_and_the_calls_are_not(built: Path, guarded: Any) -> None:
    for path in ("/", "/login", "/plans/pl_1", "/assets/index-Ab12.js", "/mark.svg"):
        assert (await get(guarded, path)).status_code == 200, path
    for path in ("/api/v1/state", "/api/v1/live", "/api/v1/docs", "/api/v1/nothing"):
        guarded.problem(await get(guarded, path), 401)


def test_what_is_packed_unpacks_to_the_same(built: Path) -> None:
    read = console_files.File.read(built / "assets" / "index-Ab12.js")
    assert read.packed is not None
    assert gzip.decompress(read.packed) == read.body
    assert console_files.File.read(built / "mark.svg").packed is None
