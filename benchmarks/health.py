"""How long `/health` takes while the largest plans are taken in, refused and previewed.

    python benchmarks/health.py [--smallest] [--steps 10000]

The limit is 250 ms, which a person does not notice; an idle server's own times stand beside it.
"""

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx2
from _live_server import live_server
from _options import Options

LIMIT_MS = 250


def wide(count: int) -> dict[str, Any]:
    """A plan near the largest body: files of 700 characters each."""
    steps = [
        {"id": f"s{n}", "tool": "write_file", "args": {"path": f"d/{n}.txt", "content": "x" * 650}}
        for n in range(count)
    ]
    return {"plan": {"steps": steps}}


def chain(count: int) -> dict[str, Any]:
    steps = [
        {"id": f"s{n}", "tool": "wait", "args": {"seconds": 0}, "dependsOn": [f"s{n - 1}"] if n else []}
        for n in range(count)
    ]
    return {"plan": {"steps": steps}}


def wrong(count: int) -> dict[str, Any]:
    steps = [{"id": f"s{n}", "tool": f"tool{n}", "args": {}, "dependsOn": [f"t{n}"]} for n in range(count)]
    return {"plan": {"steps": steps}}


async def watched(url: str, work: Any) -> tuple[float, float, Any]:
    """What the work comes to, how long it took, and the slowest answer of /health meanwhile, in milliseconds."""
    slowest, going = 0.0, True
    async with httpx2.AsyncClient(base_url=url, timeout=120, trust_env=False) as http:

        async def ask() -> None:
            nonlocal slowest
            while going:
                began = time.perf_counter()
                await http.get("/health/live")
                slowest = max(slowest, (time.perf_counter() - began) * 1000)
                await asyncio.sleep(0.005)

        asking = asyncio.create_task(ask())
        began = time.perf_counter()
        came = await work(http)
        took = (time.perf_counter() - began) * 1000
        going = False
        await asking
    return took, slowest, came


async def measure(url: str, count: int, too_many: int) -> None:
    print(f"{'work':34} {'status':>6} {'took ms':>9} {'slowest /health ms':>19}")

    async def row(name: str, work: Any) -> Any:
        took, slowest, came = await watched(url, work)
        mark = "" if slowest <= LIMIT_MS else "  over the limit"
        print(f"{name:34} {came.status_code:>6} {took:>9.0f} {slowest:>19.0f}{mark}")
        return came

    await row("nothing else", lambda http: http.get("/health"))
    for name, body in (("wide", wide(count)), ("chain", chain(count)), ("wrong", wrong(count))):
        came = await row(f"take in {count} steps, {name}", lambda http, body=body: http.post("/plans", json=body))
        if came.status_code == 201:
            path = f"/plans/{came.json()['id']}/preview"
            await row(f"preview {name}", lambda http, path=path: http.post(path, json={}))
    await row(f"take in {too_many} steps", lambda http: http.post("/plans", json=chain(too_many)))


async def measure_own(count: int, too_many: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with live_server(Path(folder) / "home") as url:
            await measure(f"{url}/api/v1", count, too_many)


def main() -> None:
    options = Options(__doc__)
    options.add_size("--steps", 10_000, 20)
    options.add_size("--too-many", 50_000, 10_001, "steps of a plan that is refused")
    options.add_argument("--at", help="the API of a server that runs already, such as http://127.0.0.1:8700/api/v1")
    given = options.read()
    measuring = measure(given.at, given.steps, given.too_many) if given.at else measure_own(given.steps, given.too_many)
    asyncio.run(measuring)


if __name__ == "__main__":
    main()
