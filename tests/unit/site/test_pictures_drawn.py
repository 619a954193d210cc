"""What each picture shows: exact places, absent values absent, and the same in words."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pictures_factory as make
import pytest
import site_factory
from lxml import etree

from ragassay.manifest.statement import RunDocument
from ragassay.site import load_runs
from ragassay.site.pictures import (
    Picture,
    ReachCurve,
    cost_latency,
    difference_plot,
    reach_curve,
    reach_curves,
    runs_over_time,
    score_picture,
)
from ragassay.site.record import Latency, Reach, Table
from ragassay.site.write import board_of

NAMES = {"hybrid@1": "hybrid", "bm25@1": "bm25"}


def drawings(picture: Picture) -> Any:
    """Return the wide and the narrow drawing as trees without namespaces."""
    return etree.fromstring(f"<both>{picture.svg}</both>")


def wide(picture: Picture) -> Any:
    """Return the wide drawing."""
    return drawings(picture)[0]


def words(picture: Picture) -> list[str]:
    """Return the texts of the wide drawing."""
    return [str(found.text) for found in wide(picture).iter("text")]


def curves_of(table: Table) -> tuple[ReachCurve, ...]:
    """Return a rising curve per row."""
    return tuple(ReachCurve(row=row.key, reached=(10, 20, 30), of=60) for row in table.rows if row.role == "row")


def every(table: Table) -> list[Picture]:
    """Return every picture of a table and of its first row."""
    first = table.rows[0] if table.rows else make.row("none", None)
    names = {row.key: row.name for row in table.rows} | NAMES
    return [
        score_picture(table),
        reach_curve(table, curves_of(table)),
        cost_latency(table),
        runs_over_time(first),
        difference_plot(make.pair({"q-1": "0.5", "q-2": "-0.25"}, a=first.key), names | {first.key: first.name}),
    ]


def test_scores_stand_on_one_axis_with_control_oracle_and_the_first_rows_band() -> None:
    """Places are linear from the .000 to the 1.000 rule, for dots, lines and the shaded band."""
    tree = wide(score_picture(make.table(*make.five_rows())))
    left, right = 190.0, 668.0
    centres = [float(found.get("cx")) for found in tree.iter("circle")]
    expected = [left + (right - left) * n / 6000 for n in (4860, 4740, 3960, 5580, 120)]
    assert centres == pytest.approx(expected, abs=0.01)
    uprights = [line for line in tree.iter("line") if line.get("x1") == line.get("x2")]
    oracle, control = (x for x in uprights if x.get("stroke") == "var(--soft)")
    assert float(oracle.get("x1")) == pytest.approx(expected[3], abs=0.01)
    assert float(control.get("x1")) == pytest.approx(expected[4], abs=0.01)
    assert control.get("stroke-dasharray")
    shaded = next(tree.iter("rect"))
    assert float(shaded.get("x")) == pytest.approx(left + (right - left) * 0.75, abs=0.01)
    assert float(shaded.get("width")) == pytest.approx((right - left) * 0.12, abs=0.01)


def test_rows_not_distinguished_from_the_first_look_so_without_colour() -> None:
    """The first row is a disc, the one not distinguished a ring, the one below a grey disc."""
    first, near, below = list(wide(score_picture(make.table(*make.five_rows()))).iter("circle"))[:3]
    assert first.get("fill") == "var(--accent)"
    assert (near.get("fill"), near.get("stroke")) == ("var(--paper)", "var(--accent)")
    assert below.get("fill") == "var(--soft)"
    said = score_picture(make.table(*make.five_rows())).description
    assert "hybrid is first at .810 [.750, .870]. Not distinguished from it: bm25." in said
    assert "Distinguished from it: dense at .660. The oracle is at .930. The control is at .020." in said


def test_a_row_without_a_score_is_named_and_not_drawn() -> None:
    """No dot, no line, no name on the axis: the sentence and the table say that it is absent."""
    full, one_less = make.table(*make.five_rows()), make.table(*make.five_rows(), make.row("qdrant", None))
    assert len(list(wide(score_picture(one_less)).iter("circle"))) == 5
    assert score_picture(full).svg.count("<line") == score_picture(one_less).svg.count("<line")
    assert "qdrant" not in words(score_picture(one_less))
    assert score_picture(one_less).description.endswith("Without a score and not drawn: qdrant.")
    assert score_picture(one_less).twin.rows[-1] == ("qdrant", "–", "–", "–", "–")


def test_intervals_end_where_the_axis_ends_and_the_table_keeps_them_whole() -> None:
    """A score cannot lie below 0: the drawing is cut there, the words are not."""
    picture = score_picture(make.table(*make.five_rows()))
    starts = [float(line.get("x1")) for line in wide(picture).iter("line")]
    assert min(starts) == pytest.approx(190, abs=0.01)
    assert picture.twin.rows[4][2] == "[−.040, .080]"


def test_unknown_cost_is_said_in_words_and_never_drawn_at_nothing() -> None:
    """Of two rows one has no price: one dot in the panel of cost, two in that of latency."""
    table = make.table(make.row("hybrid", 4860), make.row("bm25", 4740, cost_per_1000_microusd=None))
    picture = cost_latency(table)
    assert len(list(wide(picture).iter("circle"))) == 3
    assert "not known of bm25" in picture.description
    assert picture.twin.rows[1][2] == "–"
    free = cost_latency(make.table(make.row("hybrid", 4860, cost_per_1000_microusd=0)))
    assert len(list(wide(free).iter("circle"))) == 2
    assert "$0.00 (hybrid" in free.description


def test_what_is_drawn_of_latency_is_that_of_retrieval() -> None:
    """Stacks differ in it: the answer's stands in the table alone; the control retrieves nothing, which is said."""
    unknown = make.row("dense", 3960, retrieval_latency=None)
    control = make.row("no-retrieval", 120, role="control", standing="set_apart", rank=None, retrieval_latency=None)
    slow = make.row("bm25", 4740, retrieval_latency=Latency(p50_ms=40, p95_ms=None))
    picture = cost_latency(make.table(make.row("hybrid", 4860), slow, unknown, control))
    assert picture.description.endswith(
        "Latency of retrieval, median: from 12 ms (hybrid, score .810) to 40 ms (bm25, score .790); "
        "not known of dense. Nothing is retrieved for no-retrieval."
    )
    assert len(list(wide(picture).iter("circle"))) == 4 + 2
    assert picture.twin.header[3:] == ("Retrieval p50", "Answer p50")
    assert [row[3:] for row in picture.twin.rows] == [
        ("12 ms", "640 ms"), ("40 ms", "640 ms"), ("–", "640 ms"), ("–", "640 ms")
    ]  # fmt: skip


