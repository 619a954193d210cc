"""Decisions on proposed claims, and the new version of a question file that carries the claims a person took."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from ragassay import canon
from ragassay.errors import InputError
from ragassay.literals import hits
from ragassay.question.asserted import asserted
from ragassay.question.claim_checks import ClaimFinding, check_claims, forbidding
from ragassay.question.proposals import Draft, Proposal
from ragassay.question.written import name_problem
from ragassay.records import Benchmark, Provenance, Question, to_json

MAX_SUGGESTED = 4
"""Literals that code suggests for one claim."""
_COUNTED = re.compile(r"(?:.*[^0-9])?([0-9]{1,15})")
_BY = "claims: "


def suggested_must(question: Question, text: str) -> tuple[tuple[str, ...], ...]:
    """Return lists of one literal each: what target, claim and evidence hold and the question does not."""
    found = [
        token
        for token in asserted(question.target)
        if not hits(token, question.input)
        and all(hits(token, held) for held in (text, question.target, *question.evidence))
    ]
    return tuple((token,) for token in found[:MAX_SUGGESTED])


def draft_findings(question: Question, draft: Draft) -> list[ClaimFinding]:
    """Return everything that code has against freezing `draft` for `question`."""
    return check_claims(question, draft.claims, draft.reference_sufficient)


def decided(proposal: Proposal, question: Question, draft: Draft, *, reviewer: str, at: int) -> Proposal:
    """Return `proposal` taken by `reviewer`: accepted, or edited where `draft` is another than the proposed one.

    `at` is in Unix seconds. Raises `InputError` with every error of the claims: nobody can overrule code here.
    """
    _check_reviewer(reviewer)
    if wrong := forbidding(draft_findings(question, draft)):
        problems = [f"{finding.rule}: {finding.message}" for finding in wrong]
        raise InputError(f"the claims of {question.id!r} cannot be frozen", problems)
    same = draft == proposal.draft
    status = proposal.status if same and proposal.frozen else "accepted" if same else "edited"
    return msgspec.structs.replace(proposal, status=status, draft=draft, reviewer=reviewer, decided_at=at)


def rejected(proposal: Proposal, *, reviewer: str, at: int) -> Proposal:
    """Return `proposal` turned down by `reviewer` at Unix second `at`."""
    _check_reviewer(reviewer)
    return msgspec.structs.replace(proposal, status="rejected", reviewer=reviewer, decided_at=at)


def frozen_benchmark(benchmark: Benchmark, proposals: Mapping[str, Proposal], version: str) -> Benchmark:
    """Return `benchmark` as `version`, every taken proposal as its question's claims; all other questions stay.

    Raises `InputError` with every problem where a taken proposal does not hold, or the version does not change.
    """
    if problem := name_problem(version):
        raise InputError(f"the version {version[:40]!r} {problem}")
    if version == benchmark.version:
        raise InputError(f"the question file is version {version} already; other claims need another version")
    problems = [
        f"{question.id}: {finding.rule}: {finding.message}"
        for question in benchmark.questions
        if (one := proposals.get(question.id)) and one.frozen
        for finding in forbidding(draft_findings(question, one.draft))
    ]
    if problems:
        raise InputError("claims that were taken cannot be frozen; edit or reject them", problems)
    questions = tuple(_with_claims(question, proposals.get(question.id)) for question in benchmark.questions)
    return msgspec.structs.replace(benchmark, questions=questions, version=version)


def next_version(version: str) -> str:
    """Return `version` with its last number raised by one; raises `InputError` where it ends in none."""
    found = _COUNTED.fullmatch(version)
    if found is None:
        raise InputError(f"the version {version!r} ends in no number; name the new one with --version")
    return version[: found.start(1)] + str(int(found[1]) + 1)


def claims_hash(question: Question) -> str:
    """Return the SHA-256 of the canonical bytes of a question's id and claims."""
    return canon.digest({"claims": [to_json(claim) for claim in question.claims], "question": question.id})


def claims_hashes(questions: Sequence[Question]) -> tuple[dict[str, str], str]:
    """Return the claims' hash of each question that has claims of its own, by id, and the hash over all of these.

    The hash over all is that of the canonical object of ids and hashes, so it does not depend on any order.
    """
    each = {question.id: claims_hash(question) for question in questions if not question.unsplit}
    return each, canon.digest(each)


def _with_claims(question: Question, proposal: Proposal | None) -> Question:
    if proposal is None or not proposal.frozen:
        return question
    before = question.provenance or Provenance()
    tool = " ".join((before.tool or "").split(f"; {_BY}")[0].split())
    tool = "" if tool.startswith(_BY) else tool
    if proposal.source == "model":
        tool = f"{tool}; {_BY}{proposal.model}" if tool else f"{_BY}{proposal.model}"
    provenance = msgspec.structs.replace(before, tool=tool or None, reviewed_by=proposal.reviewer)
    return msgspec.structs.replace(question, claims=proposal.draft.claims, unsplit=False, provenance=provenance)


def _check_reviewer(reviewer: str) -> None:
    if problem := name_problem(reviewer):
        raise InputError(f"the reviewer's name {problem}; give one with --reviewer")
