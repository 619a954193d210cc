"""What a row says of passes that do not count and of retrieved texts that are withheld."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import site_factory as make

from ragassay.manifest.statement import Digest, IntentRef, RunDocument
from ragassay.site import build_board, load_runs
from ragassay.site.loaded import LoadedRun
from ragassay.site.record import BoardRow
from ragassay.site.view import item_views

NOW = make.START + 9_999
LOST = "1 of 10 without a score, where at most 0 may be missing"


def announced(run: LoadedRun, plan: str = "e" * 64) -> LoadedRun:
    """Return a run as if it had been announced under that digest."""
    assert run.document is not None
    digest = Digest(sha256=plan)
    intent = IntentRef(log="acme.example/log", index=0, digest=digest)
    predicate = msgspec.structs.replace(run.document.predicate, intent=intent)
    return msgspec.structs.replace(run, document=msgspec.structs.replace(run.document, predicate=predicate))


def only_row(runs: list[LoadedRun]) -> BoardRow:
    """Return the one row of the board of these runs."""
    table = build_board(runs, plan=None, now=NOW).main
    assert table is not None
    return table.rows[0]


def runs_of(tmp_path: Path, failing: Callable[[int], bool], passes: int = 3) -> list[LoadedRun]:
    """Return the announced passes of one row; the first question of a failing pass has no answer."""
    grades: make.Grades = lambda n, k: "answer_failed" if n == 1 and failing(k) else "supports"  # noqa: E731
    make.write_row(tmp_path, "a", "bm25", make.benchmark(10), grades, passes=passes)
    return [announced(run) for run in load_runs(tmp_path, now=NOW)]


def test_a_row_names_the_announced_passes_that_it_leaves_out_though_they_ended_first(tmp_path: Path) -> None:
    """Only the last of three passes counts: the row says that two of three do not, and why."""
    found = only_row(runs_of(tmp_path, lambda k: k < 3))
    assert found.passes == 1
    assert f"2 of 3 announced passes not eligible: {LOST}" in found.warnings


def test_a_pass_that_failed_last_is_a_later_run_and_said_once(tmp_path: Path) -> None:
    """A failed pass after those that count is named as a later run, and not a second time."""
    found = only_row(runs_of(tmp_path, lambda k: k == 3))
    assert [said for said in found.warnings if "not eligible" in said] == [f"1 later run not eligible: {LOST}"]


def test_passes_of_another_announcement_are_not_said_of_this_one(tmp_path: Path) -> None:
    """A row that was announced anew after it failed speaks of the passes of the announcement that counts."""
    runs = runs_of(tmp_path, lambda k: k == 1)
    earlier = [
        announced(run, "f" * 64) if run.document and run.document.predicate.pass_.k == 1 else run for run in runs
    ]
    assert not any("not eligible" in said for said in only_row(earlier).warnings)


def test_a_row_whose_passes_all_count_says_nothing(tmp_path: Path) -> None:
    """Nothing is said where nothing is left out."""
    assert not any("not eligible" in said for said in only_row(runs_of(tmp_path, lambda k: False)).warnings)


def hidden(document: RunDocument, rank: int, of: int = 1) -> RunDocument:
    """Return a document whose first `of` questions have the text of that rank withheld."""
    outputs = tuple(
        msgspec.structs.replace(
            row,
            chunks=tuple(msgspec.structs.replace(c, text=None) if c.rank == rank else c for c in row.chunks),
        )
        if n < of
        else row
        for n, row in enumerate(document.outputs)
    )
    return msgspec.structs.replace(document, outputs=outputs)


def test_a_withheld_text_is_never_taken_for_one_without_the_evidence(tmp_path: Path) -> None:
    """The page says that it cannot be seen; where another text shows the evidence its rank is given."""
    make.write_row(tmp_path, "a", "bm25", make.benchmark(3), make.losing(make.every(99)), passes=1)
    run = load_runs(tmp_path, now=NOW)[0]
    assert run.document is not None
    words = [item_views(hidden(run.document, rank))[0].evidence_words for rank in (2, 1)]
    assert words == ["1 withheld; whether one holds the evidence cannot be seen", "evidence at rank 2; 1 withheld"]
    assert item_views(run.document)[0].evidence_words == "evidence at rank 2"


def test_a_row_says_for_how_many_questions_its_reach_is_not_known(tmp_path: Path) -> None:
    """Questions with a withheld text leave reach, and the row says how many did."""
    make.write_row(tmp_path, "a", "bm25", make.benchmark(5), make.losing(make.every(99)), passes=1)
    run = load_runs(tmp_path, now=NOW)[0]
    assert run.document is not None
    found = only_row([msgspec.structs.replace(run, document=hidden(run.document, 2, of=2))])
    assert found.reach is not None
    assert found.reach.of == 3
    assert "reach not known for 2 of 5 questions: retrieved texts are withheld" in found.warnings