def test_a_panel_of_which_nothing_is_known_is_left_out() -> None:
    """An empty panel with axes would look measured."""
    table = make.table(make.row("hybrid", 4860, cost_per_1000_microusd=None))
    picture = cost_latency(table)
    assert "Cost of answering 1,000 questions" not in words(picture)
    assert picture.description.startswith("Cost of answering 1,000 questions: not known of any row.")


def test_rows_of_equal_price_and_score_share_one_label() -> None:
    """Letters on top of each other cannot be read, and a range from $0.1060 to $0.1060 is none."""
    picture = cost_latency(make.table(make.row("hybrid", 4860), make.row("bm25", 4850)))
    assert picture.description.startswith("Cost of answering 1,000 questions: $0.1060 for each of 2 rows.")
    assert words(picture).count("a b") == 2


def test_axis_ticks_are_whole_and_never_repeat() -> None:
    """At 1 ms the axis has two ticks and not three of which two read alike."""
    table = make.table(make.row("fast", 4860, retrieval_latency=Latency(p50_ms=1, p95_ms=None)))
    ticks = [word for word in words(cost_latency(table)) if word.endswith(" ms")]
    assert ticks == ["0 ms", "1 ms"]


@pytest.mark.parametrize(
    ("cost", "ticks"),
    [
        (106_000, ["$0", "$0.05", "$0.10", "$0.15"]),
        (1_230_000, ["$0", "$0.50", "$1", "$1.50"]),
        (3_400, ["$0", "$0.0010", "$0.0020", "$0.0030", "$0.0040"]),
        (41_000_000, ["$0", "$20", "$40", "$60"]),
    ],
)
def test_ticks_of_money_are_written_in_full_and_no_longer(cost: int, ticks: list[str]) -> None:
    """Cents have two digits, whole dollars none, and fractions of a cent all that they need."""
    table = make.table(make.row("hybrid", 4860, cost_per_1000_microusd=cost))
    assert [word for word in words(cost_latency(table)) if word.startswith("$")] == ticks


