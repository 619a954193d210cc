"""The signed statement of one run: its predicate, field by field, and the whole run as one value."""

from __future__ import annotations

from typing import Literal

import msgspec

from ragassay.records import JSON, Benchmark, Config, Counts, OutputRow, Record, Score, TelemetryRow

PREDICATE_BASE = "https://ragassay.dev/attestation"
RUN_KIND = f"{PREDICATE_BASE}/benchmark-run/"
RUN_TYPE = f"{RUN_KIND}v0.1"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PAYLOAD_TYPE = "application/vnd.in-toto+json"


class Digest(Record, frozen=True):
    """A SHA-256 as 64 lower-case hex digits."""

    sha256: str


class DigestOf(Record, frozen=True):
    """A reference to a file by digest."""

    digest: Digest


class RowRef(Record, frozen=True):
    """The row's name and key (the digest over name and measure)."""

    name: str
    key: str


class PassRef(Record, frozen=True):
    """Pass k of the planned number, from 1."""

    k: int
    of: int


class Evaluator(Record, frozen=True):
    """The program that made the run."""

    name: str
    version: str


class RunProvenance(Record, frozen=True):
    """Whether the scores were measured here."""

    source_kind: Literal["measured", "republished", "stub"]
    model_invoked: bool
    evaluator: Evaluator
    upstream_ref: str | None = None


class BenchmarkRef(Record, frozen=True):
    """The question set: `digest` of our full form, `item_set` of the published form."""

    id: str
    version: str
    items: int
    digest: Digest
    item_set: Digest


class CorpusRef(Record, frozen=True):
    """The corpus; digest None for a stack that owns its corpus."""

    pages: int | None
    chunks: int | None
    digest: Digest | None


class StackRef(Record, frozen=True):
    """The stack's kind and the digest of `measure.stack`, top-k and threshold."""

    name: str
    digest: Digest


class ModelRef(Record, frozen=True):
    """The answering model's id and the digest of `measure.answer`."""

    id: str
    digest: Digest


class JudgeRef(Record, frozen=True):
    """The judge's id and the digest of `measure.judge` (None in a republished run that does not know it)."""

    id: str
    digest: Digest | None


class Metric(Record, frozen=True):
    """Profile and judge in one name; item scores are integers over `item_den`."""

    id: str
    item_den: int = 100
    higher_is_better: bool = True


class Window(Record, frozen=True):
    """Unix seconds between which answers were produced."""

    start: int
    end: int


class SignerRef(Record, frozen=True):
    """The signing key: RFC 7638 thumbprint, public key (base64url), and a name that gives no trust."""

    kid: str
    x: str
    name: str
    registry_version: int | None = None


class RunPredicate(Record, frozen=True):
    """What a run claims.

    A republished run may leave config, telemetry, corpus, stack, model and window None; a measured one may not, save
    the window of a run in which nothing was answered. `score` is None where nothing was scored.
    """

    run_id: str
    row: RowRef
    pass_: PassRef = msgspec.field(name="pass")
    provenance: RunProvenance
    intent: JSON | None
    benchmark: BenchmarkRef
    config: DigestOf | None
    telemetry: DigestOf | None
    content: Digest
    corpus: CorpusRef | None
    stack: StackRef | None
    model: ModelRef | None
    judge: JudgeRef
    metric: Metric
    score: Score | None
    counts: Counts
    window: Window | None
    signer: SignerRef


class Subject(Record, frozen=True):
    """The one artifact of a statement: `outputs.jsonl`."""

    name: str
    digest: Digest


class Statement(Record, frozen=True):
    """An in-toto Statement v1 around the predicate of a run."""

    type_: str = msgspec.field(name="_type")
    predicate_type: str
    subject: tuple[Subject, ...]
    predicate: RunPredicate


class RunDocument(Record, frozen=True):
    """One run with all its files decoded; a republished run may come without config and without telemetry."""

    predicate: RunPredicate
    config: Config | None
    benchmark: Benchmark
    outputs: tuple[OutputRow, ...]
    telemetry: tuple[TelemetryRow, ...]
