"""A row beside the same row of a baseline: the drop, what it means, and the questions that got worse. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal

import msgspec

from ragassay.errors import InputError
from ragassay.estimate import Drop, drop, seed_from
from ragassay.site.cells import cause_of
from ragassay.site.check.baseline import Before
from ragassay.site.check.demands import Demands
from ragassay.site.check.record import DropLine, Finding, RowCheck, WorseQuestion
from ragassay.site.check.side import Side, side_of_runs, worst_first
from ragassay.site.numbers import bracket, decimal6, interval, plural, pvalue, shown, signed
from ragassay.site.window import RowRuns


def compared(found: RowCheck, row: RowRuns | None, before: Before | None, demands: Demands) -> RowCheck:
    """Return the check of a row with its drop; `before` is None only where the row was not run.

    Runs that the baseline holds too are left out of what is new. Raises `InputError` where nothing new is left, where
    the two do not hold the same questions, or where the baseline lacks scores and that is not allowed.
    """
    assert demands.max_drop is not None, "a comparison has a permitted drop"
    if row is None or before is None:
        finding = Finding(check="max-drop", outcome="failed", text="nothing to compare: the row has no run that counts")
        return msgspec.structs.replace(found, findings=(*found.findings, finding))
    now = side_of_runs(row, before.side.runs)
    if not now.runs:
        if any(one.outcome == "failed" for one in found.findings):
            finding = Finding(check="max-drop", outcome="failed", text="nothing to compare: no new run of it counts")
            return msgspec.structs.replace(found, findings=(*found.findings, finding))
        raise InputError(f"row {row.name!r}: the baseline holds the very runs that are checked; run the board again")
    missing = before.side.missing
    if before.side.sums.keys() != now.sums.keys():
        raise InputError(f"row {row.name!r}: the baseline does not hold the same questions; write it again")
    if missing and not demands.allow_missing:
        raise InputError(
            f"row {row.name!r}: {plural(missing, 'answer')} of the baseline {'has' if missing == 1 else 'have'} no "
            "score; take a baseline that is whole, or give --allow-missing"
        )
    return _with_drop(found, row, before, now, demands)


def _with_drop(found: RowCheck, row: RowRuns, before: Before, now: Side, demands: Demands) -> RowCheck:
    assert demands.max_drop is not None, "a comparison has a permitted drop"
    latest = row.runs[-1]
    digest = latest.predicate.benchmark.digest.sha256
    pages = {q.id: q.page for q in latest.benchmark.questions if q.page is not None}
    worst = demands.allow_missing
    mine, theirs = now.means(0 if worst else None), before.side.means(100 if worst else None)
    common = [question for question in mine if question in theirs]
    means = {q: mine[q] for q in common}, {q: theirs[q] for q in common}
    seed = seed_from(digest, [row.key, *before.side.runs], "check")
    what = drop(
        means[0],
        means[1],
        allowed=float(demands.max_drop),
        level=float(demands.confidence),
        seed=seed,
        documents=pages,
    )
    filled = now.missing + before.side.missing if worst else 0
    line = _line(what, means, demands, seed=seed, filled=filled)
    differences = {q: value - means[1][q] for q, value in means[0].items()}
    outcome = {"held": "ok", "dropped": "failed", "inconclusive": "inconclusive"}[what.outcome]
    finding = Finding(check="max-drop", outcome=outcome, text=_words(line))  # type: ignore[arg-type]
    return msgspec.structs.replace(
        found,
        runs=now.runs,
        findings=(*found.findings, finding),
        drop=line,
        changed=before.changed,
        worse=_worse(worst_first(differences), row, now, before.side, means),
        better=sum(value > 0 for value in differences.values()),
        equal=sum(value == 0 for value in differences.values()),
    )


def _line(
    what: Drop,
    means: tuple[Mapping[str, float], Mapping[str, float]],
    demands: Demands,
    *,
    seed: int,
    filled: int,
) -> DropLine:
    return DropLine(
        outcome=what.outcome,
        allowed=format(demands.max_drop or Decimal(0), "f"),
        confidence=format(demands.confidence, "f"),
        questions=what.n,
        units=what.units,
        before=decimal6(math.fsum(means[1].values()) / what.n),
        now=decimal6(math.fsum(means[0].values()) / what.n),
        difference=decimal6(what.difference),
        interval=interval(what.interval.low, what.interval.high) if what.interval else None,
        p=None if what.p is None else decimal6(what.p),
        seed=None if what.draws is None else str(seed),
        needed=what.needed,
        note=what.note,
        filled=filled,
    )


def _words(line: DropLine) -> str:
    """Say in one sentence how the row moved and what follows."""
    span = f" {bracket(line.interval)}" if line.interval else ""
    moved = f"{shown(line.before)} → {shown(line.now)}, {signed(line.difference)}{span}"
    allowed = format(Decimal(line.allowed).normalize(), "f").removeprefix("0") or "0"
    if line.outcome == "held":
        if Decimal(line.difference) >= 0:
            return f"{moved}: no drop over {plural(line.questions, 'question')}"
        return f"{moved}: within the drop of {allowed} that is allowed"
    if line.outcome == "dropped":
        return f"{moved}, p {pvalue(line.p)}: a drop of more than {allowed}, more than chance allows"
    told = f"; about {line.needed:,} such questions would tell" if line.needed else ""
    return f"{moved}, p {pvalue(line.p)}: more than {allowed}, but not more than chance allows: {line.note}{told}"


def _worse(
    fallen: Sequence[str],
    row: RowRuns,
    now: Side,
    before: Side,
    means: tuple[Mapping[str, float], Mapping[str, float]],
) -> tuple[WorseQuestion, ...]:
    latest = row.shown or row.runs[-1]
    asked = {question.id: question for question in latest.benchmark.questions}
    outputs = {output.id: output for output in latest.outputs}
    return tuple(
        WorseQuestion(
            id=one,
            page=asked[one].page,
            topic=asked[one].topic,
            before=decimal6(means[1][one]),
            now=decimal6(means[0][one]),
            difference=decimal6(means[0][one] - means[1][one]),
            passes_before=before.passes[one] if before.passes is not None else None,
            passes=now.passes[one] if now.passes is not None else (),
            cause=cause_of(outputs[one], asked[one], oracle=row.role == "oracle"),
        )
        for one in fallen
    )
