"""What came of running a judge over the cases: results, accuracy by kind, and which word stood for which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from ragassay import canon
from ragassay.records import JSON, AnswerKind, Failure, JudgeReply, Profile, Record, VerdictWord

CaseStatus: TypeAlias = Literal["judged", "unjudged", "settled", "not_asked"]
"""`settled`: an empty answer, which code settles without a call; `not_asked`: this judge or profile cannot judge it."""


class CaseResult(Record, frozen=True):
    """One case under one judge; `given` and `score` (hundredths) stand only where it was judged or settled."""

    id: str
    kind: str
    status: CaseStatus
    expected: tuple[VerdictWord, ...]
    given: tuple[VerdictWord, ...]
    comparable: bool
    """False under profile 1, where the judge lists claims of its own: then only the item score is compared."""
    expected_score: int
    score: int | None
    answer_kind: AnswerKind | None = None
    extra_wrong: bool = False
    injection_seen: bool = False
    failure: Failure | None = None
    replies: tuple[JudgeReply, ...] = ()


class Tally(Record, frozen=True):
    """Counts over the cases of one kind (or all of them): cases = judged + unjudged + settled + not_asked.

    The rest is over the judged ones: items with the right score, claims that can be compared, those with the right
    word, and the sums of absolute and of signed differences from the right score, in hundredths.
    """

    kind: str
    cases: int
    judged: int
    unjudged: int
    settled: int
    not_asked: int
    exact_items: int
    claims: int
    exact_claims: int
    absolute: int
    signed: int


class Confusion(Record, frozen=True):
    """How many claims whose right word is `expected` were given `given`."""

    expected: VerdictWord
    given: VerdictWord
    claims: int


class Flag(Record, frozen=True):
    """A flag on whole answers: raised on `found` of the `cases` that ask for it, and on `false` of `others`."""

    name: str
    found: int
    cases: int
    false: int
    others: int


class ConformanceReport(Record, frozen=True):
    """A judge's results, and what is counted from them."""

    total: Tally
    kinds: tuple[Tally, ...]
    """By name."""
    confusion: tuple[Confusion, ...]
    flags: tuple[Flag, ...]
    results: tuple[CaseResult, ...]


class ConformanceRecord(Record, frozen=True):
    """A report with what it is of: `digest` is the SHA-256 of `judge`, `cases` that of the file of cases."""

    judge: JSON
    """{kind, id, describe}"""
    digest: str
    profile: Profile
    prompt: str | None
    """Digest of the prompt's template; None for a judge without one."""
    schema: str | None
    cases: str
    created: int
    """Unix seconds."""
    notes: tuple[str, ...]
    """What a reader has to know of how the judge was asked."""
    report: ConformanceReport

    def headline(self) -> str:
        """Return `58 of 61 items`: those with the right score, of those that the judge judged."""
        return f"{self.report.total.exact_items} of {self.report.total.judged} items"


def mean_absolute(tally: Tally) -> str | None:
    """Return the mean absolute difference from the right item score on 0..1, four places; None where none is judged."""
    return canon.ratio_string(tally.absolute, 100 * tally.judged) if tally.judged else None


def mean_signed(tally: Tally) -> str | None:
    """Return the mean signed difference (above 0: too generous); None where none is judged."""
    return canon.ratio_string(tally.signed, 100 * tally.judged) if tally.judged else None


def worst_first(tallies: Sequence[Tally]) -> list[Tally]:
    """Return the kinds by their share of right items, lowest first; those of which none was judged stand last."""

    def key(tally: Tally) -> tuple[float, float, str]:
        share = tally.exact_items / tally.judged if tally.judged else 2.0
        return share, -tally.absolute / max(tally.judged, 1), tally.kind

    return sorted(tallies, key=key)


def reported(results: Sequence[CaseResult], profile: Profile) -> ConformanceReport:
    """Return the results with everything that is counted from them."""
    kinds = sorted({result.kind for result in results})
    pairs = Counter(
        pair
        for result in results
        if result.status == "judged" and result.comparable
        for pair in zip(result.expected, result.given, strict=True)
    )
    return ConformanceReport(
        total=_tally("all", results),
        kinds=tuple(_tally(kind, [result for result in results if result.kind == kind]) for kind in kinds),
        confusion=tuple(Confusion(expected=a, given=b, claims=count) for (a, b), count in sorted(pairs.items())),
        flags=_flags(results) if profile == "factual-consistency/2" else (),
        results=tuple(results),
    )


def _tally(kind: str, results: Sequence[CaseResult]) -> Tally:
    by_status = Counter(result.status for result in results)
    judged = [result for result in results if result.status == "judged"]
    off = [result.score - result.expected_score for result in judged if result.score is not None]
    compared = [
        pair for result in judged if result.comparable for pair in zip(result.expected, result.given, strict=True)
    ]
    return Tally(
        kind=kind,
        cases=len(results),
        judged=by_status["judged"],
        unjudged=by_status["unjudged"],
        settled=by_status["settled"],
        not_asked=by_status["not_asked"],
        exact_items=off.count(0),
        claims=len(compared),
        exact_claims=sum(expected == given for expected, given in compared),
        absolute=sum(map(abs, off)),
        signed=sum(off),
    )


_FLAGS: tuple[tuple[str, Callable[[CaseResult], bool], Callable[[str], bool]], ...] = (
    ("abstention", lambda result: result.answer_kind == "abstention", lambda kind: kind == "abstention"),
    ("refusal", lambda result: result.answer_kind == "refusal", lambda kind: kind == "refusal"),
    ("error_text", lambda result: result.answer_kind == "error_text", lambda kind: kind == "error-text"),
    ("extra_wrong", lambda result: result.extra_wrong, lambda kind: kind == "extra-wrong"),
    ("injection_seen", lambda result: result.injection_seen, lambda kind: kind.startswith("injection-")),
)
"""Name, whether a result raises it, and whether cases of a kind ask for it."""


def _flags(results: Sequence[CaseResult]) -> tuple[Flag, ...]:
    judged = [result for result in results if result.status == "judged"]
    return tuple(
        Flag(
            name=name,
            found=sum(raised(result) for result in judged if asked(result.kind)),
            cases=sum(asked(result.kind) for result in judged),
            false=sum(raised(result) for result in judged if not asked(result.kind)),
            others=sum(not asked(result.kind) for result in judged),
        )
        for name, raised, asked in _FLAGS
    )
