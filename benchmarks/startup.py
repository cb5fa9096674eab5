"""What short commands cost before they have done anything: seconds of the processor, beside a Python that does nothing.

    python benchmarks/startup.py [--times N]

Each command runs in an empty folder, in turns with the others, and its cheapest run counts: on a busy machine the
rest is somebody else's work.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from _options import Options

PLAN = '{"steps": [{"id": "a", "tool": "wait", "args": {"seconds": 1}}]}'
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import beforehand": ["-c", "import beforehand"],
    "beforehand --help": ["-m", "beforehand", "--help"],
    "beforehand scene list": ["-m", "beforehand", "scene", "list"],
    "beforehand inbox list": ["-m", "beforehand", "inbox", "list"],
    "beforehand check": ["-m", "beforehand", "check", "plan.json"],
    "beforehand preview": ["-m", "beforehand", "preview", "plan.json"],
    "beforehand plan": ["-m", "beforehand", "plan", "weld 1", "--scene", "weld_star"],
}


def cpu_s(words: list[str], folder: Path) -> float:
    """The seconds of the processor that one run takes, in the program and in the system."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    options = Options(__doc__)
    options.add_size("--times", 7, 1)
    times = options.read().times
    best = dict.fromkeys(COMMANDS, float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "plan.json").write_text(PLAN, encoding="utf-8")
        for _ in range(times):
            for name, words in COMMANDS.items():
                best[name] = min(best[name], cpu_s(words, Path(folder)))
    print(f"{'command':24} {'CPU s':>6}")
    for name, seconds in best.items():
        print(f"{name:24} {seconds:6.3f}")


if __name__ == "__main__":
    main()
