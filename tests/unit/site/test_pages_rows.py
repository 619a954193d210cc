"""Row pages: every run and parameter, what was measured otherwise before, every comparison, where the row loses."""

from __future__ import annotations

import pages_factory as rich
import pytest

from ragassay.site import LoadedRun, build_board, site_files
from ragassay.site.changes import as_read, changes, leaves
from ragassay.site.paths import table_paths
from ragassay.site.record import Board, BoardRow


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[LoadedRun]:
    """All runs of the rich board."""
    return rich.rich(tmp_path_factory.mktemp("rows"))


@pytest.fixture(scope="module")
def board(runs: list[LoadedRun]) -> Board:
    """The rich board."""
    return build_board(runs, now=rich.NOW)


@pytest.fixture(scope="module")
def files(board: Board, runs: list[LoadedRun]) -> dict[str, bytes]:
    """The site of the rich board."""
    return site_files(board, runs)


def superseded(board: Board) -> BoardRow:
    """Return the earlier dense."""
    assert board.main is not None
    return next(row for row in board.main.rows if row.standing == "superseded")


def test_every_row_with_a_key_has_a_page(board: Board, files: dict[str, bytes]) -> None:
    """Ranked, set apart, superseded and void rows, in every table; two rows of a name have a page each."""
    pages = [path for path in files if "rows/" in path and path.endswith(".html")]
    assert len(pages) == sum(len(table.rows) for table in board.tables)
    assert len([path for path in pages if "dense" in path]) == 2


def test_what_was_measured_otherwise_is_said_member_by_member(board: Board, files: dict[str, bytes]) -> None:
    """The superseded row and the one in its place name the same members, with both values."""
    old = superseded(board)
    assert [(one.field, one.before, one.after) for one in old.changes] == [
        ("stack.describe.dim", "128", None),
        ("stack.describe.kind", None, '"dense"'),
        ("stack.describe.name", None, '"dense"'),
        ("stack.entry.kind", None, '"dense"'),
    ]
    texts = [rich.words(data) for path, data in files.items() if path.startswith("rows/dense")]
    assert len(texts) == 2
    assert all("stack.describe.dim" in text for text in texts)
    assert sum("has since been measured otherwise" in text for text in texts) == 1
    assert sum(f"the row with the key {old.key[:8]}" in text for text in texts) == 1


def test_a_row_page_lists_every_run_with_its_place(board: Board, files: dict[str, bytes]) -> None:
    """Pass, score, end, rung, log and place of each; the shown one is marked; the picture has its twin."""
    page = rich.parsed(files["rows/bm25.html"])
    said = rich.words(files["rows/bm25.html"])
    assert board.main is not None
    row = next(row for row in board.main.rows if row.name == "bm25")
    assert all(run.id[:12] in said for run in row.runs)
    assert len(page.xpath("//h2[@id='runs']/following-sibling::table[1]//tbody/tr")) == 4
    assert [cell.strip() for cell in page.xpath("//td[@data-label='Place']//text()")].count("shown") == 1
    assert "not announced" in said
    assert page.xpath("//figure[@class='pic']//details[@class='twin']")


def test_a_row_page_holds_every_recorded_parameter(files: dict[str, bytes], runs: list[LoadedRun]) -> None:
    """Each member of measure and circumstance stands there with its value."""
    document = next(run.document for run in runs if run.document and run.document.predicate.row.name == "hybrid")
    assert document.config is not None
    page = rich.parsed(files["rows/hybrid.html"])
    shown = dict(
        zip(
            (cell.text_content() for cell in page.xpath("//details//tbody/tr/th[@class='mono']")),
            (cell.text_content() for cell in page.xpath("//details//tbody/tr[th[@class='mono']]/td")),
            strict=True,
        )
    )
    assert shown["corpus.chunker.max_tokens"] == "256"
    assert shown["answer.id"] == "acme-7b"
    assert shown["topK"] == "5"
    assert shown["passes"] == "3"
    assert shown["exposure"] == "no value"
    summaries = page.xpath("//h2[@id='parameters']/following-sibling::details")
    assert [one.get("open") is not None for one in summaries] == [True] + [False] * (len(summaries) - 1)
    assert summaries[0].xpath("string(summary)").startswith("The stack")
    assert {name.partition(".")[0] for name in summaries[0].xpath(".//tbody//th/text()")} == {
        "stack",
        "threshold",
        "topK",
    }


