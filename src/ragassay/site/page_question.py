"""One page per question: the rows side by side, each with its answer and where it was lost. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ragassay.manifest.statement import RunDocument
from ragassay.records import OutputRow, TelemetryRow
from ragassay.site.page import Placed, Site
from ragassay.site.page_run import run_anchors
from ragassay.site.paths import TablePaths
from ragassay.site.record import BoardRow, Cell, QuestionLine
from ragassay.site.script import script
from ragassay.site.view import ItemView, item_view


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One row's answer on a question page."""

    name: str
    role: str
    anchor: str
    row_path: str
    item: ItemView
    cell: Cell | None
    run_path: str
    run_anchor: str


class _Shown(msgspec.Struct, frozen=True, kw_only=True):
    """The run that a row shows, looked up by question."""

    row: BoardRow
    outputs: Mapping[str, OutputRow]
    telemetry: Mapping[str, TelemetryRow]
    anchors: Mapping[str, str]
    path: str


def question_pages(site: Site, placed: Placed) -> Iterator[tuple[str, bytes]]:
    """Yield the page of each question of a table, in the order of topics and then of how much it separates the rows."""
    if not placed.shown:
        return
    paths = placed.paths
    rows = [_shown(row, document, site) for row, document in placed.shown]
    questions = {q.id: q for q in placed.shown[0][1].benchmark.questions}
    ordered = sorted(placed.table.questions, key=lambda line: line.topic or "")
    for index, line in enumerate(ordered):
        cells = {cell.row: cell for cell in line.cells}
        entries = [
            Entry(
                name=one.row.name,
                role=one.row.role,
                anchor=paths.anchors[one.row.key],
                row_path=paths.rows[one.row.key],
                item=item_view(
                    one.outputs[line.id],
                    questions[line.id],
                    one.telemetry.get(line.id),
                    oracle=one.row.role == "oracle",
                    elsewhere=one.row.rung == "republished",
                ),
                cell=cells.get(one.row.key),
                run_path=one.path,
                run_anchor=one.anchors[line.id],
            )
            for one in rows
        ]
        yield (
            paths.questions[line.id],
            site.page(
                "question.html",
                paths.questions[line.id],
                script=script("question"),
                question=questions[line.id],
                line=line,
                entries=entries,
                before=_neighbour(ordered, index - 1, paths),
                after=_neighbour(ordered, index + 1, paths),
            ),
        )


def _shown(row: BoardRow, document: RunDocument, site: Site) -> _Shown:
    return _Shown(
        row=row,
        outputs={output.id: output for output in document.outputs},
        telemetry={line.id: line for line in document.telemetry},
        anchors=run_anchors(document),
        path=site.run_paths[document.predicate.run_id],
    )


def _neighbour(lines: Sequence[QuestionLine], index: int, paths: TablePaths) -> dict[str, str] | None:
    if not 0 <= index < len(lines):
        return None
    return {"id": lines[index].id, "path": paths.questions[lines[index].id]}
