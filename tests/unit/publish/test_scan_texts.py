"""Every string that would become public is yielded, wherever it stands: the law on which the scan rests."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.manifest.dsse import decode_envelope
from ragassay.publish.texts import NAME_OF, PublicText, public_texts
from ragassay.site.loaded import LoadedJudgement, LoadedRun
from ragassay.testing.signed_run import signed_run

MARK = "mark-3f2a"
JUDGEMENT_FILES = {
    "verdicts.jsonl": b'{"claims":[{"id":1,"quote":"x","reason":"y"}],"failure":{"message":"m"},"id":"q-001"}\n',
    "replies.jsonl": b'{"id":"q-001","judgeReplies":[{"nonce":"n","problem":null,"text":"reply"}]}\n',
    "judge.json": b'{"describe":{"model":"m"},"id":"j"}',
}


def _run(files: dict[str, bytes], judgement: dict[str, bytes] | None = None) -> LoadedRun:
    extra = LoadedJudgement(id="j-1", files=judgement or {}, checks=(), document=cast(Any, object()))
    return LoadedRun(id="r1", files=files, checks=(), judgements=(extra,))


def _texts(run: LoadedRun) -> list[PublicText]:
    return list(public_texts(run))


def _marked(value: Any) -> Iterator[Any]:
    """Yield copies of JSON with each string in turn replaced."""
    if isinstance(value, str):
        yield MARK
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from ({**value, key: other} for other in _marked(one))
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from ([*value[:at], other, *value[at + 1 :]] for other in _marked(one))


def _variants(name: str, data: bytes) -> Iterator[bytes]:
    """Yield copies of a file with each of its strings in turn replaced, those in a signed payload included."""
    if name.endswith(".jsonl"):
        lines = data.splitlines()
        for at, line in enumerate(lines):
            for other in _marked(json.loads(line)):
                yield b"\n".join([*lines[:at], json.dumps(other).encode(), *lines[at + 1 :]]) + b"\n"
        return
    value = json.loads(data)
    if "payload" in value:
        payload = json.loads(base64.b64decode(decode_envelope(data).payload))
        for other in _marked(payload):
            yield json.dumps({**value, "payload": base64.b64encode(json.dumps(other).encode()).decode()}).encode()
        value = {key: one for key, one in value.items() if key != "payload"}
        yield from (json.dumps({**other, "payload": "e30="}).encode() for other in _marked(value))
        return
    yield from (json.dumps(other).encode() for other in _marked(value))


@pytest.mark.parametrize("name", sorted(signed_run(failed=(2,))))
def test_a_mark_in_any_string_of_any_file_is_yielded(name: str) -> None:
    """Put a word into each string of a run in turn: it is yielded as a text of its own, with its file."""
    files = signed_run(failed=(2,))
    tried = 0
    for other in _variants(name, files[name]):
        hits = [one for one in _texts(_run({**files, name: other})) if one.text == MARK]
        assert [(one.file, one.run) for one in hits] == [(name, "r1")]
        tried += 1
    assert tried >= 10


@pytest.mark.parametrize("name", sorted(JUDGEMENT_FILES))
def test_a_mark_in_any_string_of_a_judgement_is_yielded(name: str) -> None:
    """What further judges replied becomes public too."""
    for other in _variants(name, JUDGEMENT_FILES[name]):
        hits = [one for one in _texts(_run({}, {**JUDGEMENT_FILES, name: other})) if one.text == MARK]
        assert [one.file for one in hits] == [f"judgements/j-1/{name}"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=20,
)


@given(_JSON, st.sampled_from(["config.json", "benchmark.json", "benchmark.foreign", "ragassay-keys.json", "new.json"]))
@settings(max_examples=150, deadline=None)
def test_every_string_and_name_of_free_json_is_yielded(value: Any, name: str) -> None:
    """Whatever shape a file has, in whatever file, its strings and its members' names are all there."""

    def strings(one: Any) -> Iterator[str]:
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            yield from one
            for inner in one.values():
                yield from strings(inner)
        elif isinstance(one, list):
            for inner in one:
                yield from strings(inner)

    texts = [one.text for one in _texts(_run({name: json.dumps(value).encode()}))]
    assert sorted(texts) == sorted(strings(value))


