"""Parts of a benchmark that need what may be missing: they are left out with a sentence, and the rest goes on."""

from importlib.util import find_spec

PEERS = "make bench-peers installs it"


def can_run(part: str, *modules: str, program: object = True, remedy: str = "make dev installs it") -> bool:
    """Whether these modules and the program that was looked for are there; says what is left out if not."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        print(f"{part}: left out, since {' and '.join(missing)} is not installed; {remedy}.", flush=True)
    elif not program:
        print(f"{part}: left out, since its program is not installed on this machine.", flush=True)
    return not missing and bool(program)
