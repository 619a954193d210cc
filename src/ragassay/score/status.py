"""The class of an item that was judged."""

from __future__ import annotations

from ragassay.records import RetrievalState, Status, Verdict


def status_of(verdict: Verdict, retrieval: RetrievalState) -> Status:
    """Return refused, abstained, retrieval_empty or ok, in this precedence; all four are scored.

    Refusal and abstention come from the judge's `answer_kind` (profile 2 only). `off`, the control, is not empty.
    Raises `ValueError` for a failed retrieval: such an item was never answered and has no verdict.
    """
    if retrieval == "failed":
        raise ValueError("an item whose retrieval failed has no verdict and no scored status")
    if verdict.answer_kind == "refusal":
        return "refused"
    if verdict.answer_kind == "abstention":
        return "abstained"
    return "retrieval_empty" if retrieval == "empty" else "ok"
