"""Every file of a static site as bytes, by its path. Pure: the same board and runs give the same site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec
from markupsafe import Markup

from ragassay import canon
from ragassay.manifest.statement import RunDocument
from ragassay.records import Counts, OutputRow, Question, TelemetryRow, to_json
from ragassay.site.file import encode_board
from ragassay.site.judgerecord import JudgedRow, Judging
from ragassay.site.loaded import LoadedRun
from ragassay.site.names import file_names
from ragassay.site.numbers import plural
from ragassay.site.pairwords import pair_sentence
from ragassay.site.paths import TablePaths, downloads, run_paths, table_paths
from ragassay.site.plot import CAUSES, Axis, Share, axis, cause_shares, dots
from ragassay.site.record import Board, BoardRow, Cell, Pair, QuestionLine, Table
from ragassay.site.render import environment
from ragassay.site.run_bundle import RunBundle, run_bundle
from ragassay.site.verifier_page import verifier, verifier_page
from ragassay.site.view import ItemView, item_view, item_views

DECIDING = 200
"""Questions listed on a compare page; the dot plot shows all."""


class TableView(msgspec.Struct, frozen=True, kw_only=True):
    """A table with what its templates look up."""

    table: Table
    axis: Axis
    reach_label: str
    reach_k: int | None
    names: Mapping[str, str]
    shares: Mapping[str, list[Share]]
    heat_rows: tuple[BoardRow, ...]
    topics: list[tuple[str | None, list[QuestionLine]]]
    judged_rows: Mapping[str, list[JudgedRow | None]]
    """Each row under each judge, in the order of the judges."""
    question_paths: Mapping[str, str]
    pair_paths: Mapping[tuple[str, str], str]

    def cells(self, line: QuestionLine) -> list[Cell]:
        """Return a question's cells in the order of the table's rows."""
        by_row = {cell.row: cell for cell in line.cells}
        return [by_row[row.key] for row in self.heat_rows]


def site_files(board: Board, runs: Sequence[LoadedRun], log: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """Return the site of a board, the runs that it was built from, and the log's files: path → bytes."""
    documents = [run.document for run in runs if run.document is not None]
    of_runs = run_paths(documents)
    of_tables = [(table, table_paths(table)) for table in board.tables]
    benchmarks = downloads(board, documents)
    files: dict[str, bytes] = {"board.json": encode_board(board), "verify.html": verifier_page()}
    for file in benchmarks:
        files[file.path] = canon.canonical(file.benchmark.item_set())
    views = [table_view(table, paths) for table, paths in of_tables]
    files["index.html"] = _page(
        "board.html", board, "index.html", views=views, benchmarks=benchmarks, run_paths=of_runs, log=log
    )
    files.update({f"log/{path}": data for path, data in (log or {}).items()})
    by_id = {d.predicate.run_id: d for d in documents}
    for table, paths in of_tables:
        files.update(_question_pages(board, table, paths, by_id, of_runs))
        files.update(_compare_pages(board, table, paths, by_id))
    questions = _questions_of_runs(of_tables)
    for run in runs:
        if run.document is not None:
            files.update(_run_files(board, run, run.document, of_runs, questions))
            files.update(_judgement_files(run))
    return files


def _page(template: str, board: Board, path: str, **context: Any) -> bytes:
    root = "../" * path.count("/")
    found = environment().get_template(template)
    return found.render(board=board, root=root, **context).encode("utf-8")


def table_view(table: Table, paths: TablePaths) -> TableView:
    """Return a table with its drawing and its links."""
    answered = {cell.row for line in table.questions for cell in line.cells}
    reached = next((row.reach.k for row in table.rows if row.reach and row.role == "row"), None)
    lines = sorted(table.questions, key=lambda line: line.topic or "")
    return TableView(
        table=table,
        axis=axis(table.rows),
        reach_label=f"Reach@{reached}" if reached else "Reach",
        reach_k=reached,
        names={row.key: row.name for row in table.rows},
        shares={row.key: cause_shares(table, row.key) for row in table.rows if row.key in answered},
        heat_rows=tuple(row for row in table.rows if row.key in answered),
        topics=[(topic, list(group)) for topic, group in groupby(lines, key=lambda line: line.topic)],
        judged_rows=_judged_rows(table.judging),
        question_paths=paths.questions,
        pair_paths=paths.pairs,
    )


def _judged_rows(judging: Judging | None) -> dict[str, list[JudgedRow | None]]:
    if judging is None:
        return {}
    by_judge = [{line.row: line for line in judge.rows} for judge in judging.judges]
    keys = dict.fromkeys(key for lines in by_judge for key in lines)
    return {key: [lines.get(key) for lines in by_judge] for key in keys}


def _questions_of_runs(tables: Sequence[tuple[Table, TablePaths]]) -> dict[str, Mapping[str, str]]:
    return {run.id: paths.questions for table, paths in tables for row in table.rows for run in row.runs}


def _run_files(
    board: Board,
    run: LoadedRun,
    document: RunDocument,
    of_runs: Mapping[str, str],
    questions: Mapping[str, Mapping[str, str]],
) -> Iterator[tuple[str, bytes]]:
    path = of_runs[document.predicate.run_id]
    folder = path.removesuffix("index.html")
    for name, data in run.files.items():
        yield f"{folder}{name}", data
    bundle = run_bundle(run.files)
    if bundle.data is not None:
        yield f"{folder.removesuffix('/')}.zip", bundle.data
    items = item_views(document)
    yield (
        path,
        _page(
            "run.html",
            board,
            path,
            p=document.predicate,
            config=document.config,
            config_text=canon.canonical(to_json(document.config)).decode("utf-8") if document.config else "",
            checks=run.checks,
            files=sorted(run.files),
            missing=_missing(document.predicate.counts),
            items=items,
            by_cause=[(cause, lost) for cause in CAUSES if (lost := [i for i in items if i.cause == cause])],
            anchors=run_anchors(document),
            question_paths=questions.get(document.predicate.run_id, {}),
            bundle=bundle,
            bundle_name=f"{folder.split('/')[-2]}.zip",
            **_verifier_parts(bundle),
        ),
    )


