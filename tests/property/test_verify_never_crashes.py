"""Whatever the bytes are, the verifier reports."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest import decode_run, sign_payload
from ragassay.testing.signed_run import OpenedRun, open_run, public_signer, seal_run, signed_run
from ragassay.verify import CODES, Unpinned, verify

RUN = signed_run()
NAMES = st.sampled_from(sorted(RUN))
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


def report_codes(files: dict[str, bytes]) -> frozenset[str]:
    """Return the codes found, all of which are in the table; decoding raises its own error or nothing."""
    codes = verify(files, policy=Unpinned(), now=1_800_000_000).codes
    assert codes <= set(CODES)
    with contextlib.suppress(VerifyError):
        decode_run(files)
    return codes


@given(st.dictionaries(NAMES | st.text(max_size=10), st.binary(max_size=60), max_size=6))
def test_any_files(files: dict[str, bytes]) -> None:
    """Arbitrary names and bytes are reported on."""
    assert report_codes(files)


@given(NAMES, st.binary(max_size=60))
def test_any_bytes_in_place_of_one_file(name: str, data: bytes) -> None:
    """Arbitrary bytes in place of a file of a real run are refused."""
    assert not verify({**RUN, name: data}, policy=Unpinned(), now=1_800_000_000).ok()
    report_codes({**RUN, name: data})


@given(JSON)
def test_any_signed_payload(value: Any) -> None:
    """Arbitrary JSON, signed well, is no run."""
    try:
        payload = canon.canonical(value)
    except canon.NotCanonical:
        payload = b"\xff"
    codes = report_codes({**RUN, "run.dsse.json": sign_payload(payload, public_signer())})
    assert codes & {"ENVELOPE_MALFORMED", "TYPE_UNKNOWN"}


PLACES = ("statement", "outputs", "telemetry", "config", "benchmark")


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        found.extend(_paths(member, (*path, key)))
    return found


@given(st.sampled_from(PLACES), st.data())
def test_any_member_replaced_and_signed_again(place: str, data: st.DataObject) -> None:
    """Any value at any place of a run whose publisher signs it again is reported on without a crash."""
    run = open_run(RUN)
    target = getattr(run, place)
    shortest = 2 if place in ("outputs", "telemetry") else 1
    path = data.draw(st.sampled_from([path for path in _paths(target) if len(path) >= shortest]))
    value = data.draw(JSON)

    def change(opened: OpenedRun) -> None:
        at = getattr(opened, place)
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value

    try:
        if place == "statement":
            files = seal_run(run, public_signer(), claim=change)
        else:
            change(run)
            files = seal_run(run, public_signer())
    except canon.NotCanonical:
        return
    codes = report_codes(files)
    assert codes
    assert codes <= set(CODES)


@pytest.mark.parametrize("deep", [b"[" * 100_000, b'{"a":' * 100_000, b'{"a":' * 60 + b"1" + b"}" * 60])
def test_deep_nesting_is_refused(deep: bytes) -> None:
    """Depth is bounded in every file and in the signed payload."""
    for name in RUN:
        assert not verify({**RUN, name: deep}, policy=Unpinned(), now=1_800_000_000).ok()
    signed = sign_payload(deep, public_signer())
    assert report_codes({**RUN, "run.dsse.json": signed}) & {"ENVELOPE_MALFORMED", "TYPE_UNKNOWN"}


@pytest.mark.parametrize("depth", [70, 900, 5000])
def test_a_deep_corpus_in_the_question_set_is_refused(depth: int) -> None:
    """The one free-form part of a question set cannot exhaust the stack."""
    deep = b'{"corpus":{"a":' + b"[" * depth + b"]" * depth + b"}," + RUN["benchmark.json"].split(b"},", 1)[1]
    codes = report_codes({**RUN, "benchmark.json": deep})
    assert "BENCHMARK_DIGEST" in codes


@pytest.mark.parametrize("depth", [900, 5000])
def test_a_deep_row_is_refused(depth: int) -> None:
    """A row that nests where a text stands is malformed."""
    row = b'{"answer":' + b"[" * depth + b"]" * depth + b"}\n"
    assert "ROW_MALFORMED" in report_codes({**RUN, "outputs.jsonl": row})
