"""Joins pages into one application behind the guard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ragassay.errors import InputError
from ragassay.site.safe import visible
from ragassay.web.guard import App, Guard, Session

NAVIGATION = "<!-- navigation -->"
"""Where a page has it, the links to the other pages stand."""
SITE_STYLE = ("ragassay.site", "templates/style.css")
TYPES: Mapping[str, str] = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """One page of the app: the path that it stands at, and every route that it answers, its own path included."""

    path: str
    routes: Sequence[BaseRoute]


class Link(msgspec.Struct, frozen=True):
    """A page as the others name it."""

    path: str
    name: str


def create_app(pages: Sequence[Page], session: Session) -> App:
    """Return the application: `/` leads to the first page, every request passes the guard."""
    home = RedirectResponse(pages[0].path, status_code=303)
    shared = [
        Route("/", home, methods=["GET"]),
        Route("/site.css", asset(*SITE_STYLE), methods=["GET"]),
        Route("/app.css", asset(__package__, "app.css"), methods=["GET"]),
        Route("/app.js", asset(__package__, "app.js"), methods=["GET"]),
        Route("/icon.svg", asset(__package__, "icon.svg"), methods=["GET"]),
    ]
    routes = [*shared, *(route for page in pages for route in page.routes)]
    handlers: Mapping[Any, Any] = {HTTPException: _refused, InputError: _unusable, Exception: _broken}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), session)


def asset(package: str, name: str) -> Response:
    """Return one file of a package, read now, as a reply that can be sent any number of times."""
    content = files(package).joinpath(name).read_bytes()
    return Response(content, headers={"content-type": TYPES[name.rpartition(".")[2]]})


def document(package: str, name: str, links: Sequence[Link], here: str) -> Response:
    """Return a page with links to all pages in its place for them, none where there is but one page."""
    items = "".join(
        f'<a href="{escape(link.path)}"{" aria-current=page" if link.path == here else ""}>{escape(link.name)}</a>'
        for link in links
    )
    navigation = f'<nav class="pages" aria-label="Pages">{items}</nav>' if len(links) > 1 else ""
    text = files(package).joinpath(name).read_text(encoding="utf-8").replace(NAVIGATION, navigation)
    return Response(text, headers={"content-type": TYPES["html"]})


def problem(status: int, text: str) -> JSONResponse:
    """Return a refusal as JSON, its text made visible."""
    return JSONResponse({"problem": visible(text)}, status_code=status)


async def _refused(_: Request, error: HTTPException) -> Response:
    return problem(error.status_code, error.detail)


async def _unusable(_: Request, error: InputError) -> Response:
    return problem(422, str(error))


async def _broken(_: Request, __: Exception) -> Response:
    return problem(500, "this is a bug in ragassay; nothing that was stored is lost")
