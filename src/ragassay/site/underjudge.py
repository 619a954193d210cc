"""Every row under every further judge, by its judgements of exactly the runs of the row's window. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragassay.estimate import (
    ScoredRun,
    competition_ranks,
    coverage,
    lower_median,
    missing_bounds,
    question_means,
)
from ragassay.manifest.judgement import JudgementDocument
from ragassay.site.agreed import agreed
from ragassay.site.group import ended
from ragassay.site.judgerecord import JudgedRow
from ragassay.site.numbers import decimal6, plural, ratio
from ragassay.site.window import RowRuns, scored_run


class RowUnder(msgspec.Struct, frozen=True, kw_only=True):
    """One row with a further judge's judgements of the runs of its window, None for a run that it did not judge."""

    row: RowRuns
    judgements: tuple[JudgementDocument | None, ...]

    @property
    def judged(self) -> tuple[JudgementDocument, ...]:
        """Return the judgements there are."""
        return tuple(one for one in self.judgements if one is not None)

    @property
    def passes(self) -> tuple[Mapping[str, int | None], ...] | None:
        """Return the hundredths of each run of the window under this judge, None unless it judged every one."""
        if not self.judgements or len(self.judged) < len(self.judgements):
            return None
        return tuple({row.id: row.score for row in one.rows} for one in self.judged)

    @property
    def scored(self) -> ScoredRun | None:
        """Return the lower median of the window under this judge, None where the published rule gives no number."""
        if self.why is not None:
            return None
        return lower_median(
            [
                ScoredRun(run=run.predicate.run_id, num=score.num, den=score.den, time=ended(run))
                for run, one in zip(self.row.window, self.judged, strict=True)
                if (score := one.predicate.score) is not None
            ]
        )

    @property
    def why(self) -> str | None:
        """Return why the row has no number under this judge, or None where it has one."""
        runs = len(self.judgements)
        if len(self.judged) < runs or not runs:
            return f"{len(self.judged)} of {plural(runs, 'run')} judged"
        found = coverage(self.passes or ())
        if found.enough:
            return None
        if missing := found.asked - found.scored:
            return f"{missing} of {plural(found.asked, 'question')} without a score by this judge"
        return f"{found.asked - min(found.per_pass)} of {found.asked} questions of a pass without a score by this judge"

    def means(self) -> dict[str, float]:
        """Return the mean (0..1) of each question that this judge scored; none where the row has no number."""
        if self.why is not None:
            return {}
        return {q: mean for q, mean in question_means(self.passes or ()).items() if mean is not None}

    def line(self) -> JudgedRow:
        """Return the row as the board keeps it, without ranks."""
        counts = [one.predicate.counts for one in self.judged]
        scored, passes = self.scored, self.passes
        shown = next((one for one in self.judged if scored and one.predicate.run_id == scored.run), None)
        bounds = missing_bounds(passes) if passes is not None else None
        means = self.means()
        return JudgedRow(
            row=self.row.key,
            runs=len(self.judgements),
            judged_runs=len(self.judged),
            score=ratio(shown.predicate.score) if shown and shown.predicate.score else None,
            mean=decimal6(sum(means.values()) / len(means)) if means else None,
            bounds=(decimal6(bounds.worst), decimal6(bounds.best)) if bounds else None,
            asked=sum(one.asked for one in counts),
            unjudged=sum(one.unjudged for one in counts),
            not_judged=_not_judged(self.judged),
            why=self.why,
            agreement=agreed(
                (run, one) for run, one in zip(self.row.window, self.judgements, strict=True) if one is not None
            ),
        )


def _not_judged(judged: Iterable[JudgementDocument]) -> dict[str, int]:
    kinds = Counter(
        row.failure.kind for one in judged for row in one.rows if row.failure and row.status == "not_judged"
    )
    return dict(sorted(kinds.items()))


def with_ranks(rows: Sequence[RowUnder]) -> tuple[JudgedRow, ...]:
    """Return the rows with their ranks under this judge, and under the published one among the same rows.

    Ranks there are only where this judge scored two ranked rows or more.
    """
    ranked = [(one.row, own) for one in rows if one.row.standing == "ranked" and (own := one.scored) is not None]
    ranked = ranked if len(ranked) > 1 else []
    ours = _ranks([(row.key, own) for row, own in ranked])
    theirs = _ranks([(row.key, scored_run(row.shown)) for row, _ in ranked if row.shown is not None])
    return tuple(
        msgspec.structs.replace(line, rank=ours.get(line.row), rank_published=theirs.get(line.row))
        for line in (one.line() for one in rows)
    )


def _ranks(scores: Sequence[tuple[str, ScoredRun]]) -> dict[str, int]:
    return dict(zip((key for key, _ in scores), competition_ranks([one for _, one in scores]), strict=True))


def difference(a: RowUnder, b: RowUnder) -> float | None:
    """Return the mean over common questions of a − b under this judge, None unless it scored both rows."""
    left, right = a.means(), b.means()
    common = sorted(left.keys() & right.keys())
    return sum(left[q] - right[q] for q in common) / len(common) if common else None
