"""`ragassay keys init | list` and the sources of keys and passphrases, from the outside."""

from __future__ import annotations

import base64
import json
import os
import pty
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ragassay.cli import passphrase, root
from ragassay.cli.key_making import ensure_key
from ragassay.cli.passphrase import log_signer, run_signer, signer_named, signer_of
from ragassay.errors import InputError
from ragassay.manifest import Signer, load_public_key
from ragassay.manifest.sign import KeyKind, is_encrypted
from ragassay.records import Secret

SEED = bytes(range(32))
KID = Signer.from_seed(SEED, "run").kid
VARIABLE = "RAGASSAY_PASSPHRASE"
PHRASE = "correct horse battery staple"


@pytest.fixture(autouse=True)
def own_passphrase(monkeypatch: pytest.MonkeyPatch) -> None:
    """A known passphrase in the environment, and none typed yet."""
    monkeypatch.setenv(VARIABLE, PHRASE)
    monkeypatch.setattr(passphrase, "_prompted", {})


def keys(*arguments: object, typed: str | None = None) -> Result:
    """Run `ragassay keys` in this process."""
    return CliRunner().invoke(root, ["keys", *map(str, arguments)], input=typed)


def plain_pem() -> bytes:
    """Return an unencrypted key, as older versions wrote them."""
    return Ed25519PrivateKey.from_private_bytes(SEED).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def plain_key(folder: Path) -> Path:
    """Write a key folder as older versions left it: one unencrypted key with its public file."""
    folder.mkdir()
    path = folder / "run.pem"
    path.write_bytes(plain_pem())
    path.chmod(0o600)
    (folder / "run.pub.json").write_bytes(Signer.from_seed(SEED, "run").public.jwk())
    return path


def secrets_of(folder: Path) -> list[str]:
    """Return every line of every private key in a folder that must be printed nowhere, and the passphrase."""
    bodies = [line for path in folder.rglob("*.pem") for line in path.read_text().splitlines() if "-----" not in line]
    return [PHRASE, *bodies]


def test_init_makes_the_run_key_and_the_log_key(tmp_path: Path) -> None:
    """Two keys, encrypted, for their owner alone; a second time both are there already."""
    folder = tmp_path / "keys"
    first = json.loads(keys("init", "--dir", folder, "--json").stdout)
    assert [(key["name"], key["kind"], key["made"]) for key in first] == [("run", "run", True), ("log", "log", True)]
    for key in first:
        path = Path(key["path"])
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert is_encrypted(path.read_bytes())
        assert load_public_key(Path(key["public"])).kid == key["kid"]
    again = keys("init", "--dir", folder)
    assert again.exit_code == 0
    assert again.output.count("there is already") == 1
    assert first[0]["kid"] in again.output
    assert (run_signer(folder).kid, log_signer(folder).kid) == (first[0]["kid"], first[1]["kid"])


@pytest.mark.parametrize("kind", ["log", "root", "witness"])
def test_one_key_of_a_kind(tmp_path: Path, kind: KeyKind) -> None:
    """With --kind one key of that name is made, and found as what it is."""
    made = keys("init", "--kind", kind, "--dir", tmp_path)
    assert made.exit_code == 0
    assert [path.name for path in tmp_path.glob("*.pem")] == [f"{kind}.pem"]
    assert signer_of(tmp_path, kind).kid in made.output
    assert ("stays offline" in made.output) == (kind == "root")


def test_a_root_goes_anywhere_and_says_what_others_pin(tmp_path: Path) -> None:
    """The root is written to the folder that is named, and its fingerprint stands on a line of its own."""
    made = keys("init", "--kind", "root", "--dir", tmp_path / "media" / "stick")
    kid = load_public_key(tmp_path / "media" / "stick" / "root.pub.json").kid
    assert f"\n    {kid}\n" in made.output


def test_a_key_keeps_its_kind(tmp_path: Path) -> None:
    """A log key is not taken for a run key because of its name, nor made into one."""
    keys("init", "--kind", "log", "--name", "tree", "--dir", tmp_path)
    refused = keys("init", "--kind", "run", "--name", "tree", "--dir", tmp_path)
    assert isinstance(refused.exception, InputError)
    assert "is a log key and not a run key" in str(refused.exception)
    assert keys("init", "--name", "tree", "--dir", tmp_path).exit_code == 0


