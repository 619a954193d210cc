"""Notes of rows: one letter per sentence, the same on the page and in the terminal; a board's runs lie alone."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pages_factory as rich
import pytest
import site_factory as make
from click.testing import CliRunner

from ragassay.cli import root
from ragassay.site import LoadedRun, build_board, load_runs, render_text, site_files, write_preview
from ragassay.site.notes import UNLETTERED, row_notes, table_notes
from ragassay.site.record import Board, BoardRow

SHARED = "its embedder sees the beginning of each chunk"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[LoadedRun]:
    """All runs of the rich board."""
    return rich.rich(tmp_path_factory.mktemp("notes"))


@pytest.fixture(scope="module")
def board(runs: list[LoadedRun]) -> Board:
    """The rich board with a warning that holds for every row."""
    found = build_board(runs, now=rich.NOW)
    assert found.main is not None
    rows = tuple(msgspec.structs.replace(row, warnings=(*row.warnings, SHARED)) for row in found.main.rows)
    tables = (msgspec.structs.replace(found.main, rows=rows), *found.tables[1:])
    return msgspec.structs.replace(found, tables=tables)


def test_the_page_and_the_terminal_give_the_same_letters(board: Board, runs: list[LoadedRun]) -> None:
    """Each row's letters on the page are those of its line in the terminal, and so is each sentence behind a letter."""
    assert board.main is not None
    page = rich.parsed(site_files(board, runs)["index.html"])
    lines = render_text(board, 140).splitlines()
    found = page.xpath("(//ul[@class='notes'])[1]/li")
    assert found
    for note in found:
        assert any(line.startswith(f"{note.xpath('string(b)')} {note.xpath('string(span)')}"[:60]) for line in lines)
    start = next(number for number, line in enumerate(lines) if line.startswith("rank "))
    drawn = [line for line in lines[start + 1 : lines.index("", start)] if not line.startswith("┈")]
    for row, line in zip(page.xpath("(//table[contains(@class,'board')])[1]/tbody/tr"), drawn, strict=True):
        assert row.xpath("string(.//*[contains(@class,'row-name')])") in line
        letters = [letter.text for letter in row.xpath(".//span[@class='noted']/a")]
        assert line.split()[-len(letters) :] == letters


def test_each_sentence_stands_once_and_is_told_to_a_screen_reader(board: Board, runs: list[LoadedRun]) -> None:
    """A letter leads to its sentence and is described by it; no sentence is repeated from row to row."""
    assert board.main is not None
    page = rich.parsed(site_files(board, runs)["index.html"])
    notes = page.xpath("(//ul[@class='notes'])[1]")[0].text_content()
    table = page.xpath("(//table[contains(@class,'board')])[1]")[0].text_content()
    for said in {said for row in board.main.rows for said in row.warnings}:
        assert (notes.count(said), table.count(said)) == (1, 0)
    assert page.text_content().count(SHARED) == 1
    ids = page.xpath("//@id")
    for link in page.xpath("//span[@class='noted']/a"):
        assert link.get("href") == f"#{link.get('aria-describedby')}"
        assert ids.count(link.get("aria-describedby")) == 1


def test_the_letters_of_a_row_stand_in_their_order() -> None:
    """A row that comes to a later sentence first still shows its letters ascending; letters follow the table."""
    first = BoardRow(
        name="a", key="", measure="", role="row", stack="bm25", standing="not_run", warnings=("one", "two", "three")
    )
    rows = [first, msgspec.structs.replace(first, name="b", warnings=("four", "three", "one"))]
    notes = table_notes(rows)
    assert [note.letter for note in row_notes(rows[1], rows, notes)] == ["a", "c", "d"]


def test_notes_beyond_the_letters_are_told_apart_by_their_number() -> None:
    """After zz a star stands for a note, and its sentence still has an address of its own."""
    row = BoardRow(
        name="a", key="", measure="", role="row", stack="bm25", standing="not_run", warnings=tuple(map(str, range(704)))
    )
    notes = table_notes([row])
    assert [notes[0].letter, notes[26].letter, notes[701].letter, notes[703].letter] == ["a", "aa", "zz", UNLETTERED]
    assert [note.number for note in notes] == list(range(1, 705))
    assert row_notes(row, [row], notes) == notes
    assert table_notes([msgspec.structs.replace(row, warnings=())]) == []


def test_the_runs_of_a_site_verify_as_they_lie_there(tmp_path: Path) -> None:
    """`verify` takes `runs`, the folder of one run, and its bundle; beside the folder lies its page."""
    make.write_row(tmp_path / "work", "bm25", "bm25", make.benchmark(4), make.losing_first(1))
    write_preview(tmp_path / "work", tmp_path / "site", now=rich.NOW)
    runs, key = tmp_path / "site" / "runs", tmp_path / "key.pub.json"
    key.write_bytes(make.SIGNER.public.jwk())
    run = load_runs(tmp_path / "work", now=rich.NOW)[0].id
    assert (runs / f"{run}.html").is_file()
    for place, count in ((runs, 3), (runs / run, 1), (runs / f"{run}.zip", 1)):
        ended = CliRunner().invoke(root, ["verify", str(place), "--key", str(key)])
        assert (ended.exit_code, f"{count} of {count} run" in ended.output) == (0, True), ended.output
