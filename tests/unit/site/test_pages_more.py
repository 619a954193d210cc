"""The pages of judges, corpus and comparisons, and what is served as data."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import msgspec
import pages_factory as rich
import pytest
import site_factory as make

from ragassay import canon
from ragassay.errors import InputError
from ragassay.records import Provenance
from ragassay.site import LoadedRun, build_board, decode_board, encode_board, load_runs, site_files, write_preview
from ragassay.site.page_compare import DRAWN
from ragassay.site.record import Board
from ragassay.site.reviewed import review_of, review_words


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[LoadedRun]:
    """All runs of the rich board."""
    return rich.rich(tmp_path_factory.mktemp("more"))


@pytest.fixture(scope="module")
def board(runs: list[LoadedRun]) -> Board:
    """The rich board."""
    return build_board(runs, now=rich.NOW)


@pytest.fixture(scope="module")
def files(board: Board, runs: list[LoadedRun]) -> dict[str, bytes]:
    """The site of the rich board."""
    return site_files(board, runs)


def test_two_judges_are_two_tables_and_the_page_says_what_to_do(files: dict[str, bytes]) -> None:
    """The other judge's rows are apart, never ranked, with the command that has one judge score all answers."""
    page = rich.parsed(files["index.html"])
    assert page.xpath("//h2[starts-with(text(), 'Apart: another judge (judge-9)')]")
    assert "ragassay judge --judge NAME" in page.xpath("//pre/text()")


def test_scores_from_elsewhere_are_not_offered_another_judge(tmp_path: Path) -> None:
    """A table that is apart for its questions alone says nothing of judges."""
    make.write_row(tmp_path, "bm25", "bm25", make.benchmark(4), make.losing_first(1), passes=1)
    make.write_row(tmp_path, "bm25", "bm25", make.benchmark(5, name="other"), make.losing_first(1), passes=1)
    runs = load_runs(tmp_path, now=rich.NOW)
    assert "ragassay judge" not in rich.words(site_files(build_board(runs, now=rich.NOW), runs)["index.html"])


def test_the_judges_page_holds_every_table(files: dict[str, bytes]) -> None:
    """Each judge with what is recorded of it; agreement level by level where a further judge judged."""
    said = rich.words(files["judges.html"])
    for needle in ("judged by judge-1", "judged by judge-9", "judge-2", "The judge's own noise", "level by level"):
        assert needle in said
    assert "Judge conformance not measured" in said


def test_the_corpus_page_counts_questions_and_deliveries_page_by_page(tmp_path: Path) -> None:
    """Two questions ask one page, one has no evidence and one no page; each row's deliveries are of those known."""
    bench = make.benchmark(4, page="guide.md")
    odd = (make.question(5, evidence=(), page="bare.md"), make.question(6, page=None))
    bench = bench.__class__(name="acme-docs", version="1.0.0", questions=(*bench.questions, *odd))
    make.write_row(tmp_path, "bm25", "bm25", bench, make.losing_first(1), passes=1, reached=lambda n: n != 2)
    make.write_row(tmp_path, "oracle", "oracle", bench, make.losing_first(0), passes=1)
    runs = load_runs(tmp_path, now=rich.NOW)
    page = rich.parsed(site_files(build_board(runs, now=rich.NOW), runs)["corpus.html"])
    lines = {
        line.xpath("string(th)"): " ".join(line.xpath("string(td[2])").split())
        for line in page.xpath("//table[contains(@class,'pages')]/tbody/tr")
    }
    assert lines == {"guide.md": "bm25 3 of 4", "bare.md": "bm25 unknown"}
    said = rich.words(site_files(build_board(runs, now=rich.NOW), runs)["corpus.html"])
    assert "Questions without evidence 1 of 6" in said
    assert "Questions that name no page q-006" in said
    assert "Pages 111 Chunks 710" in said
    assert "chunker.max_tokens 256" in said


def test_the_index_of_comparisons_leads_to_any_two_rows(board: Board, files: dict[str, bytes]) -> None:
    """Each row with a number links to its page with each other one, in either order of choosing."""
    page = rich.parsed(files["compare/index.html"])
    assert board.main is not None
    table = page.xpath("//table[1]/tbody/tr")
    names = [line.xpath("string(th/span[1])") for line in table]
    assert len(names) == 5
    for line, name in zip(table, names, strict=True):
        assert sorted([*line.xpath("td/a/text()"), name]) == sorted(names)
    assert len(set(page.xpath("//table[1]//a/@href"))) == len(board.main.pairs)


