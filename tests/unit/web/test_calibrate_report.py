"""The figures of the report against examples that were worked by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import calibration_lab as lab
import pytest

from ragassay.cli.calibrate_lines import report_lines
from ragassay.records.calibration import CalibrationReport, Rating
from ragassay.site.calibration.ratings import standing
from ragassay.site.calibration.report import JudgeScores, between_raters, build_report, consensus


def judge_of(items: Sequence[Any], name: str = "judge-1") -> JudgeScores:
    """Return the scores that the items say their run's judge gave."""
    scores = {(one.run, item.question.id): one.score for item in items for one in item.seen}
    return JudgeScores(judge=name, digest="d" * 64, scores=scores)


def report(
    judged: Sequence[int | None],
    people: Mapping[str, Sequence[int | None]],
    panel: Mapping[str, Sequence[int | None]] | None = None,
    extra: Sequence[Rating] = (),
) -> CalibrationReport:
    """Return the report on one answer per place; None is no score by a judge, and no rating by a person."""
    items = [lab.item(n, {"bm25": [score]}) for n, score in enumerate(judged, 1)]
    ratings = [
        lab.rating(item, rater, level)
        for rater, levels in people.items()
        for item, level in zip(items, levels, strict=True)
        if level is not None
    ]
    others = [
        JudgeScores(
            judge=name,
            digest="e" * 64,
            scores={("bm25-0", item.question.id): score for item, score in zip(items, given, strict=True)},
        )
        for name, given in (panel or {}).items()
    ]
    pool = {item.key: item for item in items}
    found = standing([*ratings, *extra], pool)
    settled: dict[str, Any] = {"benchmark": "b" * 64, "ratings": "f" * 64, "sample": None, "at": 1}
    return build_report(found, pool, judge_of(items), others, **settled)


JUDGE = (0, 0, 0, 50, 100)
PERSON = (0, 0, 50, 50, 100)


def test_the_figures_of_one_judge_and_one_person() -> None:
    """The codes 0,0,0,2,4 and 0,0,2,2,4: ρ .8250, κ .8387, one of five half a point lower.

    Average ranks are 2, 2, 2, 4, 5 and 1.5, 1.5, 3.5, 3.5, 5: the products of their deviations from 3 sum to 7, the
    squares to 8 and 9, and 7/√72 is .8250.
    """
    (judge,) = report(JUDGE, {"ann": PERSON}).judges
    found = judge.figures
    rho = 7 / math.sqrt(72)
    half = 1.96 * math.sqrt((1 + rho * rho / 2) / 2)
    assert found.rho is not None
    assert found.lower is not None
    assert found.upper is not None
    assert float(found.rho) == pytest.approx(rho, abs=1e-6)
    assert float(found.lower) == pytest.approx(math.tanh(math.atanh(rho) - half), abs=1e-6)
    assert float(found.upper) == pytest.approx(math.tanh(math.atanh(rho) + half), abs=1e-6)
    assert found.qwk is not None
    assert float(found.qwk) == pytest.approx(0.8387, abs=5e-5)
    assert (found.n, found.bias, found.mae, found.exact) == (5, "-0.100000", "0.100000", "0.800000")
    assert found.table == ((2, 0, 1, 0, 0), (0,) * 5, (0, 0, 1, 0, 0), (0,) * 5, (0, 0, 0, 0, 1))
    assert (judge.state, judge.unjudged, judge.purpose) == ("too few", 0, "published")


def test_several_people_count_as_their_mean() -> None:
    """Two levels make their middle in hundredths, half up; one person alone makes that level."""
    people = {"ann": {"x": 0, "y": 100, "z": 75}, "ben": {"x": 25, "y": 100}, "cem": {"y": 75}}
    assert consensus(people) == {"x": 13, "y": 92, "z": 75}


def test_an_answer_that_the_judge_could_not_judge_is_counted_and_in_no_figure() -> None:
    """It is no 0 of the judge; nor is 'cannot say' one of the person."""
    whole = report((0, 100, 50), {"ann": (0, 100, 50)})
    part = report((0, 100, 50, None), {"ann": (0, 100, 50, 100)})
    assert part.judges[0].unjudged == 1
    assert part.judges[0].figures == whole.judges[0].figures
    item = lab.item(3, {"bm25": [50]})
    unsaid = report((0, 100, 50), {"ann": (0, 100, None)}, extra=[lab.rating(item, "ann", None)])
    assert (unsaid.rated, unsaid.judges[0].figures.n) == (2, 2)
    assert (unsaid.raters[0].rated, unsaid.raters[0].cannot_say) == (2, 1)


def test_a_constant_judge_is_undefined_and_never_a_number() -> None:
    """ρ and κ are None with the reason; the gate does not open."""
    (judge,) = report([100] * 120, {"ann": [0, 100] * 60}).judges
    assert (judge.figures.rho, judge.figures.qwk, judge.state) == (None, None, "failed")
    assert {"rho", "qwk"} <= set(judge.figures.undefined)
    assert judge.figures.bias == "0.500000"


