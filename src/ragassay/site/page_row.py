"""One page per row: its runs over time, what it measures, what it is compared with, where it loses. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ragassay.records import to_json
from ragassay.site.badge import badge_path
from ragassay.site.exposurewords import said_of
from ragassay.site.page import Placed, Site
from ragassay.site.pairwords import ranked_first, turned
from ragassay.site.pictures import runs_over_time
from ragassay.site.plot import CAUSES
from ragassay.site.record import BoardRow, Cause, Pair, QuestionLine, Table
from ragassay.site.recorded import Parameter, recorded

PARTS = (
    ("The stack", ("stack", "topK", "threshold")),
    ("The answering model", ("answer",)),
    ("The judge and the rubric", ("judge", "scorer")),
    ("The corpus", ("corpus",)),
    ("The questions", ("benchmark",)),
)
"""What makes the key of a row, by title, as its members are named in `config.json`."""
FURTHER = "What else can change a number"
AROUND = "What surrounds it, and makes no key"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Recorded parameters that belong together."""

    title: str
    values: tuple[Parameter, ...]


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """Questions that a row lost for one cause: id and mean."""

    cause: Cause
    questions: tuple[tuple[str, str | None], ...]


def row_pages(site: Site, placed: Placed) -> Iterator[tuple[str, bytes]]:
    """Yield the page of each row of a table, superseded and void ones too; one that was never run has none."""
    paths = placed.paths
    for row in placed.table.rows:
        path = paths.rows.get(row.key)
        if path is None:
            continue
        yield (
            path,
            site.page(
                "row.html",
                path,
                row=row,
                exposure_said=next((said_of(line) for line in placed.table.exposure if line.key == row.key), None),
                badge=badge_path(site, placed, row),
                table=placed.table,
                picture_of_runs=runs_over_time(row) if row.runs else None,
                parameters=parameters(site, row),
                pairs=[(pair, _path(paths.pairs, pair)) for pair in pairs_of(placed.table, row.key)],
                names=placed.names,
                lost=lost(placed.table.questions, row.key),
                replaced=[
                    other for other in placed.table.rows if other.name == row.name and other.standing == "superseded"
                ],
                standing=_standing(placed.table.rows, row),
                row_paths=paths.rows,
                question_paths=paths.questions,
            ),
        )


def _path(paths: Mapping[tuple[str, str], str], pair: Pair) -> str:
    return paths.get((pair.a, pair.b)) or paths[pair.b, pair.a]


def _standing(rows: Sequence[BoardRow], row: BoardRow) -> BoardRow | None:
    """Return the row that stands in the place of a superseded one."""
    if row.standing != "superseded":
        return None
    return next((other for other in rows if other.name == row.name and other.standing != "superseded"), None)


def parameters(site: Site, row: BoardRow) -> list[Part]:
    """Return every recorded parameter of the run that a row shows, or else of its last, by part, the stack first."""
    ids = [run.id for run in row.runs if run.shown] + [run.id for run in reversed(row.runs)]
    documents = [site.documents[identity] for identity in ids if identity in site.documents]
    config = next((document.config for document in documents if document.config is not None), None)
    if config is None:
        return []
    measure = to_json(config.measure)
    grouped = {name for _, names in PARTS for name in names}
    parts = [(title, {name: measure[name] for name in names if name in measure}) for title, names in PARTS]
    parts.append((FURTHER, {name: value for name, value in measure.items() if name not in grouped}))
    parts.append((AROUND, to_json(config.circumstance)))
    return [Part(title=title, values=recorded(members)) for title, members in parts if members]


def pairs_of(table: Table, key: str) -> list[Pair]:
    """Return the comparisons of one row with every other, the row first, those with ranked rows before the others."""
    pairs = ranked_first((pair for pair in table.pairs if key in (pair.a, pair.b)), table.rows)
    return [pair if pair.a == key else turned(pair) for pair in pairs]


def lost(questions: Sequence[QuestionLine], key: str) -> list[Lost]:
    """Return the questions that a row did not answer fully, by cause, in the order of causes."""
    found: dict[Cause, list[tuple[str, str | None]]] = {}
    for line in questions:
        for cell in line.cells:
            if cell.row == key and cell.cause != "correct":
                found.setdefault(cell.cause, []).append((line.id, cell.mean))
    return [Lost(cause=cause, questions=tuple(found[cause])) for cause in CAUSES if cause in found]
