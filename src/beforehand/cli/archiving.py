"""`beforehand db archive`, at the server that leads the home or in this process."""

from typing import TYPE_CHECKING, Any

from beforehand.cli.backend import Call, Document, open_backend

if TYPE_CHECKING:
    from beforehand.app.runtime import Runtime
    from beforehand.app.settings import Settings

ADDED = ("events", "parts", "rawBytes", "bytes")


async def archive_before(settings: "Settings", before: str, dry_run: bool) -> Document:
    """Archive piece by piece until there is nothing left to do; what it all came to."""
    total: Document | None = None
    async with open_backend(settings, note="archive", with_servers=False) as backend:
        after: int | None = 0
        while after is not None:

            async def here(runtime: "Runtime", after: int = after) -> Any:
                from beforehand.app.archiving import archive_events
                from beforehand.app.retention import moment

                return await archive_events(runtime, moment(before, runtime.now()), dry_run=dry_run, after=after)

            call = Call("POST", "/archive", {"before": before, "dryRun": dry_run, "after": after})
            done = await backend.perform(here, call)
            total = done if total is None else _sum(total, done)
            after = done["next"]
        alone = backend.url is None
    if alone and not dry_run:
        from beforehand.app.stores import give_room_back

        await give_room_back(settings.database)
    assert total is not None
    return {name: value for name, value in total.items() if name != "next"}


def _sum(total: Document, done: Document) -> Document:
    stays = {name: total["stays"][name] + done["stays"][name] for name in done["stays"]}
    return {**done, **{name: total[name] + done[name] for name in ADDED}, "stays": stays}
