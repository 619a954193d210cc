"""What a report holds and how it answers."""

from __future__ import annotations

import time

import msgspec

from ragassay.records import to_json
from ragassay.testing.signed_run import OpenedRun, public_signer, resigned, signed_run
from ragassay.verify import PinnedKey, Unpinned, verify
from ragassay.verify.report import MAX_PER_CODE, Findings


def test_a_report_says_whose_run_it_is() -> None:
    """Row, pass, score, counts and fingerprint are those of the manifest."""
    report = verify(signed_run(), policy=PinnedKey(public_signer().public), now=7)
    assert (report.row, report.pass_k, report.pass_of, report.source_kind) == ("bm25", 1, 3, "measured")
    assert report.fingerprint == public_signer().kid
    assert report.pinned
    assert report.checked_at == 7
    assert report.score is not None
    assert report.score.decimal == "0.5833"
    assert report.benchmark == "sample 1.0.0"


def test_a_report_lists_checks_made_and_not_made() -> None:
    """Every check is on exactly one list, and each that was not made has its reason."""
    report = verify(signed_run(), policy=Unpinned(), now=1_800_000_000)
    assert {"envelope", "signature", "order", "item scores", "run score", "counts", "window"} <= set(report.made)
    assert {item.check for item in report.not_made} & set(report.made) == set()
    assert all(item.why for item in report.not_made)
    assert {item.check: item.why for item in report.not_made} == {
        "inclusion of the run in a log": "run.tlog-proof is not there",
        "trusted log and witnesses": "no log is pinned",
        "status of the key in a registry": "no registry was given",
        "announcement": "the run names none",
        "the log as a whole (entries rewritten or cut off, runs voided, passes missing)": "no log was given",
    }


def test_a_run_without_its_manifest_is_refused() -> None:
    """Nothing of it is believed, and the report says what that leaves unchecked."""
    files = signed_run()
    del files["run.dsse.json"]
    report = verify(files, policy=Unpinned(), now=1_800_000_000)
    assert report.codes == {"FILE_MISSING"}
    assert report.run_id is None
    assert report.not_made[0].check == "everything that the manifest claims"


def test_an_empty_mapping_is_refused() -> None:
    """No bytes are no run."""
    assert not verify({}, policy=Unpinned(), now=1_800_000_000).ok()


def test_failures_stand_first() -> None:
    """Findings that fail are listed before warnings."""

    def change(run: OpenedRun) -> None:
        run.predicate["counts"]["asked"] = 9

    severities = [
        f.severity for f in verify(resigned(signed_run(), change), policy=Unpinned(), now=1_800_000_000).findings
    ]
    assert severities == sorted(severities)
    assert severities[0] == "fail"


def test_a_report_is_json() -> None:
    """A report reads back from its JSON form."""
    report = verify(signed_run(), policy=Unpinned(), now=1_800_000_000)
    assert msgspec.convert(to_json(report), type(report)) == report


def test_many_findings_of_one_code_are_counted() -> None:
    """At most twenty of a code are listed, and one more says how many there are."""
    findings = Findings()
    for _ in range(MAX_PER_CODE + 5):
        findings.add("ROW_MISSING")
    found, _, _ = findings.results()
    assert len(found) == MAX_PER_CODE + 1
    assert found[-1].message == "and 5 more of this kind"


def test_checking_is_quick() -> None:
    """A run of 60 questions takes at most 30 ms of processor time, one of 10,000 at most 2 s (best of three)."""
    for items, limit_s in ((60, 0.030), (10_000, 2.0)):
        files = signed_run(items=items)
        times = []
        for _ in range(3):
            start = time.process_time()
            assert verify(files, policy=Unpinned(), now=1_800_000_000).ok()
            times.append(time.process_time() - start)
        assert min(times) < limit_s