def test_init_encrypts_a_key_of_an_older_version(tmp_path: Path) -> None:
    """The list says that it is not encrypted and how it will be; afterwards it is, with the same fingerprint."""
    folder = tmp_path / "keys"
    path = plain_key(folder)
    before = keys("list", "--dir", folder).output
    assert f"{KID}  not encrypted" in before
    assert "`ragassay keys init --name run`" in before
    done = keys("init", "--dir", folder)
    assert f"encrypted {path} (run key)" in done.output
    assert is_encrypted(path.read_bytes())
    assert signer_named(folder, "run").kid == KID
    listed = json.loads(keys("list", "--dir", folder, "--json").stdout)
    assert [(key["name"], key["encrypted"]) for key in listed] == [("log", True), ("run", True)]


def test_an_older_key_signs_without_a_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has an unencrypted key goes on as before."""
    plain_key(tmp_path / "keys")
    monkeypatch.setenv(VARIABLE, "")
    assert run_signer(tmp_path / "keys").kid == KID
    monkeypatch.delenv(VARIABLE)
    assert run_signer(tmp_path / "keys").kid == KID


@pytest.mark.parametrize("value", [None, ""], ids=["unset", "empty"])
def test_without_a_passphrase_and_a_terminal_the_variable_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    """Nothing is made and nothing is opened; the message says which variable to set."""
    keys("init", "--dir", tmp_path / "there")
    monkeypatch.delenv(VARIABLE) if value is None else monkeypatch.setenv(VARIABLE, value)
    refused = keys("init", "--dir", tmp_path / "new")
    assert isinstance(refused.exception, InputError)
    assert VARIABLE in str(refused.exception)
    assert not list((tmp_path / "new").glob("*.pem"))
    with pytest.raises(InputError, match=VARIABLE):
        run_signer(tmp_path / "there")


def test_a_wrong_passphrase_names_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable is named, its value is not, and the key file stays as it is."""
    keys("init", "--dir", tmp_path)
    before = (tmp_path / "run.pem").read_bytes()
    monkeypatch.setenv(VARIABLE, "hunter2-wrong")
    with pytest.raises(InputError, match=VARIABLE) as error:
        run_signer(tmp_path)
    assert "hunter2" not in str(error.value)
    assert (tmp_path / "run.pem").read_bytes() == before


def test_a_root_may_have_a_passphrase_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """RAGASSAY_ROOT_PASSPHRASE is taken for root keys alone."""
    monkeypatch.setenv("RAGASSAY_ROOT_PASSPHRASE", "another")
    keys("init", "--dir", tmp_path)
    keys("init", "--kind", "root", "--dir", tmp_path)
    kid = signer_of(tmp_path, "root").kid
    monkeypatch.delenv("RAGASSAY_ROOT_PASSPHRASE")
    with pytest.raises(InputError, match="does not open"):
        signer_of(tmp_path, "root")
    monkeypatch.setenv(VARIABLE, "another")
    assert signer_of(tmp_path, "root").kid == kid


def _attended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr(passphrase, "_attended", lambda: True)


def test_a_terminal_is_asked_twice_for_a_new_key_and_once_for_an_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was typed differently is asked again; run and log key of one command take one passphrase."""
    _attended(monkeypatch)
    made = keys("init", "--dir", tmp_path, typed="one\ntwo\nthree\nthree\n")
    assert made.exit_code == 0, made.output
    assert {path.name for path in tmp_path.glob("*.pem")} == {"run.pem", "log.pem"}
    assert not [word for word in ("one", "two", "three") if f"{word}\n" in made.output]
    monkeypatch.setattr(passphrase, "_prompted", {})
    (tmp_path / "run.pub.json").unlink()
    opened = keys("init", "--dir", tmp_path, typed="three\n")
    assert opened.exit_code == 0, opened.output
    assert (tmp_path / "run.pub.json").exists()
    (tmp_path / "run.pub.json").unlink()
    monkeypatch.setattr(passphrase, "_prompted", {})
    refused = keys("init", "--dir", tmp_path, typed="wrong\n")
    assert isinstance(refused.exception, InputError)


def test_what_was_typed_before_is_tried_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key with another passphrase is asked for; one with the same is not."""
    keys("init", "--dir", tmp_path)
    monkeypatch.setenv(VARIABLE, "another")
    keys("init", "--kind", "witness", "--dir", tmp_path)
    _attended(monkeypatch)
    typed = iter([PHRASE, "another"])
    monkeypatch.setattr("click.prompt", lambda *args, **options: next(typed))
    for kind in ("run", "log", "run", "witness", "witness"):
        assert signer_of(tmp_path, kind).name == kind
    assert list(typed) == []


