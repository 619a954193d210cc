"""Golden bundles: announced, logged and witnessed runs that strict accepts for ever, not one of whose bytes changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay import canon
from ragassay.manifest.bundle import read_bundle
from ragassay.testing.logged_run import NOW, SEEN_AT
from ragassay.verify import Report, load_policy, verify

BUNDLES = Path(__file__).parent / "bundles"

DIGESTS = {
    "v0.1-announced.policy.json": "4f3afe3644fbeac479bb3d817021b6a77ab63918b13a81afbeb88a18fa4657f4",
    "v0.1-announced.zip": "61f91e9b7e45ab7f76a4ccbcbe8ddfe6e8e0cce549904597dc7a3943d98396a5",
    "v0.1-key-deprecated.policy.json": "f3a9bdee2969c21ad0d9b939c6344d3d045a8f62f61577f128d1320ae581a162",
    "v0.1-key-deprecated.zip": "da2842df4014d8090ff88d5a171216c3fcd9eccc25a6691519d88c6172cbe242",
    "v0.1-key-revoked-later.policy.json": "f3a9bdee2969c21ad0d9b939c6344d3d045a8f62f61577f128d1320ae581a162",
    "v0.1-key-revoked-later.zip": "5eeb21bfa105861cd2f88f8d9c22fc4fbbe8658a35fcf294356608a76fe8b6d1",
    "v0.1-registry-root-replaced.policy.json": "f3a9bdee2969c21ad0d9b939c6344d3d045a8f62f61577f128d1320ae581a162",
    "v0.1-registry-root-replaced.zip": "60857589417d75b745f154f19b66e178a0402675da21fbeeb039f2c880ee07c3",
    "v0.2-announced.policy.json": "4f3afe3644fbeac479bb3d817021b6a77ab63918b13a81afbeb88a18fa4657f4",
    "v0.2-announced.zip": "455155e860f9283f5da2aa9da64b06560968ddf84f2837b4bc209f46a7d2332e",
    "v0.2-key-deprecated.policy.json": "f3a9bdee2969c21ad0d9b939c6344d3d045a8f62f61577f128d1320ae581a162",
    "v0.2-key-deprecated.zip": "361237fef726f7955baa171bdf6b9959472cf2154bf7b000a3a5178a66f9835f",
    "v0.2-key-revoked-later.policy.json": "f3a9bdee2969c21ad0d9b939c6344d3d045a8f62f61577f128d1320ae581a162",
    "v0.2-key-revoked-later.zip": "28487c32ff0a39e5e3f9c6b0795cc85e714768d9d07a125573a8555c0ce4a504",
    "v0.2-redacted-by-another-key.policy.json": "f3a9bdee2969c21ad0d9b939c6344d3d045a8f62f61577f128d1320ae581a162",
    "v0.2-redacted-by-another-key.zip": "b6ae7a772361df13f63644bee0fa1cf8e4a48835f5980523c4ce7edeb0195294",
    "v0.2-redacted.policy.json": "4f3afe3644fbeac479bb3d817021b6a77ab63918b13a81afbeb88a18fa4657f4",
    "v0.2-redacted.zip": "0b93eb48baff23433b8fb5964cf33749b055df526834e9d0be894af094df530d",
    "v0.2-registry-root-replaced.policy.json": "f3a9bdee2969c21ad0d9b939c6344d3d045a8f62f61577f128d1320ae581a162",
    "v0.2-registry-root-replaced.zip": "4bece76ae789ef675cc3c5cb854bd009432a7cd6e4efcdc574888969b6143897",
}

STATUS = {
    "v0.1-announced": None,
    "v0.1-key-deprecated": "deprecated",
    "v0.1-key-revoked-later": "revoked",
    "v0.1-registry-root-replaced": "active",
    "v0.2-announced": None,
    "v0.2-key-deprecated": "deprecated",
    "v0.2-key-revoked-later": "revoked",
    "v0.2-redacted": None,
    "v0.2-redacted-by-another-key": "active",
    "v0.2-registry-root-replaced": "active",
}
"""What the registry of each bundle says of its key."""


def _report(name: str, now: int = NOW) -> Report:
    read = read_bundle((BUNDLES / f"{name}.zip").read_bytes())
    policy = load_policy((BUNDLES / f"{name}.policy.json").read_bytes())
    return verify(read.files, policy=policy, now=now, problems=read.problems)


def test_golden_bundles_never_change() -> None:
    """The files are those that were written when that version came out, and none is forgotten."""
    assert {path.name: canon.sha256(path.read_bytes()) for path in BUNDLES.iterdir()} == DIGESTS


@pytest.mark.parametrize("name", STATUS)
def test_a_golden_bundle_is_accepted_strictly(name: str) -> None:
    """Under its policy each has no finding but what is withheld, and the key has the status of its registry."""
    report = _report(name)
    assert report.codes == ({"TEXT_WITHHELD"} if "redacted" in name else set())
    assert (report.withheld is not None) == ("redacted" in name)
    assert report.ok(strict=True)
    assert (report.key_status, report.witnessed_at) == (STATUS[name], SEEN_AT)


@pytest.mark.parametrize("name", STATUS)
def test_a_golden_bundle_is_accepted_for_ever(name: str) -> None:
    """Whatever the year, only the expiry of a registry is told."""
    assert _report(name, now=4_000_000_000).codes <= {"REGISTRY_EXPIRED", "TEXT_WITHHELD"}