def test_reach_curves_count_the_shown_run_and_end_at_the_row_s_own_reach(tmp_path: Any) -> None:
    """The curve's last point is the table's reach@k; rows that retrieve nothing have none."""
    site_factory.small_board(tmp_path, site_factory.benchmark(12))
    runs = load_runs(tmp_path, now=site_factory.START + 9_999)
    documents: dict[str, RunDocument] = {run.id: run.document for run in runs if run.document}
    table = board_of(tmp_path, now=site_factory.START + 9_999).main
    assert table is not None
    curves = reach_curves(table, documents)
    rows = {row.key: row for row in table.rows}
    assert {rows[curve.row].role for curve in curves} == {"row"}
    for curve in curves:
        found = rows[curve.row].reach
        assert isinstance(found, Reach)
        assert len(curve.reached) == found.k
        assert (curve.reached[-1], curve.of) == (found.exact + found.folded, found.of)
        assert list(curve.reached) == sorted(curve.reached)
        assert curve.reached[0] == 0
        assert curve.reached[1] > 0


def test_reach_lines_are_told_apart_by_dash_and_by_a_name_at_their_end() -> None:
    """Three rows: three dash patterns, three names."""
    table = make.table(*make.five_rows())
    picture = reach_curve(table, curves_of(table))
    dashes = [path.get("stroke-dasharray") for path in wide(picture).iter("path")]
    assert len(set(dashes)) == len(dashes) == 3
    assert {"hybrid", "bm25", "dense"} <= set(words(picture))
    assert picture.twin.header == ("Row", "Of", "k = 1", "k = 2", "k = 3")


def test_a_row_of_unknown_reach_has_no_line() -> None:
    """A curve at 0 would say that nothing was found."""
    table = make.table(*make.five_rows())
    picture = reach_curve(table, curves_of(table)[:1])
    assert len(list(wide(picture).iter("path"))) == 1
    assert picture.description.endswith("Not known, and not drawn: bm25 and dense.")
    assert reach_curve(table, ()).svg == ""


def test_runs_over_time_mark_the_shown_one_and_leave_the_ineligible_hollow() -> None:
    """In the window filled, older grey, not eligible a ring; a run without a score is only in the table."""
    runs = (
        make.run(1, 4000, in_window=False),
        make.run(2, 4100, in_window=False, why_not="voided: wrong key"),
        make.run(3, 4200),
        make.run(4, 4300, shown=True),
        make.run(5, None, in_window=False, why_not="not complete"),
    )
    picture = runs_over_time(make.row("hybrid", 4300, runs=runs))
    fills = [(dot.get("fill"), dot.get("r")) for dot in wide(picture).iter("circle")]
    assert fills == [
        ("var(--soft)", "4.5"),
        ("var(--paper)", "4.25"),
        ("var(--accent)", "4.5"),
        ("var(--paper)", "8.25"),
        ("var(--accent)", "4.5"),
    ]
    assert ".717" in words(picture)
    assert [row[-1] for row in picture.twin.rows][1] == "not eligible: voided: wrong key"
    assert "1 run without a score or a date" in picture.description


