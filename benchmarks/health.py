"""How long `/health` takes while the largest plans are taken in, refused and previewed.

    python benchmarks/health.py [--steps 10000]

The limit is 250 ms, which a person does not notice; an idle server's own times stand beside it.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from typing import Any

import httpx2

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


async def measure(url: str, count: int) -> None:
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
    await row("take in 50000 steps", lambda http: http.post("/plans", json=chain(50_000)))


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given.add_argument("--steps", type=int, default=10_000)
    given.add_argument("--at", help="the API of a server that runs already, such as http://127.0.0.1:8700/api/v1")
    asked = given.parse_args()
    if asked.at:
        asyncio.run(measure(asked.at, asked.steps))
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "beforehand", "up", "--no-open", "--port", "0", "--home", f"{folder}/home"]
        server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            assert server.stdout is not None
            asyncio.run(measure(server.stdout.readline().split()[-1] + "/api/v1", asked.steps))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
