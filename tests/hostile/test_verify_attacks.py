"""Attacks on a run, each named by its defect, each refused by its reason code."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from ragassay import canon
from ragassay.manifest import Signer, sign_payload
from ragassay.manifest.sign import WEAK_KEYS, encode_x, thumbprint
from ragassay.manifest.statement import PREDICATE_BASE
from ragassay.testing.lies import SIGNED_LIES, add_chunk, call_control, fill_row, switch_off, with_row, with_rows
from ragassay.testing.signed_run import OpenedRun, open_run, public_signer, resigned, seal_run, signed_run
from ragassay.verify import PinnedKey, Policy, Report, Unpinned, verify

OURS = public_signer()
OTHER = public_signer("another")
PINNED = PinnedKey(OURS.public)
Files = dict[str, bytes]


def check(files: Files, policy: Policy = PINNED) -> Report:
    """Return the report on `files`, pinned to our key unless told otherwise."""
    return verify(files, policy=policy, now=1_800_000_000)


def envelope_of(files: Files) -> dict[str, Any]:
    """Return the envelope as a JSON value."""
    envelope: dict[str, Any] = json.loads(files["run.dsse.json"])
    return envelope


def with_envelope(files: Files, envelope: dict[str, Any]) -> Files:
    """Return the run under another envelope, written canonically."""
    return {**files, "run.dsse.json": canon.canonical(envelope)}


@pytest.mark.parametrize("profile", ["factual-consistency/1", "factual-consistency/2"])
def test_the_untouched_run_is_accepted(profile: Any) -> None:
    """The run that all attacks start from has warnings only."""
    report = check(signed_run(items=60, failed=[7], profile=profile))
    assert report.ok()
    assert report.codes == {"NO_INTENT", "UNTIMED", "UNWITNESSED", "RETRIEVAL_FAILED"}
    assert not report.ok(strict=True)


# --- the signature ----------------------------------------------------------------------------------------------


def test_forged_by_another_key() -> None:
    """A run that another key signs under its own name is refused by the pin, and only by the pin."""
    files = signed_run(signer=OTHER)
    assert "KEY_UNKNOWN" in check(files).codes
    assert check(files, Unpinned()).ok()
    assert "SIGNER_UNPINNED" in check(files, Unpinned()).codes


def _signed_as(signer: Signer, **claims: str) -> Files:
    """Return a run that `signer` signs while its manifest claims other things of the signer."""
    run = open_run(signed_run())

    def claim(opened: OpenedRun) -> None:
        opened.predicate["signer"].update(claims)

    files = seal_run(run, signer, claim=claim)
    envelope = envelope_of(files)
    if "kid" in claims:
        envelope["signatures"][0]["keyid"] = claims["kid"]
    return with_envelope(files, envelope)


@pytest.mark.parametrize("policy", [PINNED, Unpinned()], ids=["pinned", "unpinned"])
def test_signed_by_another_key_under_our_kid(policy: Policy) -> None:
    """Another key that claims our fingerprint, with its own or with our `x`, has no valid signature."""
    for claims in ({"kid": OURS.kid}, {"kid": OURS.kid, "x": encode_x(OURS.x)}):
        report = check(_signed_as(OTHER, **claims), policy)
        assert "SIGNATURE_INVALID" in report.codes


@pytest.mark.parametrize("key", sorted(WEAK_KEYS), ids=lambda key: key.hex()[:8])
def test_signed_under_a_weak_key(key: bytes) -> None:
    """The fixed forgery under each weak key is refused before its signature is looked at."""
    run = open_run(signed_run())

    def claim(opened: OpenedRun) -> None:
        opened.predicate["signer"].update(kid=thumbprint(key), x=encode_x(key))

    files = seal_run(run, OURS, claim=claim)
    envelope = envelope_of(files)
    forged = base64.b64encode(bytes([1]) + bytes(63)).decode()
    envelope["signatures"] = [{"keyid": thumbprint(key), "sig": forged}]
    report = check(with_envelope(files, envelope), Unpinned())
    assert "KEY_WEAK" in report.codes
    assert not report.ok()


@pytest.mark.parametrize("kind", ["application/vnd.in-toto+jsonx", "text/plain", "", "application/vnd.in-toto+JSON"])
def test_payload_type_swapped(kind: str) -> None:
    """Another payload type is refused, whether the signature covers it or not."""
    files = signed_run()
    envelope = envelope_of(files)
    payload = base64.b64decode(envelope["payload"])
    assert "TYPE_UNKNOWN" in check(with_envelope(files, {**envelope, "payloadType": kind})).codes
    assert "TYPE_UNKNOWN" in check({**files, "run.dsse.json": sign_payload(payload, OURS, kind)}).codes


def test_base64_tail_changed() -> None:
    """A last character that decodes to the same bytes is refused in the payload and in the signature."""
    envelope = envelope_of(signed_run())
    signature = envelope["signatures"][0]["sig"]
    assert signature.endswith("==")
    loose = chr(ord(signature[-3]) + 1)
    assert base64.b64decode(signature[:-3] + loose + "==") == base64.b64decode(signature)
    envelope["signatures"][0]["sig"] = signature[:-3] + loose + "=="
    assert check(with_envelope(signed_run(), envelope)).codes == {"ENVELOPE_NOT_CANONICAL"}


def test_every_bit_of_the_payload_flipped() -> None:
    """No bit of the signed payload can change."""
    files = signed_run(items=1)
    envelope = envelope_of(files)
    payload = bytearray(base64.b64decode(envelope["payload"]))
    for at in range(len(payload)):
        for bit in range(8):
            payload[at] ^= 1 << bit
            envelope["payload"] = base64.b64encode(payload).decode()
            assert not check({**files, "run.dsse.json": json.dumps(envelope, separators=(",", ":")).encode()}).ok()
            payload[at] ^= 1 << bit


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (f"{PREDICATE_BASE}/run-intent/v0.1", "TYPE_UNKNOWN"),
        (f"{PREDICATE_BASE}/benchmark-run/v9.0", "VERSION_UNKNOWN"),
        ("https://slsa.dev/provenance/v1", "TYPE_UNKNOWN"),
        (None, "TYPE_UNKNOWN"),
        ({"a": ["b"]}, "TYPE_UNKNOWN"),
    ],
    ids=["intent as run", "future version", "foreign predicate", "null", "object"],
)
def test_another_statement_presented_as_a_run(kind: object, code: str) -> None:
    """A statement that is signed well and is of another type or version is refused by its own code."""

    def claim(run: OpenedRun) -> None:
        run.statement["predicateType"] = kind

    assert code in check(seal_run(open_run(signed_run()), OURS, claim=claim)).codes


def _claimed(change: Callable[[OpenedRun], None]) -> Report:
    return check(seal_run(open_run(signed_run()), OURS, claim=change))


@pytest.mark.parametrize(
    "change",
    [
        lambda run: run.statement["subject"].append(run.statement["subject"][0]),
        lambda run: run.statement["subject"].clear(),
        lambda run: run.statement["subject"][0].update(name="config.json"),
        lambda run: run.statement.update(extra=1),
        lambda run: run.predicate.update(extra=1),
        lambda run: run.predicate.pop("counts"),
        lambda run: run.predicate.update(runId="../../etc"),
        lambda run: run.predicate.update({"pass": {"k": 4, "of": 3}}),
        lambda run: run.predicate["provenance"].update(sourceKind="invented"),
        lambda run: run.predicate.update(config=None),
        lambda run: run.predicate["judge"].update(digest=None),
        lambda run: run.predicate["signer"].update(x="AAAA"),
    ],
    ids=["two subjects", "no subject", "other subject", "extra member", "extra claim", "missing claim",
         "run id is a path", "pass 4 of 3", "unknown source kind", "measured without config",
         "measured without judge digest", "short key"],
)  # fmt: skip
def test_statements_of_another_form(change: Callable[[OpenedRun], None]) -> None:
    """A signed statement that lacks the form of a run is malformed."""
    assert "ENVELOPE_MALFORMED" in _claimed(change).codes


def test_key_id_of_the_envelope_changed() -> None:
    """The key id stands outside the signature and must be the signer's all the same."""
    envelope = envelope_of(signed_run())
    envelope["signatures"][0]["keyid"] = OTHER.kid
    assert not check(with_envelope(signed_run(), envelope), Unpinned()).ok()


