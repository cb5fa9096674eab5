"""A long log is read for searching by a process of its own, so that a server need not share its interpreter with it.

The other process is this module. It is told on its standard input what to do, fills the same tables in the same way,
and ends when it has read the log, or with whoever started it. Killed at any moment it leaves whole tables that go on
from where they are.
"""

import asyncio
import gc
import json
import math
import os
import sys
import threading
from pathlib import Path

from beforehand.app.crafts import load_crafts
from beforehand.app.search import open_tables
from beforehand.app.stores import open_store

_GENTLY = 10
"""How far behind everything else on the machine it stands."""
_OTHERS = 3
"""The exit code of one that knows other indexes, such as those of a plug-in that it does not find."""


async def read_aside(database: str, path: Path, layout: str) -> bool:
    """Have the log read into the tables at `path`; whether that was done. Cancelled, the other process is ended."""
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", __name__),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return False
    try:
        assert process.stdin is not None
        process.stdin.write(json.dumps({"database": database, "path": str(path), "layout": layout}).encode() + b"\n")
        return await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _read(database: str, path: Path, layout: str) -> int:
    crafts = load_crafts()
    store = await open_store(
        database, project=crafts.projection(), lead=False, now_ms=lambda: 0, upcasters=crafts.upcasters()
    )
    search = open_tables(store, crafts, lambda: 0, path)
    try:
        if search.layout != layout:
            return _OTHERS
        await search.catch_up(math.inf)
        return 0
    finally:
        await search.close()
        await store.close()


def _end_with_the_other() -> None:
    sys.stdin.read()
    os._exit(1)


def main() -> None:
    told = json.loads(sys.stdin.readline())
    os.nice(_GENTLY)
    gc.set_threshold(20_000, 20, 20)  # what is read is soon let go of, and nothing of it is a circle
    threading.Thread(target=_end_with_the_other, daemon=True).start()
    sys.exit(asyncio.run(_read(told["database"], Path(told["path"]), told["layout"])))


if __name__ == "__main__":
    main()
