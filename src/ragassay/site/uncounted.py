"""What a row's figures leave out: runs that do not count, and questions whose retrieved texts are withheld. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ragassay.manifest.statement import RunDocument
from ragassay.site.numbers import plural
from ragassay.site.window import RowRuns, filled_by


def uncounted(row: RowRuns) -> list[str]:
    """Say which runs of a ranked row do not count, and why: later ones, and passes announced with those that do.

    A row whose hard passes failed would else show the easy ones as if nothing had been lost.
    """
    if not row.window or row.standing == "unranked":
        return []
    ids = [document.predicate.run_id for document in row.runs]
    after = ids.index(row.window[-1].predicate.run_id) + 1
    later = [row.why_not[run] for run in ids[after:] if run in row.why_not]
    of = _announced(row)
    beside = _lost(row, row.runs[:after], of)
    said = [f"{len(beside)} of {sum(of.values())} announced passes not eligible: {beside[-1]}"] if beside else []
    return said + ([f"{plural(len(later), 'later run')} not eligible: {later[-1]}"] if later else [])


def _announced(row: RowRuns) -> dict[str, int]:
    """Return the announcements of the runs that count, by digest, with the number of passes that each planned."""
    counted = [d.predicate for d in row.window if d.predicate.run_id not in row.why_not]
    return {run.intent.digest.sha256: run.pass_.of for run in counted if run.intent is not None}


def _lost(row: RowRuns, earlier: Sequence[RunDocument], announced: Collection[str]) -> list[str]:
    """Return why passes of these announcements do not count, in order; one that was filled is said elsewhere."""
    filled = filled_by(row.runs)
    lost: dict[tuple[str, int], str] = {}
    for run in (document.predicate for document in earlier):
        if run.intent is None or run.intent.digest.sha256 not in announced or run.run_id in filled:
            continue
        if (why := row.why_not.get(run.run_id)) is not None:
            lost[run.intent.digest.sha256, run.pass_.k] = why
    return list(lost.values())


def withheld_evidence(row: RowRuns) -> list[str]:
    """Say for how many questions nobody can see here whether their evidence was delivered, for a text is withheld."""
    shown = row.shown
    if shown is None:
        return []
    hidden = sum(
        bool(question.evidence) and any(chunk.text is None for chunk in output.chunks)
        for output, question in zip(shown.outputs, shown.benchmark.questions, strict=True)
    )
    asked = len(shown.benchmark.questions)
    return [f"reach not known for {hidden} of {asked} questions: retrieved texts are withheld"] if hidden else []
