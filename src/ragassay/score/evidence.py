"""At which ranks accepted evidence was delivered; every retrieval measure reads this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragassay.fold import FoldName, Match
from ragassay.occurrence import Searched
from ragassay.records import Record

EvidenceState = Literal["exact", "folded", "missing", "none"]


class EvidenceRanks(Record, frozen=True):
    """Ranks (from 1, rising) of the delivered texts that hold accepted evidence.

    `state` is `exact` or `folded` as the evidence matched at the first of these ranks (`folds` lists what was folded
    there), `missing` when no text holds it, `none` when the question has no evidence: then nothing is known and every
    measure is None. `duplicates` lists later ranks whose text repeats an earlier one word for word.
    """

    state: EvidenceState
    ranks: tuple[int, ...] = ()
    folds: tuple[FoldName, ...] = ()
    duplicates: tuple[int, ...] = ()

    @property
    def first(self) -> int | None:
        """The rank at which the question is credited, once."""
        return self.ranks[0] if self.ranks else None


def evidence_ranks(evidence: Sequence[str], texts: Sequence[str]) -> EvidenceRanks:
    """Return where any of the accepted `evidence` strings stands in `texts`, the delivered texts in rank order.

    A text that needs no fold for some alternative is exact even if another alternative would need one. Only
    presentation folds are tried, and only whole words count: a changed word or digit is missing. Repeated texts are
    credited at their first rank.
    """
    accepted = [wanted for wanted in evidence if wanted.strip()]
    first_at = {text: rank for rank, text in reversed(list(enumerate(texts, 1)))}
    repeated = tuple(rank for rank, text in enumerate(texts, 1) if first_at[text] != rank)
    if not accepted:
        return EvidenceRanks(state="none", duplicates=repeated)
    found = [
        (rank, match)
        for rank, text in enumerate(texts, 1)
        if first_at[text] == rank and (match := _best(accepted, text)) is not None
    ]
    if not found:
        return EvidenceRanks(state="missing", duplicates=repeated)
    first = found[0][1]
    return EvidenceRanks(
        state="exact" if first.exact else "folded",
        ranks=tuple(rank for rank, _ in found),
        folds=first.folds,
        duplicates=repeated,
    )


def _best(accepted: Sequence[str], text: str) -> Match | None:
    searched = Searched(text)
    matches = [match for wanted in accepted if (match := searched.find(wanted).first) is not None]
    return min(matches, key=lambda match: len(match.folds)) if matches else None
