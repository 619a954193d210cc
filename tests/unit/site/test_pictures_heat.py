"""The heat map: order, shade, letters for causes, links, hatching where nothing is known, and its weight."""

from __future__ import annotations

import msgspec
import pictures_factory as make
import pytest
from lxml import html

from ragassay.site.cellwords import CAUSE_WORDS
from ragassay.site.pictures import heat_map
from ragassay.site.record import BoardRow
from ragassay.site.render import environment

ROWS = make.five_rows()


def rendered(count: int, rows: tuple[BoardRow, ...] = ROWS) -> str:
    """Return the map of `count` questions as the page holds it."""
    table = make.table(*rows, questions=make.questions(count, rows))
    template = environment().from_string('{% from "pictures.html" import heat_map %}{{ heat_map(m) }}')
    return template.render(m=heat_map(table, lambda question: f"questions/main/{question}.html"))


def test_questions_stand_by_topic_and_in_the_table_s_order() -> None:
    """Within a topic the order is that of the table: those that separate the rows most come first."""
    table = make.table(*ROWS, questions=make.questions(9, ROWS))
    found = heat_map(table, str)
    assert [topic for topic, _ in found.topics] == ["topic 0", "topic 1", "topic 2"]
    assert [line.question for line in found.topics[0][1]] == ["q-000", "q-003", "q-006"]
    assert found.rows == ("hybrid", "bm25", "dense", "oracle", "no-retrieval")


def test_each_cell_has_a_shade_a_letter_a_title_and_a_link() -> None:
    """Cause and score are never told by colour alone."""
    page = html.fragment_fromstring(rendered(6), create_parent="div")
    line = page.xpath("//tbody/tr[th/a[text()='q-000']]")[0]
    cells = line.xpath("td")
    assert [cell.get("class") for cell in cells] == ["h4", "h0", "h1", "h2", "hx"]
    assert [cell.xpath("string(a/sub)") for cell in cells] == ["", "r", "u", "c", "?"]
    assert cells[4].xpath("string(a)").startswith("–")
    assert {cell.get("title") for cell in line.xpath("td/a")} <= set(CAUSE_WORDS.values())
    assert {cell.get("href") for cell in line.xpath("td/a | th/a")} == {"questions/main/q-000.html"}


def test_a_cell_that_is_not_there_is_hatched_and_no_zero() -> None:
    """A question that a row was not asked has a dash."""
    lines = make.questions(2, ROWS)
    short = msgspec.structs.replace(lines[0], cells=lines[0].cells[:3])
    found = heat_map(make.table(*ROWS, questions=(short, lines[1])), str)
    absent = found.topics[0][1][0].cells[4]
    assert (absent.shade, absent.mean, absent.title) == ("hx", "–", "not asked")


@pytest.mark.parametrize(("questions", "rows"), [(60, 20), (80, 20), (200, 20), (200, 5)])
def test_the_map_weighs_less_than_150_kilobytes(questions: int, rows: int) -> None:
    """Up to about 1,200 cells each is a link; a larger map links each line, and every value still stands in it."""
    page = rendered(questions, tuple(make.row(f"row {n}", 100 * n) for n in range(rows)))
    assert len(page.encode()) < 150_000
    tree = html.fragment_fromstring(page, create_parent="div")
    assert len(tree.xpath("//td")) == questions * rows
    assert len(tree.xpath("//td/a")) == (questions * rows if questions * rows <= 1_200 else 0)
    assert len(tree.xpath("//tbody/tr/th/a")) == questions


def test_the_sentence_counts_what_the_map_shows() -> None:
    """Cells fully right, cells without a score, questions that tell the rows apart."""
    said = heat_map(make.table(*ROWS, questions=make.questions(6, ROWS)), str).description
    assert (
        said
        == "6 questions on 5 rows: 5 of 30 cells fully right, 5 without a score; 6 questions on which the rows differ."
    )
