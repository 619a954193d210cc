"""What a board says of itself: a local preview, or published by whom, when, read by whom, with what withheld."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pages_factory as rich
import pytest
import site_factory as make
from test_site_pages import pages

from ragassay.manifest.encoding import encode_rows
from ragassay.manifest.statement import WithheldRow, WithheldText
from ragassay.site import LoadedRun, build_board, load_runs, render_text, site_files
from ragassay.site.record import PREVIEW, Board


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[LoadedRun]:
    """All runs of the rich board."""
    return rich.rich(tmp_path_factory.mktemp("scope"))


@pytest.fixture(scope="module")
def files(runs: list[LoadedRun]) -> dict[str, bytes]:
    """The public site of the rich board."""
    return rich.public_site(runs)


def test_no_public_page_is_called_a_preview(files: dict[str, bytes]) -> None:
    """Each page says how many runs were published and when; none calls itself a preview."""
    for path, page in pages(files):
        if path == "verify.html":
            continue
        assert PREVIEW not in page.text_content(), path
        assert "19 runs published, the last on 2026-09-21" in page.xpath("string(//header)"), path
        assert not page.xpath("//meta[@name='robots']"), path


def test_a_local_page_is_kept_out_of_search_engines(runs: list[LoadedRun]) -> None:
    """Every page of a preview asks not to be indexed."""
    for path, page in pages(site_files(build_board(runs, now=rich.NOW), runs)):
        assert page.xpath("//meta[@name='robots']/@content") == ["noindex"], path


def test_the_public_board_says_who_published_and_who_read(files: dict[str, bytes]) -> None:
    """Signers, dates, readers, what the scan cannot find, and the texts that are withheld stand on the first page."""
    said = rich.words(files["index.html"])
    for needle in (
        "Who published it, and who read it",
        "Outputs read and signed for by Ada, Ben",
        "It did not look for: names of people; health terms.",
        "Texts withheld or shortened 0",
        make.SIGNER.kid,
    ):
        assert needle in said


def test_withheld_texts_are_counted_from_the_run_itself(runs: list[LoadedRun]) -> None:
    """A line of `withheld.jsonl` is a row and may name several texts; the run's page and the board count the texts."""
    drawn = next(run for run in runs if run.document is not None)
    text = WithheldText(field="answer", salted_sha256="0" * 64, reason="a private address")
    quote = msgspec.structs.replace(text, field="claims/1/quote")
    rows = [
        WithheldRow(id="q-1", line="0" * 64, telemetry_line=None, texts=(text, quote)),
        WithheldRow(id="q-2", line="1" * 64, telemetry_line=None, texts=(text,)),
    ]
    cut = msgspec.structs.replace(drawn, files={**drawn.files, "withheld.jsonl": encode_rows(rows)})
    board = rich.public_board([cut if run.id == cut.id else run for run in runs])
    assert board.published is not None
    assert board.published.texts_withheld == 3
    lines = [run for table in board.tables for row in table.rows for run in row.runs if run.id == cut.id]
    assert [line.published.texts_withheld for line in lines if line.published] == [3]


def test_a_run_page_says_how_it_was_published(files: dict[str, bytes], runs: list[LoadedRun]) -> None:
    """Readers with their dates, the scan's findings by what came of them, what was left out; and the same as data."""
    run = next(run.id for run in runs if run.document is not None)
    said = rich.words(files[f"runs/{run}.html"])
    for needle in (
        "How it was published",
        "Ada 12 outputs",
        "3 in 120 texts 1 allowed, 1 redacted, 1 withheld",
        "not published with it: judgement 0123456789abcdef-panel-1 , its replies hold an e-mail address",
    ):
        assert needle in said
    assert msgspec.json.decode(files[f"publications/{run}.json"])["run"] == run


def test_a_local_board_says_nothing_of_publications(runs: list[LoadedRun]) -> None:
    """Nothing is published, and neither the board nor a page pretends it."""
    board = build_board(runs, now=rich.NOW)
    assert board.published is None
    files = site_files(board, runs)
    assert not [path for path in files if path.startswith("publications/")]
    assert "Who published it" not in rich.words(files["index.html"])


def test_an_empty_public_board_says_so() -> None:
    """Without a publication the pages say that nothing is published yet."""
    board = build_board([], now=rich.NOW, scope="public")
    said = rich.words(site_files(board, [])["index.html"])
    assert "nothing is published yet" in said
    assert PREVIEW not in said
    assert "nothing is published yet" in render_text(board)


def test_a_withdrawn_publication_stays_without_texts(runs: list[LoadedRun]) -> None:
    """It is struck on its row with reason and date, has no page and no file, and counts nowhere."""
    gone = next(run for run in runs if run.document and run.document.predicate.row.name == "hybrid")
    rest = [run for run in runs if run.id != gone.id]
    assert gone.document is not None
    key = gone.document.predicate.row.key
    board = rich.public_board(rest, rich.withdrawn(gone, key=key))
    (row,) = [row for table in board.tables for row in table.rows if row.key == key]
    assert row.passes == 2
    (line,) = [run for run in row.runs if run.taken_back]
    assert (line.id, line.score, line.in_window, line.shown) == (gone.id, None, False, False)
    files = site_files(board, rich.published(rest))
    assert not [path for path in files if gone.id in path]
    assert "voided on 2026-09-21: it named a person; it was public, and its texts are served no more" in rich.words(
        files["index.html"]
    )


def test_a_withdrawal_of_a_row_that_nothing_is_left_of(runs: list[LoadedRun]) -> None:
    """Where even the row's key is unknown, the row stands as void by its name."""
    gone = next(run for run in runs if run.document and run.document.predicate.row.name == "oracle")
    rest = [run for run in runs if run.document is None or run.document.predicate.row.name != "oracle"]
    board = rich.public_board(rest, rich.withdrawn(gone))
    assert board.main is not None
    (row,) = [row for row in board.main.rows if row.name == "oracle"]
    assert (row.standing, row.score, row.passes) == ("voided", None, 0)


def test_the_scan_of_one_run_speaks_for_no_other(runs: list[LoadedRun]) -> None:
    """What one scan did not look for is said of the board, also where another one did."""
    first, *rest = rich.published([run for run in runs if run.document is not None])
    assert first.publication is not None
    scan = msgspec.structs.replace(rich.SCAN, not_detected=("secrets",))
    other = msgspec.structs.replace(first, publication=msgspec.structs.replace(first.publication, scan=scan))
    board: Board = build_board([other, *rest], now=rich.NOW, scope="public")
    assert board.published is not None
    assert set(board.published.not_detected) == {"secrets", "names of people", "health terms"}


def test_a_plan_of_rows_that_were_never_run_gives_no_page(tmp_path: Path) -> None:
    """Two rows without a key stand in the table, without a link."""
    make.write_row(tmp_path, "bm25", "bm25", make.benchmark(4), make.losing_first(1), passes=1)
    runs = load_runs(tmp_path, now=rich.NOW)
    plan = rich.plan("bm25", "also-never")
    files = site_files(build_board(runs, now=rich.NOW, plan=plan), runs)
    assert [path for path in files if path.startswith("rows/")] == ["rows/bm25.html"]
    assert {"never", "also-never"} <= set(rich.parsed(files["index.html"]).xpath("//span[@class='row-name']/text()"))
