"""What `claims freeze` prints: a proposal with what it was written from, and the counts. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ragassay.question.claim_checks import ClaimFinding
from ragassay.question.freeze import draft_findings
from ragassay.question.proposals import Draft, Proposal
from ragassay.records import Claim, Question
from ragassay.run.question_sets.asking import Asked
from ragassay.site.numbers import plural
from ragassay.site.safe import one_line, visible


def proposal_lines(question: Question, proposal: Proposal) -> Iterator[str]:
    """Yield a proposal whole: question, target, evidence, claims with their literals, and what code says of them."""
    yield f"── {one_line(question.id)} · {proposal.status} · by {one_line(proposal.model or 'hand')}"
    yield f"question  {visible(question.input)}"
    yield f"target    {visible(question.target)}"
    for text in question.evidence:
        yield f"evidence  {visible(text)}"
    if not question.evidence:
        yield "evidence  none"
    yield from draft_lines(proposal.draft)
    yield from finding_lines(draft_findings(question, proposal.draft))


def draft_lines(draft: Draft) -> Iterator[str]:
    """Yield each claim with its literals, and that the reference does not suffice where it says so."""
    for claim in draft.claims:
        yield f"claim {claim.id}{' (central)' if claim.central else ''}  {one_line(claim.text)}"
        yield from _literal_lines(claim)
    if not draft.reference_sufficient:
        yield "reference_sufficient: false"


def finding_lines(findings: Sequence[ClaimFinding]) -> Iterator[str]:
    """Yield each finding on a line."""
    for finding in findings:
        yield f"  {finding.severity}  {finding.rule}  {one_line(finding.message)}"


def _literal_lines(claim: Claim) -> Iterator[str]:
    for literals in claim.must:
        yield f"    must      {' | '.join(one_line(literal) for literal in literals)}"
    if claim.must_not:
        yield f"    must not  {', '.join(one_line(literal) for literal in claim.must_not)}"


def taken_line(asked: Asked) -> str:
    """Return what the calls took."""
    tokens = "tokens not counted by the server"
    if asked.input_tokens is not None and asked.output_tokens is not None:
        tokens = f"{plural(asked.input_tokens, 'token')} in, {asked.output_tokens:,} out"
    return f"{plural(asked.calls, 'call')}, {plural(asked.replies, 'reply', 'replies')}; {tokens}"


def asked_lines(asked: Asked) -> Iterator[str]:
    """Yield what the calls took, and each question that got no valid reply or none at all."""
    yield taken_line(asked)
    for identity, reasons in asked.left_out.items():
        count = plural(len(reasons), "invalid reply", "invalid replies")
        yield f"  left out  {one_line(identity)}: {count}, the last: {one_line(reasons[-1])}"
    for identity, reason in asked.failed.items():
        yield f"  no reply  {one_line(identity)}: {one_line(reason)}"


def counts(proposals: Mapping[str, Proposal]) -> dict[str, int]:
    """Return how many proposals are in each status."""
    found = Counter(one.status for one in proposals.values())
    return {status: found.get(status, 0) for status in ("proposed", "accepted", "edited", "rejected")}


def count_line(questions: Sequence[Question], proposals: Mapping[str, Proposal]) -> str:
    """Return the counts of all questions in one line."""
    told = ", ".join(f"{count:,} {status}" for status, count in counts(proposals).items())
    bare = [one for one in questions if one.id not in proposals]
    own = sum(not one.unsplit for one in bare)
    return (
        f"{plural(len(questions), 'question')}: {told}; {len(bare) - own:,} without a proposal, "
        f"{own:,} with claims in the file"
    )
