"""A row of an earlier pass in the place of a failed one: each form that shows is refused; some do not show."""

from __future__ import annotations

import pytest

from ragassay.manifest.files import OUTPUTS, TELEMETRY
from ragassay.testing.cases import report_on
from ragassay.testing.fills import REWRITTEN, UNDECLARED_FILLS, UNSEEN_FILLS
from ragassay.testing.logged_run import KEY_POLICY, NOW
from ragassay.testing.signed_run import open_run
from ragassay.verify import load_policy, verify

POLICY = load_policy(KEY_POLICY)


@pytest.mark.parametrize("name", UNDECLARED_FILLS)
def test_an_undeclared_fill_is_never_accepted_strictly(name: str) -> None:
    """Whatever is rewritten, one of run, pass, time, announcement or counts tells it."""
    report = report_on(UNDECLARED_FILLS[name])
    assert UNDECLARED_FILLS[name].codes <= report.codes
    assert not report.ok(strict=True)


@pytest.mark.parametrize("name", UNSEEN_FILLS)
def test_what_one_bundle_does_not_show(name: str) -> None:
    """A row of the same announcement, rewritten whole, is accepted: the documentation says so, and so does this."""
    bundle = UNSEEN_FILLS[name]()
    assert verify(bundle.files, policy=POLICY, now=NOW).ok(strict=True)
    assert OUTPUTS in bundle.files
    assert TELEMETRY in bundle.files
    row = open_run(bundle.files).outputs[0]
    assert {member: row[member] for member in REWRITTEN} == REWRITTEN
    assert row["fill"] is None
