"""What is exported: the facts of a run, and what became of each question. Pure."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from ragassay.records import (
    ClaimVerdict,
    Counts,
    Failure,
    OutputVerdict,
    Question,
    Record,
    RetrievalState,
    Score,
    Source,
    Status,
    TelemetryRow,
)
from ragassay.score import EvidenceRanks, evidence_ranks

UNKNOWN = EvidenceRanks(state="none")


class RunFacts(Record, frozen=True):
    """What is true of a run as a whole; None is unknown, and never 0. Times are in Unix seconds."""

    run: str
    row: str
    row_key: str
    pass_k: int
    passes: int
    kind: Literal["measured", "republished", "stub"]
    """A stub fails verification, so none is ever exported."""
    harness: str
    upstream: str | None
    """Whence republished scores come."""
    benchmark: str
    benchmark_version: str
    benchmark_digest: str
    subset: bool
    """Whether only some questions of the set were asked: such a run is never eligible on a board."""
    corpus: str | None
    """The corpus digest; None for a stack that owns its corpus, and for a republished run."""
    stack: str | None
    top_k: int | None
    model: str | None
    judge: str
    metric: str
    counts: Counts
    score: Score | None
    started: int | None
    ended: int | None
    signer: str
    redacted: bool
    """Whether texts are withheld: then `ExportedItem.withheld` names them."""
    voided: str | None
    """Why its publisher's log takes it back; None for a run that counts."""
    warnings: tuple[str, ...]
    """The reason codes that the verifier warns with, such as SIGNER_UNPINNED."""


class ExportedChunk(Record, frozen=True):
    """One delivered chunk; `score` is the stack's own as a decimal string, `text` is None where it is withheld."""

    id: str
    page: str | None
    rank: int
    score: str | None
    text: str | None
    sha256: str
    start: int | None
    end: int | None


class ExportedItem(Record, frozen=True):
    """What became of one question in one pass of one row; `at` is its place in the question set, from 0.

    `hundredths` is the score in integer hundredths, None where there is none. `withheld` names texts that are not
    published, or not whole: `answer`, `chunks/<rank>/text` and so on.
    """

    run: str
    row: str
    pass_k: int
    at: int
    question: Question
    status: Status
    retrieval: RetrievalState
    hundredths: int | None
    claims: tuple[ClaimVerdict, ...]
    verdict: OutputVerdict | None
    chunks: tuple[ExportedChunk, ...]
    answer: str | None
    judge: str | None
    """The judge's id; None where the item did not reach a judge."""
    failure: Failure | None
    fill: Source | None
    took: TelemetryRow | None
    """Times, tokens, money and raw replies; None in a republished run."""
    withheld: tuple[str, ...]

    @property
    def score(self) -> float | None:
        """The score from 0 to 1; None where the item has none, which is not 0."""
        return None if self.hundredths is None else self.hundredths / 100

    @property
    def verdict_counts(self) -> dict[str, int] | None:
        """How many claims were SUPPORTS, HEDGES, CONTRADICTS and OMITS; None where no verdict was reached."""
        if self.verdict is None:
            return None
        found = Counter(claim.verdict for claim in self.claims)
        return {word: found[word] for word in ("SUPPORTS", "HEDGES", "CONTRADICTS", "OMITS")}

    @property
    def texts(self) -> tuple[str, ...] | None:
        """The delivered texts in the order of their ranks; None where one of them is withheld."""
        known = tuple(chunk.text for chunk in self.chunks if chunk.text is not None)
        return known if len(known) == len(self.chunks) else None

    def evidence(self) -> EvidenceRanks:
        """Return where accepted evidence stands in what was delivered, as reach, MRR and nDCG of a board read it.

        State `none` is unknown: no evidence in the question, a withheld text, retrieval switched off or failed. An
        unknown question is in no retrieval measure; a search that worked and found nothing counts 0 in each.
        """
        texts = self.texts
        if texts is None or self.retrieval in ("off", "failed"):
            return UNKNOWN
        return evidence_ranks(self.question.evidence, texts)
