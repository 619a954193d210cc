"""From ratings and scores to what may be said of each judge. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import msgspec

from ragassay import __version__
from ragassay.estimate.agreement import Agreement, agreement
from ragassay.estimate.alpha import krippendorff_alpha
from ragassay.estimate.calibration import calibration_gate
from ragassay.estimate.undefined import Undefined
from ragassay.records.calibration import (
    CalibrationReport,
    CalibrationSample,
    Figures,
    JudgeCalibration,
    RaterAgreement,
    RaterLine,
    Rating,
)
from ragassay.site.calibration.items import Item
from ragassay.site.calibration.ratings import Standing
from ragassay.site.calibration.rubric import VERSION, rubric_digest
from ragassay.site.numbers import decimal6

Levels = Mapping[str, int]
"""Levels in hundredths by the key of the item."""


class JudgeScores(msgspec.Struct, frozen=True, kw_only=True):
    """What one further judge gave: hundredths by run and question, None where it gave no score."""

    judge: str
    digest: str | None
    scores: Mapping[tuple[str, str], int | None]

    def of(self, item: Item) -> int | None:
        """Return this judge's first score of an answer, in the order of the runs, None where it gave none."""
        found = (self.scores.get((one.run, item.question.id)) for one in item.seen)
        return next((score for score in found if score is not None), None)


def build_report(
    standing: Standing,
    items: Mapping[str, Item],
    published: JudgeScores,
    panel: Sequence[JudgeScores],
    *,
    benchmark: str,
    ratings: str,
    sample: CalibrationSample | None,
    at: int,
) -> CalibrationReport:
    """Return how far each judge agrees with people, and people with each other.

    What several people gave one answer counts as their mean, in hundredths, half up. `ratings` is the digest of the
    file of ratings, `at` in Unix seconds.
    """
    people = _by_rater(standing.counted)
    means = consensus(people)
    judges = [("published", published), *(("panel", one) for one in panel)]
    return CalibrationReport(
        at=at,
        harness=__version__,
        rubric=rubric_digest(),
        rubric_version=VERSION,
        ratings=ratings,
        benchmark=benchmark,
        sampled=len(sample.items) if sample else 0,
        rated=len(means),
        not_counted=len(standing.other),
        raters=_rater_lines(standing),
        judges=tuple(_judge(scores, purpose == "published", means, items) for purpose, scores in judges),
        between=between_raters(people),
    )


def consensus(people: Mapping[str, Levels]) -> dict[str, int]:
    """Return what people gave each answer: the mean of its raters' levels in hundredths, half up."""
    given: dict[str, list[int]] = {}
    for levels in people.values():
        for key, level in levels.items():
            given.setdefault(key, []).append(level)
    return {key: (2 * sum(levels) + len(levels)) // (2 * len(levels)) for key, levels in given.items()}


def between_raters(people: Mapping[str, Levels]) -> RaterAgreement | None:
    """Return how far raters agree on what at least two of them gave a level; None below two raters with levels."""
    names = sorted(name for name, levels in people.items() if levels)
    if len(names) < 2:
        return None
    shared = sorted({key for one, other in combinations(names, 2) for key in people[one].keys() & people[other].keys()})
    columns = [[people[name].get(key) for key in shared] for name in names]
    if len(names) == 2:
        found = figures(agreement(*columns))
        return RaterAgreement(raters=tuple(names), items=len(shared), figures=found, alpha=None, undefined=None)
    alpha = krippendorff_alpha(columns, "interval")
    return RaterAgreement(
        raters=tuple(names),
        items=len(shared),
        figures=None,
        alpha=_decimal(alpha),
        undefined=alpha.reason if isinstance(alpha, Undefined) else None,
    )


def figures(found: Agreement) -> Figures:
    """Return an agreement as it is stored: six decimals as strings, what is undefined as None with its reason."""
    rho, skew = found.spearman, found.skew
    interval = (None, None) if isinstance(rho, Undefined) else (rho.lower, rho.upper)
    named: dict[str, float | Undefined | None] = {
        "rho": rho if isinstance(rho, Undefined) else rho.rho,
        "qwk": found.qwk,
        "bias": found.bias,
        "mae": found.mae,
        "exact": found.exact,
        "ac2": skew.ac2 if skew else None,
        "positive": skew.positive if skew else None,
    }
    undefined = {name: value.reason for name, value in named.items() if isinstance(value, Undefined)}
    if not isinstance(rho, Undefined) and rho.note:
        undefined["interval"] = rho.note
    return Figures(
        n=found.n,
        lower=_decimal(interval[0]),
        upper=_decimal(interval[1]),
        common=skew.level if skew else None,
        table=found.table.counts,
        undefined=undefined,
        **{name: _decimal(value) for name, value in named.items()},
    )


def _decimal(value: float | Undefined | None) -> str | None:
    return None if value is None or isinstance(value, Undefined) else decimal6(value)


def _judge(scores: JudgeScores, published: bool, people: Levels, items: Mapping[str, Item]) -> JudgeCalibration:
    keys = sorted(people)
    given = [scores.of(items[key]) for key in keys]
    found = agreement(given, [people[key] for key in keys])
    gate = calibration_gate(found)
    return JudgeCalibration(
        judge=scores.judge,
        digest=scores.digest,
        purpose="published" if published else "panel",
        unjudged=given.count(None),
        state=gate.state,
        why=gate.why,
        unmet=gate.unmet,
        cautions=gate.cautions,
        figures=figures(found),
    )


def _by_rater(ratings: Iterable[Rating]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for rating in ratings:
        if rating.level is not None:
            found.setdefault(rating.rater, {})[rating.item] = rating.level
    return found


def _rater_lines(standing: Standing) -> tuple[RaterLine, ...]:
    others = [rating for rating, _ in standing.other]
    names = sorted({rating.rater for rating in (*standing.counted, *others)})
    return tuple(
        RaterLine(
            name=name,
            rated=sum(r.rater == name and r.level is not None for r in standing.counted),
            cannot_say=sum(r.rater == name and r.level is None for r in standing.counted),
            not_counted=sum(r.rater == name for r in others),
        )
        for name in names
    )