# --- the files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("outputs.jsonl", "OUTPUTS_DIGEST"),
        ("telemetry.jsonl", "TELEMETRY_DIGEST"),
        ("config.json", "CONFIG_DIGEST"),
        ("benchmark.json", "BENCHMARK_DIGEST"),
    ],
)
def test_a_file_taken_from_another_run(name: str, code: str) -> None:
    """A file that is well-formed and not the signed one is refused by its own code; a missing one too."""
    files, other = signed_run(), signed_run(items=4, row="dense", run_id="f" * 32)
    assert code in check({**files, name: other[name]}).codes
    assert "FILE_MISSING" in check({other: data for other, data in files.items() if other != name}).codes


def test_an_edited_answer() -> None:
    """One changed word of an answer breaks the digest."""
    files = signed_run()
    edited = files["outputs.jsonl"].replace(b"listens on", b"listened on", 1)
    assert {"OUTPUTS_DIGEST", "CONTENT_DIGEST"} <= check({**files, "outputs.jsonl": edited}).codes


def test_one_character_of_the_benchmark_changed() -> None:
    """An edited target breaks the digest of the question set and what the manifest says of it."""
    files = signed_run()
    edited = files["benchmark.json"].replace(b"Port 8001", b"Port 9001")
    codes = check({**files, "benchmark.json": edited}).codes
    assert {"BENCHMARK_DIGEST", "BENCHMARK_MISMATCH"} <= codes


