"""One row for each item of each run: the columns that CSV and Parquet share. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from ragassay.export.item import ExportedItem, RunFacts
from ragassay.records import OutputVerdict, TelemetryRow
from ragassay.score import EvidenceRanks

Kind: TypeAlias = Literal["text", "integer", "number", "flag", "texts", "numbers", "claims"]
Cell: TypeAlias = Any
"""What the kind says, or None: not known, or not there. A list may hold None too."""


class Row(NamedTuple):
    """An item with the facts of its run, and where its evidence was delivered."""

    facts: RunFacts
    item: ExportedItem
    found: EvidenceRanks


Of: TypeAlias = Callable[[Row], Cell]


class Column(NamedTuple):
    """A column: its name, what stands in it, what it means, and how it is read off an item."""

    name: str
    kind: Kind
    meaning: str
    of: Of


def _run(name: str) -> Of:
    return lambda row: getattr(row.facts, name)


def _item(name: str) -> Of:
    return lambda row: getattr(row.item, name)


def _question(name: str) -> Of:
    return lambda row: getattr(row.item.question, name)


def _words(word: str) -> Of:
    return lambda row: (row.item.verdict_counts or {}).get(word)


def _verdict(of: Callable[[OutputVerdict], Cell]) -> Of:
    return lambda row: None if row.item.verdict is None else of(row.item.verdict)


def _took(of: Callable[[TelemetryRow], Cell]) -> Of:
    return lambda row: None if row.item.took is None else of(row.item.took)


def _claims(row: Row) -> Cell:
    return [
        {"id": claim.id, "text": claim.text, "central": claim.central, "verdict": claim.verdict, "quote": claim.quote}
        for claim in row.item.claims
    ]


def _failure(name: str) -> Of:
    return lambda row: None if row.item.failure is None else getattr(row.item.failure, name)


def _filled(row: Row) -> Cell:
    return None if row.item.fill is None else row.item.fill.run


def _central(verdict: OutputVerdict) -> Cell:
    return verdict.central_contradicted


def _search_cost(took: TelemetryRow) -> Cell:
    return took.retrieval_cost_microusd


COLUMNS: tuple[Column, ...] = (
    Column("run", "text", "the run's id", _run("run")),
    Column("row", "text", "the row's name", _run("row")),
    Column(
        "row_key",
        "text",
        "the digest of name and configuration: what tells two rows of one name apart",
        _run("row_key"),
    ),
    Column("pass", "integer", "the pass, from 1", _run("pass_k")),
    Column("passes", "integer", "how many passes were planned", _run("passes")),
    Column("source", "text", "`measured` or `republished`", _run("kind")),
    Column("upstream", "text", "whence republished scores come", _run("upstream")),
    Column("voided", "text", "why the log takes the run back; empty for a run that counts", _run("voided")),
    Column("redacted", "flag", "whether texts of the run are withheld", _run("redacted")),
    Column("subset", "flag", "whether only some questions of the set were asked", _run("subset")),
    Column("benchmark", "text", "the question set's id", _run("benchmark")),
    Column("benchmark_version", "text", "its version", _run("benchmark_version")),
    Column("benchmark_sha256", "text", "its digest", _run("benchmark_digest")),
    Column("corpus_sha256", "text", "the corpus digest; empty for a stack that owns its corpus", _run("corpus")),
    Column("stack", "text", "the kind of the stack", _run("stack")),
    Column("top_k", "integer", "the most chunks that were delivered", _run("top_k")),
    Column("model", "text", "the answering model", _run("model")),
    Column("judge", "text", "the judge", _run("judge")),
    Column("metric", "text", "the metric", _run("metric")),
    Column("at", "integer", "the question's place in the set, from 0", _item("at")),
    Column("question_id", "text", "the question's id", _question("id")),
    Column("topic", "text", "its topic", _question("topic")),
    Column("page", "text", "the page that it comes from", _question("page")),
    Column("question", "text", "the question", _question("input")),
    Column("reference", "text", "the reference answer", _question("target")),
    Column("status", "text", "how the item ended", _item("status")),
    Column("retrieval", "text", "`ok`, `empty`, `off` or `failed`", _item("retrieval")),
    Column("score", "number", "the score from 0 to 1; empty where there is none, which is not 0", _item("score")),
    Column("answer", "text", "the answer; empty where there is none or where it is withheld", _item("answer")),
    Column("supports", "integer", "claims that the answer supports", _words("SUPPORTS")),
    Column("hedges", "integer", "claims that it hedges", _words("HEDGES")),
    Column("contradicts", "integer", "claims that it contradicts", _words("CONTRADICTS")),
    Column("omits", "integer", "claims that it omits", _words("OMITS")),
    Column("answer_kind", "text", "what the judge took the answer for", _verdict(lambda v: v.answer_kind)),
    Column("central_contradicted", "flag", "a central claim is contradicted", _verdict(_central)),
    Column("extra_wrong", "flag", "the judge saw a wrong statement besides", _verdict(lambda v: v.extra_wrong)),
    Column("claims", "claims", "each claim: id, text, central, verdict, quote", _claims),
    Column("evidence", "text", "`exact`, `folded`, `missing`, or `none`: unknown", lambda row: row.found.state),
    Column("evidence_rank", "integer", "the first rank that holds it", lambda row: row.found.first),
    Column("chunk_ids", "texts", "the delivered chunks, best first", lambda row: [c.id for c in row.item.chunks]),
    Column("chunk_pages", "texts", "their pages", lambda row: [c.page for c in row.item.chunks]),
    Column(
        "chunk_scores",
        "numbers",
        "their scores by the stack",
        lambda row: [None if c.score is None else float(c.score) for c in row.item.chunks],
    ),
    Column("contexts", "texts", "their texts; null where withheld", lambda row: [c.text for c in row.item.chunks]),
    Column("withheld", "texts", "the texts of the item that are withheld or cut", lambda row: list(row.item.withheld)),
    Column(
        "failure_kind",
        "text",
        "why there is no score, in one word",
        lambda row: row.item.failure and row.item.failure.kind,
    ),
    Column("failure_message", "text", "and for a person", _failure("message")),
    Column(
        "filled_from",
        "text",
        "the run that a filled item was taken from",
        lambda row: row.item.fill and row.item.fill.run,
    ),
    Column("answered_at", "integer", "when the answer was there, Unix seconds", _took(lambda t: t.answered_at)),
    Column("retrieval_ms", "integer", "time of the search", _took(lambda t: t.retrieval_ms)),
    Column("answer_ms", "integer", "time of the answer", _took(lambda t: t.answer_ms)),
    Column("judge_ms", "integer", "time of the judge", _took(lambda t: t.judge_ms)),
    Column("answer_attempts", "integer", "calls for the answer", _took(lambda t: t.answer_attempts)),
    Column("input_tokens", "integer", "of the answer", _took(lambda t: t.answer_usage.input_tokens)),
    Column("output_tokens", "integer", "of the answer", _took(lambda t: t.answer_usage.output_tokens)),
    Column("judge_input_tokens", "integer", "of the judge", _took(lambda t: t.judge_usage.input_tokens)),
    Column("judge_output_tokens", "integer", "of the judge", _took(lambda t: t.judge_usage.output_tokens)),
    Column("retrieval_cost_microusd", "integer", "of calls inside the search", _took(_search_cost)),
    Column("answer_cost_microusd", "integer", "of the answer", _took(lambda t: t.answer_cost_microusd)),
    Column("judge_cost_microusd", "integer", "of the judge", _took(lambda t: t.judge_cost_microusd)),
)


def cells(facts: RunFacts, item: ExportedItem) -> Iterator[Cell]:
    """Yield the cells of one item in the order of `COLUMNS`."""
    row = Row(facts, item, item.evidence())
    return (column.of(row) for column in COLUMNS)
