"""The values that travel through the pipeline: frozen, keyword-only, each made by exactly one stage.

JSON names are camelCase. No record holds a fractional JSON number: scores are integer hundredths, retrieval scores
decimal strings, times integer milliseconds (`_ms`) or seconds (`_s`), money integer micro-USD (`_microusd`), and
what is unknown is None, never 0.
"""

from __future__ import annotations

from typing import Any, Literal, NoReturn, TypeAlias

import msgspec

from ragassay import canon

JSON: TypeAlias = dict[str, Any]
"""A JSON object whose shape its own document describes."""


class Record(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel", omit_defaults=False
):
    """A finished value."""


def to_json(record: object) -> Any:
    """Return the JSON form (dicts, lists, strings, integers, booleans, None) of a record."""
    return msgspec.to_builtins(record)


class Secret:
    """A key that prints as `***`, cannot be pickled, and gives its text only to `reveal()`."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text of the key."""
        return self._text

    def scrub(self, text: str) -> str:
        """Return `text` with every occurrence of the key replaced."""
        return text.replace(self._text, "***") if len(self._text) >= 4 else text

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is never written anywhere")


# --- corpus ---------------------------------------------------------------------------------------------------


class Page(Record, frozen=True):
    """One document: `text` is what is chunked and searched, `sha256` the digest of its UTF-8 bytes."""

    id: str
    title: str
    text: str
    format: Literal["markdown", "html", "rst", "text"]
    sha256: str
    source_sha256: str


class Chunk(Record, frozen=True):
    """One retrieved unit: `text == page.text[start:end]`, `sha256` the digest of its UTF-8 bytes."""

    id: str
    page: str
    start: int
    end: int
    text: str
    sha256: str


class Corpus(Record, frozen=True):
    """Pages and chunks with what made them; `source` says where they came from and does not enter the digest."""

    pages: tuple[Page, ...]
    chunks: tuple[Chunk, ...]
    chunker: JSON
    extractor: str
    source: JSON

    def digest(self) -> str:
        """Return the SHA-256 over page and chunk digests, spans, chunker and extractor: the same on every machine."""
        return canon.digest(
            {
                "chunker": self.chunker,
                "chunks": [[c.id, c.page, c.start, c.end, c.sha256] for c in self.chunks],
                "extractor": self.extractor,
                "pages": [[p.id, p.sha256] for p in self.pages],
            }
        )


# --- questions ------------------------------------------------------------------------------------------------


class Claim(Record, frozen=True):
    """One atomic statement of the reference; `must` is a list of alternative lists, `must_not` a flat list."""

    id: int
    text: str
    central: bool
    must: tuple[tuple[str, ...], ...] = ()
    must_not: tuple[str, ...] = msgspec.field(default=(), name="must_not")


class Provenance(Record, frozen=True):
    """Who wrote a question, with what, when, and who reviewed it."""

    author: str | None = None
    tool: str | None = None
    created: str | None = None
    reviewed_by: str | None = None
    derived_from_system: bool | None = None


class Question(Record, frozen=True):
    """One question; `evidence` lists verbatim alternatives, each sufficient, the first used by the oracle."""

    id: str
    input: str
    target: str
    claims: tuple[Claim, ...]
    page: str | None = None
    topic: str | None = None
    evidence: tuple[str, ...] = ()
    provenance: Provenance | None = None
    unsplit: bool = False
    """True when the one claim is the target itself, unreviewed."""


class Benchmark(Record, frozen=True):
    """A question set as it is hashed: `digest()` over the full form, `item_set_digest()` over the published one."""

    name: str
    questions: tuple[Question, ...] = msgspec.field(name="samples")
    version: str = "0"
    scorer_key: str = "llm-factual-consistency-vs-reference"
    corpus: JSON = msgspec.field(default_factory=dict)

    def item_set(self) -> JSON:
        """Return the published form: ids, inputs, targets and the scorer key."""
        samples = [{"id": q.id, "input": q.input, "target": q.target} for q in self.questions]
        return {"samples": samples, "scorerKey": self.scorer_key}

    def item_set_digest(self) -> str:
        """Return the SHA-256 of the canonical bytes of the published form."""
        return canon.digest(self.item_set())

    def full_form(self) -> bytes:
        """Return the canonical bytes that are stored as `benchmark.json` in each run."""
        return canon.canonical(to_json(self))

    def digest(self) -> str:
        """Return the SHA-256 of `full_form()`."""
        return canon.sha256(self.full_form())


# --- retrieval ------------------------------------------------------------------------------------------------


