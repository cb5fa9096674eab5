"""The tools that read the workspace: read_file and list_dir. Both are pure."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from beforehand.adapters.files.overlay import UnknownContentFault
from beforehand.adapters.files.paths import shown
from beforehand.adapters.tools.arguments import PATH, dependence, strict
from beforehand.model.errors import Fault
from beforehand.model.words import counted
from beforehand.ports.tool import Preview, Tool, ToolContext, ToolSpec, Unknown


class _Reader(Tool):
    """Reading changes nothing, so a preview simply reads, in the view it is given."""

    @abstractmethod
    def _says(self, path: str, value: Any) -> str: ...

    async def preview(self, args: Mapping[str, Any], context: ToolContext) -> Preview:
        name, seconds = self.spec.name, self.spec.estimate_s
        if depends := dependence(args):
            return Preview(f"{name}: which path depends on {depends}.", seconds, Unknown(f"what {name} gives"))
        path = args.get("path", "")
        try:
            value = await self.run(args, context)
        except UnknownContentFault as fault:
            return Preview(f"Reads {shown(path)}. {fault.says}", seconds, Unknown(f"the content of {path}"))
        except Fault as fault:
            return Preview(
                f"{name} would fail: {fault.says}", seconds, Unknown(f"what {name} gives"), problems=(fault.says,)
            )
        return Preview(self._says(path, value), seconds, value)


class ReadFile(_Reader):
    spec = ToolSpec(
        name="read_file",
        description="Read a text file of the workspace.",
        input_schema=strict({"path": PATH}),
        effect="pure",
        output="The text of the file.",
        output_schema={"type": "string"},
        estimate_s=0.01,
    )

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> str:
        path = args["path"]
        content = await context.workspace.read(path)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Fault(
                f"{shown(path)} is not UTF-8 text: byte {error.start} of {len(content)} does not fit.",
                code="file.not_text",
                hint="Use copy_file for files that are not text, or convert the file to UTF-8.",
                untouched=True,
            ) from None

    def _says(self, path: str, value: Any) -> str:
        return f"Reads {shown(path)}: {counted(len(value), 'character')}."


class ListDir(_Reader):
    spec = ToolSpec(
        name="list_dir",
        description="List the names in a folder of the workspace.",
        input_schema=strict({"path": PATH | {"description": "A folder inside the workspace; '.' is the workspace."}}),
        effect="pure",
        output="The names in the folder, files and folders alike, sorted.",
        output_schema={"type": "array", "items": {"type": "string"}},
        estimate_s=0.01,
    )

    async def run(self, args: Mapping[str, Any], context: ToolContext) -> list[str]:
        return sorted(name.removesuffix("/") for name in await context.workspace.entries(args["path"]))

    def _says(self, path: str, value: Any) -> str:
        return f"Lists {shown(path)}: {len(value)} {'name' if len(value) == 1 else 'names'}."
