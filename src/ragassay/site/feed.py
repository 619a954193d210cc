"""An Atom feed of what was published and what was withdrawn, newest first. Pure."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from uuid import UUID

import msgspec

from ragassay.site.numbers import exact, listed, plural
from ragassay.site.page import Site
from ragassay.site.record import BoardRow, RunLine
from ragassay.site.render import environment
from ragassay.site.safe import one_line
from ragassay.site.scopewords import attested_words, voided_words
from ragassay.site.standrecord import Published, VoidedRun

MOST = 100
"""Entries of the feed; board.json names every publication."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One publication or withdrawal; `path` is that of the run's page, None where it has none any more."""

    at: int
    identity: str
    title: str
    summary: str
    path: str | None

    @property
    def updated(self) -> str:
        """Return the moment as Atom writes it."""
        return _moment(self.at)


def feed(site: Site) -> Iterator[tuple[str, bytes]]:
    """Yield `feed.xml` of a public board; a preview has none."""
    if not site.public:
        return
    entries = sorted(_entries(site), key=lambda one: (-one.at, one.identity))[:MOST]
    updated = entries[0].at if entries else site.board.generated
    found = environment().get_template("feed.xml")
    yield (
        "feed.xml",
        found.render(
            board=site.board,
            identity=_urn(hashlib.sha256(site.board.name.encode("utf-8", "surrogatepass")).hexdigest()),
            updated=_moment(updated),
            entries=entries,
        ).encode("utf-8"),
    )


def _entries(site: Site) -> Iterator[Entry]:
    for table in site.board.tables:
        for row in table.rows:
            for run in row.runs:
                if run.published is not None and run.id in site.run_paths:
                    yield _published(row, run, run.published, site.run_paths[run.id])
    yield from (_withdrawn(run) for run in site.board.voided if run.taken_back.withdrawn)


def _published(row: BoardRow, run: RunLine, found: Published, path: str) -> Entry:
    readers = listed([one_line(one.reader) for one in found.readers]) or "nobody"
    withheld = f"{plural(found.texts_withheld, 'text')} withheld or shortened"
    return Entry(
        at=found.at,
        identity=_urn(run.id),
        title=f"{one_line(row.name)}, pass {run.pass_k}: {exact(run.score)}",
        summary=f"Read and signed for by {readers}; {withheld}; {attested_words(run.attested)}.",
        path=path,
    )


def _withdrawn(run: VoidedRun) -> Entry:
    return Entry(
        at=run.taken_back.at or run.ended,
        identity=_urn(run.id),
        title=f"{one_line(run.row)}, pass {run.pass_k}: withdrawn",
        summary=f"{voided_words(run.taken_back)}.",
        path=None,
    )


def _urn(digits: str) -> str:
    """Return a name that never changes, from 32 hex digits; other ids are hashed first."""
    given = digits[:32]
    if len(given) != 32 or any(digit not in "0123456789abcdef" for digit in given):
        given = hashlib.sha256(digits.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return UUID(hex=given).urn


def _moment(at: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
