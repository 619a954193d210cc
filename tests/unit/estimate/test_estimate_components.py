"""Variance components of question × row × pass × judge, and what they say of a design."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import msgspec
import numpy as np
import pytest

from ragassay.errors import InputError
from ragassay.estimate import Component, Components, DifferenceVariance, Undefined, variance_components
from ragassay.estimate.balanced import Cell, Cells, grid, largest_balanced
from ragassay.estimate.components import FACETS, Facet
from ragassay.estimate.design import difference_variance
from ragassay.records import to_json

EFFECTS = {
    "q": 20, "r": 8, "p": 1, "j": 4,
    "qr": 6, "qp": 1, "qj": 2, "rp": 1, "rj": 1, "pj": 0,
    "qrp": 2, "qrj": 1, "qpj": 0, "rpj": 1, "qrpj": 1,
}  # fmt: skip
"""Half of what each effect adds and takes, in hundredths, around 50: its mean square is 16 times the square of this."""


def worked() -> dict[Cell, int | None]:
    """Return two questions × two rows × two passes × two judges, made of these effects."""
    scores: dict[Cell, int | None] = {}
    for signs in product((-1, 1), repeat=4):
        side = dict(zip("qrpj", signs, strict=True))
        value = 50 + sum(size * int(np.prod([side[facet] for facet in name])) for name, size in EFFECTS.items())
        q, r, p, j = ((sign + 1) // 2 for sign in signs)
        scores[f"q{q + 1}", ("none", "bm25")[r], p + 1, ("llm", "literal")[j]] = value
    return scores


def found(scores: Cells) -> Components:
    """Return components that are defined."""
    components = variance_components(scores)
    assert isinstance(components, Components)
    return components


def by_name(components: Components) -> dict[str, Component]:
    """Return each component under the first letters of its facets."""
    return {"".join(facet[0] for facet in c.facets): c for c in components.components}


def crossed(questions: int, rows: int, passes: int, judges: int, seed: int = 1) -> dict[Cell, int | None]:
    """Return random scores for a full crossing."""
    generator = np.random.default_rng(seed)
    return {
        (f"q{q:02}", f"r{r}", p, f"j{j}"): int(generator.integers(0, 101))
        for q in range(questions)
        for r in range(rows)
        for p in range(passes)
        for j in range(judges)
    }


def test_hand_worked_mean_squares() -> None:
    """With two levels each, an effect of ±c has one degree of freedom and the mean square 16c²."""
    components = by_name(found(worked()))
    assert list(components) == list(EFFECTS)
    for name, size in EFFECTS.items():
        assert components[name].df == 1
        assert components[name].mean_square == pytest.approx(16 * size**2 / 10_000)


HAND = {
    "q": 726, "r": 62, "p": 6, "j": 24,
    "qr": 128, "qp": -8, "qj": 16, "rp": -12, "rj": 0, "pj": 0,
    "qrp": 24, "qrj": 0, "qpj": -8, "rpj": 0, "qrpj": 16,
}  # fmt: skip
"""From the residual upwards, for instance qr = (576 - 64 - 16 + 16)/4 = 128, in squared hundredths."""


@pytest.mark.parametrize("name", HAND)
def test_hand_worked_estimates(name: str) -> None:
    """Each of the 15 estimates is the one worked by hand; below 0 it is printed as 0 with a mark, at 0 without."""
    component = by_name(found(worked()))[name]
    assert component.estimate == pytest.approx(HAND[name] / 10_000, abs=1e-12)
    assert component.variance == pytest.approx(max(HAND[name], 0) / 10_000, abs=1e-12)
    assert component.negative == (HAND[name] < 0)
    assert component.share == pytest.approx(max(HAND[name], 0) / 1002, abs=1e-11)


def test_a_full_crossing_leaves_nothing_out() -> None:
    """Sizes, cells and what was left out are said."""
    components = found(worked())
    assert (components.questions, components.rows, components.passes, components.judges) == (2, 2, 2, 2)
    assert (components.cells, components.left_out, components.missing, components.dropped) == (16, 0, 0, ())
    assert (components.not_separated, components.note) == ((), None)


@pytest.mark.parametrize(
    ("shape", "absent", "effects"),
    [
        ((4, 3, 2, 1), ("judge",), 7),
        ((4, 3, 1, 2), ("pass",), 7),
        ((4, 3, 1, 1), ("pass", "judge"), 3),
        ((4, 1, 2, 2), ("row",), 7),
        ((1, 3, 2, 2), ("question",), 7),
    ],
)
def test_a_facet_of_one_level_is_not_separated(shape: tuple[int, ...], absent: tuple[Facet, ...], effects: int) -> None:
    """One judge or one pass: the components without it are estimated, and it is named as inside them."""
    components = found(crossed(*shape))
    assert components.not_separated == absent
    assert len(components.components) == effects
    assert not any(facet in c.facets for c in components.components for facet in absent)
    assert components.components[-1].facets == tuple(facet for facet in FACETS if facet not in absent)


def test_two_way_against_the_textbook() -> None:
    """Questions × rows: (MS_q - MS_e)/rows and (MS_r - MS_e)/questions, with sums of squares taken about means."""
    scores = crossed(5, 3, 1, 1)
    table = np.array(list(scores.values()), dtype=float).reshape(5, 3)
    q, r, mean = table.mean(axis=1), table.mean(axis=0), table.mean()
    ms_q, ms_r = 3 * ((q - mean) ** 2).sum() / 4, 5 * ((r - mean) ** 2).sum() / 2
    ms_e = ((table - q[:, None] - r + mean) ** 2).sum() / 8
    components = by_name(found(scores))
    assert components["q"].estimate == pytest.approx((ms_q - ms_e) / 3 / 10_000)
    assert components["r"].estimate == pytest.approx((ms_r - ms_e) / 5 / 10_000)
    assert components["qr"].estimate == pytest.approx(ms_e / 10_000)


def test_equal_scores_vary_nowhere() -> None:
    """All components are 0 without a mark, and there is no share of nothing."""
    components = found(dict.fromkeys(crossed(3, 2, 2, 2), 50))
    assert {(c.variance, c.negative, c.share) for c in components.components} == {(0.0, False, None)}


def test_a_missing_cell_costs_its_question_and_is_not_zero() -> None:
    """One judge failed on one item of ten: nine questions are computed, 23 scored cells left out, one missing."""
    whole = crossed(10, 2, 3, 4)
    holed = {**whole, ("q03", "r1", 2, "j2"): None}
    components = found(holed)
    assert (components.questions, components.cells) == (9, 9 * 24)
    assert (components.left_out, components.missing, components.dropped) == (23, 1, ("question q03",))
    without = {cell: score for cell, score in whole.items() if cell[0] != "q03"}
    assert components.components == found(without).components


def test_an_absent_cell_is_missing_like_one_of_none() -> None:
    """Whether a cell is not there or is None, the result is the same."""
    whole = crossed(6, 2, 2, 2)
    gone = {cell: score for cell, score in whole.items() if cell != ("q01", "r0", 1, "j1")}
    assert found(gone) == found({**whole, ("q01", "r0", 1, "j1"): None})


def test_a_second_judge_of_a_third_of_the_questions_is_kept() -> None:
    """Two judges on 4 of 12 questions go before one judge on all: otherwise nothing is learned of judges."""
    whole = crossed(12, 2, 2, 2)
    holed = {cell: score for cell, score in whole.items() if cell[3] == "j0" or cell[0] < "q04"}
    components = found(holed)
    assert (components.questions, components.judges, components.not_separated) == (4, 2, ())
    assert components.left_out == 8 * 2 * 2


def test_a_judge_of_no_common_question_is_dropped() -> None:
    """A judge that scored one question cannot be kept with two questions: it is named."""
    whole = crossed(5, 2, 2, 2)
    holed = {cell: score for cell, score in whole.items() if cell[3] == "j0" or cell[0] == "q00"}
    components = found(holed)
    assert (components.dropped, components.not_separated, components.left_out) == (("judge j1",), ("judge",), 4)


def test_a_row_with_a_pass_less() -> None:
    """Rows of 3, 3 and 2 passes: two passes of three rows (or three of two) are the same number of cells."""
    whole = crossed(6, 3, 3, 2)
    components = found({cell: score for cell, score in whole.items() if cell[1:3] != ("r2", 2)})
    assert components.cells == 6 * 3 * 2 * 2
    assert components.left_out == 6 * 2 * 2


@pytest.mark.parametrize("seed", range(12))
def test_the_largest_part_against_every_choice(seed: int) -> None:
    """On small grids the part is the best of all choices of levels of all four facets."""
    generator = np.random.default_rng(seed)
    present = generator.random((4, 3, 2, 2)) < 0.8
    block, certain = largest_balanced(present)
    assert certain
    assert present[np.ix_(*block)].all()

    def rank(parts: tuple[tuple[int, ...], ...]) -> tuple[int, int]:
        return sum(len(part) > 1 for part in parts), int(np.prod([len(part) for part in parts]))

    subsets = [[s for k in range(1, n + 1) for s in combinations(range(n), k)] for n in present.shape]
    assert rank(block) == max(rank(parts) for parts in product(*subsets) if present[np.ix_(*parts)].all())


@pytest.mark.parametrize("seed", range(8))
def test_the_quick_way_leaves_no_gap(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not all choices are tried the part is complete all the same, and at most the best one."""
    present = np.random.default_rng(seed).random((9, 4, 3, 2)) < 0.85
    best, _ = largest_balanced(present)
    monkeypatch.setattr("ragassay.estimate.balanced.MOST_TRIALS", 0)
    block, certain = largest_balanced(present)
    assert not certain
    assert present[np.ix_(*block)].all()
    assert 0 < np.prod([len(part) for part in block]) <= np.prod([len(part) for part in best])


