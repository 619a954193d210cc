"""Frozen sets that were tampered with, or signed as a lie: each has its reason code, and no bytes make a crash."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frozen_lab import NOW, SIGNER, checked, docs, frozen, page, question, review, small_set
from ragassay import canon
from ragassay.manifest import Signer, sign_payload
from ragassay.manifest.item_set import MAX_ITEM_MANIFEST_BYTES, decode_items
from ragassay.manifest.item_statement import PreviousSet
from ragassay.manifest.statement import Digest
from ragassay.records import Page
from ragassay.run.question_sets.freeze_set import seal_set
from ragassay.testing.signed_run import public_signer, signed_run
from ragassay.verify import PinnedKey, Unpinned
from ragassay.verify.item_set import SetReport, verify_item_set

DATA, ENVELOPE = frozen(small_set(), [review(question(0))])
PAGES = docs().pages
Change = Callable[[dict[str, Any]], None]


def report(
    envelope: bytes = ENVELOPE,
    questions: bytes | None = DATA,
    *,
    pages: Any = PAGES,
    key: Signer | None = SIGNER,
    previous: bytes | None = None,
    now: int = NOW + 60,
) -> SetReport:
    """Return what the verifier says, the honest key pinned."""
    policy = PinnedKey(key.public) if key else Unpinned()
    return verify_item_set(envelope, questions=questions, policy=policy, now=now, pages=pages, previous=previous)


def failures(found: SetReport) -> set[str]:
    """Return the codes of what fails."""
    return {one.code for one in found.findings if one.severity == "fail"}


def predicate() -> dict[str, Any]:
    """Return the statement of the honest manifest as plain values."""
    payload = base64.b64decode(json.loads(ENVELOPE)["payload"])
    value: dict[str, Any] = json.loads(payload)
    return value


def lie(change: Change, signer: Signer = SIGNER) -> bytes:
    """Return a manifest with something changed, signed as if it were true."""
    statement = predicate()
    change(statement["predicate"])
    return sign_payload(canon.canonical(statement), signer)


def edited(change: Change) -> bytes:
    """Return the question file with something changed, in canonical form."""
    value = json.loads(DATA)
    change(value)
    return canon.canonical(value)


def item(n: int, **members: Any) -> Change:
    """Return a change of members of item n."""
    return lambda p: p["items"][n].update(members)


def test_an_honest_set_is_accepted_strictly() -> None:
    """Nothing speaks against a set as it was frozen, over its documentation, with its key pinned."""
    found = report()
    assert found.findings == ()
    assert found.ok(strict=True)
    assert (found.name, found.version, found.items, found.reviewed, found.declared) == ("acme", "1.0.0", 4, 1, True)
    assert report(key=None).codes == {"SIGNER_UNPINNED"}


def test_what_was_not_given_is_said() -> None:
    """Without the documentation that check is listed as not made; without the question file the set is refused."""
    assert [one.check for one in report(pages=None).not_made] == ["pages and evidence in the documentation"]
    assert failures(report(questions=None)) == {"FILE_MISSING"}


@pytest.mark.parametrize(
    "change",
    [
        lambda v: v["samples"][1].update(input="How heavy is the beam of Acme?"),
        lambda v: v["samples"][1].update(target="1001 g."),
        lambda v: v["samples"][1]["claims"][0].update(must=[["1,001"]]),
        lambda v: v["samples"][1].update(evidence=["The beam"]),
        lambda v: v["samples"][1]["provenance"].update(author="M. Allory"),
        lambda v: v["samples"][1]["provenance"].update(reviewedBy="M. Allory"),
        lambda v: v["samples"][0]["provenance"].update(reviewedBy=None),
        lambda v: v["samples"][1]["provenance"].update(derivedFromSystem=True),
        lambda v: v["samples"].pop(1),
        lambda v: v["samples"].append({**v["samples"][0], "id": "q-9", "input": "Another?"}),
        lambda v: v["samples"].reverse(),
    ],
)
def test_a_changed_question_file_is_another_file_and_the_item_is_named(change: Change) -> None:
    """Whatever was changed after signing, both the digest and the item itself say so."""
    assert {"BENCHMARK_DIGEST", "ITEM_MISMATCH"} <= failures(report(questions=edited(change)))


def test_another_file_or_the_manifest_of_another_set() -> None:
    """A file with the manifest of another one is refused, whichever of them was exchanged."""
    other, manifest = frozen(small_set(question(5), question(6), name="other"))
    assert {"BENCHMARK_DIGEST", "BENCHMARK_MISMATCH", "ITEM_MISMATCH"} <= failures(report(questions=other))
    assert {"BENCHMARK_DIGEST", "BENCHMARK_MISMATCH"} <= failures(report(manifest))
    assert failures(report(questions=b"not a file")) == {"BENCHMARK_DIGEST"}


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (item(1, material="0" * 64), {"ITEM_MISMATCH"}),
        (item(1, author="M. Allory"), {"ITEM_MISMATCH"}),
        (item(0, reviewer="M. Allory"), {"ITEM_MISMATCH"}),
        (item(1, tool="a model"), {"ITEM_MISMATCH"}),
        (item(1, created="2020-01-01"), {"ITEM_MISMATCH"}),
        (item(1, page="page-7.md"), {"ITEM_MISMATCH", "ITEM_EVIDENCE"}),
        (item(1, pageSha256="0" * 64), {"ITEM_EVIDENCE"}),
        (item(1, evidence=[{"sha256": "0" * 64, "matched": "exact", "folds": []}]), {"ITEM_MISMATCH"}),
        (item(0, reviewedAt=NOW + 9_999), {"WINDOW"}),
        (lambda p: p["corpus"]["digest"].update(sha256="0" * 64), {"ITEM_EVIDENCE"}),
        (lambda p: p.update(created=NOW + 9_999), {"WINDOW"}),
        (lambda p: p["benchmark"]["itemSet"].update(sha256="0" * 64), {"BENCHMARK_MISMATCH"}),
        (lambda p: p["items"].reverse(), {"ITEM_MISMATCH"}),
    ],
)
def test_a_signed_lie_about_an_item_is_found(change: Change, codes: set[str]) -> None:
    """The file and the documentation are held against everything that the manifest says of them."""
    assert failures(report(lie(change))) == codes


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p["items"].pop(),
        lambda p: p["items"].append(p["items"][0]),
        lambda p: p["review"].update(reviewed=4, unreviewed=0),
        lambda p: p["declaration"].update(holds=False),
        lambda p: p["declaration"].update(derived=1),
        lambda p: p["declaration"].update(bySigner=5),
        lambda p: p["declaration"].update(text="all is well"),
        item(1, derivedFromSystem=True),
        item(1, reviewer="M. Allory"),
        item(1, reviewedAt=NOW),
        item(1, evidence=[]),
        item(1, material="A" * 64),
        item(1, extra=1),
        lambda p: p["lint"].update(errors=1),
        lambda p: p["benchmark"].update(version="0"),
        lambda p: p["benchmark"].update(name="other"),
        lambda p: p["benchmark"].update(items=3),
        lambda p: p.update(
            previous={"version": "1.0.0", "digest": {"sha256": "0" * 64}, "envelope": {"sha256": "0" * 64}}
        ),
        lambda p: p.update(items=[]),
        lambda p: p.update(created=-1),
    ],
)
def test_a_manifest_that_contradicts_itself_is_none(change: Change) -> None:
    """Counts, declaration, version and subject follow from the items, or the manifest has not the form of one."""
    assert failures(report(lie(change))) == {"ENVELOPE_MALFORMED"}


def test_a_page_that_changed_and_evidence_that_went() -> None:
    """Documentation other than that over which the set was frozen is told, page by page and evidence by evidence."""
    touched = page(1, "# The beam\n\nThe beam of Acme weighs 1001 grams. Since May.\n")
    lost = page(2, "# The crane\n\nThe crane of Acme weighs 9 tons.\n")
    folded = page(3, "# The drill\n\nThe drill of Acme\nweighs 1003 grams.\n")
    others: list[Page] = [page(0), touched, lost, folded, *map(page, range(4, 10))]
    found = report(pages=others)
    assert failures(found) == {"ITEM_EVIDENCE"}
    messages = {(one.where, one.message) for one in found.findings}
    assert ("question q-2", "an evidence text stands nowhere in the documentation") in messages
    assert ("question q-3", "an evidence text stands there under whitespace, and exactly was signed") in messages
    assert ("question q-1", "the page 'page-1.md' is not the one that was signed") in messages
    assert "ITEM_EVIDENCE" in failures(report(pages=PAGES[1:]))


def test_folds_are_signed_and_checked() -> None:
    """Evidence that stands under folds says which, and verifies."""
    wrapped = docs(page(0, "# The anvil\n\nThe anvil of\nAcme weighs 1000 grams.\n"), page(1))
    found = checked(small_set(question(0), question(1)), over=wrapped)
    data, envelope = seal_set(found, "1.0.0", SIGNER, now=NOW)
    first = decode_items(envelope).predicate.items[0].evidence[0]
    assert (first.matched, first.folds) == ("folded", ("whitespace",))
    assert report(envelope, data, pages=wrapped.pages).findings == ()


def test_another_key() -> None:
    """A manifest by another key, under ours, or with its signature changed is refused."""
    forger = public_signer("forger")
    by_forger = seal_set(checked(lines=[review(question(0))]), "1.0.0", forger, now=NOW)[1]
    assert failures(report(by_forger)) == {"KEY_UNKNOWN", "SIGNATURE_INVALID"}
    assert failures(report(lie(lambda p: None, forger))) == {"ENVELOPE_MALFORMED"}
    value = json.loads(ENVELOPE)
    value["signatures"][0]["sig"] = base64.b64encode(bytes(64)).decode()
    assert failures(report(canon.canonical(value))) == {"SIGNATURE_INVALID"}
    assert failures(report(canon.canonical(value), key=None)) == {"SIGNATURE_INVALID"}


def second() -> tuple[bytes, bytes]:
    """Return the next version of the honest set, which names it."""
    link = PreviousSet(
        version="1.0.0", digest=Digest(sha256=canon.sha256(DATA)), envelope=Digest(sha256=canon.sha256(ENVELOPE))
    )
    return seal_set(checked(small_set(question(0), question(4))), "2.0.0", SIGNER, now=NOW, previous=link)


def test_the_version_before() -> None:
    """The manifest that a version names is accepted; another one of that version, or of another set, is not."""
    data, envelope = second()
    assert report(envelope, data, previous=ENVELOPE).findings == ()
    assert [one.check for one in report(envelope, data).not_made] == ["the version before"]
    again = seal_set(checked(small_set(question(0))), "1.0.0", SIGNER, now=NOW)[1]
    other = frozen(small_set(question(5), name="other"))[1]
    for wrong in (again, other, envelope):
        assert failures(report(envelope, data, previous=wrong)) == {"SET_PREVIOUS"}
    assert "SET_PREVIOUS" in failures(report(envelope, data, previous=b"{}"))


def test_other_statements_are_no_item_manifests() -> None:
    """A signed run is no item manifest, nor is one of a version to come."""
    assert failures(report(signed_run(items=3)["run.dsse.json"])) == {"TYPE_UNKNOWN"}
    statement = predicate()
    statement["predicateType"] = statement["predicateType"].replace("v0.1", "v9")
    assert failures(report(sign_payload(canon.canonical(statement), SIGNER))) == {"VERSION_UNKNOWN"}


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[" * 100_000, b'{"payload":' * 50_000, b"\xff\xfe", b"null", b"x" * (MAX_ITEM_MANIFEST_BYTES + 1)],
    ids=["empty", "cut", "deep", "deep-objects", "utf-16", "null", "huge"],
)
def test_what_is_no_envelope_is_refused_without_reading_on(data: bytes) -> None:
    """Huge, deep and broken bytes are one finding."""
    assert failures(report(data)) == {"ENVELOPE_MALFORMED"}


def test_a_deep_payload_is_refused() -> None:
    """Depth inside the signed payload is bounded too."""
    deep: Any = []
    for _ in range(40):
        deep = [deep]
    assert failures(report(lie(lambda p: p.update(items=deep)))) == {"ENVELOPE_MALFORMED"}


@settings(max_examples=150, deadline=None)
@given(at=st.integers(0, len(ENVELOPE) - 1), bit=st.integers(0, 7))
def test_every_flipped_bit_is_found(at: int, bit: int) -> None:
    """No bit of the manifest can change unseen, and none makes the verifier fall."""
    changed = bytearray(ENVELOPE)
    changed[at] ^= 1 << bit
    assert failures(report(bytes(changed), pages=None))


@settings(max_examples=100, deadline=None)
@given(at=st.integers(0, len(DATA) - 1), bit=st.integers(0, 7))
def test_every_flipped_bit_of_the_question_file_is_found(at: int, bit: int) -> None:
    """The same holds for the question file."""
    changed = bytearray(DATA)
    changed[at] ^= 1 << bit
    assert "BENCHMARK_DIGEST" in failures(report(questions=bytes(changed), pages=None))


def test_texts_of_a_manifest_are_kept_short_in_findings() -> None:
    """A manifest cannot fill the report with its own words."""
    long = "x" * 100_000
    found = report(lie(item(1, page=long)))
    assert max(len(one.message) for one in found.findings) < 3_000
    assert msgspec.json.encode(found)