class Hit(Record, frozen=True):
    """What a retriever returns: a chunk id and a score, best first; `text` only from a stack that owns its corpus."""

    chunk: str
    score: float
    text: str | None = None


class Delivered(Record, frozen=True):
    """One chunk as it reached the answering model; `rank` counts from 1, `score` is a decimal string."""

    rank: int
    chunk: str
    sha256: str
    text: str
    score: str
    page: str | None = None
    start: int | None = None
    end: int | None = None


RetrievalState: TypeAlias = Literal["ok", "empty", "off", "failed"]
"""`off` is the control (retrieval switched off), `empty` a search that worked and found nothing."""


class Retrieval(Record, frozen=True):
    """What a stack delivered for one question, checked: known ids, credited once, at or above the threshold."""

    state: RetrievalState
    delivered: tuple[Delivered, ...]
    latency_ms: int
    duplicates: int = 0
    below_threshold: int = 0


# --- models ---------------------------------------------------------------------------------------------------


class Message(Record, frozen=True):
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


class Usage(Record, frozen=True):
    """Tokens as the server counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None


class Reply(Record, frozen=True):
    """A model's reply before anyone judged whether it is an answer."""

    text: str | None
    finish_reason: str | None = None
    usage: Usage = Usage()
    latency_ms: int = 0
    request_id: str | None = None
    model: str | None = None


class Answer(Record, frozen=True):
    """The model's text for one question, with what the calls for it took (sums over all attempts)."""

    text: str
    finish_reason: str | None
    usage: Usage
    latency_ms: int
    attempts: int
    request_id: str | None = None
    model: str | None = None
    cost_microusd: int | None = None


# --- judging --------------------------------------------------------------------------------------------------


Profile: TypeAlias = Literal["factual-consistency/1", "factual-consistency/2"]
VerdictWord: TypeAlias = Literal["SUPPORTS", "HEDGES", "CONTRADICTS", "OMITS"]
AnswerKind: TypeAlias = Literal["answer", "abstention", "refusal", "error_text", "empty"]


class JudgeItem(Record, frozen=True):
    """What a judge may see: no row name, no latency, no other answer; `contexts` is filled in profile 1 only."""

    question: str
    reference: str
    evidence: tuple[str, ...]
    claims: tuple[Claim, ...]
    answer: str
    contexts: tuple[str, ...] = ()


class RawVerdict(Record, frozen=True):
    """One reply of a judge as it came, with the nonce of its prompt; kept before anyone parses it."""

    nonce: str
    text: str | None
    usage: Usage = Usage()
    latency_ms: int = 0
    attempts: int = 1
    """Model calls behind this reply, transport retries included; 0 for a judge without a model."""
    request_id: str | None = None
    model: str | None = None
    cost_microusd: int | None = None


class ClaimVerdict(Record, frozen=True):
    """The judge's class for one claim of the reference; in profile 1 `text` is the judge's own claim."""

    id: int
    text: str
    central: bool
    verdict: VerdictWord
    quote: str
    reason: str


class Verdict(Record, frozen=True):
    """A valid reply of a judge; `folds` names what was folded in reading it. It carries no number."""

    claims: tuple[ClaimVerdict, ...]
    central_contradicted: bool
    reference_insufficient: bool = False
    answer_kind: AnswerKind | None = None
    extra_wrong: bool = False
    injection_seen: bool = False
    folds: tuple[str, ...] = ()


# --- one question of one pass -----------------------------------------------------------------------------------


Status: TypeAlias = Literal[
    "ok",
    "abstained",
    "refused",
    "retrieval_empty",
    "retrieval_failed",
    "answer_failed",
    "judge_failed",
    "harness_failed",
]
SCORED: frozenset[str] = frozenset({"ok", "abstained", "refused", "retrieval_empty"})
MISSING: frozenset[str] = frozenset({"retrieval_failed", "answer_failed", "judge_failed", "harness_failed"})


class Failure(Record, frozen=True):
    """Why an item has no score: the kind in one word, the message for a person, secrets removed."""

    kind: str
    message: str


class Outcome(Record, frozen=True):
    """One question of one pass, ended: `score` in integer hundredths, or None with a failure. Absent is not zero."""

    question: str
    status: Status
    score: int | None
    retrieval: Retrieval | None = None
    answer: Answer | None = None
    raw_verdicts: tuple[RawVerdict, ...] = ()
    verdict: Verdict | None = None
    failure: Failure | None = None
    spent: Answer | None = None
    """What the calls took that led to no answer (text empty); None where there is an answer or no call was made."""
    answered_at: int | None = None
    """Unix seconds at which the answer (or its failure) was there."""


# --- the files of a run -----------------------------------------------------------------------------------------


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
