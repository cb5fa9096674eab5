"""The documentation that comes with the package, for a console to show beside what it is about."""

import asyncio

from fastapi import APIRouter, Response

from beforehand.app.doc_pages import doc_page, doc_pages
from beforehand.server.installation_shapes import DocPageShape
from beforehand.server.responses import Json
from beforehand.server.shapes import gives, gives_content

router = APIRouter(tags=["documentation"])
_MARKDOWN = gives_content("The page.", {"text/markdown": {"schema": {"type": "string"}}})


@router.get("/docs", operation_id="listDocs", responses=gives(list[DocPageShape]))
async def list_docs() -> Json:
    """The pages of the documentation, by name."""
    pages = await asyncio.to_thread(doc_pages)
    return Json([{"name": name, "title": title} for name, title in pages.items()])


@router.get("/docs/{name}", operation_id="getDoc", response_class=Response, responses=_MARKDOWN)
async def get_doc(name: str) -> Response:
    """One page, in Markdown."""
    return Response(await asyncio.to_thread(doc_page, name), media_type="text/markdown")