def test_too_many_choices_are_said() -> None:
    """Thirty rows with scattered holes: a full part is found, and it is not called the largest."""
    scores = crossed(20, 30, 2, 2)
    cells = sorted(scores)
    for index in np.random.default_rng(5).choice(len(cells), 25, replace=False):
        scores[cells[index]] = None
    components = found(scores)
    assert components.note is not None
    assert "too many choices" in components.note
    assert components.cells > 600
    assert components.cells + components.left_out + 25 == len(cells)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ({}, "no cell has a score"),
        ({("q", "r", 1, "j"): None}, "no cell has a score"),
        (crossed(6, 1, 1, 1), "6 questions, 1 row, 1 pass, 1 judge"),
        (crossed(1, 1, 3, 1), "1 question, 1 row, 3 passes, 1 judge"),
    ],
)
def test_too_little_is_undefined(scores: Cells, reason: str) -> None:
    """Without two facets of two levels there are no components, and the reason says what there was."""
    start = "" if reason.startswith("no") else "nothing can be separated: the largest balanced part has "
    assert variance_components(scores) == Undefined(reason=start + reason)


@pytest.mark.parametrize("bad", [101, -1, 0.5, True])
def test_a_bad_score_is_refused_with_its_cell(bad: object) -> None:
    """Only hundredths are scores."""
    with pytest.raises(InputError, match=r"\('q1', 'none', 1, 'llm'\)"):
        variance_components({**worked(), ("q1", "none", 1, "llm"): bad})  # type: ignore[dict-item]


