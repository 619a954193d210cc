"""What rows declare of their exposure to the questions, beside what their own earlier runs show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pages_factory as rich
import site_factory as make
import spec_factory as spec

from ragassay.records import Benchmark
from ragassay.site import LoadedRun, build_board, load_runs, site_files
from ragassay.site.questionrecord import ExposureLine
from ragassay.site.record import Board
from ragassay.site.text import render_text

NOW = make.START + 10_000
SAID = (
    "declares that it was not shaped on these questions (exposure none), but 2 earlier configurations of it were run "
    "on these questions, first on 2026-09-21"
)


def _stack(**params: Any) -> dict[str, Any]:
    return {"kind": "bm25", "entry": {"kind": "bm25", **params}, "describe": {"kind": "bm25", **params}}


def _write(workspace: Path, bench: Benchmark, at: int, *, row: str = "bm25", **changes: Any) -> list[str]:
    return make.write_row(workspace, row, "bm25", bench, make.losing_first(1), passes=1, at=make.START + at, **changes)


def _tuned(workspace: Path, declared: str | None = "none") -> Benchmark:
    """Write a row with k1 set three times, and one that declares nothing."""
    bench = make.benchmark(6)
    for at, k1 in ((0, "1.2"), (100, "1.5"), (150, "1.5"), (300, "0.9")):
        _write(workspace, bench, at, stack=_stack(k1=k1), circumstance_exposure=declared)
    _write(workspace, bench, 200, row="plain")
    return bench


def _board(workspace: Path) -> Board:
    return build_board(load_runs(workspace, now=NOW), now=NOW)


def _line(board: Board, row: str = "bm25") -> ExposureLine:
    assert board.main is not None
    return next(line for line in board.main.exposure if line.row == row)


def test_earlier_configurations_contradict_a_declaration(tmp_path: Path) -> None:
    """They are counted with their runs and the day of the first, and a note stands beside the row, everywhere."""
    _tuned(tmp_path)
    board = _board(tmp_path)
    line = _line(board)
    assert (line.declared, line.earlier, line.earlier_runs, line.contradicted) == ("none", 2, 3, True)
    assert _line(board, "plain") == msgspec.structs.replace(_line(board, "plain"), declared=None, earlier=0, first=None)
    assert board.main is not None
    row = next(row for row in board.main.rows if row.key == line.key)
    assert SAID in row.warnings
    text = " ".join(render_text(board, width=140).split())
    assert "Exposure of rows to these questions:" in text
    assert "bm25: declared none; 2 earlier configurations of it were run on these questions" in text
    assert "plain: not recorded" in text
    files = site_files(board, load_runs(tmp_path, now=NOW))
    page = rich.parsed(files["index.html"])
    cells = [
        [cell.text_content().strip() for cell in tr.xpath("./td")]
        for tr in page.xpath("//h2[starts-with(@id,'exposure-')]/following-sibling::table[1]//tbody/tr")
    ]
    assert cells == [
        ["bm25", "none", "2", "3", "2026-09-21", "its declaration is contradicted"],
        ["plain", "not recorded", "0", "0", "–", ""],
    ]
    assert SAID in rich.words(files["index.html"])
    assert "A declaration is contradicted. bm25 (2 earlier configurations, first on 2026-09-21)" in spec.said(tmp_path)


def test_earlier_configurations_of_a_row_that_declares_nothing_are_listed(tmp_path: Path) -> None:
    """It contradicts nothing, so no note stands beside the row; the table and the specification count them."""
    _tuned(tmp_path, declared=None)
    board = _board(tmp_path)
    assert (_line(board).earlier, _line(board).contradicted) == (2, False)
    assert board.main is not None
    assert not [said for row in board.main.rows for said in row.warnings if "shaped on these" in said]
    assert "not recorded; 2 earlier configurations of it" in " ".join(render_text(board).split())
    assert "In this workspace are earlier configurations that were run on these questions: 2 of bm25." in spec.said(
        tmp_path
    )


def test_nothing_recorded_of_any_row_is_one_line(tmp_path: Path) -> None:
    """Without a declaration and without an earlier configuration there is no table to read."""
    bench = make.benchmark(6)
    _write(tmp_path, bench, 0)
    _write(tmp_path, bench, 100, row="plain")
    board = _board(tmp_path)
    assert "Exposure of rows" not in render_text(board)
    assert board.main is not None
    assert "exposure to the questions: not recorded of any row" in board.main.warnings
    assert "Exposure of rows" not in rich.words(site_files(board, load_runs(tmp_path, now=NOW))["index.html"])


def test_only_what_a_person_sets_is_another_configuration(tmp_path: Path) -> None:
    """Another version of the engine, another model or judge is none; top-k, threshold and the chunker are."""
    bench = make.benchmark(6)
    stack = _stack()
    _write(tmp_path, bench, 0, stack={**stack, "describe": {"kind": "bm25", "version": "0.9"}})
    _write(tmp_path, bench, 100, answer={"kind": "openai", "id": "other", "template": {}, "describe": {}})
    _write(tmp_path, bench, 200, judge={"kind": "llm", "id": "other", "describe": {}})
    _write(tmp_path, bench, 900, stack=stack, circumstance_exposure="none")
    assert _line(_board(tmp_path)).earlier == 0
    corpus = {"digest": "d" * 64, "pages": 9, "chunks": 9, "extractor": "1", "chunker": {"kind": "tokens"}}
    others: list[dict[str, Any]] = [{"top_k": 3}, {"threshold": "0.2"}, {"corpus": corpus}]
    for at, changes in enumerate(others, 300):
        _write(tmp_path, bench, at, **{"stack": stack, **changes})
    assert _line(_board(tmp_path)).earlier == 3


def test_a_later_return_to_a_configuration_counts_what_lay_between(tmp_path: Path) -> None:
    """A row that was tried otherwise and set back was tried all the same."""
    bench = make.benchmark(6)
    for at, k1 in ((0, "1.2"), (100, "0.9"), (200, "1.2")):
        _write(tmp_path, bench, at, stack=_stack(k1=k1))
    assert _line(_board(tmp_path)).earlier == 1


def test_only_runs_on_these_questions_count(tmp_path: Path) -> None:
    """A subset of them does, other questions do not."""
    bench = make.benchmark(6)
    fewer = msgspec.structs.replace(bench, name="acme-docs#2", questions=bench.questions[:2])
    other = make.benchmark(6, name="other", input="What else?")
    other = msgspec.structs.replace(
        other, questions=tuple(msgspec.structs.replace(q, input=f"Else {q.id}?") for q in other.questions)
    )
    _write(tmp_path, other, 0, stack=_stack(k1="0.1"))
    _write(tmp_path, fewer, 50, stack=_stack(k1="0.2"))
    _write(tmp_path, bench, 100, stack=_stack(k1="1.2"))
    found = [line for table in _board(tmp_path).tables if table.benchmark.items == 6 for line in table.exposure]
    assert [(line.row, line.earlier) for line in found if line.earlier] == [("bm25", 1)]


def test_a_run_that_was_taken_back_was_seen(tmp_path: Path) -> None:
    """Voiding an earlier configuration does not hide that it was run; a run that fails verification says nothing."""
    bench = make.benchmark(6)
    (gone,) = _write(tmp_path, bench, 0, stack=_stack(k1="1.2"))
    _write(tmp_path, bench, 100, stack=_stack(k1="0.9"), circumstance_exposure="none")
    runs: list[LoadedRun] = [rich.voided(run) if run.id == gone else run for run in load_runs(tmp_path, now=NOW)]
    assert _line(build_board(runs, now=NOW)).contradicted
    refused = [
        msgspec.structs.replace(run, document=None, refused="no") if run.id == gone else run
        for run in load_runs(tmp_path, now=NOW)
    ]
    assert _line(build_board(refused, now=NOW)).earlier == 0


def test_a_public_board_counts_what_was_published(tmp_path: Path) -> None:
    """Earlier runs that nobody published are not there to count, and the page says how far it sees."""
    _tuned(tmp_path)
    runs = load_runs(tmp_path, now=NOW)
    assert _line(rich.public_board(runs)).earlier == 2
    latest = max(
        (run for run in runs if run.document and run.document.predicate.row.name == "bm25"),
        key=lambda run: run.document.predicate.window.end if run.document and run.document.predicate.window else 0,
    )
    assert _line(rich.public_board([latest])).earlier == 0
    assert "as far as they are public" in rich.words(rich.public_site(runs)["index.html"])
