"""Announcements and voidings: read as strictly as runs, and never taken for one another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest import MANIFEST, sign_payload
from ragassay.manifest.announce import MAX_PASSES, MAX_REASON, decode_intent, decode_void, sign_intent, sign_void
from ragassay.manifest.decode import decode_statement
from ragassay.manifest.dsse import decode_base64, decode_envelope
from ragassay.manifest.files import INTENT
from ragassay.manifest.statement import Digest, PassRef, VoidPredicate
from ragassay.testing.logged_run import OTHER, OURS, Story, planned_id, tell

FILES = tell(Story()).files
ANNOUNCEMENT = FILES[INTENT]
SHA = "ab" * 32

VOID = VoidPredicate(
    run_id=planned_id(1),
    pass_=PassRef(k=1, of=3),
    intent=Digest(sha256=SHA),
    run=None,
    reason="the index was down",
    created=1,
    signer=OURS.ref(),
)
Statement = dict[str, Any]


def payload_of(data: bytes) -> Statement:
    """The statement inside an envelope."""
    value: Statement = msgspec.json.decode(decode_base64(decode_envelope(data).payload))
    return value


def changed(data: bytes, change: Callable[[Statement], object]) -> bytes:
    """The same envelope around a changed statement, signed again."""
    statement = payload_of(data)
    change(statement)
    return sign_payload(canon.canonical(statement), OURS)


def test_an_announcement_comes_back_as_it_was_signed() -> None:
    """What is read is what was announced, under the signer's key and the digest of the envelope's bytes."""
    signed = decode_intent(ANNOUNCEMENT)
    assert sign_intent(signed.predicate, OURS) == ANNOUNCEMENT
    assert signed.digest == canon.sha256(ANNOUNCEMENT)
    assert signed.signed_by(OURS.x)
    assert not signed.signed_by(OTHER.x)


@pytest.mark.parametrize(
    ("run", "name", "digest"), [(None, "intent.dsse.json", SHA), (Digest(sha256="cd" * 32), "run.dsse.json", "cd" * 32)]
)
def test_a_voiding_comes_back_as_it_was_signed(run: Digest | None, name: str, digest: str) -> None:
    """Its subject is the voided run, or else the announcement that planned the pass."""
    void = msgspec.structs.replace(VOID, run=run)
    data = sign_void(void, OURS)
    signed = decode_void(data)
    assert signed.predicate == void
    assert signed.signed_by(OURS.x)
    assert not signed.signed_by(OTHER.x)
    assert signed.digest == canon.sha256(data)
    assert payload_of(data)["subject"] == [{"name": name, "digest": {"sha256": digest}}]


def test_no_statement_passes_for_one_of_another_type() -> None:
    """Run, announcement and voiding each have a reader of their own; the other two refuse it as TYPE_UNKNOWN."""
    void = sign_void(VOID, OURS)

    def decode_run(data: bytes) -> object:
        envelope = decode_envelope(data)
        return decode_statement(envelope.payload_type, decode_base64(envelope.payload))

    readers: list[Callable[[bytes], object]] = [decode_run, decode_intent, decode_void]
    for own, data in enumerate((FILES[MANIFEST], ANNOUNCEMENT, void)):
        for at, read in enumerate(readers):
            if at == own:
                assert read(data)
                continue
            with pytest.raises(VerifyError) as refused:
                read(data)
            assert refused.value.code == "TYPE_UNKNOWN"


def put(*path: str | int) -> Callable[[Any], Callable[[Statement], object]]:
    """Return what sets one member of a statement."""

    def setter(value: Any) -> Callable[[Statement], object]:
        def change(statement: Statement) -> None:
            place: Any = statement
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = value

        return change

    return setter


BASE = "https://ragassay.dev/attestation/"
BAD_INTENTS: dict[str, tuple[str, Callable[[Statement], object]]] = {
    "a later version": ("VERSION_UNKNOWN", put("predicateType")(f"{BASE}run-intent/v0.2")),
    "another type": ("TYPE_UNKNOWN", put("predicateType")("https://example.org/x")),
    "no type": ("TYPE_UNKNOWN", lambda statement: statement.pop("predicateType")),
    "a type that is no text": ("TYPE_UNKNOWN", put("predicateType")(7)),
    "another statement type": ("TYPE_UNKNOWN", put("_type")("https://in-toto.io/Statement/v2")),
    "a subject too many": (
        "ENVELOPE_MALFORMED",
        lambda statement: statement["subject"].append(statement["subject"][0]),
    ),
    "no subject": ("ENVELOPE_MALFORMED", put("subject")([])),
    "another subject": ("ENVELOPE_MALFORMED", put("subject", 0, "name")("outputs.jsonl")),
    "the subject of another configuration": ("ENVELOPE_MALFORMED", put("subject", 0, "digest", "sha256")(SHA)),
    "no pass": ("ENVELOPE_MALFORMED", put("predicate", "runs")([])),
    "too many passes": (
        "ENVELOPE_MALFORMED",
        put("predicate", "runs")([planned_id(k) for k in range(MAX_PASSES + 1)]),
    ),
    "one run twice": ("ENVELOPE_MALFORMED", put("predicate", "runs")([planned_id(1)] * 2)),
    "a run id in capitals": ("ENVELOPE_MALFORMED", put("predicate", "runs")(["A" * 32])),
    "no configuration": ("ENVELOPE_MALFORMED", put("predicate", "config")(None)),
    "no digest of the judge": ("ENVELOPE_MALFORMED", put("predicate", "judge", "digest")(None)),
    "another scale": ("ENVELOPE_MALFORMED", put("predicate", "metric", "itemDen")(10)),
    "a digest that is none": ("ENVELOPE_MALFORMED", put("predicate", "benchmark", "digest", "sha256")("x")),
    "a time before 1970": ("ENVELOPE_MALFORMED", put("predicate", "created")(-1)),
    "another signer than the key id": ("ENVELOPE_MALFORMED", put("predicate", "signer", "kid")(OTHER.kid)),
    "an unknown member": ("ENVELOPE_MALFORMED", put("predicate", "more")(1)),
}
BAD_VOIDS: dict[str, tuple[str, Callable[[Statement], object]]] = {
    "a later version": ("VERSION_UNKNOWN", put("predicateType")(f"{BASE}run-void/v0.2")),
    "neither announcement nor run": ("ENVELOPE_MALFORMED", put("predicate", "intent")(None)),
    "the subject of another announcement": ("ENVELOPE_MALFORMED", put("subject", 0, "digest", "sha256")("cd" * 32)),
    "the subject of a run": ("ENVELOPE_MALFORMED", put("subject", 0, "name")("run.dsse.json")),
    "a pass beyond the plan": ("ENVELOPE_MALFORMED", put("predicate", "pass", "k")(4)),
    "pass 0": ("ENVELOPE_MALFORMED", put("predicate", "pass", "k")(0)),
    "no reason": ("ENVELOPE_MALFORMED", put("predicate", "reason")("")),
    "a blank reason": ("ENVELOPE_MALFORMED", put("predicate", "reason")(" \n")),
    "a long reason": ("ENVELOPE_MALFORMED", put("predicate", "reason")("x" * (MAX_REASON + 1))),
    "a run id that is none": ("ENVELOPE_MALFORMED", put("predicate", "runId")("run")),
}


@pytest.mark.parametrize(("code", "change"), BAD_INTENTS.values(), ids=BAD_INTENTS.keys())
def test_an_announcement_that_cannot_be_one_is_refused(code: str, change: Callable[[Statement], object]) -> None:
    """Each defect has its code, though its publisher signed it."""
    with pytest.raises(VerifyError) as refused:
        decode_intent(changed(ANNOUNCEMENT, change))
    assert refused.value.code == code


@pytest.mark.parametrize(("code", "change"), BAD_VOIDS.values(), ids=BAD_VOIDS.keys())
def test_a_voiding_that_cannot_be_one_is_refused(code: str, change: Callable[[Statement], object]) -> None:
    """Each defect has its code, though its publisher signed it."""
    with pytest.raises(VerifyError) as refused:
        decode_void(changed(sign_void(VOID, OURS), change))
    assert refused.value.code == code


def test_bytes_that_are_not_canonical_are_refused() -> None:
    """White space in the envelope, or in the payload, is another form of the same statement, and refused."""
    payload = decode_base64(decode_envelope(ANNOUNCEMENT).payload)
    for data in (ANNOUNCEMENT + b"\n", sign_payload(payload + b" ", OURS)):
        with pytest.raises(VerifyError) as refused:
            decode_intent(data)
        assert refused.value.code == "ENVELOPE_NOT_CANONICAL"
    with pytest.raises(VerifyError) as refused:
        decode_intent(sign_payload(payload, OURS, "application/json"))
    assert refused.value.code == "TYPE_UNKNOWN"
    with pytest.raises(VerifyError) as refused:
        decode_intent(sign_payload(b"[]", OURS))
    assert refused.value.code == "TYPE_UNKNOWN"
    with pytest.raises(VerifyError) as refused:
        decode_intent(sign_payload(b'{"a":1,"a":1}', OURS))
    assert refused.value.code == "ENVELOPE_MALFORMED"


def test_nothing_is_signed_that_no_reader_would_accept() -> None:
    """A bad statement, or one in another signer's name, is a mistake of the program that makes it."""
    intent = decode_intent(ANNOUNCEMENT).predicate
    with pytest.raises(ValueError, match="run id"):
        sign_intent(msgspec.structs.replace(intent, runs=()), OURS)
    with pytest.raises(ValueError, match="reason"):
        sign_void(msgspec.structs.replace(VOID, reason=""), OURS)
    with pytest.raises(ValueError, match="subject"):
        sign_void(msgspec.structs.replace(VOID, intent=None), OURS)
    with pytest.raises(ValueError, match="another key"):
        sign_intent(intent, OTHER)
