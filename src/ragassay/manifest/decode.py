"""Bytes become the values of a run, strictly; whatever the bytes are, the only errors are `VerifyError`s. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

import msgspec

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest import dsse
from ragassay.manifest.encoding import ContentDigest, decode_line, split_lines
from ragassay.manifest.files import (
    BENCHMARK,
    CONFIG,
    FOREIGN,
    MANIFEST,
    MAX_BYTES,
    MAX_COMMAS,
    MAX_ROW_BYTES,
    MAX_ROWS,
    OUTPUTS,
    PUBLIC_OUTPUTS,
    PUBLIC_TELEMETRY,
    TELEMETRY,
    is_redacted,
)
from ragassay.manifest.foreign import Unreadable, foreign_benchmark
from ragassay.manifest.sense import benchmark_problem, measure_problem
from ragassay.manifest.signed import Form, read_statement
from ragassay.manifest.skeleton import VerdictsDigest, figure_leaves, line_leaf
from ragassay.manifest.statement import (
    RUN_KIND,
    RUN_VERSIONS,
    BenchmarkRef,
    RunDocument,
    Statement,
)
from ragassay.records import Benchmark, Config, OutputRow, Question, Record, TelemetryRow
from ragassay.records.encode import encode_free

R = TypeVar("R", bound=Record)

MAX_SLOW_BYTES = 8 << 20
"""The most bytes that are read by the slow reader, which takes about a second per megabyte."""

_RUN_ID = re.compile(r"[0-9a-f]{32}")


def _fail(code: str, message: str) -> NoReturn:
    raise VerifyError(message, code=code)


def decode_statement(payload_type: str, payload: bytes) -> Statement:
    """Read the statement of a run; raises TYPE_UNKNOWN, VERSION_UNKNOWN, ENVELOPE_MALFORMED, ENVELOPE_NOT_CANONICAL."""
    return read_statement(payload_type, payload, RUN_FORM)


def _form_problem(statement: Statement) -> str | None:
    version = statement.predicate_type.removeprefix(RUN_KIND)
    names = [subject.name for subject in statement.subject]
    if names != [OUTPUTS]:
        return f"the only subject must be {OUTPUTS}, not {names[:8]!r}"
    predicate = statement.predicate
    if predicate.metric.item_den != 100 or not predicate.metric.higher_is_better:
        return "item scores are hundredths, and higher is better"
    if not _RUN_ID.fullmatch(predicate.run_id):
        return "the run's id must be 32 lower-case hex digits"
    if not 1 <= predicate.pass_.k <= predicate.pass_.of:
        return f"there is no pass {predicate.pass_.k} of {predicate.pass_.of}"
    for name in ("verdicts", "lines"):
        if (getattr(predicate, name) is None) != (version == RUN_VERSIONS[0]):
            return f"`{name}` stands in every version but {RUN_VERSIONS[0]}; this is {version}"
    if (predicate.figures is None) != (version == RUN_VERSIONS[0] or predicate.telemetry is None):
        return f"`figures` stands where `telemetry` does, but in {RUN_VERSIONS[0]}"
    if predicate.provenance.source_kind == "republished":
        if predicate.provenance.model_invoked:
            return "a republished run invokes no model: its `modelInvoked` is false"
        return None
    for name in ("config", "telemetry", "corpus", "stack", "model"):
        if getattr(predicate, name) is None:
            return f"`{name}` may be null in a republished run only"
    if predicate.judge.digest is None:
        return "`judge.digest` may be null in a republished run only"
    return None


RUN_FORM = Form(kind=RUN_KIND, versions=RUN_VERSIONS, what="a run", shape=Statement, problem=_form_problem)


class Outputs(msgspec.Struct, frozen=True):
    """The rows of `outputs.jsonl`, the digests of their content and of their verdicts, and the leaf of each line."""

    rows: tuple[OutputRow, ...]
    content: str
    verdicts: str
    leaves: tuple[bytes, ...]


class ReadConfig(msgspec.Struct, frozen=True):
    """A configuration and the row key that follows from the members as they stand in the file."""

    config: Config
    row_key: str


class Took(msgspec.Struct, frozen=True):
    """The rows of `telemetry.jsonl`, and the two leaves of each, one after the other."""

    rows: tuple[TelemetryRow, ...]
    leaves: tuple[bytes, ...]


def decode_outputs(data: bytes, name: str = OUTPUTS) -> Outputs:
    """Read `outputs.jsonl` or its public form `name`; raises ROW_MALFORMED naming the first bad line."""
    content, verdicts, leaves = ContentDigest(), VerdictsDigest(), list[bytes]()

    def seen(members: dict[str, Any], line: bytes) -> None:
        content.add(members)
        verdicts.add(members)
        leaves.append(line_leaf(line))

    rows = read_rows(data, name, OutputRow, seen)
    return Outputs(rows, content.hexdigest(), verdicts.hexdigest(), tuple(leaves))


def decode_telemetry(data: bytes, name: str = TELEMETRY) -> Took:
    """Read `telemetry.jsonl` or its public form `name`; raises ROW_MALFORMED naming the first bad line."""
    leaves: list[bytes] = []
    rows = read_rows(data, name, TelemetryRow, lambda members, line: leaves.extend(figure_leaves(members, line)))
    return Took(rows, tuple(leaves))


def read_rows(
    data: bytes, name: str, kind: type[R], seen: Callable[[dict[str, Any], bytes], None] = lambda _, __: None
) -> tuple[R, ...]:
    """Read the lines of a file as records, each shown to `seen` as members and bytes; raises ROW_MALFORMED."""
    check_size(name, data)
    rows: list[R] = []
    try:
        for line in split_lines(data, max_rows=MAX_ROWS, max_bytes=MAX_ROW_BYTES):
            row, members = decode_line(line, kind)
            rows.append(row)
            seen(members, line)
    except canon.NotCanonical as error:
        raise VerifyError(f"{name}, line {len(rows) + 1}: {error}", code="ROW_MALFORMED") from error
    return tuple(rows)


def decode_config(data: bytes) -> ReadConfig:
    """Read `config.json`; raises CONFIG_DIGEST where its bytes are not the canonical form of a configuration."""
    check_size(CONFIG, data)
    try:
        value = canon.load_canonical(data, max_bytes=MAX_BYTES[CONFIG])
        config = msgspec.convert(value, Config)
    except (canon.NotCanonical, msgspec.ValidationError) as error:
        raise VerifyError(f"{CONFIG} is no canonical configuration: {error}", code="CONFIG_DIGEST") from error
    if (problem := measure_problem(config.measure)) is not None:
        _fail("CONFIG_DIGEST", f"{CONFIG} is no configuration: {problem}")
    return ReadConfig(config, canon.digest({"name": config.row, "measure": canon.digest(value["measure"])}))


def decode_benchmark(data: bytes) -> Benchmark:
    """Read `benchmark.json`; raises BENCHMARK_DIGEST where its bytes are not the canonical form of a question set."""
    check_size(BENCHMARK, data)
    try:
        benchmark = _decode_benchmark(data)
    except canon.NotCanonical as error:
        raise VerifyError(f"{BENCHMARK} is no canonical question set: {error}", code="BENCHMARK_DIGEST") from error
    if (problem := benchmark_problem(benchmark)) is not None:
        _fail("BENCHMARK_DIGEST", f"{BENCHMARK} is no question set: {problem}")
    return benchmark


def _decode_benchmark(data: bytes) -> Benchmark:
    """Take the quick way where the free-form part allows it, else the slow one: the same bytes are accepted."""
    try:
        benchmark, _ = decode_line(data, Benchmark)
        canon.load_canonical(encode_free(benchmark.corpus), max_bytes=MAX_BYTES[CONFIG])
    except canon.NotCanonical:
        value = canon.load_canonical(data, max_bytes=MAX_SLOW_BYTES)
    else:
        return benchmark
    try:
        return msgspec.convert(value, Benchmark)
    except msgspec.ValidationError as error:
        raise canon.NotCanonical(str(error)) from error


def question_file(ref: BenchmarkRef) -> str:
    """Return the name of the file that holds a run's questions.

    A manifest gives a foreign set one digest twice, that of its bytes; our form has another for its published form.
    """
    return FOREIGN if ref.item_set == ref.digest else BENCHMARK


def decode_foreign(data: bytes, ref: BenchmarkRef) -> Benchmark:
    """Read `benchmark.foreign`; raises `Unreadable` where its items stay unknown, and BUNDLE_TOO_LARGE."""
    check_size(FOREIGN, data)
    return foreign_benchmark(data, name=ref.id, version=ref.version)


def check_size(name: str, data: bytes) -> None:
    """Raise BUNDLE_TOO_LARGE where a file has more bytes than its kind may, or more values than any may."""
    if len(data) > MAX_BYTES[name]:
        _fail("BUNDLE_TOO_LARGE", f"{name} has {len(data)} bytes; {MAX_BYTES[name]} are allowed")
    if data.count(b",") > MAX_COMMAS:
        _fail("BUNDLE_TOO_LARGE", f"{name} has more than the {MAX_COMMAS} commas allowed, so too many values")


def decode_run(files: Mapping[str, bytes]) -> RunDocument:
    """Read all files of a run without checking any signature or digest; raises `VerifyError` on bad form.

    A reader that trusts nothing calls `verify` first; this only gives the values their types. Where texts are withheld
    the rows are those of `outputs.public.jsonl`, and those of `telemetry.public.jsonl` where that is there.
    """
    envelope = dsse.decode_envelope(_file(files, MANIFEST))
    predicate = decode_statement(envelope.payload_type, dsse.decode_base64(envelope.payload)).predicate
    rows = PUBLIC_OUTPUTS if is_redacted(files) else OUTPUTS
    took = PUBLIC_TELEMETRY if is_redacted(files) and PUBLIC_TELEMETRY in files else TELEMETRY
    outputs = read_rows(_file(files, rows), rows, OutputRow)
    return RunDocument(
        predicate=predicate,
        config=decode_config(_file(files, CONFIG)).config if predicate.config else None,
        benchmark=_questions(files, predicate.benchmark, outputs),
        outputs=outputs,
        telemetry=read_rows(_file(files, took), took, TelemetryRow) if predicate.telemetry else (),
    )


def _questions(files: Mapping[str, bytes], ref: BenchmarkRef, rows: tuple[OutputRow, ...]) -> Benchmark:
    """Return the question set, or the questions as the rows have them where a foreign set cannot be read."""
    name = question_file(ref)
    data = _file(files, name)
    if name == BENCHMARK:
        return decode_benchmark(data)
    try:
        return decode_foreign(data, ref)
    except Unreadable:
        asked = tuple(Question(id=row.id, input=row.question, target="", claims=()) for row in rows)
        return Benchmark(name=ref.id, version=ref.version, questions=asked)


def _file(files: Mapping[str, bytes], name: str) -> bytes:
    if name not in files:
        _fail("FILE_MISSING", f"{name} is missing")
    return files[name]
