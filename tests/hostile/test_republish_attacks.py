"""Republished runs and foreign item sets: what is accepted with a warning, and what a dishonest publisher cannot do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ragassay import canon
from ragassay.manifest import decode_run
from ragassay.testing.republished_run import SCORES, lines_of, published_bytes, republished_files, resealed
from ragassay.testing.signed_run import public_signer, signed_run
from ragassay.verify import PinnedKey, Report, Unpinned, verify

FILES = republished_files()
TOLD = {"REPUBLISHED", "NO_INTENT", "UNTIMED", "UNWITNESSED"}
CSV = b"id,input\n" + b"".join(b"%s,%s\n" % (q["id"].encode(), q["question"].encode()) for q in lines_of())


def check(files: Mapping[str, bytes]) -> Report:
    """Verify under the key that signed."""
    return verify(files, policy=PinnedKey(public_signer().public), now=1_790_000_000)


def test_a_republished_run_is_accepted_and_told() -> None:
    """It is accepted with its warnings, and the report says which checks were not made and why."""
    report = check(FILES)
    assert report.ok()
    assert report.codes == TOLD
    assert report.source_kind == "republished"
    assert {"question set", "order", "run score", "counts", "digest of benchmark.foreign"} <= set(report.made)
    assert "item scores" in {item.check for item in report.not_made}


def test_a_republished_run_is_refused_strictly() -> None:
    """Whoever asks for measured runs gets none of these, and the reason names the tool and the source."""
    report = check(FILES)
    assert not report.ok(strict=True)
    (said,) = [finding.message for finding in report.findings if finding.code == "REPUBLISHED"]
    assert "scorer" in said
    assert "https://example.org/ports" in said


def test_every_byte_of_the_foreign_set_is_held() -> None:
    """Each byte flipped, each dropped, each doubled: refused as BENCHMARK_DIGEST, pinned or not."""
    data = FILES["benchmark.foreign"]
    accepted = []
    for at, byte in enumerate(data):
        flipped = data[:at] + bytes([byte ^ (1 << at % 8)]) + data[at + 1 :]
        for changed in (flipped, data[:at] + data[at + 1 :], data[: at + 1] + data[at:]):
            report = verify({**FILES, "benchmark.foreign": changed}, policy=Unpinned(), now=0)
            if "BENCHMARK_DIGEST" not in report.codes or report.ok():
                accepted.append(at)
    assert accepted == []


@pytest.mark.parametrize("files", [FILES, signed_run()], ids=["foreign", "ours"])
def test_both_item_sets_at_once(files: dict[str, bytes]) -> None:
    """A run has one item set; a second one is covered by nothing."""
    both = {"benchmark.foreign": published_bytes(), "benchmark.json": signed_run()["benchmark.json"], **files}
    assert "BUNDLE_NAME" in check(both).codes


@pytest.mark.parametrize(("files", "name"), [(FILES, "benchmark.foreign"), (signed_run(), "benchmark.json")])
def test_no_item_set(files: dict[str, bytes], name: str) -> None:
    """The one that the manifest means is missed by its name."""
    report = check({key: data for key, data in files.items() if not key.startswith("benchmark")})
    assert [finding.where for finding in report.findings if finding.code == "FILE_MISSING"] == [name]


@pytest.mark.parametrize(("files", "old", "new"), [
    (FILES, "benchmark.foreign", "benchmark.json"),
    (signed_run(), "benchmark.json", "benchmark.foreign"),
])  # fmt: skip
def test_an_item_set_under_the_other_name(files: dict[str, bytes], old: str, new: str) -> None:
    """The signed digests say in which form the set is, so that renaming it changes nothing but the answer."""
    renamed = {new if name == old else name: data for name, data in files.items()}
    assert {"FILE_MISSING", "BUNDLE_NAME"} <= check(renamed).codes


def test_a_measured_run_may_not_use_a_foreign_set() -> None:
    """Measured is measured on questions whose claims and evidence are signed too."""

    def measured(predicate: dict[str, Any]) -> None:
        digest = {"sha256": canon.sha256(published_bytes())}
        predicate["benchmark"].update(id="ports", version="1.0", items=5, digest=digest, itemSet=digest)

    ours = signed_run(items=5)
    files = resealed(ours, claim=measured, benchmark_foreign=published_bytes())
    del files["benchmark.json"]
    report = check(files)
    assert "BENCHMARK_MISMATCH" in report.codes
    assert not report.ok()


@pytest.mark.parametrize("data", [published_bytes(), CSV], ids=["published", "csv"])
@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda rows: rows.pop(), "ROW_MISSING"),
        (lambda rows: rows.append(dict(rows[0])), "ROW_DUPLICATE"),
        (lambda rows: rows.reverse(), "ROW_ORDER"),
        (lambda rows: rows[0].update(id="zz"), "ROW_UNKNOWN"),
        (lambda rows: rows[0].update(question="Which port?"), "ROW_CHANGED"),
        (lambda rows: rows[0].update(run="f" * 32), "ROW_FOREIGN_RUN"),
        (lambda rows: rows[0].update(score=99), "RUN_SCORE"),
        (lambda rows: rows[0].update(score=101), "ITEM_SCORE"),
        (lambda rows: rows[0].update(score=None), "SCORED_FAILURE"),
        (lambda rows: rows[0].update(status="judge_failed"), "SCORED_FAILURE"),
        (lambda rows: rows[0].update(status="judge_failed", score=None), "COUNTS"),
        (lambda rows: rows[0].update(judge="0" * 64), "JUDGE_MIXED"),
    ],
    ids=[
        "dropped", "doubled", "reordered", "unknown", "reworded", "of another run", "score not summed", "score of 101",
        "score removed", "failure scored", "failure uncounted", "of another judge",
    ],
)  # fmt: skip
def test_rows_are_recomputed_against_a_foreign_set(
    data: bytes, change: Callable[[list[dict[str, Any]]], None], code: str
) -> None:
    """Whatever does not need verdicts is checked, in every form that is read."""
    report = check(resealed(republished_files(data), rows=change))
    assert code in report.codes
    assert not report.ok()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda p: p["benchmark"].update(items=6), "BENCHMARK_MISMATCH"),
        (lambda p: p["benchmark"].update(itemSet={"sha256": "0" * 64}), "FILE_MISSING"),
        (
            lambda p: p["benchmark"].update(digest={"sha256": "0" * 64}, itemSet={"sha256": "0" * 64}),
            "BENCHMARK_DIGEST",
        ),
        (lambda p: p["score"].update(decimal="0.9160"), "RUN_SCORE"),
        (lambda p: p["counts"].update(scored=4), "COUNTS"),
        (lambda p: p["provenance"].update(sourceKind="measured"), "ENVELOPE_MALFORMED"),
        (lambda p: p["provenance"].update(sourceKind="stub"), "ENVELOPE_MALFORMED"),
    ],
    ids=["items", "item set", "digests", "score", "counts", "called measured", "called stub"],
)
def test_lies_about_a_foreign_set(change: Callable[[dict[str, Any]], None], code: str) -> None:
    """Each lie of the manifest, signed by its own key, is refused by its code."""
    report = check(resealed(FILES, claim=change))
    assert code in report.codes
    assert not report.ok()


UNREADABLE = {
    "archive": b"PK\x03\x04" + bytes(range(256)),
    "empty": b"",
    "deep": b'{"x":' * 100_000,
    "an id twice": published_bytes().replace(b'"a2"', b'"a1"'),
    "a key twice": published_bytes().replace(b'"input"', b'"id"', 1),
    "latin-1": published_bytes().replace(b"Port", b"P\xf6rt"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_set_that_cannot_be_read_is_held_by_its_bytes(name: str) -> None:
    """Its checks are listed as not made, with the reason; all else is checked, and the run opens."""
    files = resealed(FILES, benchmark_foreign=UNREADABLE[name])
    report = check(files)
    assert report.ok()
    assert report.codes == TOLD
    (said,) = [item.why for item in report.not_made if item.check == "ids, order and question texts"]
    assert said.startswith("benchmark.foreign is in no form that is read: ")
    assert "question set" not in report.made
    assert [q.id for q in decode_run(files).benchmark.questions] == ["a1", "a2", "a3", "a4", "a5"]
    assert "BENCHMARK_DIGEST" in check({**files, "benchmark.foreign": UNREADABLE[name] + b" "}).codes


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda rows: rows.pop(), "ROW_MISSING"),
        (lambda rows: rows.append({**rows[0], "id": "a9"}), "ROW_UNKNOWN"),
        (lambda rows: rows[1].update(id="a1"), "ROW_DUPLICATE"),
        (lambda rows: rows[0].update(score=99), "RUN_SCORE"),
    ],
)
def test_rows_beside_a_set_that_cannot_be_read(change: Callable[[list[dict[str, Any]]], None], code: str) -> None:
    """The manifest still says how many items there are, and no item has two rows."""
    report = check(resealed(FILES, rows=change, benchmark_foreign=UNREADABLE["archive"]))
    assert code in report.codes
    assert not report.ok()


def test_a_set_beyond_the_cap() -> None:
    """More bytes than a foreign set may have are refused before they are read."""
    assert "BUNDLE_TOO_LARGE" in check({**FILES, "benchmark.foreign": b" " * ((64 << 20) + 1)}).codes


def test_a_missing_item_is_counted_and_told() -> None:
    """One null of five is more than one in fifty: MISSING_ITEMS, and the score is that of the other four."""
    report = check(republished_files(scores=[None, *SCORES[1:]]))
    assert report.ok()
    assert "MISSING_ITEMS" in report.codes
    assert report.score is not None
    assert (report.score.num, report.score.den) == (158, 400)


def test_texts_that_steer_a_terminal_are_quoted() -> None:
    """A source that a publisher wrote past our importer reaches no message unescaped."""
    hostile = "\x1b]0;x\x07\u202e<img src=x onerror=alert(1)>"
    report = check(resealed(FILES, claim=lambda p: p["provenance"].update(upstreamRef=hostile)))
    (said,) = [finding.message for finding in report.findings if finding.code == "REPUBLISHED"]
    assert said.isprintable()
