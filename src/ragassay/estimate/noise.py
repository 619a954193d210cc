"""The judge's own noise: what changes when the same judge is asked the same again."""

from __future__ import annotations

import math
import statistics
from collections.abc import Hashable, Mapping, Sequence
from typing import Literal, Protocol, TypeVar

from ragassay.errors import InputError
from ragassay.estimate.ratings import is_hundredths
from ragassay.estimate.results import settle
from ragassay.estimate.undefined import Undefined
from ragassay.records import ClaimVerdict, Record

Item = TypeVar("Item", bound=Hashable)

NOT_ASKED = "not_judged"
DETERMINISTIC_NOTE = "deterministic: the same item always gets the same verdict, so none was judged twice"
HELD_NOTE = "this judge is declared deterministic, and nothing changed"
BROKEN_NOTE = "this judge is declared deterministic, and it is not"
ONE_NOTE = "one item judged twice: no spread"
MOVED_NOTE = "every score changed alike: the judge has moved, which is not noise"
UNVARIED_NOTE = "no score changed: the noise is below what {n} items can show, and that is not none"


class Judged(Protocol):
    """What is needed of one judgement: a line of `outputs.jsonl` and a line of `verdicts.jsonl` both have it."""

    @property
    def status(self) -> str:
        """Return how it ended; `not_judged` is an item that was not asked again."""

    @property
    def score(self) -> int | None:
        """Return the item's hundredths, None where it has no score."""

    @property
    def claims(self) -> Sequence[ClaimVerdict]:
        """Return the verdict of each claim."""


class Noise(Record, frozen=True, tag_field="kind", tag="noise"):
    """What asking again changed, over `n` items of a row that have a score both times; scores in 0..1.

    A `deterministic` judge is not asked again: n is 0 and every number is absent, never 0.
    """

    state: Literal["measured", "deterministic"]
    n: int
    lost: int
    """Items asked again that have no score from one of the two times; they are in no number."""
    score_changed: int
    verdict_changed: int
    score_share: float | None
    """Share of items whose score changed."""
    verdict_share: float | None
    """Share of items in which the verdict of any claim changed."""
    mean_change: float | None
    """Mean of the second minus the first; far from 0 the judge has moved, which is not noise."""
    mean_absolute: float | None
    """Mean |Δ|."""
    sd: float | None
    """Standard deviation of the judge's noise in one judgement of one item: sd(Δ)/√2."""
    effect: float | None
    """What that noise adds to the standard error of a row's score: sd/√items."""
    items: int
    """The items that the row's score is a mean of."""
    note: str | None = None


def judge_noise(
    first: Mapping[Item, Judged],
    second: Mapping[Item, Judged],
    *,
    items: int | None = None,
    deterministic: bool = False,
) -> Noise | Undefined:
    """Return the noise of one judge from the items of a row that it judged twice.

    Keys name an item, the same in both (question, or pass and question). An item that is not in `second`, or is there
    as `not_judged`, was not asked again. `items` is the number that the row's score is a mean of, by default those
    judged twice. `Undefined` where nothing was asked again or nothing has two scores.
    Raises `InputError` for an item of `second` that `first` lacks, a score that is no integer from 0 to 100, or `items`
    below the number judged twice.
    """
    _check(first, second)
    again = [item for item, judged in second.items() if judged.status != NOT_ASKED]
    pairs = [(first[item], second[item]) for item in again]
    changes = [b.score - a.score for a, b in pairs if a.score is not None and b.score is not None]
    if items is not None and items < max(1, len(changes)):
        raise InputError(f"the row's score is a mean of {items} items, and {len(changes)} of them were judged twice")
    if not changes:
        return _nothing(len(again), items, deterministic)
    judged = [(a, b) for a, b in pairs if a.score is not None and b.score is not None]
    verdicts = sum(_words(a) != _words(b) for a, b in judged)
    return _measured(changes, verdicts, len(again) - len(changes), items or len(changes), deterministic)


def _check(first: Mapping[Item, Judged], second: Mapping[Item, Judged]) -> None:
    problems = [f"{item!r} was asked again and not a first time" for item in second if item not in first]
    for name, judgements in (("first", first), ("second", second)):
        problems += [
            f"{item!r}, {name} time: {judged.score!r} is no integer from 0 to 100"
            for item, judged in judgements.items()
            if judged.score is not None and not is_hundredths(judged.score)
        ]
    if problems:
        raise InputError("the two judgements of a row do not fit together", problems)


def _words(judged: Judged) -> dict[int, str]:
    return {claim.id: claim.verdict for claim in judged.claims}


def _nothing(lost: int, items: int | None, deterministic: bool) -> Noise | Undefined:
    if lost:
        return Undefined(reason=f"{lost} asked again, and none has a score from both times")
    if not deterministic:
        return Undefined(reason="no item was asked again")
    return Noise(
        state="deterministic",
        n=0,
        lost=0,
        score_changed=0,
        verdict_changed=0,
        score_share=None,
        verdict_share=None,
        mean_change=None,
        mean_absolute=None,
        sd=None,
        effect=None,
        items=items or 0,
        note=DETERMINISTIC_NOTE,
    )


def _measured(changes: Sequence[int], verdicts: int, lost: int, items: int, deterministic: bool) -> Noise:
    n, changed = len(changes), sum(map(bool, changes))
    sd = math.sqrt(statistics.variance(changes) / 2) / 100 if n > 1 else None
    return Noise(
        state="measured",
        n=n,
        lost=lost,
        score_changed=changed,
        verdict_changed=verdicts,
        score_share=settle(changed / n),
        verdict_share=settle(verdicts / n),
        mean_change=settle(sum(changes) / (100 * n)),
        mean_absolute=settle(sum(map(abs, changes)) / (100 * n)),
        sd=None if sd is None else settle(sd),
        effect=None if sd is None else settle(sd / math.sqrt(items)),
        items=items,
        note=_note(changes, bool(changed or verdicts), deterministic),
    )


def _note(changes: Sequence[int], changed: bool, deterministic: bool) -> str | None:
    if deterministic:
        return BROKEN_NOTE if changed else HELD_NOTE
    if len(changes) == 1:
        return ONE_NOTE
    if not any(changes):
        return UNVARIED_NOTE.format(n=len(changes))
    return MOVED_NOTE if len(set(changes)) == 1 else None
