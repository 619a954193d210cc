"""The signed statements: a run, its announcement, its voiding; field by field, and a whole run as one value."""

from __future__ import annotations

from typing import Literal

import msgspec

from ragassay.records import (
    Benchmark,
    Config,
    Counts,
    JudgementCounts,
    NullRow,
    OutputRow,
    Purpose,
    Record,
    Score,
    TelemetryRow,
)

PREDICATE_BASE = "https://ragassay.dev/attestation"
RUN_KIND = f"{PREDICATE_BASE}/benchmark-run/"
RUN_VERSIONS = ("v0.1", "v0.2")
"""Every version of a run that was ever written; all are read for ever."""
RUN_TYPE = f"{RUN_KIND}{RUN_VERSIONS[-1]}"
INTENT_KIND = f"{PREDICATE_BASE}/run-intent/"
INTENT_TYPE = f"{INTENT_KIND}v0.1"
VOID_KIND = f"{PREDICATE_BASE}/run-void/"
VOID_TYPE = f"{VOID_KIND}v0.1"
JUDGEMENT_KIND = f"{PREDICATE_BASE}/benchmark-judgement/"
JUDGEMENT_TYPE = f"{JUDGEMENT_KIND}v0.1"
REDACTION_KIND = f"{PREDICATE_BASE}/benchmark-run-redaction/"
REDACTION_TYPE = f"{REDACTION_KIND}v0.1"
QUESTION_SET_KIND = f"{PREDICATE_BASE}/question-set/"
QUESTION_SET_TYPE = f"{QUESTION_SET_KIND}v0.1"
HELD_OUT_KIND = f"{PREDICATE_BASE}/held-out-questions/"
HELD_OUT_TYPE = f"{HELD_OUT_KIND}v0.1"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PAYLOAD_TYPE = "application/vnd.in-toto+json"
AGGREGATION = "lower-median-of-five-most-recent/1"
"""How a row's number follows from its runs, as every announcement says."""


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


class IntentRef(Record, frozen=True):
    """The announcement of a run: the log's origin, the entry's index in it, and the SHA-256 of its envelope's bytes."""

    log: str
    index: int
    digest: Digest


class RunPredicate(Record, frozen=True):
    """What a run claims.

    A republished run may leave config, telemetry, corpus, stack, model and window None; a measured one may not, save
    the window of a run in which nothing was answered. `score` is None where nothing was scored. `verdicts` and `lines`
    (see `manifest.skeleton`) are None in version v0.1 and nowhere else; `figures` also where there is no telemetry.
    """

    run_id: str
    row: RowRef
    pass_: PassRef = msgspec.field(name="pass")
    provenance: RunProvenance
    intent: IntentRef | None
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
    verdicts: Digest | None = None
    lines: Digest | None = None
    figures: Digest | None = None


class IntentPredicate(Record, frozen=True):
    """What is announced before the first answer of a row: what will be measured, and every pass that is planned.

    `runs` holds the id of the run of pass k at k - 1. `created` is in Unix seconds, as the signer claims.
    """

    row: RowRef
    runs: tuple[str, ...]
    benchmark: BenchmarkRef
    config: DigestOf
    corpus: CorpusRef
    stack: StackRef
    model: ModelRef
    judge: JudgeRef
    metric: Metric
    aggregation: str
    created: int
    signer: SignerRef


class VoidPredicate(Record, frozen=True):
    """That a planned pass will not be finished (`run` is None), or that a signed run no longer counts, and why.

    `intent` and `run` are SHA-256 over the bytes of the envelopes; at least one of them is given. `created` is in Unix
    seconds, as the signer claims.
    """

    run_id: str
    pass_: PassRef = msgspec.field(name="pass")
    intent: Digest | None
    run: Digest | None
    reason: str
    created: int
    signer: SignerRef


