"""A run that lost texts before it was published is accepted strictly, once a witness has seen what was withheld."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from publish_lab import MAIL, cosigned, finding_of, ragassay, sign_off, write_job

from ragassay.manifest.registry import decode_registry


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board that was announced, witnessed, run, redacted and published, and then witnessed again."""
    folder = write_job(tmp_path_factory.mktemp("witnessed"))
    ragassay(folder, "run", "--announce")
    witness = cosigned(folder)
    ragassay(folder, "run")
    ragassay(folder, "log", "policy", "--witness", witness, "--out", "policy.json")
    ragassay(folder, "publish", "--redact", finding_of(folder), "--reason", "a private address", code=1)
    sign_off(folder / ".ragassay")
    ragassay(folder, "publish")
    return folder


def _strict(folder: Path, *bundles: str, code: int = 0) -> str:
    return ragassay(
        folder, "verify", *bundles, "--strict", "--policy", "policy.json", "--log", ".ragassay/log", code=code
    )


def _public(folder: Path) -> list[str]:
    return sorted(str(path) for path in (folder / ".ragassay" / "public").glob("*/run"))


def _zips(folder: Path) -> list[str]:
    return sorted(str(path) for path in (folder / "public-site" / "runs").glob("*.zip"))


def test_strict_says_yes_once_the_witness_has_seen_what_was_published(job: Path) -> None:
    """Before that it says no for the redaction alone; then yes, of the public folder and of the site's bundles."""
    assert len(_public(job)) == len(_zips(job)) == 9
    assert "UNWITNESSED" in _strict(job, *_public(job), code=1)
    private = sorted(str(path) for path in (job / ".ragassay" / "runs").iterdir())
    said = ragassay(job, "log", "cosign", ".ragassay/log", "--name", "witness.example/1", "--dir", "witness")
    assert "proofs beside its runs" in said
    assert "beside the public ones; `ragassay board --public` writes the public board with them" in said
    assert "9 of 9 runs strictly verified" in _strict(job, *private)
    said = _strict(job, *_public(job))
    assert "9 of 9 runs strictly verified" in said
    assert "because: a private address" in said
    ragassay(job, "board", "--public")
    assert "9 of 9 runs strictly verified" in _strict(job, *_zips(job))
    assert "9 of 9 runs strictly verified" in _strict(job, str(job / "public-site" / "runs"))
    assert "1 of 1 run strictly verified" in _strict(job, _zips(job)[0].removesuffix(".zip"))
    assert not [path for path in _zips(job) if MAIL.encode() in Path(path).read_bytes()]


def test_a_cosignature_that_comes_back_in_a_file_renews_the_public_proofs_too(job: Path, tmp_path: Path) -> None:
    """`log accept` does for a witness elsewhere what `log cosign` does for one on this machine."""
    witness = cosigned(job)
    for path in (job / ".ragassay" / "public").glob("*/run/*.tlog-proof"):
        path.unlink()
    _strict(job, *_public(job), code=1)
    ragassay(job, "log", "cosign", ".ragassay/log", "--name", "witness.example/1", "--dir", "witness", "--out", "seen")
    said = ragassay(job, "log", "accept", "seen", "--witness", witness)
    assert "beside the public ones" in said
    assert "9 of 9 runs strictly verified" in _strict(job, *_public(job))


def test_a_rotated_key_withholds_by_its_registry_and_the_newest_registry_goes_with_every_run(tmp_path: Path) -> None:
    """Seen by a witness before the rotation, runs of the old key are published with a redaction by the new one."""
    job = write_job(tmp_path / "job")
    ragassay(job, "keys", "init", "--kind", "root")
    ragassay(job, "keys", "registry", "--add", ".ragassay/keys/run.pub.json")
    ragassay(job, "run", "--announce")
    cosigned(job)
    ragassay(job, "run")
    witness = cosigned(job)
    time.sleep(1.1)  # a key is good until the second in which it was replaced
    ragassay(job, "publish", "--redact", finding_of(job), "--reason", "a private address", code=1)
    sign_off(job / ".ragassay")
    ragassay(job, "keys", "rotate", "--new-name", "run-2")
    assert "run key was replaced" in ragassay(job, "publish", code=2)
    assert _public(job) == []
    root = json.loads((job / ".ragassay" / "keys" / "root.pub.json").read_text(encoding="utf-8"))["kid"]
    trusted = {
        "roots": [root],
        "log": (job / ".ragassay" / "log" / "vkey").read_text(encoding="utf-8").strip(),
        "witnesses": {"quorum": 1, "keys": [witness]},
    }
    for place in ("policy.json", ".ragassay/policy.json"):
        (job / place).write_text(json.dumps(trusted), encoding="utf-8")
    assert "published 9 runs" in ragassay(job, "publish")
    cosigned(job)
    assert "9 of 9 runs strictly verified" in _strict(job, *_public(job))
    ragassay(job, "keys", "registry")
    assert "nothing new" in ragassay(job, "publish")
    versions = {
        decode_registry((Path(job) / path / "ragassay-keys.json").read_bytes()).registry.version
        for path in _public(job)
    }
    assert versions == {3}
    assert "9 of 9 runs strictly verified" in _strict(job, *_zips(job))