def test_a_crossing_beyond_the_cap_is_refused() -> None:
    """A few thousand cells can span a crossing that no memory holds."""
    with pytest.raises(InputError, match="leave out some passes"):
        variance_components({(f"q{i}", f"r{i}", i, "j"): 50 for i in range(300)})


def test_levels_are_sorted() -> None:
    """The order in which cells arrive changes nothing."""
    scores = crossed(5, 3, 2, 2)
    assert found(dict(reversed(scores.items()))) == found(scores)
    assert grid(scores).levels[1] == ("r0", "r1", "r2")


def test_components_are_written_and_read_back() -> None:
    """They survive JSON, also as undefined."""
    for value in (variance_components(worked()), variance_components({})):
        back = msgspec.json.decode(msgspec.json.encode(to_json(value)))
        assert msgspec.convert(back, Components | Undefined) == value


def test_design_by_hand() -> None:
    """Of the worked components, for 60 questions, 3 passes and one judge, in squared hundredths.

    2·(128/60 + 24/180 + 16/180) = 4.7111, the others being 0. Passes: 2·(24 + 16)/180 = .4444, 9.4 %.
    """
    design = difference_variance(found(worked()), questions=60, passes=3)
    assert isinstance(design, DifferenceVariance)
    assert design.variance == pytest.approx(4.7111e-4, abs=1e-8)
    assert design.standard_error == pytest.approx(0.021705, abs=1e-6)
    assert (design.from_questions, design.advice) == (1.0, "buy questions, not passes")
    assert design.from_passes == pytest.approx(0.4444 / 4.7111, abs=1e-4)
    assert design.from_judges == pytest.approx(0.1778 / 4.7111, abs=1e-4)


