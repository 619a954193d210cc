"""The judge's own noise from items that it judged twice."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest

from ragassay.errors import InputError
from ragassay.estimate import Noise, Undefined, judge_noise
from ragassay.records import ClaimVerdict, JudgementRow, VerdictWord, to_json


def line(score: int | None, words: str = "", status: str | None = None) -> JudgementRow:
    """Return a judgement with one claim per letter: S, H, C or O."""
    names: dict[str, VerdictWord] = {"S": "SUPPORTS", "H": "HEDGES", "C": "CONTRADICTS", "O": "OMITS"}
    claims = tuple(
        ClaimVerdict(id=i, text="", central=i == 1, verdict=names[word], quote="", reason="")
        for i, word in enumerate(words, 1)
    )
    found = status or ("judge_failed" if score is None else "judged")
    return msgspec.structs.replace(
        JudgementRow(id="q", status="judged", claims=claims, verdict=None, score=score), status=found
    )


def lines(*scores: int | None) -> dict[str, JudgementRow]:
    """Return items q0, q1, … with these scores and no claims."""
    return {f"q{i}": line(score) for i, score in enumerate(scores)}


def measured(first: dict[str, JudgementRow], second: dict[str, JudgementRow], items: int | None = None) -> Noise:
    """Return a noise that is defined."""
    found = judge_noise(first, second, items=items)
    assert isinstance(found, Noise)
    return found


def test_hand_worked_example() -> None:
    """Changes 0, +25, -25, 0: mean |Δ| .125, sd(Δ) = √(1250/3) = 20.41, noise 14.43, over 60 items .0186."""
    found = measured(lines(100, 50, 75, 0), lines(100, 75, 50, 0), items=60)
    assert (found.n, found.score_changed, found.score_share) == (4, 2, 0.5)
    assert (found.mean_change, found.mean_absolute) == (0.0, 0.125)
    assert found.sd == pytest.approx(math.sqrt(1250 / 3) / math.sqrt(2) / 100)
    assert found.effect == pytest.approx(math.sqrt(1250 / 6) / 100 / math.sqrt(60))
    assert (round(found.sd or 0, 4), round(found.effect or 0, 4)) == (0.1443, 0.0186)


def test_a_verdict_can_change_where_the_score_does_not() -> None:
    """S and O swapped leaves 50; the verdicts of both claims changed, which is one item."""
    found = measured({"a": line(50, "SO"), "b": line(100, "SS")}, {"a": line(50, "OS"), "b": line(100, "SS")})
    assert (found.score_changed, found.verdict_changed, found.verdict_share) == (0, 1, 0.5)
    assert found.sd == 0.0
    assert found.note == "no score changed: the noise is below what 2 items can show, and that is not none"


def test_another_number_of_claims_is_a_changed_verdict() -> None:
    """Where the judge lists the claims itself, a claim more is a change."""
    assert measured({"a": line(100, "S")}, {"a": line(100, "SS")}).verdict_changed == 1


def test_a_failure_is_lost_and_never_a_change() -> None:
    """Items without a score from one of both times are counted and enter no number; 0 is a score."""
    found = measured(lines(100, 0, None, 100), lines(100, 0, 50, None))
    assert (found.n, found.lost, found.score_changed, found.mean_absolute) == (2, 2, 0, 0.0)


def test_not_drawn_is_not_lost() -> None:
    """An item that is missing from the second time, or marked not judged, was not asked again."""
    second = {"q0": line(50), "q1": line(None, status="not_judged")}
    found = measured(lines(100, 100, 100), second)
    assert (found.n, found.lost) == (1, 0)


def test_one_item_has_no_spread() -> None:
    """With one change there is a mean and no standard deviation: absent, not 0."""
    found = measured(lines(100), lines(75))
    assert (found.sd, found.effect, found.mean_absolute, found.mean_change) == (None, None, 0.25, -0.25)
    assert found.note == "one item judged twice: no spread"


def test_a_moved_judge_is_not_noise() -> None:
    """Every score 25 lower: the mean change shows it, the spread is 0."""
    found = measured(lines(100, 75, 50), lines(75, 50, 25))
    assert (found.mean_change, found.sd, found.score_share) == (-0.25, 0.0, 1.0)
    assert found.note == "every score changed alike: the judge has moved, which is not noise"


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ({}, "no item was asked again"),
        ({"q0": line(None, status="not_judged")}, "no item was asked again"),
        ({"q0": line(None), "q1": line(None)}, "2 asked again, and none has a score from both times"),
    ],
)
def test_nothing_asked_again_is_undefined(second: dict[str, JudgementRow], reason: str) -> None:
    """Noise that was not measured is no number, least of all 0."""
    assert judge_noise(lines(100, 50), second) == Undefined(reason=reason)


def test_a_deterministic_judge_is_said_to_be_one() -> None:
    """It is not asked again, and every number is absent."""
    found = judge_noise(lines(100, 50), {}, deterministic=True)
    assert isinstance(found, Noise)
    assert (found.state, found.n, found.sd, found.effect, found.score_share) == ("deterministic", 0, None, None, None)


def test_a_deterministic_judge_that_varies_is_caught() -> None:
    """Asked again all the same, its numbers are measured, and the note says what came out."""
    broken = judge_noise(lines(100, 50), lines(100, 0), deterministic=True)
    held = judge_noise(lines(100, 50), lines(100, 50), deterministic=True)
    assert isinstance(broken, Noise)
    assert isinstance(held, Noise)
    assert (broken.state, broken.note) == ("measured", "this judge is declared deterministic, and it is not")
    assert (held.state, held.note) == ("measured", "this judge is declared deterministic, and nothing changed")


def test_effect_is_over_the_items_of_the_row() -> None:
    """Without `items` the row is what was judged twice; with four times as many the effect is half."""
    first, second = lines(100, 50, 75, 0), lines(100, 75, 50, 0)
    alone, row = measured(first, second), measured(first, second, items=16)
    assert (alone.items, row.items) == (4, 16)
    assert row.effect == pytest.approx((alone.effect or 0) / 2)


def test_pairs_that_do_not_fit_are_refused_all_at_once() -> None:
    """An item with no first time and a score that is none are both named."""
    with pytest.raises(InputError) as caught:
        judge_noise({"a": line(50)}, {"b": line(50), "a": line(101)})
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize("items", [0, -1, 3])
def test_a_row_smaller_than_what_was_asked_again_is_refused(items: int) -> None:
    """A score over 3 items cannot have 4 of them judged twice."""
    with pytest.raises(InputError, match="4 of them were judged twice"):
        judge_noise(lines(1, 2, 3, 4), lines(1, 2, 3, 4), items=items)


def test_noise_is_written_and_read_back() -> None:
    """Numbers, absences and reasons survive JSON."""
    kinds = Noise | Undefined
    for found in (
        judge_noise(lines(100, 50), lines(0, 50)),
        judge_noise({}, {}),
        judge_noise({}, {}, deterministic=True),
    ):
        assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(to_json(found))), kinds) == found


def test_every_number_of_the_page_is_computed() -> None:
    """The worked case of the page on noise is what the code gives."""
    path = Path(__file__).resolve().parents[3] / "docs" / "explain" / "judge-noise.md"
    text = " ".join(path.read_text(encoding="utf-8").split())
    found = measured(lines(100, 50, 75, 0), lines(100, 75, 50, 0), items=60)
    assert found.sd is not None
    assert found.effect is not None
    assert f"mean absolute change {found.mean_absolute:.3f}".replace("0.", ".") in text
    assert f"/√2 = {found.sd:.4f} and".replace("0.", ".") in text
    assert f"/√60 = {found.effect:.4f}".replace("0.", ".") in text
