"""One question of one run as a page shows it. Pure."""

from __future__ import annotations

import msgspec

from ragassay.manifest.statement import RunDocument
from ragassay.records import ClaimVerdict, Failure, JudgeReply, OutputRow, Question, TelemetryRow
from ragassay.site.cells import cause_of
from ragassay.site.cellwords import CAUSE_WORDS
from ragassay.site.evidence import marks
from ragassay.site.group import is_measured, stack_kind
from ragassay.site.record import Cause
from ragassay.site.segments import Segment, cut, quoted

STATUS_WORDS = {
    "ok": "answered",
    "abstained": "abstained",
    "refused": "refused",
    "retrieval_empty": "answered without context: the search found nothing",
    "retrieval_failed": "no answer: retrieval failed",
    "answer_failed": "no answer: the model failed",
    "judge_failed": "unjudged: no valid verdict",
    "harness_failed": "lost by the harness",
}


class ChunkView(msgspec.Struct, frozen=True, kw_only=True):
    """A delivered chunk; `segments` is None where its text is withheld."""

    rank: int
    id: str
    page: str | None
    sha256: str
    segments: tuple[Segment, ...] | None
    holds_evidence: bool
    score: str | None


class ItemView(msgspec.Struct, frozen=True, kw_only=True):
    """One question with its answer, verdicts and delivered chunks; `score` in hundredths, None without one."""

    question: Question
    status: str
    score: int | None
    cause: Cause
    cause_words: str
    answer: tuple[Segment, ...] | None
    claims: tuple[ClaimVerdict, ...]
    chunks: tuple[ChunkView, ...]
    failure: Failure | None
    refused_replies: tuple[JudgeReply, ...]
    telemetry: TelemetryRow | None
    central_contradicted: bool
    filled_from: str | None
    elsewhere: bool
    """True where the score was computed elsewhere, so that nothing is known of retrieval and verdicts."""

    @property
    def evidence_rank(self) -> int | None:
        """Return the rank of the first delivered chunk that holds accepted evidence."""
        return next((chunk.rank for chunk in self.chunks if chunk.holds_evidence), None)

    @property
    def evidence_words(self) -> str:
        """Say where the accepted evidence was delivered; that none was, only where every text can be seen."""
        withheld = sum(chunk.segments is None for chunk in self.chunks)
        said = [f"{withheld} withheld"] if withheld else []
        if not self.question.evidence:
            return "; ".join(said)
        if self.evidence_rank is not None:
            said.insert(0, f"evidence at rank {self.evidence_rank}")
        else:
            said.append("whether one holds the evidence cannot be seen" if withheld else "none holds the evidence")
        return "; ".join(said)


def item_views(document: RunDocument) -> list[ItemView]:
    """Return every question of a run in the benchmark's order."""
    telemetry = {row.id: row for row in document.telemetry}
    oracle, elsewhere = stack_kind(document) == "oracle", not is_measured(document)
    return [
        item_view(output, question, telemetry.get(output.id), oracle=oracle, elsewhere=elsewhere)
        for output, question in zip(document.outputs, document.benchmark.questions, strict=True)
    ]


def item_view(
    output: OutputRow,
    question: Question,
    telemetry: TelemetryRow | None,
    *,
    oracle: bool = False,
    elsewhere: bool = False,
) -> ItemView:
    """Return one question of one run."""
    cause = cause_of(output, question, oracle=oracle)
    return ItemView(
        question=question,
        status=_status(output) if elsewhere else STATUS_WORDS[output.status],
        score=output.score,
        cause=cause,
        cause_words=CAUSE_WORDS[cause],
        answer=None if output.answer is None else quoted(output.answer, output.claims),
        claims=output.claims,
        chunks=tuple(_chunks(output, question, telemetry)),
        failure=output.failure,
        refused_replies=tuple(r for r in telemetry.judge_replies if r.problem) if telemetry else (),
        telemetry=telemetry,
        central_contradicted=bool(output.verdict and output.verdict.central_contradicted),
        filled_from=output.fill.run if output.fill else None,
        elsewhere=elsewhere,
    )


def _status(output: OutputRow) -> str:
    """Say how an item of a republished run ended: whether a score was published is all that is known."""
    return "no score was published" if output.score is None else "scored elsewhere"


def _chunks(output: OutputRow, question: Question, telemetry: TelemetryRow | None) -> list[ChunkView]:
    scores = telemetry.retrieval_scores if telemetry else ()
    views = []
    for index, chunk in enumerate(output.chunks):
        spans = marks(question.evidence, chunk.text) if chunk.text is not None else ()
        segments = None if chunk.text is None else cut(chunk.text, [(a, b, "evidence", "") for a, b in spans])
        views.append(
            ChunkView(
                rank=chunk.rank,
                id=chunk.id,
                page=chunk.page,
                sha256=chunk.sha256,
                segments=segments,
                holds_evidence=bool(spans),
                score=scores[index] if index < len(scores) else None,
            )
        )
    return views