def test_a_row_is_compared_with_every_other_from_its_own_side(board: Board, files: dict[str, bytes]) -> None:
    """The row is the first of each pair on its page, and the sign is its own; a link leads to the pair's page."""
    assert board.main is not None
    row = next(row for row in board.main.rows if row.name == "dense" and row.standing == "ranked")
    page = rich.parsed(files[table_paths(board.main).rows[row.key]])
    lines = page.xpath("//h2[@id='compared']/following-sibling::table[1]//tbody/tr")
    by_name = {line.xpath("string(td[1]/a)"): line.xpath("string(td[2])") for line in lines}
    assert set(by_name) == {"no-retrieval", "oracle", "bm25", "hybrid"}
    assert by_name["oracle"].startswith("−")
    assert by_name["no-retrieval"].startswith("+")


def test_values_are_shown_as_they_are_read(files: dict[str, bytes]) -> None:
    """No page puts a text that was recorded in the quotes of JSON, nor what a superseded row measured otherwise."""
    for path in ("rows/hybrid.html", "judges.html", "corpus.html"):
        values = rich.parsed(files[path]).xpath("//table[contains(@class,'values')]//td")
        assert values, path
        assert not [value for value in values if value.text_content().strip().startswith('"')], path
    assert (as_read('"a"'), as_read('""'), as_read("7"), as_read("[1]"), as_read("null")) == (
        "a",
        '""',
        "7",
        "[1]",
        "null",
    )


def test_a_title_names_the_page_and_the_board_once(board: Board, files: dict[str, bytes]) -> None:
    """The first page is called as the board is; every other page says what it is first."""
    titles = {
        path: rich.parsed(data).xpath("string(//title)") for path, data in files.items() if path.endswith(".html")
    }
    assert titles["index.html"] == f"{board.name} · local preview, not published"
    assert titles["rows/bm25.html"] == f"bm25 · {board.name} · local preview, not published"
    assert titles["spec.html"] == f"Test specification · {board.name} · local preview, not published"


def test_where_a_row_loses_is_listed_by_cause(files: dict[str, bytes]) -> None:
    """Each question that the shown run did not answer fully is named once, under its cause."""
    page = rich.parsed(files["rows/bm25.html"])
    listed = page.xpath("//h2[@id='lost']/following-sibling::p[@class='links']//a/text()")
    assert len(listed) == len(set(listed))
    assert {"q-006", "q-012"} <= set(listed)
    assert "2 questions not retrieved" in rich.words(files["rows/bm25.html"])


def test_nothing_recorded_is_said_as_such(files: dict[str, bytes]) -> None:
    """Exposure and fairness stand there as not recorded, and a board says it of its rows and questions."""
    said = rich.words(files["rows/bm25.html"])
    assert "Exposure to the questions not recorded" in said
    assert "Fairness of the questions to it not recorded" in said
    board = rich.words(files["index.html"])
    for needle in (
        "exposure to the questions: not recorded of any row",
        "fairness of the questions to the rows: not recorded",
        "review not recorded: 12 of 12 questions",
    ):
        assert needle in board


def test_leaves_are_paths_with_json_text() -> None:
    """Objects are opened, lists and empty objects are values; no value is lost."""
    value = {"a": {"b": [1, 2], "c": {}}, "d": None, "e": "x"}
    assert list(leaves(value)) == [("a.b", "[1,2]"), ("a.c", "{}"), ("d", "null"), ("e", '"x"')]


def test_equal_measures_have_no_change(runs: list[LoadedRun]) -> None:
    """A measure differs from itself in nothing."""
    config = next(run.document.config for run in runs if run.document)
    assert config is not None
    assert changes(config.measure, config.measure) == ()