def test_pairs_of_ranked_rows_are_listed_before_those_of_control_and_oracle(
    board: Board, files: dict[str, bytes]
) -> None:
    """On the board page the comparisons that the ranking rests on come first; none is lost."""
    assert board.main is not None
    ranked = {row.name for row in board.main.rows if row.rank is not None}
    page = rich.parsed(files["index.html"])
    listed = page.xpath("(//h2[.='Every two rows'])[1]/following-sibling::table[1]/tbody/tr/td[1]/a/text()")
    outside = [not set(said.split(" − ")) <= ranked for said in listed]
    assert len(listed) == len(board.main.pairs)
    assert outside == sorted(outside)
    assert set(outside) == {True, False}


def test_a_compare_page_has_the_plot_with_its_twin(files: dict[str, bytes]) -> None:
    """Difference, both intervals, p, smallest detectable difference, wins, and every difference as a table."""
    path = next(path for path in files if path.startswith("compare/hybrid--bm25"))
    said = rich.words(files[path])
    for needle in (
        "Better on such questions (95 %)",
        "Repeatable on these questions (95 %)",
        "p by sign flips",
        "Smallest difference this design shows",
        "wins / ties / loses",
        "Under further judges: judge-2",
        "The same as a table",
    ):
        assert needle in said
    assert rich.parsed(files[path]).xpath("//figure[@class='pic']//svg")


def test_a_board_of_many_rows_says_which_pairs_are_not_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: list[LoadedRun], board: Board
) -> None:
    """Beyond the cap a compare page has no plot and says so; its numbers and its questions stand."""
    assert DRAWN == 600
    monkeypatch.setattr("ragassay.site.page_compare.DRAWN", 3)
    files = site_files(board, runs)
    pages = [files[path] for path in files if path.startswith("compare/") and path != "compare/index.html"]
    assert sum(b"draws the first 3" in page for page in pages) == 7
    assert sum(b"<svg" in page for page in pages) == 3


def test_sha256sum_of_a_served_question_set_is_its_digest(tmp_path: Path) -> None:
    """The system's own sha256sum of benchmarks/<id>/<version>.json prints the digest that the board gives."""
    tool = shutil.which("sha256sum")
    if tool is None:
        pytest.skip("needs sha256sum")
    make.write_row(tmp_path / "work", "bm25", "bm25", make.benchmark(4), make.losing_first(1), passes=1)
    board = write_preview(tmp_path / "work", tmp_path / "site", now=rich.NOW)
    path = tmp_path / "site" / "benchmarks" / "acme-docs" / "1.0.0.json"
    said = subprocess.run([tool, str(path)], capture_output=True, text=True, check=True).stdout
    assert board.main is not None
    assert said.split()[0] == board.main.benchmark.item_set


def test_a_board_of_the_first_schema_is_still_read(board: Board) -> None:
    """Without anything that the second added it says nothing of it; a schema from the future is refused."""
    old = msgspec.json.decode(encode_board(board), type=dict)
    old["schema"] = "ragassay.board/1"
    for name in ("voided", "published"):
        del old[name]
    for table in old["tables"]:
        for name in ("review", "facts", "exposure", "closedBook"):
            del table[name]
        for row in table["rows"]:
            del row["attested"], row["changes"], row["fairness"], row["fairnessFault"]
            row["runs"] = [
                {k: v for k, v in run.items() if k not in ("attested", "filled", "published", "takenBack")}
                for run in row["runs"]
            ]
    found = decode_board(canon.canonical(old))
    assert found.voided == ()
    assert found.main is not None
    assert found.main.review is None
    assert found.main.rows[0].runs[0].attested is None
    assert (found.main.rows[0].fairness, found.main.exposure, found.main.closed_book) == (None, (), None)
    old["schema"] = "ragassay.board/4"
    with pytest.raises(
        InputError, match=r"no board of schema ragassay\.board/1 or ragassay\.board/2 or ragassay\.board/3"
    ):
        decode_board(canon.canonical(old))


def test_reviews_are_counted_by_what_is_recorded() -> None:
    """Reviewed, unreviewed and not recorded add up; a question without provenance is not called unreviewed."""
    given = (
        None,
        Provenance(author="a", reviewed_by="Ben", derived_from_system=False),
        Provenance(author="a", reviewed_by=None, derived_from_system=True),
        Provenance(author="a"),
    )
    questions = tuple(make.question(n, provenance=one) for n, one in enumerate(given, 1))
    found = review_of(make.benchmark(0).__class__(name="x", questions=questions))
    assert (found.questions, found.reviewed, found.unreviewed, found.not_recorded) == (4, 1, 2, 1)
    assert (found.derived, found.derived_unknown) == (1, 2)
    assert review_words(found) == [
        "unreviewed: 2 of 4 questions",
        "review not recorded: 1 of 4 questions",
        "derived from a system under test: 1 of 4 questions",
    ]
