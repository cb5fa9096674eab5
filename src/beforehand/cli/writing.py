"""What a model writes, shown at a terminal while it is written, and gone when it is done.

Where a program reads along nothing of it is shown, and nobody follows the frames.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from beforehand.cli.backend import Document
from beforehand.cli.screen import Output, console, plain, print_err
from beforehand.model.errors import BeforehandError
from beforehand.ports.tasks import part, stop

WRITING = "modelWriting"
LINES = 5
"""How much of what was written last stays in sight."""


class Page:
    """The end of what is being written."""

    def __init__(self) -> None:
        self.model = ""
        self.text = ""
        self.length = 0
        self._request = 0

    def take(self, frame: Document) -> None:
        """Add a frame; a gap before it shows as dots."""
        if frame["request"] != self._request or frame["at"] == 0:
            self._request, self.text, self.length = frame["request"], "", 0
        gap = "" if frame["at"] == self.length else " … "
        self.model = frame["model"]
        self.text = f"{self.text}{gap}{plain(frame['text'])}"[-10_000:]
        self.length = frame["at"] + len(frame["text"])


class Writing:
    """Whoever follows a model at a terminal; sentences that are to stay are told through it."""

    def __init__(self) -> None:
        from rich.live import Live

        self._page = Page()
        self._console = console(sys.stderr)
        self._live = Live(console=self._console, get_renderable=self._shown, refresh_per_second=8, transient=True)

    def take(self, frame: Document) -> None:
        self._page.take(frame)
        if not self._live.is_started:
            self._live.start(refresh=True)

    def tell(self, *sentences: object) -> None:
        shows = self._live.is_started
        self.end()
        print_err(*sentences)
        if shows:
            self._live.start(refresh=True)

    def end(self) -> None:
        self._live.stop()

    def _shown(self) -> Any:
        from rich.console import Group
        from rich.text import Text

        width = self._console.size.width
        wrapped = Text(self._page.text, style="dim").wrap(self._console, width)
        head = Text(f"{plain(self._page.model)} writes, {self._page.length} characters so far:")
        return Group(head, *wrapped[-LINES:])


class Quiet:
    """Nobody looks: only what is to stay is told."""

    def take(self, frame: Document) -> None: ...

    def tell(self, *sentences: object) -> None:
        print_err(*sentences)

    def end(self) -> None: ...


def looks_on(output: Output) -> bool:
    """Whether somebody sits at a terminal and is to see how it goes on."""
    return output is Output.TABLE and sys.stderr.isatty()


@asynccontextmanager
async def written(frames: AsyncIterator[Document], output: Output, **about: str) -> AsyncIterator[Writing | Quiet]:
    """While inside, what a model writes is shown if its frames carry these ids and somebody looks on."""
    if not looks_on(output):
        yield Quiet()
        return
    view = Writing()
    following = part(_follow(frames, view, about))
    try:
        yield view
    finally:
        await stop([following])
        view.end()


async def _follow(frames: AsyncIterator[Document], view: Writing, about: dict[str, str]) -> None:
    with suppress(BeforehandError):
        async for frame in frames:
            if frame.get("kind") == WRITING and about.items() <= frame.items():
                view.take(frame)
