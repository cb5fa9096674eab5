"""What there is to read besides calling tools: the documentation and the scenes; and a prompt to begin with."""

import json
from collections.abc import Mapping, Sequence
from urllib.parse import quote, unquote

from beforehand.cli.mcp.home_access import HomeAccess
from beforehand.cli.mcp.looking import scene_document, scene_rows
from beforehand.model.errors import NotFoundError
from beforehand.ports.mcp import McpPage, McpPrompt

DOCS = "beforehand://docs/"
SCENES = "beforehand://scenes/"


async def pages(access: HomeAccess) -> Sequence[McpPage]:
    """Every page of the documentation and every scene."""
    from beforehand.app.doc_pages import doc_pages

    docs = [McpPage(DOCS + name, title, "text/markdown") for name, title in doc_pages().items()]
    return docs + [
        McpPage(
            SCENES + quote(row["name"], safe=""), f"Scene {row['name']}", "application/json", f"Kind {row['kind']}."
        )
        for row in await scene_rows(access)
    ]


async def page(access: HomeAccess, uri: str) -> str:
    """The text at an address."""
    from beforehand.app.doc_pages import doc_page

    if uri.startswith(DOCS):
        return doc_page(unquote(uri.removeprefix(DOCS)))
    if uri.startswith(SCENES):
        document = await scene_document(access, unquote(uri.removeprefix(SCENES)))
        return json.dumps(document, ensure_ascii=False, indent=1)
    raise NotFoundError.unknown("address", uri, [f"{DOCS}index", f"{SCENES}NAME"], plural="addresses")


def _plan_this(given: Mapping[str, str]) -> str:
    return (
        f"Make a plan in the scene {given['scene']!r} for this: {given['wish']}\n"
        "Call plan, then preview_plan with what it gives, and tell me in a few sentences what would happen and how "
        "long it takes. If it is refused, tell me why and what I could say instead. When I agree, call submit_plan "
        "and tell me where to approve it; you cannot approve it yourself."
    )


PROMPTS = (
    McpPrompt(
        "plan_this",
        "Plan this",
        "Plan something in a scene, look at it, and hand it in for review.",
        {"scene": "The scene's name.", "wish": "What is wanted, in words."},
        _plan_this,
    ),
)