def test_places_have_the_names_that_a_redaction_uses() -> None:
    """Chunks go by rank, claims by id, judge replies from 0; the question is the row's id."""
    row = {
        "id": "q-7",
        "answer": "a",
        "question": "w",
        "chunks": [{"rank": 2, "text": "c", "id": "k"}],
        "claims": [{"id": 5, "quote": "q", "reason": "r", "text": "t"}],
        "failure": {"kind": "x", "message": "m"},
    }
    telemetry = {"id": "q-7", "judgeReplies": [{"text": "one"}, {"text": "two", "problem": "p"}], "requestId": "i"}
    files = {"outputs.jsonl": json.dumps(row).encode() + b"\n", "telemetry.jsonl": json.dumps(telemetry).encode()}
    places = {one.text: (one.file, one.item, one.field) for one in _texts(_run(files))}
    assert places["a"] == ("outputs.jsonl", "q-7", "answer")
    assert places["c"] == ("outputs.jsonl", "q-7", "chunks/2/text")
    assert places["q"] == ("outputs.jsonl", "q-7", "claims/5/quote")
    assert places["m"] == ("outputs.jsonl", "q-7", "failure/message")
    assert places["two"] == ("telemetry.jsonl", "q-7", "telemetry/judgeReplies/1/text")
    assert places["p"] == ("telemetry.jsonl", "q-7", "telemetry/judgeReplies/1/problem")
    assert places["i"] == ("telemetry.jsonl", "q-7", "telemetry/requestId")


def test_a_question_set_names_its_questions() -> None:
    """In a question set the place names the question as well as the path."""
    data = {"corpus": {"url": "u"}, "samples": [{"id": "q-9", "input": "i", "claims": [{"id": 4, "text": "t"}]}]}
    texts = {one.text: one for one in _texts(_run({"benchmark.json": json.dumps(data).encode()}))}
    assert (texts["i"].item, texts["i"].field) == ("q-9", "samples/0/input")
    assert (texts["t"].item, texts["t"].field) == ("q-9", "samples/0/claims/0/text")
    assert (texts["u"].item, texts["u"].field) == (None, "corpus/url")
    assert texts["url"].field == f"corpus/url{NAME_OF}"


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":"hidden-1","a":"hidden-2"}',  # a name that stands twice
        b"id,input,target\nq-1,hidden-1,hidden-2\n",  # a CSV
        b'{"a":"hidden-1"}\n{"a":"hidden-2"}\n',  # JSON Lines where JSON is expected
        b"\xff\xfe hidden-1 \x00 hidden-2",  # no UTF-8
        b"[" * 200_000 + b'"hidden-1 hidden-2"',  # too deep
        b'{"a":' + b"1" * 6_000 + b',"b":"hidden-1 hidden-2"}',  # an integer too long to read
    ],
    ids=["twice", "csv", "jsonl", "bytes", "deep", "wide"],
)
def test_bytes_of_any_form_hide_nothing(data: bytes) -> None:
    """What is no JSON is yielded as one text, and duplicate names keep both their texts."""
    text = "\n".join(one.text for one in _texts(_run({"benchmark.foreign": data})))
    assert "hidden-1" in text
    assert "hidden-2" in text


def test_a_torn_or_foreign_row_is_a_text_too() -> None:
    """A line of outputs that is no JSON is not passed over."""
    assert [one.text for one in _texts(_run({"outputs.jsonl": b'{"id": "q\n'}))] == ['{"id": "q']


def test_a_lone_surrogate_is_replaced_and_offsets_stay() -> None:
    """A text of half a character can be written, and what follows it keeps its place."""
    (one,) = _texts(_run({"outputs.jsonl": b'{"answer": "\\ud800ann@acme.io"}\n'}))
    assert one.text == "\ufffdann@acme.io"


def test_a_refused_judgement_is_not_public() -> None:
    """What is not published is not scanned."""
    refused = LoadedJudgement(id="j", files=JUDGEMENT_FILES, checks=(), refused="no")
    assert _texts(LoadedRun(id="r1", files={}, checks=(), judgements=(refused,))) == []