def test_more_questions_lower_it_and_more_passes_hardly() -> None:
    """Doubling the questions halves the variance here; doubling the passes takes 5 %."""
    components = found(worked())
    base, questions, passes = (
        difference_variance(components, questions=q, passes=p) for q, p in ((60, 3), (120, 3), (60, 6))
    )
    assert isinstance(base, DifferenceVariance)
    assert isinstance(questions, DifferenceVariance)
    assert isinstance(passes, DifferenceVariance)
    assert questions.variance == pytest.approx(base.variance / 2)
    assert passes.variance / base.variance == pytest.approx(0.9528, abs=1e-4)


def test_the_advice_names_the_largest_part() -> None:
    """Judges who see rows differently are what to buy; questions or passes where their share is larger."""
    for name, advice in (
        ("judge", "buy judges, not questions or passes"),
        ("question", "buy questions, not passes"),
        ("pass", "buy passes, not questions"),
    ):
        components = found(crossed(12, 3, 3, 3))
        parts = tuple(
            msgspec.structs.replace(one, variance=0.04 if one.facets == by_order("row", name) else 0.0)
            for one in components.components
        )
        of_one = difference_variance(msgspec.structs.replace(components, components=parts), questions=12, passes=3)
        assert isinstance(of_one, DifferenceVariance)
        assert of_one.advice == advice


def by_order(*names: str) -> tuple[Facet, ...]:
    """Return facets in the order in which components name them."""
    return tuple(facet for facet in FACETS if facet in names)


def test_design_of_what_was_not_separated() -> None:
    """Without passes there is no share of passes and no advice; without rows there is no difference."""
    one_pass = difference_variance(found(crossed(6, 3, 1, 2)), questions=60, passes=3)
    assert isinstance(one_pass, DifferenceVariance)
    assert (one_pass.from_passes, one_pass.advice) == (None, None)
    assert one_pass.from_questions is not None
    one_row = difference_variance(found(crossed(6, 1, 2, 2)), questions=60, passes=3)
    assert isinstance(one_row, Undefined)


@pytest.mark.parametrize("sizes", [(0, 1, 1), (1, 0, 1), (1, 1, -1)])
def test_an_empty_design_is_refused(sizes: tuple[int, int, int]) -> None:
    """There is no design without questions, passes or a judge."""
    with pytest.raises(InputError, match="at least one of each"):
        difference_variance(found(worked()), questions=sizes[0], passes=sizes[1], judges=sizes[2])


def test_every_number_of_the_page_is_computed() -> None:
    """Scores, mean squares, components and shares of the page on variance components are what the code gives."""
    path = Path(__file__).resolve().parents[3] / "docs" / "explain" / "variance-components.md"
    text = path.read_text(encoding="utf-8")
    scores = worked()
    for question, row in product(("q1", "q2"), ("none", "bm25")):
        cells = [scores[question, row, p, judge] for p in (1, 2) for judge in ("llm", "literal")]
        assert f"| {question} | {row} | {' | '.join(map(str, cells))} |" in text
    for component in found(scores).components:
        name = "residual" if len(component.facets) == 4 else "·".join(component.facets)
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {name} |") and line.count("|") == 6]
        squares, value = (round(x * 10_000) for x in (component.mean_square, component.variance))
        cells_of = [cell.strip() for cell in line.strip("|").split("|")]
        assert (cells_of[2], cells_of[4]) == (f"{squares:,}", f"{value}" + (", marked" if component.negative else ""))
    design = difference_variance(found(scores), questions=60, passes=3)
    assert isinstance(design, DifferenceVariance)
    assert f"{design.variance * 10_000:.2f} squared hundredths" in text
    assert f"| passes | {(design.from_passes or 0) * 100:.1f} % |" in text
    assert f"| judges | {(design.from_judges or 0) * 100:.1f} % |" in text
    assert f'"{design.advice}"' in text
