"""Words of a run that have no end: what is said of them is short, whatever the run says."""

from __future__ import annotations

from typing import Any

import pytest

from ragassay.manifest.files import BESIDE
from ragassay.records import to_json
from ragassay.testing.logged_run import KEY_POLICY, NOW, Story, tell
from ragassay.testing.redacted_run import Redacting, redact
from ragassay.verify import Report, load_policy, verify
from ragassay.verify.report import MAX_MESSAGE, MAX_PLACE

LONG = "\U0001f600" * 500_000
POLICY = load_policy(KEY_POLICY)


def longest(found: Report) -> tuple[int, int]:
    """Return the length of the longest message and of the longest place of a report."""
    messages = max(len(finding.message) for finding in found.findings)
    return messages, max(len(finding.where or "") for finding in found.findings)


def test_a_field_and_a_reason_of_half_a_million_characters() -> None:
    """The entry is refused, and neither stands whole in a message."""

    def change(rows: list[dict[str, Any]]) -> None:
        rows[0]["texts"].append({"field": LONG, "reason": LONG, "saltedSha256": "0" * 64})
        rows[1]["texts"][0]["reason"] = LONG

    found = verify(redact(Redacting(entries=change)).files, policy=POLICY, now=NOW)
    assert "REDACTION_MISMATCH" in found.codes
    assert longest(found)[0] == MAX_MESSAGE
    assert longest(found)[1] <= MAX_PLACE


def test_an_id_of_half_a_million_characters() -> None:
    """A row that no benchmark has is named by the first characters of its id."""
    found = verify(tell(Story(change=lambda run: run.outputs[0].update(id=LONG))).files, policy=POLICY, now=NOW)
    assert {"ROW_UNKNOWN", "ROW_MISSING"} <= found.codes
    assert longest(found)[0] <= MAX_MESSAGE
    assert longest(found)[1] <= MAX_PLACE
    assert len(str(to_json(found)["findings"])) < 100_000


def test_a_redaction_of_more_bytes_than_a_log_takes() -> None:
    """It could not be logged, and whoever reads it from a folder or a bundle does not read it."""
    long = Redacting(logged=False, claim=lambda said: said["signer"].update(name="n" * 50_000))
    found = verify(redact(long).files, policy=POLICY, now=NOW)
    assert "BUNDLE_TOO_LARGE" in found.codes
    assert not found.ok()


@pytest.mark.parametrize("name", sorted(BESIDE))
def test_what_stands_beside_a_run_has_its_cap(name: str) -> None:
    """Each of these files, where the caller holds it and no reader of folders or bundles has refused it."""
    files = {**tell(Story()).files, name: b" " * (BESIDE[name] + 1)}
    assert "BUNDLE_TOO_LARGE" in verify(files, policy=POLICY, now=NOW).codes