def test_a_real_terminal_shows_nothing_of_what_is_typed(tmp_path: Path) -> None:
    """On a terminal the passphrase is read without echo, and the prompt does not mix with the JSON on stdout."""
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ragassay", "keys", "init", "--kind", "root", "--dir", str(tmp_path), "--json"]
    with subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, env=environment, start_new_session=True
    ) as running:
        os.close(theirs)
        shown = _type_when_asked(ours, [PHRASE, PHRASE])
        assert running.stdout is not None
        document = json.loads(running.stdout.read())
    os.close(ours)
    assert document[0]["made"]
    assert PHRASE.encode() not in shown
    assert shown.count(b"assphrase") >= 1


def _type_when_asked(terminal: int, answers: list[str]) -> bytes:
    shown = b""
    for answer in answers:
        while not shown.rstrip(b" ").endswith(b":"):
            shown += os.read(terminal, 4096)
        os.write(terminal, answer.encode() + b"\n")
        shown += b"|"
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other side is closed
            return shown
        if not part:
            return shown
        shown += part


@pytest.mark.parametrize("kind", ["run", "log", "root", "witness"])
@pytest.mark.parametrize("form", ["pem", "base64", "base64 in lines", "encrypted"])
def test_a_key_of_the_environment_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: KeyKind, form: str
) -> None:
    """It is taken before the folder's, as PEM or as base64 of it, encrypted or not, and no private file is written."""
    keys("init", "--kind", kind, "--dir", tmp_path)
    pem = Signer.from_seed(SEED, "x").to_pem(Secret(PHRASE)) if form == "encrypted" else plain_pem()
    text = {"base64": base64.b64encode(pem), "base64 in lines": base64.encodebytes(pem)}.get(form, pem).decode()
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.pem")}
    monkeypatch.setenv(f"RAGASSAY_{kind.upper()}_KEY", text)
    signer = signer_of(tmp_path, kind)
    assert (signer.kid, signer.name) == (KID, kind)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.pem")} == before
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert pem.splitlines()[1] not in written


def test_the_public_half_of_a_key_of_the_environment_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The board knows its own runs by it; it takes no other key's file, and no private file is made."""
    keys("init", "--dir", tmp_path)
    own = (tmp_path / "run.pub.json").read_bytes()
    monkeypatch.setenv("RAGASSAY_RUN_KEY", plain_pem().decode())
    ready = ensure_key(tmp_path, "run")
    assert (ready.kid, ready.path, ready.made) == (KID, None, False)
    public = load_public_key(ready.public)
    assert (public.kid, public.kind) == (KID, "run")
    assert (tmp_path / "run.pub.json").read_bytes() == own
    empty = tmp_path / "empty"
    run_signer(empty)
    assert [path.name for path in empty.iterdir()] == [ready.public.name]


@pytest.mark.parametrize(
    "value",
    ["secret-but-no-key", "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----", "c2VjcmV0", "é" * 40],
    ids=["words", "broken pem", "base64 of something", "no ascii"],
)
def test_a_broken_key_of_the_environment_is_named_and_not_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """The message names the variable; the folder's key does not step in."""
    keys("init", "--dir", tmp_path)
    monkeypatch.setenv("RAGASSAY_RUN_KEY", value)
    with pytest.raises(InputError, match="RAGASSAY_RUN_KEY") as error:
        run_signer(tmp_path)
    assert not [part for part in ("secret", "c2Vj", "éé") if part in str(error.value)]


def test_no_output_holds_a_secret(tmp_path: Path) -> None:
    """Neither the lines of a private key nor the passphrase stand in what any command prints, good or refused."""
    folder = tmp_path / "keys"
    registry = ("--root-dir", folder, "--file", tmp_path / "registry.json")
    commands: list[tuple[object, ...]] = [
        ("init", "--dir", folder),
        ("init", "--dir", folder, "--json"),
        ("init", "--kind", "root", "--dir", folder),
        ("list", "--dir", folder),
        ("list", "--dir", folder, "--json"),
        ("registry", *registry, "--add", folder / "run.pub.json"),
        ("registry", *registry, "--add", folder / "run.pem"),
        ("registry", "--show", folder / "run.pem"),
        ("registry", "--show", tmp_path / "registry.json", "--json"),
        ("rotate", *registry, "--dir", folder, "--new-name", "run-2"),
        ("rotate", *registry, "--dir", folder, "--new-name", "run-2"),
        ("rotate", *registry, "--root", "--new-name", "root-2"),
        ("revoke", "run", *registry, "--since", "0"),
    ]
    results = [keys(*command) for command in commands]
    told = "".join(result.output + str(result.exception or "") for result in results)
    assert [result.exit_code for result in results] == [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    assert len(secrets_of(folder)) > 10
    assert not [secret for secret in secrets_of(folder) if secret in told]
