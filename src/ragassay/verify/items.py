"""Each row by itself: texts against digests and benchmark, status against content, score against verdicts. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import get_args

from ragassay import canon, fold
from ragassay.errors import ModelErrorKind
from ragassay.manifest.files import OUTPUTS
from ragassay.manifest.rows import verdict_of
from ragassay.manifest.statement import RunPredicate
from ragassay.records import MISSING, OutputChunk, OutputRow, Profile, Question, Verdict
from ragassay.score import item_hundredths, status_of
from ragassay.verify.redaction import NOTHING_HIDDEN, Hidden
from ragassay.verify.report import Findings

_DIGEST = re.compile(r"[0-9a-f]{64}")
SERVICE_FAILURES = frozenset({"stack", "unjudged", *get_args(ModelErrorKind)})
"""Kinds of failure by which a stack, a model or a judge is to blame, and never the harness."""

QUOTED = frozenset({"SUPPORTS", "HEDGES", "CONTRADICTS"})

MAX_QUOTE_WORK = 1 << 35
"""The most that quotes may cost: for each its characters and 64 more, times those of the answer that it is sought in.

Ten quotes of 100 characters for each of 10,000 answers of 2,000 characters cost nearly as much.
"""


def check_items(
    rows: Sequence[OutputRow],
    questions: Mapping[str, Question],
    predicate: RunPredicate,
    profile: Profile | None,
    findings: Findings,
    hidden: Hidden = NOTHING_HIDDEN,
) -> None:
    """Check every row; `questions` is by id and may lack some, `profile` is None where the metric names none known."""
    republished = predicate.provenance.source_kind == "republished"
    judge = predicate.judge.digest.sha256 if predicate.judge.digest else None
    quoting = profile == "factual-consistency/2" and _affordable(rows, findings)
    for row in rows:
        where = f"{OUTPUTS}: {row.id}"
        _check_chunks(row, hidden, findings, where)
        if (question := questions.get(row.id)) is not None:
            _check_question(row, question, profile, findings, where)
        verdict = verdict_of(row)
        if (problem := _republished_problem(row) if republished else _status_problem(row, verdict)) is not None:
            findings.add("STATUS", f"the status is {row.status!r}, but {problem}", where)
        if row.answer is not None and not predicate.provenance.model_invoked and not republished:
            findings.add("STATUS", "there is an answer in a run that says no model was invoked", where)
        _check_score(row, verdict, profile, republished, findings, where)
        if quoting and row.answer is not None:
            _check_quotes(row, row.answer, hidden, findings, where)
        judged = row.verdict is not None or row.status == "judge_failed"
        if (row.judge != judge if judged else row.judge is not None) and not (republished and row.judge is None):
            findings.add("JUDGE_MIXED", f"judged by {row.judge}, the run by {judge}", where)
    findings.made("rows")
    if republished:
        findings.not_made("item scores", "a republished run carries scores without verdicts")
    else:
        findings.made("item scores")


def _check_chunks(row: OutputRow, hidden: Hidden, findings: Findings, where: str) -> None:
    if [chunk.rank for chunk in row.chunks] != list(range(1, len(row.chunks) + 1)):
        findings.add("CHUNK_DIGEST", "the ranks of the retrieved chunks are not 1, 2, 3, …", where)
    for chunk in row.chunks:
        if chunk.text is None:
            if not hidden.has(row.id, f"chunks/{chunk.rank}/text"):  # else it was told with its reason
                findings.add("TEXT_WITHHELD", f"the text of chunk {chunk.id!r} is withheld", where)
        elif canon.sha256(chunk.text.encode("utf-8")) != chunk.sha256:
            findings.add("CHUNK_DIGEST", f"the text of chunk {chunk.id!r} is not the one of its digest", where)
        if not _DIGEST.fullmatch(chunk.sha256):
            findings.add("CHUNK_DIGEST", f"the digest of chunk {chunk.id!r} is no SHA-256", where)
        if not _span_fits(chunk):
            findings.add("CHUNK_DIGEST", f"the span of chunk {chunk.id!r} is not as long as its text", where)
    if len({chunk.id for chunk in row.chunks}) != len(row.chunks):
        findings.add("CHUNK_DIGEST", "a chunk is delivered twice, and each is credited once", where)


def _span_fits(chunk: OutputChunk) -> bool:
    """Tell whether a span is whole (page, start and end, or neither end) and as long as a text that is known."""
    if chunk.start is None or chunk.end is None:
        return chunk.start is None and chunk.end is None
    length = len(chunk.text) if chunk.text is not None else chunk.end - chunk.start
    return chunk.page is not None and 0 <= chunk.start <= chunk.end and chunk.end - chunk.start == length


def _check_question(
    row: OutputRow, question: Question, profile: Profile | None, findings: Findings, where: str
) -> None:
    if row.question != question.input:
        findings.add("ROW_CHANGED", "the question that was asked is not the benchmark's", where)
    if profile == "factual-consistency/2" and row.verdict is not None:
        frozen = [(claim.id, claim.text, claim.central) for claim in question.claims]
        if [(claim.id, claim.text, claim.central) for claim in row.claims] != frozen:
            findings.add("ROW_CHANGED", "the judged claims are not the benchmark's frozen ones", where)


def _republished_problem(row: OutputRow) -> str | None:
    """Return what a row of scores that were taken over cannot say: all but a score, or that there is none, and why."""
    if row.verdict is not None or row.claims or row.chunks or row.retrieval != "off":
        return "a republished run records neither retrieval nor verdict"
    if row.status not in ("ok", "judge_failed"):
        return "a republished item is scored or unjudged, for no more is known of it"
    if (row.failure is not None) != (row.status in MISSING):
        return "a failure stands on every missing item and on no other"
    return None


def _status_problem(row: OutputRow, verdict: Verdict | None) -> str | None:
    if (row.retrieval == "ok") != bool(row.chunks):
        return f"retrieval is {row.retrieval!r} with {len(row.chunks)} chunks"
    if (row.failure is not None) != (row.status in MISSING):
        return "a failure stands on every missing item and on no other"
    if row.claims and verdict is None:
        return "there are claims without a verdict"
    if row.status in MISSING:
        return _missing_problem(row, verdict)
    if verdict is None:
        return None  # SCORED_FAILURE says so
    if row.answer is None:
        return "there is no answer to judge"
    if row.retrieval == "failed":
        return "retrieval failed"
    expected = status_of(verdict, row.retrieval)
    return None if row.status == expected else f"its verdict makes it {expected!r}"


def _missing_problem(row: OutputRow, verdict: Verdict | None) -> str | None:
    if verdict is not None:
        return "there is a verdict"
    if row.status == "harness_failed":
        kind = row.failure.kind if row.failure else ""
        return f"its failure is {kind!r}, which is that of a service" if kind in SERVICE_FAILURES else None
    if (row.retrieval == "failed") != (row.status == "retrieval_failed"):
        return f"retrieval is {row.retrieval!r}"
    if (row.answer is not None) != (row.status == "judge_failed"):
        return "an answer stands on items whose judge failed and on no other missing one"
    return None


def _check_score(
    row: OutputRow,
    verdict: Verdict | None,
    profile: Profile | None,
    republished: bool,
    findings: Findings,
    where: str,
) -> None:
    if row.status in MISSING:
        if row.score is not None:
            findings.add("SCORED_FAILURE", f"the item ended as {row.status!r} and carries a score", where)
        return
    if row.score is None:
        findings.add("SCORED_FAILURE", f"the item ended as {row.status!r} and carries no score", where)
    elif verdict is None:
        if not republished:
            findings.add("SCORED_FAILURE", "the item carries a score without a verdict", where)
        elif not 0 <= row.score <= 100:
            findings.add("ITEM_SCORE", f"{row.score} is no number of hundredths from 0 to 100", where)
    elif (problem := verdict_problem(verdict, profile)) is not None:
        findings.add("ITEM_SCORE", problem, where)
    elif row.score != (expected := item_hundredths(verdict)):
        findings.add("ITEM_SCORE", f"the score is {row.score}, its verdicts make it {expected}", where)


def verdict_problem(verdict: Verdict, profile: Profile | None) -> str | None:
    """Return why a verdict cannot be one of its profile, or None."""
    if profile == "factual-consistency/1":
        return "answer kinds are known in profile 2 only" if verdict.answer_kind is not None else None
    if profile == "factual-consistency/2" and verdict.answer_kind is None:
        return "profile 2 names the kind of every answer"
    if not verdict.claims:
        return "there is no claim to score"
    if verdict.reference_insufficient:
        return "a frozen reference cannot be insufficient"
    central = any(claim.central and claim.verdict == "CONTRADICTS" for claim in verdict.claims)
    if verdict.central_contradicted != central:
        return "`centralContradicted` does not follow from the claims"
    return None


def _affordable(rows: Sequence[OutputRow], findings: Findings) -> bool:
    """Tell whether all quotes can be sought in their answers in bounded time; where not, say so."""
    work = sum(
        len(row.answer) * sum(64 + len(claim.quote) for claim in row.claims if claim.verdict in QUOTED)
        for row in rows
        if row.answer is not None
    )
    if work > MAX_QUOTE_WORK:
        findings.add("BUNDLE_TOO_LARGE", "quotes and answers are too long to be compared", OUTPUTS)
        findings.not_made("quotes in answers", "quotes and answers are too long")
    return work <= MAX_QUOTE_WORK


def _check_quotes(row: OutputRow, answer: str, hidden: Hidden, findings: Findings, where: str) -> None:
    if hidden.has(row.id, "answer"):
        return
    stands = fold.quotes_of(answer)
    for claim in row.claims:
        if hidden.has(row.id, f"claims/{claim.id}/quote"):
            continue
        if claim.verdict in QUOTED and not stands(claim.quote):
            findings.add("QUOTE_NOT_IN_ANSWER", f"claim {claim.id} is {claim.verdict} by words the answer lacks", where)
