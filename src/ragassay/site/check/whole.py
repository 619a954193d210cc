"""Whether a row is all there, and whether its score is enough: a failure is never taken for a pass. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from ragassay.site.check.record import Finding
from ragassay.site.check.side import eligible
from ragassay.site.numbers import bracket, exact, plural, shown
from ragassay.site.record import BoardRow
from ragassay.site.window import WINDOW, RowRuns
from ragassay.site.words import missing_words


def whole(
    row: RowRuns | None,
    line: BoardRow | None,
    *,
    passes: int | None,
    held: str | None,
    stale: Sequence[str],
    allow_missing: bool,
) -> Finding:
    """Say whether every pass is signed, verified and counted, and every question has a score in each."""
    wrong = [f"the board file asks for another measurement, run it again: {'; '.join(stale)}"] if stale else []
    wrong += [held] if held else []
    if row is None or line is None:
        wrong += [] if held else [line.reason if line and line.reason else "not run yet"]
        return Finding(check="whole", outcome="failed", text="; ".join(wrong))
    if line.standing == "unranked" and line.reason:
        wrong.append(line.reason)
    planned = passes or row.runs[-1].predicate.pass_.of
    wrong += _not_counted(row, planned)
    wanted = min(planned, WINDOW)
    if (there := len(eligible(row))) < wanted:
        wrong.append(f"{there} of {plural(wanted, 'pass', 'passes')} signed and eligible")
    if line.missing.total and not allow_missing:
        wrong += [f"without a score: {', '.join(missing_words(line))}{_which(row)}"]
    if wrong:
        return Finding(check="whole", outcome="failed", text="; ".join(dict.fromkeys(wrong)))
    rest = f", {plural(line.missing.total, 'answer')} without a score" if line.missing.total else ", each with a score"
    text = f"{plural(len(row.window), 'pass', 'passes')} of {plural(line.questions, 'question')}{rest}"
    return Finding(check="whole", outcome="ok", text=f"{text}; every run is signed and verified")


def _not_counted(row: RowRuns, passes: int) -> list[str]:
    """Say which of the row's latest passes do not count, so that earlier runs cannot stand in for them unseen."""
    latest = [d for d in row.runs if not row.why_not.get(d.predicate.run_id, "").startswith("its pass was filled")]
    return [
        f"run {run} (pass {document.predicate.pass_.k}) does not count: {row.why_not[run]}"
        for document in latest[-passes:]
        if (run := document.predicate.run_id) in row.why_not
    ]


def _which(row: RowRuns, most: int = 5) -> str:
    """Name the questions without a score."""
    ids = list(dict.fromkeys(output.id for d in row.window for output in d.outputs if output.score is None))
    more = f" and {len(ids) - most} more" if len(ids) > most else ""
    return f" ({', '.join(ids[:most])}{more})"


def min_score(line: BoardRow | None, least: Decimal) -> Finding:
    """Say whether the score that the board shows is at least `least`, compared as fractions.

    With missing answers the mean with each of them at 0 has to be, too.
    """
    wanted = shown(least) if least == round(least, 3) else format(least, "f")
    if line is None or line.score is None:
        return Finding(check="min-score", outcome="failed", text=f"no score, where at least {wanted} is asked")
    text = f"{exact(line.score)} {bracket(line.interval)}".rstrip()
    if Fraction(line.score.num, line.score.den) < Fraction(least):
        digits = f" ({line.score.num}/{line.score.den})" if exact(line.score) == wanted else ""
        return Finding(check="min-score", outcome="failed", text=f"{text}{digits} is below the {wanted} that is asked")
    if line.bounds is not None and Decimal(line.bounds[0]) < least:
        worst = f"{text}, but {shown(line.bounds[0])} with each missing answer at 0: below {wanted}"
        return Finding(check="min-score", outcome="failed", text=worst)
    return Finding(check="min-score", outcome="ok", text=f"{text}, at least {wanted} is asked")