def test_one_run_and_an_undated_run_are_drawn_or_said() -> None:
    """A single moment has an axis; an ended of 0 is no date."""
    one = runs_over_time(make.row("hybrid", 4300, runs=(make.run(1, 4300, shown=True),)))
    assert len(list(wide(one).iter("circle"))) == 2
    none = runs_over_time(make.row("hybrid", 4300, runs=(make.run(1, 4300, shown=True, ended=0),)))
    assert none.svg == ""
    assert none.twin.rows[0][2] == "–"


def test_differences_are_one_dot_per_question_at_its_exact_place() -> None:
    """Dots never lie on one another, the mean line stands at the mean, wins, ties and losses are words."""
    given = {"q-1": "1.000000", "q-2": "0.000000", "q-3": "0.000000", "q-4": "-0.250000", "q-5": "0.001000"}
    picture = difference_plot(make.pair(given), NAMES)
    dots = [(float(d.get("cx")), float(d.get("cy"))) for d in wide(picture).iter("circle")]
    assert sorted(x for x, _ in dots) == pytest.approx([275.5, 360, 360, 360.34, 698], abs=0.01)
    assert all(abs(a[0] - b[0]) > 6.9 or abs(a[1] - b[1]) > 6.9 for a in dots for b in dots if a is not b)
    assert "wins 2, ties 2 and loses 1 against bm25" in picture.description
    assert "The mean difference is +.150 [.070, .230]." in picture.description
    assert picture.twin.rows[0] == ("q-1", "+1.000")


@pytest.mark.parametrize("count", [401, 3_000])
def test_many_differences_become_strokes_as_long_as_they_have_questions(count: int) -> None:
    """Thousands of dots are no picture: one stroke per hundredth, and the table says what it leaves out."""
    picture = difference_plot(make.pair({f"q-{n}": f"{(n % 5 - 2) / 2:.6f}" for n in range(count)}), NAMES)
    assert not list(wide(picture).iter("circle"))
    assert len(picture.svg) < 20_000
    assert "one stroke per hundredth" in picture.note.lower()
    assert (len(picture.twin.rows) < count) == ("The table names" in picture.description)


def test_a_pair_without_common_questions_is_words() -> None:
    """Nothing is drawn where nothing is compared."""
    picture = difference_plot(make.pair({}), NAMES)
    assert picture.svg == ""
    assert picture.description == "hybrid and bm25 have no question in common that both were scored on."


@pytest.mark.parametrize("draw", [score_picture, cost_latency, lambda table: reach_curve(table, ())])
def test_no_rows_and_rows_of_which_nothing_is_known_draw_nothing(draw: Callable[[Table], Picture]) -> None:
    """An empty axis would look like a result."""
    for table in (make.table(), make.table(make.row("a", None), make.row("b", None))):
        assert draw(table).svg == ""
        assert draw(table).description


def test_fifty_rows_stay_inside_their_frames() -> None:
    """Every name, letter and number has a place of its own on the canvas."""
    rows = [make.row(f"row {n}", 100 * n, not_distinguished=n % 2 == 0) for n in range(50)]
    table = make.table(*rows)
    for picture in every(table):
        for drawing in drawings(picture):
            _, _, width, height = (float(part) for part in drawing.get("viewBox").split())
            for found in drawing.iter("text"):
                assert 0 <= float(found.get("x")) <= width
                assert 0 <= float(found.get("y")) <= height
    assert len(list(wide(score_picture(table)).iter("circle"))) == 50


def test_the_pictures_of_a_board_of_twenty_rows_take_less_than_half_a_second() -> None:
    """CPU after the import, both widths of all three."""
    table = make.table(*[make.row(f"row {n}", 200 * n) for n in range(20)])
    score_picture(table)
    begun = time.process_time()
    score_picture(table)
    reach_curve(table, curves_of(table))
    cost_latency(table)
    assert time.process_time() - begun < 0.5