class JudgementPredicate(Record, frozen=True):
    """What a further judge said of the stored answers of one run.

    `of` is the SHA-256 of the bytes of the run's envelope, `replies` that of `replies.jsonl`, `judge.digest` that of
    `judge.json`. `n` numbers judgements of one run by one judge for one purpose, from 1. `null_row` names the text that
    stood in place of every answer, and `shown` is that text. `score` is None where nothing was judged; `created` is in
    Unix seconds.
    """

    of: Digest
    run_id: str
    row: RowRef
    pass_: PassRef = msgspec.field(name="pass")
    judge: JudgeRef
    metric: Metric
    purpose: Purpose
    null_row: NullRow | None
    n: int
    verdicts: Digest
    replies: Digest
    counts: JudgementCounts
    score: Score | None
    created: int
    signer: SignerRef
    shown: str | None = None


class WithheldText(Record, frozen=True):
    """One text of a row that is not published, or not whole, and why.

    `field` is `answer`, `chunks/<rank>/text`, `claims/<id>/quote`, `claims/<id>/reason`, `failure/message`,
    `telemetry/judgeReplies/<index>/text` or `telemetry/judgeReplies/<index>/problem`. `salted_sha256` is the SHA-256
    over 16 bytes that the publisher keeps and the text in UTF-8: with them the text can be shown later to be this one.
    """

    field: str
    salted_sha256: str = msgspec.field(name="saltedSha256")
    reason: str


class WithheldRow(Record, frozen=True):
    """One line of `withheld.jsonl`: a question of whose row texts are withheld.

    `line` and `telemetry_line` are the leaves (hex) of its lines as they were signed, in `outputs.jsonl` and in
    `telemetry.jsonl`, each where a text of it is withheld, else None.
    """

    id: str
    line: str | None
    telemetry_line: str | None
    texts: tuple[WithheldText, ...]


class WithheldRef(Record, frozen=True):
    """The digest of `withheld.jsonl`, of how many rows it tells, and of how many texts of them."""

    digest: Digest
    rows: int
    texts: int


class RedactionPredicate(Record, frozen=True):
    """That texts of a signed run are withheld from what is published of it.

    `of` is the SHA-256 of the bytes of the run's envelope, `outputs` that of `outputs.public.jsonl`, `telemetry` that
    of `telemetry.public.jsonl`, None where the run's own telemetry is published. `created` is in Unix seconds, as the
    signer claims. Which texts stands in a file of its own, since a log takes no entry of more than 65,535 bytes.
    """

    of: Digest
    run_id: str
    row: RowRef
    pass_: PassRef = msgspec.field(name="pass")
    outputs: Digest
    telemetry: Digest | None
    withheld: WithheldRef
    created: int
    signer: SignerRef


class Subject(Record, frozen=True):
    """The one artifact of a statement.

    `outputs.jsonl` of a run, `outputs.public.jsonl` of a redaction, `verdicts.jsonl` of a judgement, `config.json` of
    an announcement, the voided `run.dsse.json` or else `intent.dsse.json` of a voiding.
    """

    name: str
    digest: Digest


class Statement(Record, frozen=True):
    """An in-toto Statement v1 around the predicate of a run."""

    type_: str = msgspec.field(name="_type")
    predicate_type: str
    subject: tuple[Subject, ...]
    predicate: RunPredicate


class IntentStatement(Record, frozen=True):
    """An in-toto Statement v1 around an announcement."""

    type_: str = msgspec.field(name="_type")
    predicate_type: str
    subject: tuple[Subject, ...]
    predicate: IntentPredicate


class VoidStatement(Record, frozen=True):
    """An in-toto Statement v1 around a voiding."""

    type_: str = msgspec.field(name="_type")
    predicate_type: str
    subject: tuple[Subject, ...]
    predicate: VoidPredicate


class JudgementStatement(Record, frozen=True):
    """An in-toto Statement v1 around a judgement."""

    type_: str = msgspec.field(name="_type")
    predicate_type: str
    subject: tuple[Subject, ...]
    predicate: JudgementPredicate


class RedactionStatement(Record, frozen=True):
    """An in-toto Statement v1 around a redaction."""

    type_: str = msgspec.field(name="_type")
    predicate_type: str
    subject: tuple[Subject, ...]
    predicate: RedactionPredicate


class RunDocument(Record, frozen=True):
    """One run with all its files decoded; a republished run may come without config and without telemetry."""

    predicate: RunPredicate
    config: Config | None
    benchmark: Benchmark
    outputs: tuple[OutputRow, ...]
    telemetry: tuple[TelemetryRow, ...]
