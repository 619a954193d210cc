"""Key files on disk."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.manifest import (
    PublicKey,
    complete_key,
    generate_key,
    list_keys,
    load_key,
    load_public_key,
    load_run_key,
    store_key,
)
from ragassay.records import Secret

PASSPHRASE = Secret("correct horse battery staple")


def unlock(name: str) -> Secret:
    """Give the passphrase of every key here."""
    return PASSPHRASE


def test_a_key_is_stored_for_its_owner_alone(tmp_path: Path) -> None:
    """The private file has mode 0600, the folder 0700, nothing temporary stays, and git ignores it."""
    folder = tmp_path / "keys"
    signer = generate_key("prod-1")
    path = store_key(signer, folder, PASSPHRASE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {entry.name for entry in folder.iterdir()} == {".gitignore", "prod-1.pem", "prod-1.pub.json"}
    assert "*" in (folder / ".gitignore").read_text().splitlines()
    loaded = load_key(path, unlock)
    assert (loaded.kid, loaded.name) == (signer.kid, "prod-1")
    assert load_public_key(folder / "prod-1.pub.json") == PublicKey(x=signer.x, name="prod-1", kind="run")
    assert path.read_bytes().startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    """A second key of the same name is refused and the first stays."""
    path = store_key(generate_key("run"), tmp_path, PASSPHRASE)
    before = path.read_bytes()
    with pytest.raises(InputError, match="not overwritten"):
        store_key(generate_key("run"), tmp_path, PASSPHRASE)
    assert path.read_bytes() == before
    assert load_public_key(tmp_path / "run.pub.json").kid == load_key(path, unlock).kid


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_a_key_that_others_can_reach_is_refused(tmp_path: Path, mode: int) -> None:
    """A file that group or world can read or write is not loaded, and the message says what to do."""
    path = store_key(generate_key("run"), tmp_path, PASSPHRASE)
    path.chmod(mode)
    with pytest.raises(InputError, match="chmod 600"):
        load_key(path, unlock)


def test_a_key_that_is_not_there_names_the_verb(tmp_path: Path) -> None:
    """Without a key every way to load one says `ragassay keys init`."""
    with pytest.raises(InputError, match="ragassay keys init"):
        load_key(tmp_path / "run.pem", unlock)
    with pytest.raises(InputError, match="ragassay keys init"):
        load_run_key(tmp_path, unlock=unlock)


@pytest.mark.parametrize("name", ["", "../run", "a/b", ".hidden", "a" * 65, "run.pem", "x.pub.json", "a b", "é"])
def test_names_that_are_no_file_names_are_refused(name: str, tmp_path: Path) -> None:
    """A name never leaves the key folder and never collides with the files beside it."""
    with pytest.raises(InputError):
        generate_key(name)
    with pytest.raises(InputError):
        load_run_key(tmp_path, name, unlock)


def test_the_run_key_is_the_named_the_default_or_the_only_one(tmp_path: Path) -> None:
    """`run` is taken before others; several without it must be named."""
    first, second = generate_key("a"), generate_key("b")
    store_key(first, tmp_path, PASSPHRASE)
    assert load_run_key(tmp_path, unlock=unlock).kid == first.kid
    store_key(second, tmp_path, PASSPHRASE)
    with pytest.raises(InputError, match="several run keys"):
        load_run_key(tmp_path, unlock=unlock)
    assert load_run_key(tmp_path, "b", unlock).kid == second.kid
    default = generate_key()
    store_key(default, tmp_path, PASSPHRASE)
    assert load_run_key(tmp_path, unlock=unlock).kid == default.kid


def test_a_list_says_which_keys_cannot_be_used(tmp_path: Path) -> None:
    """A readable key shows its fingerprint, a broken one its problem."""
    good = generate_key("good")
    store_key(good, tmp_path, PASSPHRASE)
    bad = tmp_path / "bad.pem"
    bad.write_text("nothing")
    bad.chmod(0o600)
    found = {entry.name: entry for entry in list_keys(tmp_path)}
    assert found["good"].kid == good.kid
    assert found["bad"].kid is None
    assert "no PEM private key" in (found["bad"].problem or "")
    assert list_keys(tmp_path / "absent") == []


def test_a_folder_that_cannot_be_made_is_an_input_error(tmp_path: Path) -> None:
    """A file in the folder's place is told, not raised as the system's error."""
    (tmp_path / "keys").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        store_key(generate_key(), tmp_path / "keys", PASSPHRASE)


def test_a_public_key_lost_to_a_crash_is_written_again(tmp_path: Path) -> None:
    """A private key whose public file is not there gets it, and one that is there is left as it is."""
    signer = generate_key("run")
    store_key(signer, tmp_path, PASSPHRASE)
    (tmp_path / "run.pub.json").unlink()
    assert load_public_key(complete_key(signer, tmp_path)).kid == signer.kid
    (tmp_path / "run.pub.json").write_bytes(generate_key("run").public.jwk())
    assert load_public_key(complete_key(signer, tmp_path)).kid != signer.kid
