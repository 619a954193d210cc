"""The item score: an integer in hundredths, computed from a verdict by code."""

from __future__ import annotations

from ragassay.records import Verdict

INSUFFICIENT = 50
"""The score of a valid reply that says "reference insufficient" or, in profile 1, lists no claim."""
CAP = 25
"""The most that an item reaches whose central claim is contradicted."""


def insufficient(verdict: Verdict) -> bool:
    """Return whether the item is scored 50 because the reference could not be judged against."""
    return verdict.reference_insufficient or not verdict.claims


def item_hundredths(verdict: Verdict) -> int:
    """Return the item's score, 0..100, half-up: (100·(2S+H) + N) // 2N with S supported and H hedged of N claims.

    A contradicted central claim caps it at 25; an insufficient reference is 50. The same for both profiles, whose
    difference is where the N claims come from.
    """
    if insufficient(verdict):
        return INSUFFICIENT
    words = [claim.verdict for claim in verdict.claims]
    total = len(words)
    score = (100 * (2 * words.count("SUPPORTS") + words.count("HEDGES")) + total) // (2 * total)
    return min(score, CAP) if verdict.central_contradicted else score
