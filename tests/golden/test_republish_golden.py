"""The golden republished run: it verifies for ever, and not one of its bytes changes."""

from __future__ import annotations

from pathlib import Path

from ragassay import canon
from ragassay.manifest import decode_run, read_run
from ragassay.testing.signed_run import public_signer
from ragassay.verify import PinnedKey, verify

RUN = Path(__file__).parent / "republished" / "v0.1-foreign"
DIGESTS = {
    "benchmark.foreign": "47b620692748ceecb95fb161083c90c3be38b5cb534b1357c4a71bc43adc4f67",
    "outputs.jsonl": "f674fc372f5cc97567247a2d710066578f36239091060a77decde89dfc0a8b26",
    "run.dsse.json": "1b30056a9ca3c91a7eaa330dc2cc061d0e4ab436162dc13b054c80acd98134e0",
}


def test_golden_bytes_never_change() -> None:
    """The files are those that were written when this form came out."""
    assert {file.name: canon.sha256(file.read_bytes()) for file in RUN.iterdir()} == DIGESTS


def test_it_is_accepted_plainly_and_refused_strictly() -> None:
    """Under its key it warns that it is republished and misses an item; strictly it is refused."""
    report = verify(read_run(RUN).files, policy=PinnedKey(public_signer().public), now=4_000_000_000)
    assert report.codes == {"REPUBLISHED", "NO_INTENT", "UNTIMED", "UNWITNESSED", "MISSING_ITEMS"}
    assert report.ok()
    assert not report.ok(strict=True)
    assert report.score is not None
    assert (report.score.num, report.score.den) == (233, 400)


def test_it_decodes() -> None:
    """It reads as a document of five rows without configuration and telemetry."""
    document = decode_run(read_run(RUN).files)
    assert len(document.outputs) == len(document.benchmark.questions) == 5
    assert (document.config, document.telemetry) == (None, ())
    assert document.predicate.provenance.source_kind == "republished"
