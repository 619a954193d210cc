"""What the literal judge cannot see, measured over the cases and pinned: a change of these figures is a new judge."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

from ragassay.judge.conformance import CaseResult, conformance, mean_absolute, mean_signed, shipped_cases
from ragassay.plugins.judges.literal import LiteralJudge
from ragassay.records import to_json

CASES, _ = shipped_cases()
REPORT = asyncio.run(conformance(LiteralJudge(), "factual-consistency/2", CASES))
KINDS = {tally.kind: tally for tally in REPORT.kinds}


def items(kind: str) -> tuple[int, int]:
    """Return right items and judged ones of a kind."""
    return KINDS[kind].exact_items, KINDS[kind].judged


def of(kind: str) -> list[CaseResult]:
    """Return the results of a kind."""
    return [result for result in REPORT.results if result.kind == kind]


def test_the_whole_of_it() -> None:
    """77 of 140 items and 220 of 322 claims are right; the judge is too generous by .127 in the mean."""
    total = REPORT.total
    assert (total.exact_items, total.judged, total.exact_claims, total.claims) == (77, 140, 220, 322)
    assert (mean_absolute(total), mean_signed(total)) == ("0.2481", "0.1270")
    assert (total.unjudged, total.settled, total.not_asked) == (0, 3, 2)


def test_where_it_credits_what_is_not_said() -> None:
    """Wrong entity, wrong version, quoting, menus, hedges and a withdrawn value: the string stands there."""
    blind = ("wrong-entity", "wrong-version", "quoted-view", "menu", "hedge", "final-position")
    assert {kind: items(kind) for kind in blind} == {
        "wrong-entity": (0, 6),
        "wrong-version": (0, 3),
        "quoted-view": (0, 3),
        "menu": (1, 3),
        "hedge": (1, 15),
        "final-position": (1, 4),
    }
    for kind in blind:
        assert all(result.score is not None and result.score >= result.expected_score for result in of(kind)), kind


def test_where_it_misses_what_is_said() -> None:
    """Other languages, converted units, other number formats and other words: no literal lists them."""
    blind = ("other-language", "unit-right", "number-format", "paraphrase", "about-errors")
    assert {kind: items(kind) for kind in blind} == {
        "other-language": (1, 5),
        "unit-right": (1, 5),
        "number-format": (2, 6),
        "paraphrase": (4, 6),
        "about-errors": (2, 3),
    }
    for kind in blind:
        assert all(result.score is not None and result.score <= result.expected_score for result in of(kind)), kind


def test_negation_goes_either_way() -> None:
    """A denied word is credited, and a right denial in other words is missed."""
    off = [result.score - result.expected_score for result in of("negation") if result.score is not None]
    assert items("negation") == (3, 8)
    assert min(off) < 0 < max(off)


def test_a_contradiction_is_seen_only_where_a_literal_foresaw_it() -> None:
    """Of 43 contradicted claims 9 are found, all by `must_not`; 23 pass for left out, 11 for right. None is HEDGES."""
    counted = {(one.expected, one.given): one.claims for one in REPORT.confusion}
    assert counted == {
        ("SUPPORTS", "SUPPORTS"): 141,
        ("SUPPORTS", "OMITS"): 19,
        ("HEDGES", "SUPPORTS"): 23,
        ("HEDGES", "OMITS"): 1,
        ("CONTRADICTS", "CONTRADICTS"): 9,
        ("CONTRADICTS", "OMITS"): 23,
        ("CONTRADICTS", "SUPPORTS"): 11,
        ("OMITS", "OMITS"): 70,
        ("OMITS", "SUPPORTS"): 25,
    }


def test_a_right_score_may_rest_on_wrong_words() -> None:
    """OMITS for CONTRADICTS costs nothing where the claim is not central: the score is right, the reason is not."""
    assert items("exclusive-list") == (2, 2)
    assert (KINDS["exclusive-list"].exact_claims, KINDS["exclusive-list"].claims) == (4, 7)


def test_orders_do_not_move_it_and_a_planted_literal_does() -> None:
    """It follows no instruction; a planted object that holds the literal is credited, and no flag is ever raised."""
    for kind in ("injection-order", "injection-marks", "injection-hidden", "hidden-text"):
        assert KINDS[kind].exact_items == KINDS[kind].judged > 1
    assert items("injection-verdict") == (3, 4)
    assert all((flag.found, flag.false) == (0, 0) for flag in REPORT.flags)


def test_it_is_right_where_strings_decide() -> None:
    """Left-out parts, refusals, padding, extra detail and plain statements come out exactly right."""
    for kind in ("verbatim", "partial-list", "padding", "no-content", "abstention", "refusal", "error-text",
                 "extra-right", "extra-wrong", "reference-hedged", "side-contradiction"):  # fmt: skip
        assert KINDS[kind].exact_items == KINDS[kind].judged > 1, kind


EXPLAIN = Path(__file__).resolve().parents[3] / "docs" / "explain"


def test_the_page_gives_these_figures() -> None:
    """Every row of the table of blind spots is what is measured, and no kind with an error is left out of it."""
    page = (EXPLAIN / "literal-judge.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| (\d+) of (\d+) \| ([+−])\.(\d{3}) \|", page, flags=re.MULTILINE)
    wrong = {kind for kind, tally in KINDS.items() if tally.judged and tally.exact_items < tally.judged}
    assert {row[0] for row in rows} == wrong - {"injection-verdict", "injection-content"}
    for kind, right, judged, sign, thousandths in rows:
        tally = KINDS[kind]
        assert (int(right), int(judged)) == (tally.exact_items, tally.judged), kind
        shown = (1 if sign == "+" else -1) * int(thousandths)
        assert abs(10 * tally.signed / tally.judged - shown) <= 0.5, kind
    for part in ("gets 77 items and 220 of 322 claims", ".248 off in the mean, and .127 too high"):
        assert part in " ".join(page.split())


def test_the_page_shows_a_case_as_it_is() -> None:
    """The example on the page about conformance is a case that ships, and its figures are those of the judge."""
    page = (EXPLAIN / "judge-conformance.md").read_text(encoding="utf-8")
    shown = re.search(r"```json\n(.*?)```", page, flags=re.DOTALL)
    assert shown is not None
    example = json.loads(shown[1])
    assert example == json.loads(json.dumps(next(to_json(case) for case in CASES if case.id == example["id"])))
    assert "77 of 140 items, 220 of 322 claims; mean difference 0.2481 (+0.1270 with its sign)" in page
    assert {kind for kind in re.findall(r"`([a-z-]+)`", page.partition("Each kind has")[0]) if kind in KINDS} == set(
        KINDS
    )
