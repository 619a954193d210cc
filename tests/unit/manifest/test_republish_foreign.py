"""Foreign item sets: three forms are read, everything else is said to be unreadable."""

from __future__ import annotations

import json

import pytest

from ragassay import canon
from ragassay.manifest.foreign import MAX_READ_BYTES, UNNAMED_SCORER, Unreadable, foreign_benchmark, read_foreign
from ragassay.testing.republished_run import published_bytes

CSV = b'id,input,target,level\r\na1,"Which port, and why?",8001,easy\r\n"a2","Line one\nline two",,\r\n'
JSONL = (
    b'{"id": "a1", "input": "Which port?", "target": "8001", "weight": 0.5, "n": 123456789012345678901}\n'
    b'\n{"input":"B","id":"a2"}'
)


def test_the_published_form() -> None:
    """Ids, inputs, targets and the scorer key are those of the file; canonical bytes have one digest in both ways."""
    read = read_foreign(published_bytes())
    assert (read.form, read.published, len(read.items)) == ("json", True, 5)
    benchmark = foreign_benchmark(published_bytes(), name="ports", version="1.0")
    assert benchmark.item_set_digest() == canon.sha256(published_bytes())
    assert benchmark.scorer_key == "llm-factual-consistency-vs-reference"
    assert all(question.claims == () and question.evidence == () for question in benchmark.questions)


def test_csv() -> None:
    """Quoted commas and line breaks belong to the cell; other columns are left alone."""
    read = read_foreign(CSV)
    assert (read.form, read.published) == ("csv", False)
    assert [(i.id, i.input, i.target) for i in read.items] == [
        ("a1", "Which port, and why?", "8001"), ("a2", "Line one\nline two", ""),
    ]  # fmt: skip


def test_jsonl() -> None:
    """Fractions and wide integers beside the texts do no harm; blank lines are passed over."""
    read = read_foreign(JSONL)
    assert read.form == "jsonl"
    assert [(i.id, i.target) for i in read.items] == [("a1", "8001"), ("a2", None)]
    assert foreign_benchmark(JSONL, name="x", version="0").scorer_key == UNNAMED_SCORER


def test_one_line_of_jsonl_is_no_document_with_samples() -> None:
    """A single object without `samples` is a set of one item."""
    assert len(read_foreign(b'{"id":"a","input":"b"}').items) == 1


@pytest.mark.parametrize("data", [CSV, JSONL, published_bytes()])
def test_a_byte_order_mark_is_passed_over(data: bytes) -> None:
    """The bytes are hashed with it and read without it."""
    assert read_foreign(b"\xef\xbb\xbf" + data).items == read_foreign(data).items


@pytest.mark.parametrize(
    "value",
    [
        {"samples": [{"id": "a", "input": "b", "target": "c", "page": "d"}], "scorerKey": "s"},
        {"samples": [{"id": "a", "input": "b"}], "scorerKey": "s"},
        {"samples": [{"id": "a", "input": "b", "target": "c"}]},
        {"samples": [{"id": "a", "input": "b", "target": "c"}], "scorerKey": 1},
        {"samples": [{"id": "a", "input": "b", "target": "c"}], "scorerKey": "s", "name": "n"},
    ],
)
def test_what_is_not_the_published_form(value: object) -> None:
    """A set with other members is read, and is not taken for the published form."""
    read = read_foreign(json.dumps(value).encode())
    assert (len(read.items), read.published) == (1, False)


UNREADABLE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "it holds no item"),
    "header only": (b"id,input\n", "it holds no item"),
    "no samples": (b'{"samples":[],"scorerKey":"s"}', "it holds no item"),
    "samples of another kind": (b'{"samples":{"a":1}}', "`samples` is no list"),
    "a sample that is no object": (b'{"samples":[1]}', "samples[0] is no object"),
    "a JSON list": (b'[{"id":"a","input":"b"}]', "a JSON list is none"),
    "a number as id": (b'{"id":17,"input":"b"}', "line 1: `id` is no text"),
    "null as id": (b'{"id":null,"input":"b"}', "line 1: `id` is no text"),
    "no input": (b'{"id":"a"}', "line 1: `input` is no text"),
    "an empty id": (b'{"id":"","input":"b"}', "line 1: `id` is empty"),
    "an id twice": (b'{"id":"a","input":"b"}\n{"id":"a","input":"c"}', "stands already at line 1"),
    "a key twice": (b'{"id":"a","id":"b","input":"c"}', "a key stands twice"),
    "a torn line": (b'{"id":"a","input":"b"}\n{"id":', "line 2 is no JSON"),
    "a number as target": (b'{"id":"a","input":"b","target":1.5}', "`target` is no text"),
    "NaN": (b'{"id":"a","input":"b","w":NaN}', "NaN is no JSON"),
    "half a surrogate pair": (b'{"id":"a","input":"\\udc00"}', "surrogate"),
    "deep": (b'{"a":' * 50_000, "nested deeper than 500"),
    "deep list in a line": (b'{"id":"a","input":"b"}\n{"x":' + b"[" * 50_000, "nested deeper than 500"),
    "501 levels": (b'{"id":"a","input":"b","x":' + b"[" * 500 + b"]" * 500 + b"}", "nested deeper than 500"),
    "latin-1": (b"id,input\na,gr\xfc\xdfe\n", "is not UTF-8"),
    "utf-16": ("id,input\na,b\n".encode("utf-16"), "is not UTF-8"),
    "semicolons": (b"id;input\na;b\n", "neither JSON nor CSV with a column `id`"),
    "no column input": (b"id,question\na,b\n", "column `input`"),
    "a column twice": (b"id,input,input\na,b,c\n", "stands twice"),
    "a row too short": (b"id,input\na\n", "line 2 has 1 cells"),
    "an open quote": (b'id,input\na,"b\n', "is no CSV"),
    "a cell of 200,000 characters": (b"id,input\na," + b"x" * 200_000, "is no CSV"),
    "a ZIP archive": (b"PK\x03\x04" + bytes(50), "neither JSON nor CSV"),
    "too large": (b" " * (MAX_READ_BYTES + 1), "at most"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_not_read_says_why(name: str) -> None:
    """Every other file is unreadable with one reason, and never another error."""
    data, said = UNREADABLE[name]
    with pytest.raises(Unreadable) as caught:
        read_foreign(data)
    assert said in str(caught.value)


def test_500_levels_are_read() -> None:
    """Nesting up to the limit does no harm, and brackets inside texts do not count."""
    nested = b'{"id":"a","input":"b","x":' + b"[" * 499 + b"]" * 499 + b"}"
    assert len(read_foreign(nested).items) == 1
    assert len(read_foreign(b'{"id":"a","input":"' + b"[{" * 5000 + b'\\""}').items) == 1


def test_escaped_quotes_without_end_take_no_time() -> None:
    """A megabyte of escaped quotes in a string that never ends is refused in one look."""
    with pytest.raises(Unreadable):
        read_foreign(b'{"id":"' + b'\\"' * 500_000)