@pytest.mark.parametrize("name", ["notes.txt", "../run.dsse.json", "RUN.DSSE.JSON", "outputs.jsonl ", ""])
def test_a_file_that_the_manifest_does_not_cover(name: str) -> None:
    """Nothing unsigned travels with a run."""
    assert "BUNDLE_NAME" in check({**signed_run(), name: b"x"}).codes


def test_too_many_files() -> None:
    """A mapping of many members is refused before any is read."""
    assert check({f"f{i}": b"" for i in range(1000)}).codes == {"BUNDLE_TOO_LARGE"}


# --- what a dishonest publisher can sign ------------------------------------------------------------------------


@pytest.mark.parametrize("name", SIGNED_LIES)
def test_a_lie_signed_by_its_publisher(name: str) -> None:
    """Each change is signed again by the pinned key with every digest put right, and refused by its own code."""
    change, code = SIGNED_LIES[name]
    report = check(resigned(signed_run(), change))
    assert code in report.codes
    assert "SIGNATURE_INVALID" not in report.codes
    assert not report.ok()


def test_content_digest_of_other_rows() -> None:
    """A content digest that is not that of the rows is refused."""
    assert "CONTENT_DIGEST" in _claimed(lambda run: run.predicate.update(content={"sha256": "0" * 64})).codes


def test_rows_of_one_run_under_another() -> None:
    """The rows of run A, re-hashed and signed as run B by the same key, still name run A."""
    theirs = open_run(signed_run(run_id="a" * 32))

    def take(run: OpenedRun) -> None:
        run.outputs = theirs.outputs

    report = check(resigned(signed_run(run_id="b" * 32), take))
    assert "ROW_FOREIGN_RUN" in report.codes


def test_profile_1_keeps_its_own_rules() -> None:
    """In profile 1 quotes are not checked, an insufficient reference is 50, and answer kinds are unknown."""
    files = signed_run(profile="factual-consistency/1")

    def reword(run: OpenedRun) -> None:
        run.outputs[0]["claims"][0].update(quote="not in the answer", text="the judge's own claim")

    assert check(resigned(files, reword)).ok()

    def refuse(run: OpenedRun) -> None:
        run.outputs[0]["verdict"]["answerKind"] = "answer"

    assert "ITEM_SCORE" in check(resigned(files, refuse)).codes


