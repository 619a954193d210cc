"""One page per two rows, and one page that leads to each of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ragassay.records import Question
from ragassay.site.page import Placed, Site
from ragassay.site.pairwords import pair_sentence
from ragassay.site.record import BoardRow, Pair

DECIDING = 200
"""Questions listed on a compare page; the dot plot shows all."""


DRAWN = 600
"""Pairs of a table whose dot plot is drawn, the best rows' first: all pairs of 35 rows. A page beyond says so."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A row with every other row that it can be compared with: name and path."""

    row: BoardRow
    others: tuple[tuple[str, str], ...]


def compare_pages(site: Site) -> Iterator[tuple[str, bytes]]:
    """Yield the page of each pair of each table, and `compare/index.html`."""
    for placed in site.tables:
        yield from _pairs(site, placed)
    choices = [(placed.table, choices_of(placed)) for placed in site.tables]
    path = "compare/index.html"
    yield path, site.page("compare_index.html", path, here=path, choices=choices)


def _pairs(site: Site, placed: Placed) -> Iterator[tuple[str, bytes]]:
    table, paths, names = placed.table, placed.paths, placed.names
    questions = {q.id: q for q in placed.shown[0][1].benchmark.questions} if placed.shown else {}
    lines = {line.id: {cell.row: cell for cell in line.cells} for line in table.questions}
    for index, pair in enumerate(table.pairs):
        path = paths.pairs[pair.a, pair.b]
        yield (
            path,
            site.page(
                "compare.html",
                path,
                table=table,
                pair=pair,
                a=names[pair.a],
                b=names[pair.b],
                names=names,
                drawn=index < DRAWN,
                most_drawn=DRAWN,
                sentence=pair_sentence(pair, names),
                deciding=[
                    _deciding(pair, identity, lines[identity], questions) for identity in pair.deciding[:DECIDING]
                ],
                more=max(0, len(pair.deciding) - DECIDING),
                question_paths=paths.questions,
                row_paths=paths.rows,
            ),
        )


def _deciding(pair: Pair, identity: str, cells: Mapping[str, Any], questions: Mapping[str, Question]) -> dict[str, Any]:
    return {
        "id": identity,
        "input": questions[identity].input if identity in questions else "",
        "difference": pair.differences[identity],
        "a": cells[pair.a],
        "b": cells[pair.b],
    }


def choices_of(placed: Placed) -> list[Choice]:
    """Return each row of a table that can be compared, with the others, in the table's order."""
    found: dict[str, dict[str, str]] = {}
    for (a, b), path in placed.paths.pairs.items():
        found.setdefault(a, {})[b] = path
        found.setdefault(b, {})[a] = path
    rows = [row for row in placed.table.rows if row.key in found]
    return [
        Choice(
            row=row,
            others=tuple((other.name, found[row.key][other.key]) for other in rows if other.key in found[row.key]),
        )
        for row in rows
    ]
