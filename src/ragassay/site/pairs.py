"""Every two rows of a table compared, and what follows for the ranks of the ranked ones. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import msgspec

from ragassay.estimate import (
    Comparison,
    RankInterval,
    adjusted_pvalues,
    compare,
    competition_ranks,
    gap_share,
    rank_intervals,
    same_sign_under,
    seed_from,
)
from ragassay.site.judgerecord import UnderJudge
from ragassay.site.numbers import decimal6, interval, plural
from ragassay.site.record import BoardRow, Gap, Pair
from ragassay.site.window import RowRuns, scored_run

ALPHA = 0.05


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """The ranked rows of a table, best first: competition ranks, rank intervals, who is distinguished from whom."""

    order: tuple[str, ...]
    ranks: Mapping[str, int]
    intervals: Mapping[str, RankInterval]
    adjusted: Mapping[tuple[str, str], float | None]

    @property
    def first(self) -> str | None:
        """Return the key of the row shown first."""
        return self.order[0] if self.order else None

    def distinguished(self, a: str, b: str) -> bool | None:
        """Tell whether two ranked rows are significantly apart after Holm; None outside the family."""
        if a not in self.ranks or b not in self.ranks:
            return None
        return b in self.intervals[a].above or b in self.intervals[a].below

    def below(self, a: str, b: str) -> bool:
        """Tell whether the ranked row `b` is significantly below `a` after Holm."""
        return b in self.intervals[a].below

    def holm(self, a: str, b: str) -> float | None:
        """Return the adjusted p of a pair in either order."""
        return self.adjusted.get((a, b), self.adjusted.get((b, a)))


def ranked_order(rows: Sequence[RowRuns]) -> tuple[list[RowRuns], dict[str, int]]:
    """Return the ranked rows best first (equal scores by name) with their competition ranks by key."""
    ranked = [row for row in rows if row.standing == "ranked" and row.shown is not None]
    scores = [scored_run(row.shown) for row in ranked if row.shown is not None]
    ranks = dict(zip((r.key for r in ranked), competition_ranks(scores), strict=True))
    return sorted(ranked, key=lambda row: (ranks[row.key], row.name)), ranks


def comparisons(rows: Sequence[RowRuns], benchmark: str, documents: Mapping[str, str]) -> list[Comparison]:
    """Compare every two rows in the order given, each pair under a seed of its own keys."""
    scores = {row.key: row.scores() for row in rows}
    return [
        compare(scores[a], scores[b], seed=seed_from(benchmark, (a, b), "compare"), documents=documents)
        for a, b in combinations(scores, 2)
    ]


def family_of(rows: Sequence[RowRuns], found: Sequence[Comparison]) -> Family:
    """Return ranks and rank intervals of the ranked rows; control, oracle and unranked rows are outside."""
    ordered, ranks = ranked_order(rows)
    keys = [row.key for row in ordered]
    return Family(
        order=tuple(keys),
        ranks=ranks,
        intervals=rank_intervals(keys, found, ALPHA) if keys else {},
        adjusted=adjusted_pvalues(keys, found) if keys else {},
    )


def pair(found: Comparison, family: Family, names: Mapping[str, str], under: tuple[UnderJudge, ...] = ()) -> Pair:
    """Return a comparison as the board keeps it, p adjusted where both rows are ranked; notes say names, not keys.

    `under` is the same difference under each further judge.
    """
    inside = family.distinguished(found.a, found.b)
    adjusted = family.holm(found.a, found.b) if inside is not None else None
    return Pair(
        a=found.a,
        b=found.b,
        questions=found.n,
        difference=decimal6(found.difference) if found.difference is not None else None,
        interval=interval(found.interval.low, found.interval.high) if found.interval else None,
        repeat_interval=interval(found.repeatability.low, found.repeatability.high) if found.repeatability else None,
        repeat_note=_named(found.repeatability_note, found, names),
        p=decimal6(found.p) if found.p is not None else None,
        p_holm=decimal6(adjusted) if adjusted is not None else None,
        distinguished=inside,
        detectable=decimal6(found.mde) if found.mde is not None else None,
        wins=found.wins,
        ties=found.ties,
        losses=found.losses,
        deciding=found.deciding,
        differences={question: decimal6(value) for question, value in found.differences.items()},
        bounds=(decimal6(found.bounds.worst), decimal6(found.bounds.best)) if found.bounds else None,
        notes=tuple(_named(note, found, names) or note for note in _notes(found)),
        seed=None if found.p_draws is None else str(found.seed),
        under=under,
    )


def with_lead(line: BoardRow, family: Family, pairs: Sequence[Pair]) -> BoardRow:
    """Return the first row with whether it leads: above every other after Holm, with the same sign under each judge.

    A further judge that did not score both rows neither confirms nor denies; without any, or below two ranked rows,
    nothing is said.
    """
    rest = family.order[1:]
    own = [one for one in pairs if line.key in (one.a, one.b) and {one.a, one.b} <= set(family.order)]
    seen = any(under.difference is not None for one in own for under in one.under)
    if line.key != family.first or not rest or not seen or not all(family.below(line.key, key) for key in rest):
        return line
    return msgspec.structs.replace(line, leads=not any(_denied(one) for one in own))


def _denied(found: Pair) -> bool:
    """Tell whether a further judge sees a difference of another sign, or none."""
    judges = {one.judge: None if one.difference is None else float(one.difference) for one in found.under}
    difference = None if found.difference is None else float(found.difference)
    return not same_sign_under(difference, judges).holds


def _named(note: str | None, found: Comparison, names: Mapping[str, str]) -> str | None:
    return note and note.replace(found.a, names[found.a]).replace(found.b, names[found.b])


def _notes(found: Comparison) -> list[str]:
    notes = [note for note in (found.interval_note, found.p_note, found.window_note) if note]
    if found.power_note and found.difference:
        needed = f"; about {found.questions_needed:,} such questions would" if found.questions_needed else ""
        notes.append(f"{found.power_note}{needed}")
    if found.depends_on_missing:
        notes.append("depends on missing items: the lead does not survive its bound")
    if found.excluded:
        notes.append(f"{plural(len(found.excluded), 'question')} left out: no score in one of the rows")
    return notes


def gap(row: RowRuns, control: RowRuns | None, oracle: RowRuns | None, benchmark: str, docs: Mapping[str, str]) -> Gap:
    """Return the share of the way from control to oracle that a row goes, or why there is none."""
    if control is None or oracle is None:
        absent = " and ".join(n for n, r in (("control", control), ("oracle", oracle)) if r is None)
        return Gap(share=None, interval=None, note=f"gap not established: no {absent} with a number")
    found = gap_share(
        row.scores(),
        control.scores(),
        oracle.scores(),
        seed=seed_from(benchmark, (row.key, control.key, oracle.key), "gap"),
        documents=docs,
    )
    return Gap(
        share=decimal6(found.share) if found.share is not None else None,
        interval=interval(found.low, found.high),
        note=found.note,
        seed=str(found.seed) if found.share is not None else None,
    )
