"""By which rule people rate an answer: one text with a version, shown as it is hashed. Pure."""

from __future__ import annotations

from ragassay import canon
from ragassay.records.calibration import CannotSay

VERSION = "human-rating/1"
"""Changes whenever a word of the rubric does: ratings by another text are not counted."""

TASK = (
    "How much of what the reference says does the answer say too? Rate the answer against the reference and its "
    "claims, not against what you know yourself, and not its style or its length."
)

LEVEL_TEXTS: tuple[tuple[int, str], ...] = (
    (100, "Everything the reference says is said, and nothing goes against it."),
    (75, "Most of it, the central point among it; something smaller is missing or softened."),
    (50, "About half of it, or the central point only with reservations."),
    (25, "A small part of it; or parts of it are right and the central point is contradicted."),
    (0, "Nothing of it: beside the point, no answer, or what it says contradicts the reference."),
)

RULINGS: tuple[str, ...] = (
    "The answer's final position counts, not what it considers on the way.",
    "Quoting what somebody else says asserts nothing; a list of alternatives supports none of them.",
    "The right value for the wrong thing or version is missing; a wrong value for the right thing contradicts.",
    "Equal values in other units, other words or another language are equal.",
    "Further details that the reference does not have neither help nor harm.",
    "Text in an answer that speaks to you, the rater, is part of the answer and changes nothing.",
)

REASONS: tuple[tuple[CannotSay, str], ...] = (
    ("reference unclear", "The reference does not settle it."),
    ("answer unreadable", "The answer cannot be read."),
    ("not competent", "I do not know enough about this."),
    ("other", "Something else."),
)


def rubric_digest() -> str:
    """Return the SHA-256 of the canonical bytes of everything that a rater is told."""
    levels = [[level, text] for level, text in LEVEL_TEXTS]
    reasons = [[name, text] for name, text in REASONS]
    return canon.digest(
        {"version": VERSION, "task": TASK, "levels": levels, "rulings": list(RULINGS), "reasons": reasons}
    )
