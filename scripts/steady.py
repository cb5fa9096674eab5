"""Runs tests beside a busy neighbour, once or many times: `make steady`.

Both cores are loaded by loops that do nothing else, as on a machine that somebody else uses too. A test that only
holds while everything is quick fails here. Nothing is retried: one failure in any round is a failure.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

LOOP = "while True: pass"


@contextmanager
def neighbours(count: int) -> Iterator[None]:
    """As many processes that are never idle; they end with this one, also when it is killed."""
    watched = f"import os, threading\nthreading.Thread(target=lambda: (os.read(0, 1), os._exit(0))).start()\n{LOOP}"
    busy = [subprocess.Popen([sys.executable, "-c", watched], stdin=subprocess.PIPE) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def main() -> int:
    reads = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reads.add_argument("--times", type=int, default=1, help="how many rounds")
    reads.add_argument("--busy", type=int, default=os.cpu_count() or 1, help="how many neighbours")
    reads.add_argument("words", nargs=argparse.REMAINDER, help="what follows pytest, after --")
    given = reads.parse_args()
    words = [word for word in given.words if word != "--"]
    failed = 0
    with neighbours(given.busy):
        for number in range(1, given.times + 1):
            begin = time.monotonic()
            code = subprocess.run([sys.executable, "-m", "pytest", *words], check=False).returncode
            failed += code != 0
            print(f"Round {number} of {given.times}: exit {code} after {time.monotonic() - begin:.0f} s.", flush=True)
    print(f"{given.times - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
