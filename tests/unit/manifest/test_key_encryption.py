"""Private keys at rest: encrypted, opened by their passphrase alone, and never lost on the way."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ragassay.errors import InputError
from ragassay.manifest import (
    PublicKey,
    Signer,
    generate_key,
    list_keys,
    load_key,
    load_public_key,
    load_run_key,
    store_key,
)
from ragassay.manifest.keyfile import encrypt_key
from ragassay.manifest.keyfolder import find_key, load_kind, retire_key
from ragassay.manifest.sign import KeyKind, WrongPassphrase, is_encrypted
from ragassay.records import Secret

PASSPHRASE = Secret("correct horse battery staple")
WRONG = Secret("hunter2-wrong")
SEED = bytes(range(32))


def unlock(name: str) -> Secret:
    """Give the passphrase of every key here."""
    return PASSPHRASE


def plain_pem(seed: bytes = SEED) -> bytes:
    """Return an unencrypted key file, as older versions wrote them."""
    return Ed25519PrivateKey.from_private_bytes(seed).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def plain_key(folder: Path, name: str = "run") -> Path:
    """Write an unencrypted key file, and no public one."""
    path = folder / f"{name}.pem"
    path.write_bytes(plain_pem())
    path.chmod(0o600)
    return path


def test_a_stored_key_is_encrypted(tmp_path: Path) -> None:
    """The file is an encrypted PKCS #8 PEM that OpenSSL's reader opens with the passphrase and with nothing else."""
    signer = Signer.from_seed(SEED, "run")
    path = store_key(signer, tmp_path, PASSPHRASE)
    data = path.read_bytes()
    assert data.startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n")
    assert is_encrypted(data)
    assert SEED not in data
    opened = serialization.load_pem_private_key(data, PASSPHRASE.reveal().encode())
    assert isinstance(opened, Ed25519PrivateKey)
    assert opened.private_bytes_raw() == SEED
    assert load_key(path, unlock).sign(b"m") == signer.sign(b"m")


def test_two_files_of_one_key_differ(tmp_path: Path) -> None:
    """Each encryption has a salt of its own, so that equal keys or passphrases do not show."""
    signer = Signer.from_seed(SEED, "run")
    assert signer.to_pem(PASSPHRASE) != signer.to_pem(PASSPHRASE)


@pytest.mark.parametrize("text", ["", "x" * 1001, "é" * 501], ids=["empty", "long", "long in bytes"])
def test_an_unusable_passphrase_is_refused_before_anything_is_written(tmp_path: Path, text: str) -> None:
    """An empty passphrase, or one that the format cannot take, makes no file."""
    with pytest.raises(InputError, match="passphrase"):
        store_key(generate_key("run"), tmp_path, Secret(text))
    assert list(tmp_path.iterdir()) == []
    store_key(generate_key("run"), tmp_path, PASSPHRASE)
    with pytest.raises(InputError, match="passphrase"):
        load_key(tmp_path / "run.pem", lambda name: Secret(text))


def test_a_passphrase_may_be_any_text(tmp_path: Path) -> None:
    """Letters of any script, spaces and bytes that are no text open what they closed."""
    for at, text in enumerate(("pässwörd 漢字", " \t", "x" * 1000, os.fsdecode(b"\xff\xfe"))):
        path = store_key(generate_key(f"k{at}"), tmp_path, Secret(text))
        assert load_key(path, lambda name, text=text: Secret(text)).name == f"k{at}"  # type: ignore[misc]


def test_a_wrong_passphrase_opens_nothing_and_changes_nothing(tmp_path: Path) -> None:
    """The error names the key, quotes neither passphrase nor file, and the file stays as it is."""
    path = store_key(generate_key("run"), tmp_path, PASSPHRASE)
    before = path.read_bytes()
    with pytest.raises(WrongPassphrase) as error:
        load_key(path, lambda name: WRONG)
    told = "".join(traceback.format_exception(error.value))
    assert "the key run does not open" in told
    assert not [word for word in (WRONG.reveal(), "correct horse", before.decode().splitlines()[1]) if word in told]
    assert path.read_bytes() == before


def test_an_encrypted_key_needs_a_passphrase(tmp_path: Path) -> None:
    """Without one, or with a source that has none, it is said; the source is asked by the key's name."""
    path = store_key(generate_key("prod-1"), tmp_path, PASSPHRASE)
    asked: list[str] = []
    with pytest.raises(InputError, match="no passphrase was given"):
        load_key(path)
    with pytest.raises(InputError, match="no passphrase was given"):
        load_key(path, asked.append)
    assert asked == ["prod-1"]


def test_a_key_of_an_older_version_is_still_loaded(tmp_path: Path) -> None:
    """An unencrypted key opens without anybody being asked, and is listed as what it is."""
    path = plain_key(tmp_path)

    def never(name: str) -> Secret:
        raise AssertionError(name)

    assert load_key(path, never).kid == Signer.from_seed(SEED, "run").kid
    assert load_run_key(tmp_path, unlock=never).name == "run"
    [entry] = list_keys(tmp_path)
    assert (entry.encrypted, entry.kid, entry.kind) == (False, Signer.from_seed(SEED, "run").kid, "run")


def test_a_key_is_encrypted_in_place(tmp_path: Path) -> None:
    """The same key, mode 0600, no file beside it; a second time nothing is done."""
    path = plain_key(tmp_path)
    assert encrypt_key(path, PASSPHRASE)
    encrypted = path.read_bytes()
    assert is_encrypted(encrypted)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.pem"]
    assert load_key(path, unlock).kid == Signer.from_seed(SEED, "run").kid
    assert not encrypt_key(path, Secret("another"))
    assert path.read_bytes() == encrypted


