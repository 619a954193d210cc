"""Proposed claims and what a person decided on them, one canonical JSON line per question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from ragassay import canon
from ragassay.errors import InputError, first_of
from ragassay.question.printable import printable
from ragassay.question.written import name_problem
from ragassay.records import Claim, Question, Record, to_json

ProposalStatus = Literal["proposed", "accepted", "edited", "rejected"]
MAX_REVIEW_BYTES = 64 * 1024 * 1024
"""The largest review file that is read, in bytes."""
MAX_PROBLEMS = 100


class Draft(Record, frozen=True):
    """Claims as somebody wrote them, and whether the reference suffices to judge an answer."""

    claims: tuple[Claim, ...]
    reference_sufficient: bool = msgspec.field(name="reference_sufficient")


class Proposal(Record, frozen=True):
    """The claims proposed for one question, where they come from, and what was decided.

    `material` is the digest of the question that they were written for, `reply` the SHA-256 of the raw reply or of
    the worksheet's bytes, `prompt` the digest of the prompt's template, `model` the model's id. `round` counts from
    1 how often the question was asked anew on request.
    """

    question: str
    material: str
    status: ProposalStatus
    source: Literal["model", "hand"]
    draft: Draft
    reply: str
    round: int = 1
    model: str | None = None
    prompt: str | None = None
    reviewer: str | None = None
    decided_at: int | None = None
    """Unix seconds."""

    @property
    def frozen(self) -> bool:
        """True when a person took these claims, as proposed or edited."""
        return self.status in ("accepted", "edited")


def material_digest(question: Question) -> str:
    """Return the SHA-256 of what claims are written from: id, input, target and evidence."""
    return canon.digest(
        {
            "evidence": list(question.evidence),
            "id": question.id,
            "input": question.input,
            "target": question.target,
        }
    )


def proposed(question: Question, draft: Draft, *, source: Literal["model", "hand"], reply: str, round: int) -> Proposal:
    """Return an undecided proposal for `question` as it is now; a model's id and prompt are added by who asked it."""
    return Proposal(
        question=question.id,
        material=material_digest(question),
        status="proposed",
        source=source,
        draft=draft,
        reply=reply,
        round=round,
    )


def encode_review(proposals: Iterable[Proposal]) -> bytes:
    """Return the review file: one canonical line per proposal, in the order given."""
    return b"".join(canon.canonical(to_json(proposal)) + b"\n" for proposal in proposals)


def decode_review(data: bytes) -> list[Proposal]:
    """Return the proposals of a review file; raises `InputError` that lists every line that is none."""
    if len(data) > MAX_REVIEW_BYTES:
        raise InputError(f"the review file has {len(data)} bytes, more than the {MAX_REVIEW_BYTES} allowed")
    problems: list[str] = []
    found: dict[str, Proposal] = {}
    lines = data.split(b"\n")
    if lines.pop() != b"":
        problems.append(f"line {len(lines) + 1}: the last line does not end")
    for number, line in enumerate(lines, 1):
        try:
            proposal = msgspec.convert(canon.load_canonical(line, max_bytes=MAX_REVIEW_BYTES), Proposal, strict=True)
        except (canon.NotCanonical, msgspec.ValidationError, RecursionError) as error:
            problems.append(f"line {number}: {error}")
            continue
        problems.extend(f"line {number}: {problem}" for problem in _inconsistent(proposal, found))
        found.setdefault(proposal.question, proposal)
    if problems:
        shown = map(printable, first_of(problems, MAX_PROBLEMS))
        advice = "decide with --review, --accept and --reject instead of editing it, or remove it and propose anew"
        raise InputError(f"the review file cannot be used; {advice}", shown)
    return list(found.values())


def current(proposals: Sequence[Proposal], questions: Sequence[Question]) -> tuple[dict[str, Proposal], list[str]]:
    """Return the proposals that belong to `questions` as they are now, in their order, and the ids of all others."""
    digests = {question.id: material_digest(question) for question in questions}
    fitting = {one.question: one for one in proposals if digests.get(one.question) == one.material}
    stale = [one.question for one in proposals if one.question not in fitting]
    return {identity: fitting[identity] for identity in digests if identity in fitting}, stale


def _inconsistent(proposal: Proposal, before: dict[str, Proposal]) -> Iterable[str]:
    if proposal.question in before:
        yield f"the question {proposal.question!r} stands twice"
    decided = proposal.status != "proposed"
    if decided != (proposal.reviewer is not None) or decided != (proposal.decided_at is not None):
        yield "reviewer and decidedAt stand exactly where a person decided"
    if proposal.reviewer is not None and (problem := name_problem(proposal.reviewer)):
        yield f"reviewer: {problem}"
    if proposal.round < 1:
        yield f"round is {proposal.round}; rounds count from 1"
    if (proposal.source == "model") != (proposal.model is not None and proposal.prompt is not None):
        yield "model and prompt stand exactly where a model proposed"
