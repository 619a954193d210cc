"""What more questions, passes or judges would buy: the variance of a difference of two rows, by what it comes from."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ragassay.errors import InputError
from ragassay.estimate.components import Component, Components, Facet
from ragassay.estimate.results import settle
from ragassay.estimate.undefined import Undefined
from ragassay.records import Record


class DifferenceVariance(Record, frozen=True, tag_field="kind", tag="difference-variance"):
    """The variance of the difference of two rows' mean scores (0..1) under a design, and who could lower it.

    A share is what would vanish with endless questions (passes, judges). Noise of a question in a pass would vanish
    with either, so the shares may sum to more than 1. None: not separated.
    """

    variance: float
    standard_error: float
    from_questions: float | None
    from_passes: float | None
    from_judges: float | None
    advice: str | None
    """What more of helps most: questions or passes, which cost the same, or judges where their share is the largest.

    None where questions or passes are not separated, or their shares are equal and that of judges is no larger.
    """


def difference_variance(
    components: Components, *, questions: int, passes: int, judges: int = 1
) -> DifferenceVariance | Undefined:
    """Return the variance of a difference of two rows over this many questions, passes and judges.

    Twice the sum, over each component of row and other facets, of the component divided by the numbers of those facets.
    `Undefined` where the components do not separate rows. Raises `InputError` for a number below 1.
    """
    sizes: dict[Facet, int] = {"question": questions, "pass": passes, "judge": judges}
    if min(sizes.values()) < 1:
        raise InputError(f"a design has at least one of each: {questions} questions, {passes} passes, {judges} judges")
    if "row" in components.not_separated:
        return Undefined(reason="the components come from one row: they say nothing of a difference")
    parts = [(c, 2 * c.variance / _count(c, sizes)) for c in components.components if len(c.facets) > 1]
    parts = [(component, value) for component, value in parts if "row" in component.facets]
    total = math.fsum(value for _, value in parts)
    shares: dict[Facet, float | None] = dict.fromkeys(sizes)
    for facet in sizes:
        if total and facet not in components.not_separated:
            shares[facet] = settle(math.fsum(value for c, value in parts if facet in c.facets) / total)
    return DifferenceVariance(
        variance=settle(total),
        standard_error=settle(math.sqrt(total)),
        from_questions=shares["question"],
        from_passes=shares["pass"],
        from_judges=shares["judge"],
        advice=_advice(shares),
    )


def _count(component: Component, sizes: Mapping[Facet, int]) -> int:
    return math.prod(sizes[facet] for facet in component.facets if facet != "row")


def _advice(shares: Mapping[Facet, float | None]) -> str | None:
    questions, passes, judges = shares["question"], shares["pass"], shares["judge"]
    if questions is None or passes is None:
        return None
    if judges is not None and judges > max(questions, passes):
        return "buy judges, not questions or passes"
    if questions == passes:
        return None
    return "buy questions, not passes" if questions > passes else "buy passes, not questions"