KILLED = """
import os, sys
from pathlib import Path
from ragassay.manifest import keyfile
from ragassay.records import Secret
at, path = sys.argv[1:]
def die(*args, **kwargs):
    os._exit(9)
def after(replace):
    def call(*args):
        replace(*args)
        os._exit(9)
    return call
if at == "while it is written":
    keyfile._write = lambda path, data: (path.write_bytes(data[:40]), die())
elif at == "before it is on the disk":
    os.fsync = die
elif at == "before it has its name":
    Path.replace = die
else:
    Path.replace = after(Path.replace)
keyfile.encrypt_key(Path(path), Secret("correct horse battery staple"))
"""


@pytest.mark.parametrize(
    "at", ["while it is written", "before it is on the disk", "before it has its name", "after it has its name"]
)
def test_a_kill_while_a_key_is_encrypted_loses_nothing(tmp_path: Path, at: str) -> None:
    """Whenever the process dies, the file is the old one or the new one whole, and doing it again ends well."""
    path = plain_key(tmp_path)
    died = subprocess.run([sys.executable, "-c", KILLED, at, str(path)], check=False)
    assert died.returncode == 9
    assert is_encrypted(path.read_bytes()) == (at == "after it has its name")
    kid = Signer.from_seed(SEED, "run").kid
    assert load_key(path, unlock).kid == kid
    encrypt_key(path, PASSPHRASE)
    assert is_encrypted(path.read_bytes())
    assert load_key(path, unlock).kid == kid
    assert [entry.name for entry in list_keys(tmp_path)] == ["run"]


def test_a_full_disk_while_a_key_is_encrypted_leaves_the_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says that nothing changed, and nothing of the attempt stays."""
    path = plain_key(tmp_path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="it was not changed"):
        encrypt_key(path, PASSPHRASE)
    assert path.read_bytes() == plain_pem()
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.pem"]


def test_a_file_system_without_hard_links_stores_keys_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a memory stick the file gets its name by a move, and an existing one is still not overwritten."""

    def none(*args: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", none)
    path = store_key(generate_key("root"), tmp_path, PASSPHRASE, "root")
    before = path.read_bytes()
    with pytest.raises(InputError, match="not overwritten"):
        store_key(generate_key("root"), tmp_path, PASSPHRASE, "root")
    assert path.read_bytes() == before
    assert {entry.name for entry in tmp_path.iterdir()} == {".gitignore", "root.pem", "root.pub.json"}


def test_a_public_file_of_another_key_is_noticed(tmp_path: Path) -> None:
    """Readers would pin a key that signs nothing: loading says so."""
    path = store_key(generate_key("run"), tmp_path, PASSPHRASE)
    (tmp_path / "run.pub.json").write_bytes(generate_key("run").public.jwk())
    with pytest.raises(InputError, match="restore the right one"):
        load_key(path, unlock)


def test_each_key_is_found_by_what_it_is_for(tmp_path: Path) -> None:
    """The public file tells the kind, the name does where it is lost; a log key never signs runs."""
    kinds: list[tuple[str, KeyKind]] = [("prod-1", "run"), ("tree", "log"), ("root", "root"), ("eve", "witness")]
    for name, kind in kinds:
        store_key(generate_key(name), tmp_path, PASSPHRASE, kind)
    for name, kind in kinds:
        assert load_kind(tmp_path, kind, unlock).name == name
        assert load_public_key(tmp_path / f"{name}.pub.json").kind == kind
    assert load_run_key(tmp_path, unlock=unlock).name == "prod-1"
    (tmp_path / "root.pub.json").unlink()
    assert find_key(tmp_path, "root") == tmp_path / "root.pem"
    [lost] = [entry for entry in list_keys(tmp_path) if entry.name == "root"]
    assert "keys init --name root" in (lost.problem or "")


@pytest.mark.parametrize("kind", ["run", "log", "root", "witness"])
def test_a_kind_that_is_not_there_says_how_to_make_one(tmp_path: Path, kind: KeyKind) -> None:
    """The message names the verb, and the option where one is needed."""
    with pytest.raises(InputError, match="ragassay keys init" + ("" if kind == "run" else f" --kind {kind}")):
        load_kind(tmp_path, kind)


def test_an_unknown_kind_in_a_public_file_is_no_kind() -> None:
    """A file of a later version, or of another tool, is read as a key of no known kind."""
    from ragassay.manifest.sign import parse_public_key

    public = generate_key("run").public
    data = public.jwk().replace(b'"kty"', b'"kind":"judge","kty"')
    assert parse_public_key(data, name="file") == PublicKey(x=public.x, name="run", kind=None)


def test_a_retired_key_signs_nothing_more(tmp_path: Path) -> None:
    """It moves out of the folder whole, its public file stays, and a second of its name is not overwritten."""
    path = store_key(generate_key("run"), tmp_path, PASSPHRASE)
    before = path.read_bytes()
    retired = retire_key(path)
    assert retired.read_bytes() == before
    assert not path.exists()
    assert (tmp_path / "run.pub.json").exists()
    with pytest.raises(InputError, match="keys init"):
        load_run_key(tmp_path, unlock=unlock)
    again = tmp_path / "run.pem"
    again.write_bytes(plain_pem())
    with pytest.raises(InputError, match="not overwritten"):
        retire_key(again)
    assert retired.read_bytes() == before
