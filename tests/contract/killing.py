"""Work that is killed at every moment it has: one child after another does it, and each dies a moment later.

A test module says what its work is (`do`), what must hold whenever it was killed (`check`), and the calls before and
after which it is (`MOMENTS`). The children are forked by a process of their own, which is this module run by its name.
"""

import asyncio
import importlib
import inspect
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


async def kill_at_every_moment(file: str, most: int, *words: str) -> int:
    """Has children do `do(*words)` of a test's file; the moment that one no longer came to, because it had ended."""
    places = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.contract.killing", Path(file).stem, str(most), *words),
        env={**os.environ, "PYTHONPATH": places},
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await process.communicate()
    assert process.returncode == 0
    return int(told)


class Moments:
    """Counts the moments of one child, and kills it at the last."""

    def __init__(self, left: int) -> None:
        self._left = left

    def watch(self, owner: Any, name: str) -> None:
        setattr(owner, name, self._counted(getattr(owner, name)))

    def _counted(self, act: Callable[..., Any]) -> Callable[..., Any]:
        async def counting_later(*given: Any, **named: Any) -> Any:
            self._step()
            done = await act(*given, **named)
            self._step()
            return done

        def counting(*given: Any, **named: Any) -> Any:
            self._step()
            done = act(*given, **named)
            self._step()
            return done

        return counting_later if inspect.iscoroutinefunction(act) else counting

    def _step(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def do_until_killed(these: Any, number: int, words: list[str]) -> None:
    moments = Moments(number)
    for owner, name in these.MOMENTS:
        moments.watch(owner, name)
    asyncio.run(these.do(*words))
    os._exit(0)


def main(module: str, most: str, *words: str) -> None:
    these = importlib.import_module(f"tests.contract.{module}")
    for number in range(1, int(most)):
        child = os.fork()
        if not child:
            do_until_killed(these, number, list(words))
        _, code = os.waitpid(child, 0)
        assert code == 0 or os.WTERMSIG(code) == signal.SIGKILL, code
        asyncio.run(these.check(*words, ended=code == 0))
        if code == 0:
            break
    sys.stdout.write(str(number))


if __name__ == "__main__":
    main(*sys.argv[1:])
