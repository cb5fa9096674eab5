"""The clock of the machine as one process sees it, set while the process runs; the machine's ticks go on untouched."""

import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("host_clock.c")


class HostClock:
    def __init__(self, compiler: str, folder: Path) -> None:
        self._file, library = folder / "host_clock.ns", folder / "host_clock.so"
        self.set_by(0)
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
        self.settings = {"LD_PRELOAD": str(library), "HOST_CLOCK": str(self._file)}
        """What a process needs in its environment to live by it."""

    def set_by(self, seconds: float) -> None:
        """By how much it differs from the true time from now on."""
        mode = "r+b" if self._file.exists() else "wb"
        with self._file.open(mode) as file:
            file.write(struct.pack("q", round(seconds * 1e9)))
