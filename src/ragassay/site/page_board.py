"""The first page of a site: the answer in one sentence, the tables, where each row loses, why to believe it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ragassay.site.page import Site
from ragassay.site.script import script
from ragassay.site.tableview import table_view


def board_page(site: Site) -> Iterator[tuple[str, bytes]]:
    """Yield `index.html`."""
    views = [table_view(placed, site.documents) for placed in site.tables]
    yield (
        "index.html",
        site.page(
            "board.html",
            "index.html",
            here="index.html",
            script=script("board"),
            views=views,
            benchmarks=site.benchmarks,
            log=bool(site.log),
        ),
    )
