"""The cases that any judge can be run over: an answer, and the verdicts that are right for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from ragassay.errors import InputError
from ragassay.literals import judgeable
from ragassay.records import Claim, ClaimVerdict, JudgeItem, Profile, Question, Record, Verdict, VerdictWord
from ragassay.score import item_hundredths

MAX_BYTES = 16 * 1024 * 1024
"""A larger file of cases is refused."""


class Case(Record, frozen=True):
    """One answer with the right verdict for each claim, in order, and the item score that follows from them.

    `kind` groups cases that test one thing, `case` names this one, `note` says why its verdicts are right. A case whose
    reference does not hold what is asked has `reference_insufficient`; it is for profile 1 alone.
    """

    id: str
    kind: str
    case: str
    domain: str
    question: str
    reference: str
    claims: tuple[Claim, ...]
    answer: str
    verdicts: tuple[VerdictWord, ...]
    reference_insufficient: bool = msgspec.field(name="reference_insufficient")
    hundredths: int
    note: str

    def asked(self) -> Question:
        """Return the question as a judge's item is built from it; it has no evidence."""
        return Question(id=self.id, input=self.question, target=self.reference, claims=self.claims)

    def right(self) -> Verdict:
        """Return the right verdict, without quotes and reasons."""
        words = zip(self.claims, self.verdicts, strict=True)
        claims = tuple(
            ClaimVerdict(id=claim.id, text=claim.text, central=claim.central, verdict=word, quote="", reason="")
            for claim, word in words
        )
        return Verdict(
            claims=claims,
            central_contradicted=any(claim.central and claim.verdict == "CONTRADICTS" for claim in claims),
            reference_insufficient=self.reference_insufficient,
        )


def read_cases(data: bytes, place: str) -> tuple[Case, ...]:
    """Return the cases of a JSONL file; raises `InputError` with every problem and its line."""
    if len(data) > MAX_BYTES:
        raise InputError(f"{place} has more than the {MAX_BYTES} bytes that a file of cases may have")
    cases: list[tuple[int, Case]] = []
    problems: list[str] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            cases.append((number, msgspec.json.decode(line, type=Case)))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            problems.append(f"line {number}: {error}")
    problems += [f"line {number}: {case.id}: {fault}" for number, case in cases for fault in _faults(case)]
    counted = Counter(case.id for _, case in cases)
    problems += [f"the id {name!r} stands {count} times" for name, count in counted.items() if count > 1]
    if not cases and not problems:
        problems = ["there is none"]
    if problems:
        raise InputError(f"{place} holds no usable set of cases", problems)
    return tuple(case for _, case in cases)


def _faults(case: Case) -> Iterator[str]:
    if [claim.id for claim in case.claims] != list(range(1, len(case.claims) + 1)) or not case.claims:
        yield "claims are numbered 1, 2, … and there is at least one"
    if sum(claim.central for claim in case.claims) != 1:
        yield "exactly one claim is central"
    if len(case.verdicts) != len(case.claims):
        yield f"{len(case.claims)} claims have {len(case.verdicts)} verdicts"
    elif case.claims and (score := item_hundredths(case.right())) != case.hundredths:
        yield f"its verdicts score {score}, not {case.hundredths}"


def why_not_asked(case: Case, item: JudgeItem, profile: Profile, *, needs_literals: bool) -> str | None:
    """Return why this case is not put to a judge under `profile`, or None where it is."""
    if case.reference_insufficient and profile == "factual-consistency/2":
        return "the reference is insufficient: profile 2 freezes no claims of it"
    if needs_literals and not all(judgeable(claim) for claim in item.claims):
        return "its claims carry no literals"
    return None