# --- what is allowed and told -----------------------------------------------------------------------------------


def test_declared_fills_are_told() -> None:
    """A fill that names its source and is counted is a warning, and fails under strict."""

    def fill(run: OpenedRun) -> None:
        fill_row(run)
        run.predicate["counts"]["filled"] = 1

    report = check(resigned(signed_run(), fill))
    assert report.ok()
    assert "FILLED" in report.codes
    assert not report.ok(strict=True)


def test_withheld_text_is_told() -> None:
    """A chunk without its text cannot be checked against its digest, which is said and fails nowhere by itself."""
    report = check(resigned(signed_run(), with_rows(lambda rows: rows[0]["chunks"][0].update(text=None))))
    assert report.ok()
    assert "TEXT_WITHHELD" in report.codes


@pytest.mark.parametrize(("items", "failed", "told"), [(60, [3], False), (60, [3, 4], True), (49, [1], True)])
def test_missing_items_over_one_in_fifty_are_told(items: int, failed: list[int], told: bool) -> None:
    """Of 60 questions one may be missing, of 49 none."""
    report = check(signed_run(items=items, failed=failed))
    assert report.ok()
    assert ("MISSING_ITEMS" in report.codes) is told
    assert "RETRIEVAL_FAILED" in report.codes


def _republish(run: OpenedRun) -> None:
    run.predicate["provenance"].update(sourceKind="republished", modelInvoked=False, upstreamRef="board of 2026-09")
    for name in ("config", "telemetry", "corpus", "stack", "model", "window", "figures"):
        run.predicate[name] = None
    run.predicate["judge"]["digest"] = None


def _without_verdicts(run: OpenedRun) -> None:
    for row in run.outputs:
        row.update(verdict=None, claims=[], judge=None, retrieval="off", chunks=[])


def republished() -> Files:
    """Return a republished run: scores without verdicts, and no configuration."""
    run = open_run(signed_run())
    _without_verdicts(run)
    files = seal_run(run, OURS, claim=_republish)
    return {name: data for name, data in files.items() if name not in ("config.json", "telemetry.jsonl")}


def test_a_republished_run_is_told() -> None:
    """Scores without verdicts are accepted as republished, fail under strict, and item scores are not checkable."""
    report = check(republished())
    assert report.ok()
    assert "REPUBLISHED" in report.codes
    assert not report.ok(strict=True)
    assert "item scores" in [item.check for item in report.not_made]
    assert "item scores" not in report.made


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (with_row(score=49), "RUN_SCORE"),
        (with_row(score=101), "ITEM_SCORE"),
        (with_rows(lambda rows: rows.reverse()), "ROW_ORDER"),
        (with_row(status="judge_failed", failure={"kind": "k", "message": "m"}), "SCORED_FAILURE"),
    ],
    ids=["score not summed", "score of 101", "reordered", "failure scored"],
)
def test_a_republished_run_is_still_recomputed(change: Callable[[OpenedRun], None], code: str) -> None:
    """What does not need verdicts is checked as in any run."""
    run = open_run(signed_run())
    _without_verdicts(run)
    change(run)
    files = seal_run(run, OURS, claim=_republish)
    kept = {name: data for name, data in files.items() if name not in ("config.json", "telemetry.jsonl")}
    assert code in check(kept).codes


def test_a_republished_run_carries_nothing_unsigned() -> None:
    """A configuration that its manifest does not cover is refused by name."""
    assert "BUNDLE_NAME" in check({**republished(), "config.json": signed_run()["config.json"]}).codes


@pytest.mark.parametrize(
    ("change", "said"),
    [(call_control, "switched off"), (switch_off, "but the stack is 'bm25'"), (add_chunk(), "top-k is 1")],
)
def test_rows_are_held_against_their_configuration(change: Callable[[OpenedRun], None], said: str) -> None:
    """Each row's retrieval is judged by itself, whatever the manifest says of the configuration."""
    report = check(resigned(signed_run(), change))
    assert any(found.code == "CONFIG_MISMATCH" and said in found.message for found in report.findings)
