"""The board as it would be, inside the app: the pages of a static site, built in memory and written nowhere."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from html import escape, unescape
from typing import Literal, TypeAlias

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ragassay.errors import RagassayError
from ragassay.records.calibration import FOLDER as CALIBRATION
from ragassay.site.safe import visible
from ragassay.web.app import Link, Page, document
from ragassay.web.guard import POLICY_OF
from ragassay.web.snapshot import Snapshot, Snapshots, Stamp, stamp_of

Scope: TypeAlias = Literal["preview", "public"]
SiteOf: TypeAlias = Callable[[Snapshot, Scope], Mapping[str, bytes]]
"""Builds the site of a snapshot as the workspace would show it here, or strangers."""

TYPES: Mapping[str, str] = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "md": "text/plain; charset=utf-8",
    "svg": "image/svg+xml",
    "xml": "application/xml",
    "zip": "application/zip",
}
REST = ("base-uri", "form-action", "frame-ancestors")
"""What `default-src` does not speak for."""
NOTHING = "; ".join(f"{name} 'none'" for name in ("default-src", *REST))
HEAD = 4096
"""Within so many characters a page of ours states its policy, before any word of a run."""
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"<>]*)">')


def preview_page(snapshots: Snapshots, site_of: SiteOf, *, links: Sequence[Link] = ()) -> Page:
    """Return the pages of both boards, below `/board/preview/` and `/board/public/`."""
    shelf = _Shelf(snapshots, site_of)
    return Page(
        path="/board",
        routes=(
            Route("/board", document(__package__, "board.html", links, "/board"), methods=["GET"]),
            *(Route(f"/board/{scope}", RedirectResponse(f"/board/{scope}/index.html", 303)) for scope in _SCOPES),
            *(Route(f"/board/{scope}/", RedirectResponse(f"/board/{scope}/index.html", 303)) for scope in _SCOPES),
            Route("/board/preview/{path:path}", shelf.preview, methods=["GET"]),
            Route("/board/public/{path:path}", shelf.public, methods=["GET"]),
        ),
    )


_SCOPES: tuple[Scope, Scope] = ("preview", "public")


class _Shelf:
    """Both sites, each kept until the workspace changes, or what people said of its judges."""

    def __init__(self, snapshots: Snapshots, site_of: SiteOf) -> None:
        self._snapshots = snapshots
        self._site_of = site_of
        self._locks: Mapping[Scope, threading.Lock] = {scope: threading.Lock() for scope in _SCOPES}
        self._kept: dict[Scope, tuple[Snapshot, Stamp, Mapping[str, bytes]]] = {}

    async def preview(self, request: Request) -> Response:
        """Send a file of the local preview."""
        return await self._file(request, "preview")

    async def public(self, request: Request) -> Response:
        """Send a file of the board that strangers would get."""
        return await self._file(request, "public")

    async def _file(self, request: Request, scope: Scope) -> Response:
        try:
            files = await run_in_threadpool(self._files, scope)
        except RagassayError as error:
            return _page(request, 409, "This board cannot be built", visible(str(error)))
        path = str(request.path_params["path"])
        data = files.get(path)
        if data is None:
            return _page(request, 404, "This board has no such page", visible(path))
        kind = TYPES.get(path.rpartition(".")[2], "application/octet-stream")
        request.scope[POLICY_OF] = policy_of(data) if kind == TYPES["html"] else NOTHING
        return Response(data, headers={"content-type": kind})

    def _files(self, scope: Scope) -> Mapping[str, bytes]:
        with self._locks[scope]:
            snapshot, said = self._snapshots.now(), stamp_of(self._snapshots.workspace / CALIBRATION)
            kept = self._kept.get(scope)
            if kept is None or kept[0] is not snapshot or kept[1] != said:
                kept = self._kept[scope] = (snapshot, said, self._site_of(snapshot, scope))
            return kept[2]


def policy_of(page: bytes) -> str:
    """Return the policy for a page of the site: the one that it states itself, by hashes of its scripts and styles.

    That stands in its head, before any word of a run; what a run smuggled into a page is in no hash. A page that
    states none, or one that would let any inline script run, gets no script, no style and no connection at all.
    """
    found = _POLICY.search(page[:HEAD].decode("utf-8", "replace"))
    stated = unescape(found.group(1)) if found else ""
    directives = [words for part in stated.split(";") if (words := part.split())]
    closed = ["default-src", "'none'"] in directives and all(_is_closed(name, words) for name, *words in directives)
    if not closed or not stated.isascii() or not stated.isprintable():
        return NOTHING
    names = {name.lower() for name, *_ in directives}
    return "; ".join([stated, *(f"{name} 'none'" for name in REST if name not in names)])


def _is_closed(name: str, words: Sequence[str]) -> bool:
    """Tell whether a directive lets no script run but those that it names by hash, and opens no connection."""
    may = _MAY.get(name.lower(), frozenset())
    hashes = name.lower() in ("script-src", "style-src")
    return all(word == "'none'" or word in may or (hashes and _HASH.fullmatch(word)) for word in words)


_MAY: Mapping[str, frozenset[str]] = {
    "style-src": frozenset({"'unsafe-inline'"}),
    "img-src": frozenset({"data:"}),
    "font-src": frozenset({"data:"}),
}
"""Beside hashes: looks that stand in the page itself, so that nothing is fetched for them."""
_HASH = re.compile(r"'sha256-[A-Za-z0-9+/]{43}='")


def _page(request: Request, status: int, title: str, text: str) -> Response:
    request.scope[POLICY_OF] = NOTHING
    body = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<h1>{escape(title)}</h1><p>{escape(text)}</p><p><a href="/board">Back to the boards</a></p></html>'
    )
    return Response(body, status_code=status, headers={"content-type": TYPES["html"]})
