"""`ragassay verify` with policies, roots, registries and logs, from the outside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ragassay.cli import root
from ragassay.cli.verify import verify_strictly
from ragassay.errors import InputError
from ragassay.manifest import PublicKey
from ragassay.manifest.bundle import write_bundle
from ragassay.testing.bundles import key_record, registry_of, rotated_registry
from ragassay.testing.logged_run import (
    KEY_POLICY,
    LOG_SIGNER,
    OTHER,
    OURS,
    PLAIN_KEY_POLICY,
    ROOT_POLICY,
    ROOT_SIGNER,
    Bundle,
    Story,
    tell,
)
from ragassay.testing.signed_run import signed_run


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def run(*arguments: str | Path) -> Result:
    """Call `ragassay verify` in this process."""
    return CliRunner().invoke(root, ["verify", *map(str, arguments)])


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files under a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def given(tmp_path: Path, bundle: Bundle, policy: bytes = KEY_POLICY) -> tuple[Path, Path, Path]:
    """Write run, policy and log, and return their places."""
    folder = write(tmp_path / "run", bundle.files)
    file = tmp_path / "policy.json"
    file.write_bytes(policy)
    return folder, file, write(tmp_path / "log", bundle.log or {})


def test_strict_says_yes(tmp_path: Path) -> None:
    """A run that was announced, logged and witnessed is accepted by a policy that names key, log and witness."""
    folder, policy, log = given(tmp_path, tell(Story(), with_log=True))
    result = run(folder, "--policy", policy, "--log", log, "--strict")
    assert result.exit_code == 0, result.output
    assert "announced as entry 0 of example.org/log" in result.output
    assert "intent 0 bm25: 3 of 3 published" in result.output
    assert "1 of 1 run strictly verified." in result.output


def test_times_of_witnesses_are_shown(tmp_path: Path) -> None:
    """The moments are those of the cosignatures, in UTC."""
    folder, policy, _ = given(tmp_path, tell(Story()))
    assert (
        "witnessed 2026-09-21T14:23:20Z, the announcement 2026-09-21T14:12:20Z"
        in run(folder, "--policy", policy).output
    )


def test_missing_passes_are_counted(tmp_path: Path) -> None:
    """From the log alone it is told how each announcement ended; under strict a missing pass refuses the run."""
    folder, policy, log = given(tmp_path, tell(Story(others=()), with_log=True))
    result = run(folder, "--policy", policy, "--log", log)
    assert result.exit_code == 0, result.output
    assert "intent 0 bm25: 1 of 3 published, 2 MISSING" in result.output
    assert run(folder, "--policy", policy, "--log", log, "--strict").exit_code == 1
    assert run(folder, "--policy", policy, "--strict").exit_code == 0


def test_a_torn_log_stands_against_every_run(tmp_path: Path) -> None:
    """A log that cannot be what was signed refuses the run."""
    folder, policy, log = given(tmp_path, tell(Story(), with_log=True))
    entries = next((log / "tile" / "entries").rglob("4"))
    entries.write_bytes(entries.read_bytes()[:-1] + b"x")
    result = run(folder, "--policy", policy, "--log", log)
    assert result.exit_code == 1
    assert "LOG_FORK" in result.output


def test_several_keys_are_alternatives(tmp_path: Path) -> None:
    """One of them is enough; a run by none of them is refused."""
    folder = write(tmp_path / "run", signed_run())
    ours, other = tmp_path / "ours.pub.json", tmp_path / "other.pub.json"
    ours.write_bytes(OURS.public.jwk())
    other.write_bytes(OTHER.public.jwk())
    assert run(folder, "--key", other, "--key", ours).exit_code == 0
    refused = run(folder, "--key", other)
    assert refused.exit_code == 1
    assert "no key that you pinned" in refused.output


def test_the_key_of_a_log_is_no_run_key(tmp_path: Path) -> None:
    """A public key file that says that it is a log's is refused as a pin."""
    path = tmp_path / "log.pub.json"
    path.write_bytes(PublicKey(x=LOG_SIGNER.x, name="log", kind="log").jwk())
    result = run(write(tmp_path / "run", signed_run()), "--key", path)
    assert isinstance(result.exception, InputError)
    assert "the key of a log" in str(result.exception)


