"""The leader's heart: it renews the lead twice a second, and knows by its own clock how long that still lasts.

It beats in a thread of its own with a connection of its own, so that neither a long commit nor a busy loop stops it.
When another process has led since, it has lost the lead for good and says so, also where nothing is being written.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from beforehand.adapters.postgres.address import Address
from beforehand.adapters.postgres.connecting import looking
from beforehand.adapters.postgres.lease import BEAT_S, LEASE_S, MARGIN_S, now_s
from beforehand.model.errors import BeforehandError

if TYPE_CHECKING:
    from psycopg import Connection

_BEAT = "UPDATE lead SET beat = beat + 1 WHERE epoch = %s AND released = 0 RETURNING beat"
# A beat need not outlive a loss of power, and one that is late is of no use.
_LIGHTLY = "SET synchronous_commit = off; SET statement_timeout = '2s'"


class Heart:
    def __init__(self, address: Address, epoch: int, began_s: float, lost: Callable[[], None]) -> None:
        """Beat for the lead that was taken at `began_s` or later; `lost` is called in the thread, once."""
        self._address = address
        self._epoch = epoch
        self._until_s = began_s + LEASE_S - MARGIN_S
        self._lost = lost
        self._over = threading.Event()
        threading.Thread(target=self._work, name="heart", daemon=True).start()

    @property
    def left_s(self) -> float:
        """For how long this process may still act; nothing where it is not sure that it leads."""
        return 0.0 if self._over.is_set() else max(0.0, self._until_s - now_s())

    def stop(self) -> None:
        """Beat no more; nobody may act on this lead from now on."""
        self._over.set()

    def _work(self) -> None:
        while not self._over.is_set():
            with suppress(BeforehandError), looking(self._address) as line:
                self._beat(line)
            self._over.wait(BEAT_S)

    def _beat(self, line: "Connection[Any]") -> None:
        line.execute(_LIGHTLY)
        while not self._over.is_set():
            began_s = now_s()
            if line.execute(_BEAT, (self._epoch,)).fetchone() is None:
                self._over.set()
                self._lost()
                return
            self._until_s = began_s + LEASE_S - MARGIN_S
            self._over.wait(BEAT_S)
