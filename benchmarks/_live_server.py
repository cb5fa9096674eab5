"""A server in a process of its own, as `beforehand up` starts it, for benchmarks that ask one from outside."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path


@asynccontextmanager
async def live_server(home: Path, *options: str) -> AsyncIterator[str]:
    """Its address, on loopback; it is ended when the block is left."""
    words = ["-m", "beforehand", "up", "--no-open", "--port", "0", "--home", str(home), *options]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, cwd=home.parent, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().rpartition(" ")[2].strip()
    finally:
        process.terminate()
        await process.wait()
