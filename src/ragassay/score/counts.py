"""How many of the asked questions were scored, and what became of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragassay.records import SCORED, Counts, OutputRow


def count(rows: Sequence[OutputRow]) -> Counts:
    """Return the counts of a run: asked = scored + unjudged + answer, retrieval and harness failures.

    `insufficient`, `retrieval_empty`, `abstained` and `refused` are parts of scored (an abstention after an empty
    retrieval is counted in both); `filled` counts rows that name another pass as their source.
    """
    by_status = Counter(row.status for row in rows)
    scored = [row for row in rows if row.status in SCORED]
    return Counts(
        asked=len(rows),
        scored=len(scored),
        insufficient=sum(_insufficient(row) for row in scored),
        unjudged=by_status["judge_failed"],
        answer_failed=by_status["answer_failed"],
        retrieval_failed=by_status["retrieval_failed"],
        harness_failed=by_status["harness_failed"],
        retrieval_empty=sum(row.retrieval == "empty" for row in scored),
        abstained=by_status["abstained"],
        refused=by_status["refused"],
        filled=sum(row.fill is not None for row in rows),
    )


def _insufficient(row: OutputRow) -> bool:
    """A row without a verdict (a republished one) says nothing of its reference."""
    return row.verdict is not None and (row.verdict.reference_insufficient or not row.claims)
