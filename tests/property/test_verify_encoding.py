"""The quick encoder writes RFC 8785, and the reader of lines takes nothing else."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from ragassay import canon
from ragassay.manifest.encoding import decode_line, item_set_digest
from ragassay.records import (
    Benchmark,
    Claim,
    ClaimVerdict,
    Failure,
    JudgeReply,
    OutputChunk,
    OutputRow,
    OutputVerdict,
    Question,
    Source,
    TelemetryRow,
    Usage,
    to_json,
)
from ragassay.records.encode import encode_record

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)
WIDE = st.integers(-canon.MAX_INTEGER, canon.MAX_INTEGER)
MAYBE = st.none() | WIDE
MAYBE_TEXT = st.none() | TEXT
CHUNKS = st.builds(
    OutputChunk, rank=WIDE, id=TEXT, sha256=TEXT, text=MAYBE_TEXT, page=MAYBE_TEXT, start=MAYBE, end=MAYBE
)
CLAIMS = st.builds(
    ClaimVerdict,
    id=WIDE,
    text=TEXT,
    central=st.booleans(),
    verdict=st.sampled_from(["SUPPORTS", "HEDGES", "CONTRADICTS", "OMITS"]),
    quote=TEXT,
    reason=TEXT,
)
ROWS = st.builds(
    OutputRow,
    run=TEXT,
    pass_=WIDE,
    id=TEXT,
    question=TEXT,
    chunks=st.lists(CHUNKS, max_size=2).map(tuple),
    answer=MAYBE_TEXT,
    claims=st.lists(CLAIMS, max_size=2).map(tuple),
    verdict=st.none() | st.builds(OutputVerdict),
    judge=MAYBE_TEXT,
    score=MAYBE,
    failure=st.none() | st.builds(Failure, kind=TEXT, message=TEXT),
    fill=st.none() | st.builds(Source, run=TEXT, pass_=WIDE),
)
REPLIES = st.builds(JudgeReply, nonce=TEXT, text=MAYBE_TEXT, problem=MAYBE_TEXT)
TELEMETRY = st.builds(
    TelemetryRow,
    id=TEXT,
    answered_at=MAYBE,
    retrieval_scores=st.lists(TEXT, max_size=2).map(tuple),
    answer_usage=st.builds(Usage, input_tokens=MAYBE, output_tokens=MAYBE),
    judge_replies=st.lists(REPLIES, max_size=2).map(tuple),
    folds=st.lists(TEXT, max_size=2).map(tuple),
)
FREE: st.SearchStrategy[Any] = st.recursive(
    MAYBE | TEXT | st.booleans(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
)
BENCHMARKS = st.builds(
    Benchmark,
    name=TEXT,
    version=TEXT,
    scorer_key=TEXT,
    corpus=st.dictionaries(TEXT, FREE, max_size=3),
    questions=st.lists(
        st.builds(
            Question,
            id=TEXT,
            input=TEXT,
            target=TEXT,
            claims=st.lists(st.builds(Claim, id=WIDE, text=TEXT, central=st.booleans()), max_size=2).map(tuple),
        ),
        max_size=2,
    ).map(tuple),
)


@given(st.one_of(ROWS, TELEMETRY))
def test_a_row_is_written_as_rfc_8785_writes_it(row: OutputRow | TelemetryRow) -> None:
    """The quick encoding equals that of the reference encoder, byte for byte."""
    assert encode_record(row) == rfc8785.dumps(to_json(row))


@given(ROWS)
def test_a_line_reads_back(row: OutputRow) -> None:
    """What was written is read as the same row."""
    assert decode_line(encode_record(row), OutputRow)[0] == row


@given(ROWS, st.data())
def test_no_other_bytes_are_read_as_a_row(row: OutputRow, data: st.DataObject) -> None:
    """A line with any byte replaced is refused, or is the one form of another row."""
    line = bytearray(encode_record(row))
    at = data.draw(st.integers(0, len(line) - 1))
    line[at] = data.draw(st.integers(0, 255).filter(lambda value: value != line[at]))
    try:
        other, members = decode_line(bytes(line), OutputRow)
    except canon.NotCanonical:
        return
    assert other != row
    assert rfc8785.dumps(members) == bytes(line)


@given(BENCHMARKS)
def test_a_question_set_is_written_as_its_full_form(benchmark: Benchmark) -> None:
    """The quick way equals the slow one, also where free-form keys sort differently by UTF-16."""
    assert benchmark.full_form() == rfc8785.dumps(to_json(benchmark))
    assert item_set_digest(benchmark) == benchmark.item_set_digest()


def test_keys_beyond_the_basic_plane_take_the_slow_way() -> None:
    """RFC 8785 sorts by UTF-16 code units: U+1F600 stands before U+FB33, which no code-point sort does."""
    benchmark = Benchmark(name="n", questions=(), corpus={"\ufb33": 1, "\U0001f600": 2})
    assert benchmark.full_form() == rfc8785.dumps(to_json(benchmark))
    assert msgspec.json.encode(benchmark, order="sorted") != benchmark.full_form()


@pytest.mark.parametrize("value", [2**53, -(2**53), 2**64, 10**30])
def test_wide_integers_are_neither_written_nor_read(value: int) -> None:
    """An integer that RFC 8785 cannot carry is refused on both ways."""
    row = TelemetryRow(id="q", answer_ms=value)
    with pytest.raises(canon.NotCanonical):
        encode_record(row)
    with pytest.raises(canon.NotCanonical):
        decode_line(msgspec.json.encode(row, order="sorted"), TelemetryRow)


def test_a_long_number_inside_a_text_is_no_integer() -> None:
    """The scan for wide integers does not refuse a text that looks like one."""
    row = TelemetryRow(id='x:99999999999999999999,[99999999999999999999"')
    assert decode_line(encode_record(row), TelemetryRow)[0] == row