def _judgement_files(run: LoadedRun) -> Iterator[tuple[str, bytes]]:
    """Yield the files of each judgement that counts, laid out as in a workspace, for whoever wants to check them."""
    for one in run.judgements:
        if one.document is not None:
            yield from ((f"judgements/{run.id}/{one.id}/{name}", data) for name, data in one.files.items())


def _verifier_parts(bundle: RunBundle) -> dict[str, object]:
    """Return what lets a run's page check the run that it holds, or nothing where it holds none."""
    if bundle.text is None:
        return {"verifier": None}
    parts = verifier()
    script, style, form = Markup(parts.script), Markup(parts.style), Markup(parts.form)  # all three are our own files
    return {"verifier": parts, "verifier_script": script, "verifier_style": style, "verifier_form": form}


def _missing(counts: Counts) -> list[str]:
    return [
        f"{plural(count, 'question')} {what}"
        for count, what in (
            (counts.unjudged, "unjudged"),
            (counts.answer_failed, "without an answer"),
            (counts.retrieval_failed, "without retrieval, because the stack failed"),
            (counts.harness_failed, "lost by the harness"),
        )
        if count
    ]


def run_anchors(document: RunDocument) -> dict[str, str]:
    """Return the fragment of each question on its run's page."""
    return {identity: f"q-{name}" for identity, name in file_names(row.id for row in document.outputs).items()}


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One row's answer on a question page."""

    name: str
    anchor: str
    item: ItemView
    cell: Cell | None
    run_path: str
    run_anchor: str


def _shown_runs(table: Table, by_id: Mapping[str, RunDocument]) -> list[tuple[BoardRow, RunDocument]]:
    return [
        (row, by_id[run.id])
        for row in table.rows
        if row.standing != "superseded"
        for run in row.runs
        if run.shown and run.id in by_id
    ]


def _question_pages(
    board: Board, table: Table, paths: TablePaths, by_id: Mapping[str, RunDocument], of_runs: Mapping[str, str]
) -> Iterator[tuple[str, bytes]]:
    shown = _shown_runs(table, by_id)
    if not shown:
        return
    parts = [
        (row, {o.id: o for o in d.outputs}, {t.id: t for t in d.telemetry}, run_anchors(d), of_runs[d.predicate.run_id])
        for row, d in shown
    ]
    questions = {q.id: q for q in shown[0][1].benchmark.questions}
    ordered = sorted(table.questions, key=lambda line: line.topic or "")
    for index, line in enumerate(ordered):
        question = questions[line.id]
        cells = {cell.row: cell for cell in line.cells}
        entries = [
            Entry(
                name=row.name,
                anchor=paths.anchors[row.key],
                item=_item(row, outputs[line.id], question, telemetry.get(line.id)),
                cell=cells.get(row.key),
                run_path=path,
                run_anchor=anchors[line.id],
            )
            for row, outputs, telemetry, anchors, path in parts
        ]
        around = {
            "before": _neighbour(ordered, index - 1, paths),
            "after": _neighbour(ordered, index + 1, paths),
        }
        path = paths.questions[line.id]
        yield path, _page("question.html", board, path, question=question, line=line, entries=entries, **around)


def _item(row: BoardRow, output: OutputRow, question: Question, telemetry: TelemetryRow | None) -> ItemView:
    elsewhere = row.rung == "republished"
    return item_view(output, question, telemetry, oracle=row.role == "oracle", elsewhere=elsewhere)


def _neighbour(lines: Sequence[QuestionLine], index: int, paths: TablePaths) -> dict[str, str] | None:
    if not 0 <= index < len(lines):
        return None
    return {"id": lines[index].id, "path": paths.questions[lines[index].id]}


def _compare_pages(
    board: Board, table: Table, paths: TablePaths, by_id: Mapping[str, RunDocument]
) -> Iterator[tuple[str, bytes]]:
    names = {row.key: row.name for row in table.rows}
    shown = _shown_runs(table, by_id)
    questions = {q.id: q for q in shown[0][1].benchmark.questions} if shown else {}
    for pair in table.pairs:
        path = paths.pairs[pair.a, pair.b]
        yield (
            path,
            _page(
                "compare.html",
                board,
                path,
                pair=pair,
                a=names[pair.a],
                b=names[pair.b],
                sentence=pair_sentence(pair, names),
                dots=dots(pair),
                deciding=deciding(pair, table, questions)[:DECIDING],
                question_paths=paths.questions,
            ),
        )


def deciding(pair: Pair, table: Table, questions: Mapping[str, Question]) -> list[dict[str, Any]]:
    """Return the questions on which two rows differ, largest difference first, with both rows' cells."""
    lines = {line.id: {cell.row: cell for cell in line.cells} for line in table.questions}
    return [
        {
            "id": identity,
            "input": questions[identity].input if identity in questions else "",
            "difference": pair.differences[identity],
            "a": lines[identity][pair.a],
            "b": lines[identity][pair.b],
        }
        for identity in pair.deciding
    ]
