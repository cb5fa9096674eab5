"""The tools that change the workspace: write_file, copy_file and delete_file.

All are idempotent. Overwriting a file that is there is destructive, whatever it holds; writing a new one is not, nor
is a call that will be refused. Deleting always is. A file that is not there when its delete is judged, before the first
start, is a fault; one that has gone since counts as deleted, so that a delete cut short can be carried out again.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from beforehand.adapters.files.diff import file_diff
from beforehand.adapters.files.overlay import OverlayWorkspace, UnknownContentFault
from beforehand.adapters.files.paths import changed, missing, refusal, shown
from beforehand.adapters.tools.arguments import PATH, dependence, strict
from beforehand.model.errors import Fault
from beforehand.ports.tool import Judgement, Preview, Tool, ToolContext, ToolSpec, Unknown, Workspace, file_state


def content_bytes(content: Any) -> bytes:
    """Text is written as it is; any other value as JSON on one line, keys sorted, so that the same value always gives
    the same bytes."""
    text = content if isinstance(content, str) else _json(content)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise Fault("The content is not valid Unicode text.", code="file.not_text", untouched=True) from None


def _json(content: Any) -> str:
    try:
        return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise Fault("The content cannot be written as JSON.", code="file.not_json", untouched=True) from None


async def _held(workspace: Workspace, path: str) -> bytes | None:
    """What a file holds now, None when there is none."""
    try:
        return await workspace.read(path)
    except Fault as fault:
        if fault.code == "file.missing":
            return None
        raise


def _view(workspace: Workspace) -> OverlayWorkspace:
    """Where a preview may write: the view it was given, never a real folder."""
    return workspace if isinstance(workspace, OverlayWorkspace) else OverlayWorkspace(workspace)


def _failing(name: str, fault: Fault) -> Preview:
    return Preview(f"{name} would fail: {fault.says}", 0.01, Unknown(f"what {name} gives"), problems=(fault.says,))


async def _judge_overwrite(workspace: Workspace, path: str, after: bytes | None) -> Judgement:
    """What lies at the path decides; `after` is None where only the run will tell what is written."""
    try:
        if not await workspace.exists(path):
            evidence = {"path": path} if after is None else {"path": path, "size": len(after)}
            return Judgement(False, f"Writes a new file {shown(path)}.", evidence, state=file_state(None))
        before = await workspace.read(path)
    except UnknownContentFault:
        return Judgement(True, f"Overwrites {shown(path)}.", {"path": path})
    except Fault as fault:
        if fault.code == "file.too_large":
            return Judgement(True, f"Overwrites {shown(path)}, which is too large to compare.", {"path": path})
        if fault.transient:
            raise
        return Judgement(False, f"It will be refused: {fault.says}", {"path": path})
    if after is None:
        return Judgement(True, f"Overwrites {shown(path)}.", {"path": path}, state=file_state(before))
    return Judgement(
        True,
        f"Overwrites {shown(path)}." if before != after else f"Overwrites {shown(path)} with what it already holds.",
        {"path": path, "sizeBefore": len(before), "size": len(after), "diff": file_diff(path, before, after)},
        state=file_state(before),
    )


def _copied(target: str | None, source: bytes | None) -> str | None:
    """What a copy is held to: what lies at its target, and what it was seen to copy."""
    return target and f"{target} {file_state(source)}"


async def _preview_write(view: OverlayWorkspace, path: str, after: bytes, value: Any) -> Preview:
    try:
        before = await _held(view, path)
    except UnknownContentFault as fault:
        await view.write(path, after)
        return Preview(f"Overwrites {shown(path)}, whose content depends on {fault.why}.", 0.01, value)
    except Fault as fault:
        if fault.code != "file.too_large":
            raise
        await view.write(path, after)
        return Preview(f"Overwrites {shown(path)}, which is too large to compare.", 0.01, value)
    await view.write(path, after)
    says = f"Writes a new file {shown(path)}." if before is None else f"Overwrites {shown(path)}."
    if before == after:
        says = f"Leaves {shown(path)} as it is."
    return Preview(says, 0.01, value, file_diff(path, before, after))


async def _preview_unknown_write(view: OverlayWorkspace, path: str, depends: str, name: str) -> Preview:
    verb = "Overwrites" if await view.exists(path) else "Writes a new file"
    await view.write_unknown(path, depends)
    return Preview(f"{verb} {shown(path)}; its content depends on {depends}.", 0.01, Unknown(f"what {name} gives"))


class WriteFile(Tool):
    spec = ToolSpec(
        name="write_file",
        description="Write a file in the workspace, whole, making the folders it needs.",
        input_schema=strict(
            {
                "path": PATH,
                "content": {
                    "description": "Text is written as it is; a number, list, object, true, false or null is written "
                    "as JSON on one line, keys sorted."
                },
            }
        ),
        effect="idempotent",
        destructive="judged",
        writes=("path",),
        output="An object with the path and the bytes written.",
        estimate_s=0.01,
    )

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        content = content_bytes(args["content"])
        await context.workspace.write(args["path"], content, over=context.seen)
        return {"path": args["path"], "bytes": len(content)}

    async def judge(self, args: Mapping[str, Any], context: ToolContext) -> Judgement:
        try:
            content = None if dependence(args["content"]) else content_bytes(args["content"])
        except Fault as fault:
            return Judgement(False, f"It will be refused: {fault.says}", {"path": args["path"]})
        return await _judge_overwrite(context.workspace, args["path"], content)

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        path, content = args.get("path", ""), args.get("content")
        if depends := dependence(path):
            return Preview(f"Writes a file; which one depends on {depends}.", 0.01, Unknown("what write_file gives"))
        view = _view(context.workspace)
        try:
            if depends := dependence(content):
                return await _preview_unknown_write(view, path, depends, "write_file")
            after = content_bytes(content)
            return await _preview_write(view, path, after, {"path": path, "bytes": len(after)})
        except Fault as fault:
            return _failing("write_file", fault)


class CopyFile(Tool):
    spec = ToolSpec(
        name="copy_file",
        description="Copy a file of the workspace to another path in it, making the folders it needs.",
        input_schema=strict({"from": PATH, "to": PATH}),
        effect="idempotent",
        destructive="judged",
        writes=("to",),
        output="An object with both paths and the bytes copied.",
        estimate_s=0.01,
    )

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        content = await self._source(args, context.workspace)
        over, _, copied = (context.seen or "").partition(" ")
        if copied and file_state(content) != copied:
            raise changed(args["from"])
        await context.workspace.write(args["to"], content, over=over or None)
        return {"from": args["from"], "to": args["to"], "bytes": len(content)}

    async def judge(self, args: Mapping[str, Any], context: ToolContext) -> Judgement:
        try:
            content = await self._source(args, context.workspace)
        except Fault as fault:
            # The source may be there by the time it is copied, so what lies at the target decides.
            judged = await _judge_overwrite(context.workspace, args["to"], b"")
            says = f"It will be refused: {fault.says}"
            return Judgement(judged.destructive, says, {"path": args["to"]}, state=_copied(judged.state, None))
        judged = await _judge_overwrite(context.workspace, args["to"], content)
        return replace(judged, state=_copied(judged.state, content))

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        if depends := dependence(args):
            return Preview(f"Copies a file; which one depends on {depends}.", 0.01, Unknown("what copy_file gives"))
        view, source, target = _view(context.workspace), args.get("from", ""), args.get("to", "")
        try:
            content = await self._source(args, view)
            return await _preview_write(view, target, content, {"from": source, "to": target, "bytes": len(content)})
        except UnknownContentFault as fault:
            return await _preview_unknown_write(view, target, fault.why, "copy_file")
        except Fault as fault:
            return _failing("copy_file", fault)

    async def _source(self, args: Mapping[str, Any], workspace: Workspace) -> bytes:
        if args["from"] == args["to"]:
            raise refusal(f"copy_file was told to copy {shown(args['from'])} onto itself.", hint="Name another target.")
        return await workspace.read(args["from"])


class DeleteFile(Tool):
    spec = ToolSpec(
        name="delete_file",
        description="Delete a file of the workspace. Folders stay. Deleting a file that is not there fails; a delete "
        "that is carried out again after a crash and finds the file gone is done.",
        input_schema=strict({"path": PATH}),
        effect="idempotent",
        destructive="always",
        output="An object with the path, and whether the file was still there.",
        estimate_s=0.01,
    )

    def __init__(self) -> None:
        self._absent: set[str] = set()
        """Keys of calls whose file was not there when they were judged."""

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        path = args["path"]
        if context.key in self._absent:
            self._absent.discard(context.key)
            raise missing(path)
        try:
            await context.workspace.delete(path, over=context.seen)
        except Fault as fault:
            if fault.code != "file.missing":
                raise
            context.log(f"{shown(path)} was already gone.")
            return {"path": path, "deleted": False}
        return {"path": path, "deleted": True}

    async def judge(self, args: Mapping[str, Any], context: ToolContext) -> Judgement:
        path, workspace = args["path"], context.workspace
        if not await workspace.exists(path):
            self._absent.add(context.key)
            raise missing(path)
        try:
            before = await workspace.read(path)
        except Fault as fault:
            if fault.code != "file.too_large":
                raise
            return Judgement(True, f"Deletes {shown(path)}, which is too large to show.", {"path": path})
        evidence = {"path": path, "size": len(before), "diff": file_diff(path, before, None)}
        return Judgement(True, f"Deletes {shown(path)}.", evidence, state=file_state(before))

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        if depends := dependence(args):
            return Preview(f"Deletes a file; which one depends on {depends}.", 0.01, Unknown("what delete_file gives"))
        view, path = _view(context.workspace), args.get("path", "")
        diff: str | None = None
        try:
            try:
                diff = file_diff(path, await view.read(path), None)
            except UnknownContentFault:
                context.log(f"What {shown(path)} holds is not known yet.")
            await view.delete(path)
        except Fault as fault:
            return _failing("delete_file", fault)
        return Preview(f"Deletes {shown(path)}.", 0.01, {"path": path, "deleted": True}, diff)
