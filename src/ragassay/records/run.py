"""The lines and documents of a run's files."""

from __future__ import annotations

import msgspec

from ragassay import canon
from ragassay.records.answering import RetrievalState, Usage
from ragassay.records.judging import AnswerKind, ClaimVerdict, Failure, Profile, Status
from ragassay.records.values import JSON, Record, to_json


class Source(Record, frozen=True):
    """The run and pass that a filled item came from."""

    run: str
    pass_: int = msgspec.field(name="pass")


class OutputChunk(Record, frozen=True):
    """A delivered chunk in `outputs.jsonl`; `text` is None where it was withheld."""

    rank: int
    id: str
    sha256: str
    text: str | None
    page: str | None = None
    start: int | None = None
    end: int | None = None


class OutputVerdict(Record, frozen=True):
    """What a judge said of the whole item."""

    central_contradicted: bool
    reference_insufficient: bool
    answer_kind: AnswerKind | None
    extra_wrong: bool
    injection_seen: bool


class OutputRow(Record, frozen=True):
    """One line of `outputs.jsonl`: all that a re-execution would reproduce. `score` in integer hundredths."""

    run: str
    pass_: int = msgspec.field(name="pass")
    id: str
    question: str
    status: Status
    retrieval: RetrievalState
    chunks: tuple[OutputChunk, ...]
    answer: str | None
    claims: tuple[ClaimVerdict, ...]
    verdict: OutputVerdict | None
    judge: str | None
    """The digest of the judge."""
    score: int | None
    failure: Failure | None = None
    fill: Source | None = None


class JudgeReply(Record, frozen=True):
    """One raw reply of the judge in `telemetry.jsonl`, and why it was refused (None: it was used)."""

    nonce: str
    text: str | None
    problem: str | None


class TelemetryRow(Record, frozen=True):
    """One line of `telemetry.jsonl`: times in ms, tokens, cost in micro-USD, attempts, retrieval scores."""

    id: str
    answered_at: int | None = None
    retrieval_ms: int | None = None
    retrieval_scores: tuple[str, ...] = ()
    duplicates: int = 0
    below_threshold: int = 0
    retrieval_attempts: int = 0
    retrieval_usage: Usage = Usage()
    retrieval_cost_microusd: int | None = None
    answer_ms: int | None = None
    answer_attempts: int = 0
    answer_usage: Usage = Usage()
    answer_cost_microusd: int | None = None
    finish_reason: str | None = None
    request_id: str | None = None
    model: str | None = None
    judge_ms: int | None = None
    judge_attempts: int = 0
    judge_usage: Usage = Usage()
    judge_cost_microusd: int | None = None
    judge_replies: tuple[JudgeReply, ...] = ()
    folds: tuple[str, ...] = ()


class Measure(Record, frozen=True):
    """Everything that can change a number, without the harness version; its digest and the name key a row."""

    benchmark: JSON
    """{id, version, items, digest, itemSet}"""
    corpus: JSON
    """{digest, pages, chunks, source, chunker, extractor}; digest null for a stack that owns its corpus"""
    stack: JSON
    """{kind, params, parts, describe}: the board entry, and what the built retriever said of itself"""
    top_k: int
    threshold: str | None
    answer: JSON
    """{kind, id, base_url, params, template, describe}"""
    judge: JSON
    """{kind, id, describe}: for an LLM model, parameters, prompt and schema digests"""
    scorer: Profile


class Fairness(Record, frozen=True):
    """Whether each question's evidence stands in the text that a row searches, by question id.

    A question in none of the three lists has its evidence there character for character. `own_texts`: the stack owns
    its corpus, so of every question it is unknowable, and the lists are empty.
    """

    folded: tuple[str, ...] = ()
    """There under presentation folds only."""
    absent: tuple[str, ...] = ()
    unknowable: tuple[str, ...] = ()
    """Without evidence, or without a text that could be looked into."""
    own_texts: bool = False
    split: tuple[str, ...] = ()
    """There, exact or folded, but whole in no single chunk."""
    unread: tuple[str, ...] | None = None
    """Whole only in chunks of which the row's embedders do not read so far; None without one, or where one cannot say.
    """


class Circumstance(Record, frozen=True):
    """What surrounds a measurement and is not meant to change it."""

    harness: str
    passes: int
    seed: int
    limits: JSON
    prices: JSON
    key_env: JSON
    exposure: str | None = None
    reask: str = "0%"
    wire_form_only: bool = False
    """True where this version of the stack was tested against its wire form only, never against the service itself."""
    fairness: Fairness | None = None
    """None for a row that searches nothing, and where it was not recorded."""
    item_manifest: str | None = None
    """The SHA-256 over the bytes of the question set's signed item manifest; None for a set that is not frozen."""


class Config(Record, frozen=True):
    """`config.json`, stored as canonical bytes; its SHA-256 is signed."""

    row: str
    measure: Measure
    circumstance: Circumstance

    def measure_digest(self) -> str:
        """Return the SHA-256 of the canonical bytes of `measure`."""
        return canon.digest(to_json(self.measure))

    def row_key(self) -> str:
        """Return the row's key: the SHA-256 over its name and the digest of `measure`."""
        return canon.digest({"name": self.row, "measure": self.measure_digest()})


class Counts(Record, frozen=True):
    """asked = scored + unjudged + answer_failed + retrieval_failed + harness_failed; the rest are parts of scored."""

    asked: int
    scored: int
    insufficient: int
    unjudged: int
    answer_failed: int
    retrieval_failed: int
    harness_failed: int
    retrieval_empty: int
    abstained: int
    refused: int
    filled: int

    @property
    def missing(self) -> int:
        """Questions without a score."""
        return self.asked - self.scored


class Score(Record, frozen=True):
    """A run's score: Σ item hundredths over 100 × scored items; `decimal` has four places, half-up."""

    num: int
    den: int
    decimal: str
