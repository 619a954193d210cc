"""The page of the judges: what each is, how far they agree, and how far one may rely on them. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ragassay.records import to_json
from ragassay.site.page import Placed, Site
from ragassay.site.recorded import Parameter, recorded
from ragassay.site.tableview import TableView, table_view


class JudgesOf(msgspec.Struct, frozen=True, kw_only=True):
    """The judges of one table: the view, and what is recorded of the judge whose scores its runs hold."""

    view: TableView
    digest: str | None
    recorded: tuple[Parameter, ...]


def judges_page(site: Site) -> Iterator[tuple[str, bytes]]:
    """Yield `judges.html`."""
    path = "judges.html"
    yield path, site.page("judges.html", path, here=path, tables=[_judges_of(site, one) for one in site.tables])


def _judges_of(site: Site, placed: Placed) -> JudgesOf:
    config = next((document.config for _, document in placed.shown if document.config is not None), None)
    judge = next((document.predicate.judge for _, document in placed.shown), None)
    return JudgesOf(
        view=table_view(placed, site.documents),
        digest=judge.digest.sha256 if judge and judge.digest else None,
        recorded=recorded(to_json(config.measure.judge)) if config else (),
    )