def test_a_root_accepts_the_keys_of_its_registry(tmp_path: Path) -> None:
    """The registry stands beside the run or is named; the status of the key is printed."""
    registry = registry_of(key_record(), expires=4_000_000_000)
    beside = write(tmp_path / "beside", {**tell(Story()).files, "ragassay-keys.json": registry})
    apart = write(tmp_path / "apart", tell(Story()).files)
    named = tmp_path / "keys.json"
    named.write_bytes(registry)
    for arguments in ([beside], [apart, "--registry", named]):
        result = run(*arguments, "--root", ROOT_SIGNER.kid)
        assert result.exit_code == 0, result.output
        assert "active in the registry of the pinned root" in result.output
    assert "KEY_UNKNOWN" in run(apart, "--root", ROOT_SIGNER.kid).output


def test_an_older_registry_is_noticed(tmp_path: Path) -> None:
    """Once version 2 was seen under a root, version 1 is refused, also by a policy file."""
    folder = write(tmp_path / "run", tell(Story()).files)
    old, new, policy = tmp_path / "old.json", tmp_path / "new.json", tmp_path / "policy.json"
    old.write_bytes(registry_of(key_record()))
    new.write_bytes(rotated_registry(key_record()))
    policy.write_bytes(ROOT_POLICY)
    pinned: list[str | Path] = [folder, "--root", ROOT_SIGNER.kid, "--registry"]
    assert [run(*pinned, file).exit_code for file in (old, new, old)] == [0, 0, 1]
    assert "REGISTRY_ROLLBACK" in run(folder, "--policy", policy, "--registry", old).output


def test_a_registry_that_nobody_vouches_for_is_not_remembered(tmp_path: Path) -> None:
    """A high version by a stranger's root does not lock the honest registry out."""
    folder = write(tmp_path / "run", tell(Story()).files)
    honest, forged = tmp_path / "honest.json", tmp_path / "forged.json"
    honest.write_bytes(registry_of(key_record()))
    forged.write_bytes(registry_of(key_record(), root=OTHER, version=99))
    pinned: list[str | Path] = [folder, "--root", ROOT_SIGNER.kid, "--registry"]
    assert [run(*pinned, file).exit_code for file in (forged, honest)] == [1, 0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--policy", "p", "--root", ROOT_SIGNER.kid], "leave out --key and --root"),
        (["--policy", "absent.json"], "cannot be read"),
        (["--root", "short"], "no fingerprint"),
        (["--registry", "absent.json"], "cannot be read"),
        (["--log", "absent"], "absent"),
        (["--corpus", "docs"], "--rerun"),
    ],
)
def test_options_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    """Each ends as a wrong input that says which option and why."""
    monkeypatch.chdir(tmp_path)
    result = run(write(tmp_path / "run", signed_run()), *arguments)
    assert isinstance(result.exception, InputError)
    assert said in str(result.exception)


def test_a_bundle_is_a_run(tmp_path: Path) -> None:
    """A .zip is verified as its folder would be, with what stands beside the run in it."""
    bundle = tmp_path / "run.zip"
    bundle.write_bytes(write_bundle(tell(Story()).files))
    policy = tmp_path / "policy.json"
    policy.write_bytes(KEY_POLICY)
    assert run(bundle, "--policy", policy, "--strict").exit_code == 0


def test_json_tells_times_and_passes(tmp_path: Path) -> None:
    """The document holds what the lines say."""
    folder, policy, log = given(tmp_path, tell(Story(others=(2,)), with_log=True))
    (found,) = json.loads(run(folder, "--policy", policy, "--log", log, "--json").output)["runs"]
    assert found["announced"] == {
        "log": "example.org/log", "index": 0, "planned": 3, "witnessedAt": 1_789_999_940,
        "passes": {"published": [1, 2], "voided": [], "missing": [3]},
    }  # fmt: skip
    assert (found["witnessedAt"], found["pinned"], found["keyStatus"]) == (1_790_000_600, True, None)
    assert {"check": "re-execution", "why": "not asked for; --rerun does it"} in found["notMade"]


def test_other_verbs_verify_strictly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`verify_strictly` prints refused runs and a summary, and returns the exit code."""
    folder, policy, log = given(tmp_path, tell(Story(), with_log=True))
    plain = tmp_path / "plain.json"
    plain.write_bytes(PLAIN_KEY_POLICY)
    assert verify_strictly([folder], policy=policy, log=log, rerun=False) == 0
    assert "1 of 1 run strictly verified." in capsys.readouterr().out
    assert verify_strictly([folder], policy=plain, log=log, rerun=False) == 1
    assert "fail  UNWITNESSED" in capsys.readouterr().out
