"""What further judges say of a lead."""

from __future__ import annotations

from collections.abc import Mapping

from ragassay.estimate.results import settle
from ragassay.records import Record


class SameSign(Record, frozen=True):
    """Whether every judge that scored both rows sees the difference on the same side; each judge stands in one list."""

    holds: bool
    """False as soon as one judge is in `against`, and where there is no difference to confirm."""
    agreeing: tuple[str, ...]
    against: tuple[str, ...]
    """Judges that see the other sign or no difference at all."""
    silent: tuple[str, ...]
    """Judges that did not score both rows: they neither confirm nor deny."""


def same_sign_under(difference: float | None, judges: Mapping[str, float | None]) -> SameSign:
    """Return which further judges see the sign of `difference`, the primary judge's a - b.

    `judges` maps each further judge to its own a - b, None where it has no score for one of the rows. A difference of 0
    is no sign. Without any further judge the rule holds: nobody contradicts.
    """
    seen = {judge: value for judge, value in judges.items() if value is not None}
    side = settle(difference or 0.0)
    agreeing = tuple(judge for judge, value in seen.items() if settle(value) * side > 0)
    against = tuple(judge for judge in seen if judge not in agreeing)
    return SameSign(
        holds=side != 0 and not against,
        agreeing=agreeing,
        against=against,
        silent=tuple(judge for judge in judges if judge not in seen),
    )
