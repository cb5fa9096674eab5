"""The options of a benchmark. Each of its sizes has two values: the one that is measured, and the smallest.

`--smallest` takes the smallest of them all: the benchmark does what it does on so little that it ends in a few seconds.
This shows that it runs. A size that is named with a value of its own has that value.
"""

import argparse
from typing import Any

SMALLEST = "At the smallest size: this shows that it runs, and its figures say nothing."


class Options(argparse.ArgumentParser):
    def __init__(self, about: str | None) -> None:
        super().__init__(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.add_argument("--smallest", action="store_true", help="only show that it runs, in a few seconds")
        self._sizes: dict[str, tuple[Any, Any]] = {}

    def add_size(self, name: str, measured: Any, smallest: Any, says: str = "") -> None:
        """A size; it is also an option if its name begins as one. Several numbers are written `50,200`."""
        key = name.removeprefix("--").replace("-", "_")
        self._sizes[key] = (measured, smallest)
        if name.startswith("--"):
            several = isinstance(measured, tuple)
            shown = ",".join(map(str, measured)) if several else measured
            self.add_argument(
                name, type=_numbers if several else type(measured), help=f"{says} (default: {shown})".strip()
            )

    def read(self) -> argparse.Namespace:
        """What the command line says, and the sizes it does not name; says so where they are the smallest."""
        given = self.parse_args()
        for key, (measured, smallest) in self._sizes.items():
            if getattr(given, key, None) is None:
                setattr(given, key, smallest if given.smallest else measured)
        if given.smallest:
            print(SMALLEST, flush=True)
        return given


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(","))
