"""Those who are shown every commit, in the event loop."""

import asyncio
from collections.abc import Callable, Sequence

from beforehand.ports.store import Record

Listener = Callable[[Sequence[Record]], None]


class Listeners:
    def __init__(self) -> None:
        self._listeners: dict[object, Listener] = {}

    def add(self, listener: Listener) -> Callable[[], None]:
        """Show it every commit from now on; the result takes it off again."""
        key = object()
        self._listeners[key] = listener

        def take_off() -> None:
            self._listeners.pop(key, None)

        return take_off

    def tell(self, records: Sequence[Record]) -> None:
        """Show them a commit; one that fails does not keep it from the others."""
        for listener in list(self._listeners.values()):
            try:
                listener(records)
            except Exception as problem:
                asyncio.get_running_loop().call_exception_handler(
                    {"message": "A listener to the log failed.", "exception": problem}
                )