def test_the_gate_opens_at_a_hundred() -> None:
    """The same perfect agreement is provisional on 99 answers and calibrated on 100."""
    levels = [0, 25, 50, 75, 100] * 20
    assert report(levels, {"ann": levels}).judges[0].state == "calibrated"
    assert report(levels[:99], {"ann": levels[:99]}).judges[0].state == "provisional"
    assert report(levels[:29], {"ann": levels[:29]}).judges[0].state == "too few"


def test_a_generous_judge_fails_by_its_bias() -> None:
    """A judge that orders answers as people do and gives a quarter more is not calibrated."""
    people = [0, 25, 50, 75] * 25
    (judge,) = report([level + 25 for level in people], {"ann": people}).judges
    assert (judge.state, judge.figures.bias) == ("failed", "0.250000")
    assert len(judge.unmet) == 1
    assert "bias" in judge.unmet[0]


def test_each_judge_of_the_panel_has_figures_of_its_own() -> None:
    """Of the same people, over the answers that it scored itself."""
    found = report((0, 50, 100), {"ann": (0, 50, 100)}, {"literal/1": (100, None, 0)})
    assert [(j.judge, j.purpose, j.figures.n, j.unjudged) for j in found.judges] == [
        ("judge-1", "published", 3, 0),
        ("literal/1", "panel", 2, 1),
    ]
    assert found.judges[1].figures.rho == "-1.000000"


def test_where_one_answer_was_judged_several_times_the_first_score_counts() -> None:
    """An average would be steadier than what the board prints."""
    item = lab.item(1, {"bm25": [None, 25, 100]})
    assert item.first_score == 25
    assert judge_of([item]).of(item) == 25


def test_two_raters_against_each_other() -> None:
    """The same two lists as people: the same ρ and κ, in the order of their names."""
    found = report((0, 0, 0, 0, 0), {"ben": PERSON, "ann": JUDGE}).between
    assert found is not None
    assert found.figures is not None
    assert (found.raters, found.items, found.alpha) == (("ann", "ben"), 5, None)
    assert found.figures.bias == "-0.100000"
    assert found.figures.qwk == report(JUDGE, {"ann": PERSON}).judges[0].figures.qwk


def test_three_raters_have_an_alpha() -> None:
    """Worked by hand: 0,0,100 / 100,100,100 / 0,0,– on interval distances give α = .5625.

    In units of 100: the first answer has two ordered pairs each way that differ, at 1/(3-1) each, over eight ratings:
    observed 4/2/8 = .25. Four ratings are 0 and four 100: expected 2·4·4/(8·7) = 4/7. α = 1 - .25·7/4.
    """
    people = {"a": {"x": 0, "y": 100, "z": 0}, "b": {"x": 0, "y": 100, "z": 0}, "c": {"x": 100, "y": 100}}
    found = between_raters(people)
    assert found is not None
    assert (found.raters, found.items, found.alpha, found.figures) == (("a", "b", "c"), 3, "0.562500", None)


def test_an_alpha_that_is_undefined_says_why() -> None:
    """Three raters who all gave everything the same level show no agreement."""
    found = between_raters({name: {"x": 50, "y": 50} for name in "abc"})
    assert found is not None
    assert found.alpha is None
    assert found.undefined is not None
    assert "the same" in found.undefined


def test_one_rater_has_nobody_to_agree_with() -> None:
    """There is no figure between raters below two of them."""
    assert report((0, 50), {"ann": (0, 50)}).between is None
    assert between_raters({"ann": {"x": 1}, "ben": {}}) is None


def test_raters_who_share_no_answer_are_undefined() -> None:
    """Two people who rated different answers have no figure, and it says why."""
    found = report((0, 50), {"ann": (0, None), "ben": (None, 50)}).between
    assert found is not None
    assert found.figures is not None
    assert (found.items, found.figures.rho) == (0, None)
    assert "no item has a score from both" in found.figures.undefined["rho"]


def test_old_ratings_are_said_and_not_counted() -> None:
    """A rating of a prompt that no run has any more stands beside the others, in no figure."""
    gone = lab.rating(lab.item(9, {"bm25": [0]}), "ann", 100)
    found = report((0, 50), {"ann": (0, 50)}, extra=[gone])
    assert (found.not_counted, found.raters[0].not_counted, found.judges[0].figures.n) == (1, 1, 2)
    assert any("1 rating not counted" in line for line in report_lines(found))


def test_a_report_without_ratings_says_so() -> None:
    """Nobody rated: no figure and no state that could be taken for one."""
    found = report((0, 50), {})
    assert (found.rated, found.raters, found.judges[0].state) == (0, (), "too few")
    assert report_lines(found) == ["No rating is stored yet; `ragassay calibrate` opens the page on which people rate."]


def test_what_is_printed() -> None:
    """Each judge with state and figures, people across the table."""
    lines = report_lines(report(JUDGE, {"ann": PERSON}))
    assert "judge-1 (the published judge): too few ratings: 5 of at least 30 rated items" in lines
    assert any(line.startswith("  quadratic weighted κ") and line.endswith(".839") for line in lines)
    assert any(line.startswith("  bias (judge − people)") and "−.100" in line for line in lines)
