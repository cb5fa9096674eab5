"""A wake-up call between the event loop and the thread that commits.

One byte through a pipe wakes the other side, however often it is sent before it is read. Measured: half the
processor time of a queue there and a call back into the loop, because neither side is woken while the other still holds
the interpreter.
"""

import os


class Wakeup:
    def __init__(self) -> None:
        self.fd, self._write_fd = os.pipe()
        self._pending = False

    def wake(self) -> None:
        """Call after what is to be looked at has been put there."""
        if not self._pending:
            self._pending = True
            os.write(self._write_fd, b"!")

    def wait(self) -> None:
        """Wait for the wake-up; look at everything that is there afterwards, since what comes later wakes again."""
        os.read(self.fd, 16)
        self._pending = False

    def close(self) -> None:
        os.close(self.fd)
        os.close(self._write_fd)
