"""Golden runs of every version of the manifest: each verifies for ever, and not one of its bytes changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragassay import canon
from ragassay.manifest import decode_run, read_run
from ragassay.manifest.sign import parse_public_key
from ragassay.verify import PinnedKey, Report, verify

RUNS = Path(__file__).parent / "runs"

DIGESTS: dict[str, dict[str, str]] = {
    "v0.1-factual-consistency-1": {
        "benchmark.json": "ec4e4602d1a8338adc4713b56f9d79b2a3a24c8e651c1079c3e3e926f22f0ed1",
        "config.json": "57bacb7b6fee58b6dac3b6fb40ae09dcfd07e7a8521fb33df9ce035587e8a2ca",
        "outputs.jsonl": "1c47c199ece06b195a2a648809d2f13c1db2df18278ce1029d4b58eea3402366",
        "run.dsse.json": "598d35977fe2da0fb37dfbcfeecb972daec6056c5ac87f944f3457da5cc397f8",
        "telemetry.jsonl": "dbd5842e56d99a07c7382286c2af7b6e18fb34a7f4e1d3e91005bb0bad5b364f",
    },
    "v0.1-factual-consistency-2": {
        "benchmark.json": "ec4e4602d1a8338adc4713b56f9d79b2a3a24c8e651c1079c3e3e926f22f0ed1",
        "config.json": "4d8cbd8e1e4b777c2a77f30718e8bced6fc4db7b317d33ee1079fa58b43de0cb",
        "outputs.jsonl": "bb90ec2105368602dcb6a7fe14f9f55fdc09d6a83eb2a95b2ab67e330aa0dc4d",
        "run.dsse.json": "a8b2bba538692474e336f12dfe989c6b163381cad2cc94e0d76d52818443d99c",
        "telemetry.jsonl": "dbd5842e56d99a07c7382286c2af7b6e18fb34a7f4e1d3e91005bb0bad5b364f",
    },
    "v0.2-factual-consistency-1": {
        "benchmark.json": "ec4e4602d1a8338adc4713b56f9d79b2a3a24c8e651c1079c3e3e926f22f0ed1",
        "config.json": "57bacb7b6fee58b6dac3b6fb40ae09dcfd07e7a8521fb33df9ce035587e8a2ca",
        "outputs.jsonl": "1c47c199ece06b195a2a648809d2f13c1db2df18278ce1029d4b58eea3402366",
        "run.dsse.json": "d7e4af3988c3b77360c993d499ceae0b508395460c990b32d3917b06fdf68c02",
        "telemetry.jsonl": "dbd5842e56d99a07c7382286c2af7b6e18fb34a7f4e1d3e91005bb0bad5b364f",
    },
    "v0.2-factual-consistency-2": {
        "benchmark.json": "ec4e4602d1a8338adc4713b56f9d79b2a3a24c8e651c1079c3e3e926f22f0ed1",
        "config.json": "4d8cbd8e1e4b777c2a77f30718e8bced6fc4db7b317d33ee1079fa58b43de0cb",
        "outputs.jsonl": "bb90ec2105368602dcb6a7fe14f9f55fdc09d6a83eb2a95b2ab67e330aa0dc4d",
        "run.dsse.json": "40cf2c809f9f7ec8fe8c031b123d7437cebabe502febdd76d7f324e539935fec",
        "telemetry.jsonl": "dbd5842e56d99a07c7382286c2af7b6e18fb34a7f4e1d3e91005bb0bad5b364f",
    },
}

TEST_KEY = parse_public_key(
    b'{"crv":"Ed25519","kid":"869VEBsOU_xBYmBPd0q8BONBbSoPNGuZpMv7oczRi4c","kty":"OKP",'
    b'"name":"test-key-never-trust","x":"OcbLGdb2dB9F_um4GrRGqHjVe9iRi1rYVzeawVXT5eI"}',
    name="golden",
)
"""The key of a public seed: it says that the golden runs were not changed, and nothing else."""


def _report(name: str) -> Report:
    return verify(read_run(RUNS / name).files, policy=PinnedKey(TEST_KEY), now=4_000_000_000)


def test_no_golden_run_is_forgotten() -> None:
    """Every run of the folder is listed, and every listed run is there."""
    assert {path.name for path in RUNS.iterdir()} == set(DIGESTS)


@pytest.mark.parametrize("name", DIGESTS)
def test_golden_bytes_never_change(name: str) -> None:
    """The files are those that were written when that version came out."""
    assert {file.name: canon.sha256(file.read_bytes()) for file in (RUNS / name).iterdir()} == DIGESTS[name]


@pytest.mark.parametrize("name", DIGESTS)
def test_a_golden_run_verifies_for_ever(name: str) -> None:
    """Each is accepted under its key with the same warnings, whatever the year."""
    report = _report(name)
    assert report.ok()
    assert report.codes == {"NO_INTENT", "UNTIMED", "UNWITNESSED", "RETRIEVAL_FAILED", "MISSING_ITEMS"}


@pytest.mark.parametrize("version", ["v0.1", "v0.2"])
def test_golden_numbers_of_profile_1(version: str) -> None:
    """Right, hedged, wrong, empty and insufficient: 100 + 75 + 25 + 0 + 50 of 500; four failures have no score."""
    report = _report(f"{version}-factual-consistency-1")
    assert report.score is not None
    assert report.counts is not None
    assert (report.score.num, report.score.den, report.score.decimal) == (250, 500, "0.5000")
    assert (report.counts.asked, report.counts.scored, report.counts.insufficient) == (9, 5, 1)
    assert (report.counts.unjudged, report.counts.answer_failed) == (1, 1)
    assert (report.counts.retrieval_failed, report.counts.harness_failed) == (1, 1)


@pytest.mark.parametrize("version", ["v0.1", "v0.2"])
def test_golden_numbers_of_profile_2(version: str) -> None:
    """The abstention scores 0 and is counted beside the mean."""
    report = _report(f"{version}-factual-consistency-2")
    assert report.score is not None
    assert report.counts is not None
    assert (report.score.num, report.score.den, report.score.decimal) == (200, 500, "0.4000")
    assert (report.counts.abstained, report.counts.retrieval_empty, report.counts.insufficient) == (1, 1, 0)


@pytest.mark.parametrize("name", DIGESTS)
def test_golden_runs_decode(name: str) -> None:
    """Each reads as a document of nine rows with its configuration."""
    document = decode_run(read_run(RUNS / name).files)
    assert len(document.outputs) == len(document.telemetry) == len(document.benchmark.questions) == 9
    assert document.config is not None
