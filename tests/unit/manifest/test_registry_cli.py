"""`ragassay keys registry | rotate | revoke`, the registry's file, and the memory of versions, from the outside."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ragassay.cli import root
from ragassay.cli.moments import moment_text, read_moment
from ragassay.cli.passphrase import run_signer
from ragassay.cli.seen import remember, seen_path, seen_version
from ragassay.errors import InputError, VerifyError
from ragassay.manifest import load_public_key
from ragassay.manifest.registry import sign_registry
from ragassay.manifest.registry_change import first_version, next_version, with_keys
from ragassay.manifest.registry_file import load_registry, store_registry
from ragassay.manifest.sign import WEAK_KEYS, Signer, encode_x, thumbprint
from ragassay.testing.signed_run import public_signer

ROOT, RUN = public_signer("root"), public_signer("run")


class Publisher:
    """A key folder, a root on its stick, and a registry."""

    def __init__(self, folder: Path) -> None:
        self.keys = folder / "keys"
        self.stick = folder / "stick"
        self.file = folder / "ragassay-keys.json"
        self.call("init", "--dir", self.keys)
        self.call("init", "--kind", "root", "--dir", self.stick)

    def call(self, *arguments: object) -> Result:
        """Run `ragassay keys`."""
        return CliRunner().invoke(root, ["keys", *map(str, arguments)])

    def change(self, verb: str, *arguments: object) -> Result:
        """Run a verb that changes the registry."""
        return self.call(verb, *arguments, "--root-dir", self.stick, "--file", self.file)

    def add(self, name: str = "run", *arguments: object) -> Result:
        """Add a public key of the folder."""
        return self.change("registry", "--add", self.keys / f"{name}.pub.json", *arguments)

    def kid(self, name: str) -> str:
        """Return the fingerprint of a key by its public file."""
        folder = self.stick if name.startswith("root") else self.keys
        return load_public_key(folder / f"{name}.pub.json").kid


@pytest.fixture
def publisher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publisher:
    """A publisher with a run key, a log key and a root, and a machine that has seen nothing yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Publisher(tmp_path)


def _refused(result: Result, message: str) -> None:
    assert isinstance(result.exception, InputError), result.output
    assert message in str(result.exception)


def test_a_registry_is_made_and_goes_up_a_version_each_time(publisher: Publisher) -> None:
    """The first has version 1 and the key that was named; calling again renews it, adding adds."""
    made = publisher.add()
    assert made.exit_code == 0
    assert publisher.kid("root") in made.output
    first = load_registry(publisher.file)
    assert (first.registry.version, [key.name for key in first.registry.keys]) == (1, ["run"])
    assert first.registry.expires - first.registry.issued == 365 * 86_400
    assert first.vouched_by(publisher.kid("root"))
    assert publisher.change("registry", "--expires", "30").exit_code == 0
    publisher.call("init", "--name", "prod-2", "--dir", publisher.keys)
    assert publisher.add("prod-2", "--from", "2026-01-01T00:00:00Z").exit_code == 0
    third = load_registry(publisher.file).registry
    assert (third.version, [key.name for key in third.keys]) == (3, ["run", "prod-2"])
    assert third.keys[1].valid_for.start == 1_767_225_600


def test_a_first_registry_needs_a_key_and_a_root(publisher: Publisher, tmp_path: Path) -> None:
    """Without a key to list, or without the root, nothing is written."""
    _refused(publisher.change("registry"), "--add")
    nowhere = publisher.call(
        "registry", "--add", publisher.keys / "run.pub.json", "--root-dir", tmp_path / "x", "--file", publisher.file
    )
    _refused(nowhere, "keys init --kind root")
    assert not publisher.file.exists()


def test_another_root_cannot_go_on(publisher: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The root is found by its fingerprint; one of the environment that is another is refused."""
    publisher.add()
    publisher.call("init", "--kind", "root", "--dir", tmp_path / "other")
    other = publisher.call("registry", "--root-dir", tmp_path / "other", "--file", publisher.file)
    _refused(other, f"the registry's root key {publisher.kid('root')} is not in")
    monkeypatch.setenv("RAGASSAY_ROOT_KEY", (tmp_path / "other" / "root.pem").read_text())
    _refused(publisher.change("registry"), "RAGASSAY_ROOT_KEY is the key")
    monkeypatch.setenv("RAGASSAY_ROOT_KEY", (publisher.stick / "root.pem").read_text())
    (publisher.stick / "root.pem").unlink()
    assert publisher.change("registry").exit_code == 0
    assert load_registry(publisher.file).registry.version == 2


@pytest.mark.parametrize("key", sorted(WEAK_KEYS), ids=lambda key: key.hex()[:8])
def test_a_weak_key_is_not_published(publisher: Publisher, tmp_path: Path, key: bytes) -> None:
    """Each of the 14 weak keys is refused as a file to add, under its own fingerprint or none."""
    for kid in ({}, {"kid": thumbprint(key)}):
        weak = tmp_path / "weak.pub.json"
        weak.write_text(json.dumps({"kty": "OKP", "crv": "Ed25519", "x": encode_x(key), **kid}))
        _refused(publisher.change("registry", "--add", weak), "KEY_WEAK")
    assert not publisher.file.exists()


def test_a_key_under_the_fingerprint_of_another_is_not_published(publisher: Publisher, tmp_path: Path) -> None:
    """A public file whose kid does not match, and a private key, are refused."""
    false = tmp_path / "false.pub.json"
    members = json.loads((publisher.keys / "run.pub.json").read_text())
    false.write_text(json.dumps({**members, "kid": publisher.kid("log")}))
    _refused(publisher.change("registry", "--add", false), "names the fingerprint")
    _refused(publisher.change("registry", "--add", publisher.keys / "run.pem"), "is a private key")
    _refused(publisher.change("registry", "--add", publisher.stick / "root.pub.json"), "is a root")


def test_a_key_is_rotated(publisher: Publisher) -> None:
    """The old key is deprecated and signs no more, the new one is active and does; once is enough."""
    publisher.add()
    before = time.time()
    _refused(publisher.change("rotate", "--dir", publisher.keys), "--new-name run-2")
    rotated = publisher.change("rotate", "--dir", publisher.keys, "--new-name", "run-2")
    assert rotated.exit_code == 0
    assert publisher.kid("run-2") in rotated.output
    old, new = load_registry(publisher.file).registry.keys
    assert (old.kid, old.status, new.kid, new.status) == (
        publisher.kid("run"),
        "deprecated",
        publisher.kid("run-2"),
        "active",
    )
    assert old.valid_for.end is not None
    assert before - 1 <= old.valid_for.end == new.valid_for.start <= time.time()
    assert run_signer(publisher.keys).kid == publisher.kid("run-2")
    assert (publisher.keys / "retired" / "run.pem").exists()
    assert (publisher.keys / "run.pub.json").exists()
    assert publisher.change("rotate", "--dir", publisher.keys, "--new-name", "run-2").exit_code == 0
    assert load_registry(publisher.file).registry.version == 2
    _refused(publisher.change("rotate", "--dir", publisher.keys, "--new-name", "run-3"), "run is deprecated already")
    assert not (publisher.keys / "run-3.pem").exists()


def test_a_rotation_that_was_cut_off_is_finished(publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new key that is there and not yet published, or published with the old one still in place, is taken up."""
    publisher.add()
    publisher.call("init", "--name", "run-2", "--dir", publisher.keys)
    made = publisher.kid("run-2")
    with monkeypatch.context() as patch:
        patch.setattr("ragassay.cli.key_registry.retire_key", lambda path: (_ for _ in ()).throw(KeyboardInterrupt))
        publisher.change("rotate", "--dir", publisher.keys, "--new-name", "run-2")
    assert (publisher.keys / "run.pem").exists()
    assert publisher.change("rotate", "--dir", publisher.keys, "--new-name", "run-2").exit_code == 0
    assert run_signer(publisher.keys).kid == made
    assert load_registry(publisher.file).registry.version == 2


def test_a_root_is_rotated_and_old_pins_follow(publisher: Publisher) -> None:
    """After two handovers whoever pinned the first root reaches the third, which signs the next version."""
    publisher.add()
    for name in ("root-2", "root-3"):
        assert publisher.change("rotate", "--root", "--new-name", name).exit_code == 0
    assert publisher.change("registry").exit_code == 0
    signed = load_registry(publisher.file)
    roots = [publisher.kid(name) for name in ("root", "root-2", "root-3")]
    assert signed.registry.version == 4
    assert list(signed.registry.roots()) == roots
    assert all(signed.vouched_by(kid) for kid in roots)
    assert sorted(path.name for path in publisher.stick.glob("*.pem")) == ["root-3.pem"]
    assert sorted(path.name for path in (publisher.stick / "retired").iterdir()) == ["root-2.pem", "root.pem"]


def test_a_key_is_revoked(publisher: Publisher) -> None:
    """By name or fingerprint, since a time in either form, with a reason; only an earlier time changes it."""
    publisher.add()
    revoked = publisher.change("revoke", "run", "--since", "2026-03-01T12:00:00Z", "--reason", "laptop lost")
    assert "since 2026-03-01T12:00:00Z" in revoked.output
    [key] = load_registry(publisher.file).registry.keys
    assert (key.status, key.invalid_since, key.reason) == ("revoked", 1_772_366_400, "laptop lost")
    _refused(publisher.change("revoke", key.kid, "--since", "1772366400"), "only an earlier time")
    assert publisher.change("revoke", key.kid, "--since", "1772366399").exit_code == 0
    _refused(publisher.change("revoke", "nobody", "--since", "0"), "no key in the registry")
    _refused(publisher.change("revoke", "run", "--since", "0", "--reason", "x" * 201), "cannot be signed")
    assert publisher.change("revoke", "run").exit_code == 2
    assert load_registry(publisher.file).registry.version == 3


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("1772366400", 1_772_366_400),
        ("1970-01-01T00:00:00Z", 0),
        ("2026-03-01T12:00:00Z", 1_772_366_400),
        ("2026-03-01T12:00:00+00:00", 1_772_366_400),
    ],
)
def test_a_moment_is_read(text: str, seconds: int) -> None:
    """RFC 3339 in UTC and Unix seconds give the same seconds, and are written as RFC 3339."""
    assert read_moment(text, "--since") == seconds
    assert read_moment(moment_text(seconds), "--since") == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "-1",
        "1.5",
        "1" * 13,
        "٣",
        "2026-03-01",
        "2026-03-01T12:00:00",
        "2026-03-01T12:00:00+02:00",
        "2026-02-30T12:00:00Z",
        "1969-12-31T23:59:59Z",
        "2026-03-01 12:00:00Z",
        "2026-03-01T12:00:00Z\n",
    ],
)
def test_what_is_no_moment_is_refused(text: str) -> None:
    """A time without its zone, of another zone or of no calendar could mean two moments, and is refused."""
    with pytest.raises(InputError, match="--since"):
        read_moment(text, "--since")


def test_moments_beyond_the_calendar_are_written_as_seconds() -> None:
    """A registry may name any second; printing it never fails."""
    assert moment_text(2**53 - 1) == str(2**53 - 1)


def test_show_says_whose_it_is(publisher: Publisher) -> None:
    """The pinned root gives 0, another 1, none is said; JSON says the same."""
    publisher.add()
    show = ("registry", "--show", publisher.file)
    unpinned = publisher.call(*show)
    assert unpinned.exit_code == 0
    assert "was not checked" in unpinned.output
    assert publisher.kid("run") in unpinned.output
    pinned = publisher.call(*show, "--root", publisher.kid("root"))
    assert (pinned.exit_code, "\nvouched by the root" in pinned.output) == (0, True)
    other = publisher.call(*show, "--root", ROOT.kid)
    assert (other.exit_code, "NOT vouched by" in other.output) == (1, True)
    told = json.loads(publisher.call(*show, "--root", ROOT.kid, "--json").stdout)
    assert (told["version"], told["vouched"]) == (1, False)
    _refused(publisher.change("registry", "--root", ROOT.kid), "--show")


def test_show_refuses_what_is_no_registry(publisher: Publisher, tmp_path: Path) -> None:
    """A damaged file is a no (exit code 1), a missing one a wrong input (2)."""
    publisher.add()
    data = publisher.file.read_bytes()
    publisher.file.write_bytes(data[:-9] + b"A" + data[-8:])
    for name, code in ((publisher.file, 1), (tmp_path / "absent", 2)):
        command = [sys.executable, "-m", "ragassay", "keys", "registry", "--show", str(name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, "Traceback" in done.stderr) == (code, False)


def test_show_notices_an_older_version(publisher: Publisher) -> None:
    """Who saw version 2 under a pinned root is told when version 1 comes back."""
    publisher.add()
    old = publisher.file.read_bytes()
    publisher.change("registry")
    show = ("registry", "--show", publisher.file, "--root", publisher.kid("root"))
    assert publisher.call(*show).exit_code == 0
    publisher.file.write_bytes(old)
    again = publisher.call(*show)
    assert (again.exit_code, "REGISTRY_ROLLBACK: version 2 was seen before" in again.output) == (1, True)


def test_show_keeps_hostile_names_off_the_terminal(publisher: Publisher, tmp_path: Path) -> None:
    """Names and reasons of somebody else's registry are written out where they would steer."""
    hostile = with_keys(
        first_version(ROOT, now=10, days=1), [type(RUN.public)(x=RUN.x, name="a\x1b[2J\u202eb")], start=10
    )
    path = tmp_path / "theirs.json"
    path.write_bytes(sign_registry(hostile, ROOT))
    shown = publisher.call("registry", "--show", path).output
    assert "a[U+001B][2J[U+202E]b" in shown
    assert "REGISTRY_EXPIRED" in shown


def test_list_says_what_the_registry_says(publisher: Publisher) -> None:
    """Each key's status stands beside it; a file that is none is told and the list stays."""
    publisher.call("init", "--name", "prod-2", "--dir", publisher.keys)
    publisher.add()
    listed = ("list", "--dir", publisher.keys, "--file", publisher.file)
    output = publisher.call(*listed).output
    assert f"{publisher.kid('run')}  encrypted, active" in output
    assert f"{publisher.kid('prod-2')}  encrypted, not in the registry" in output
    stick = publisher.call("list", "--dir", publisher.stick, "--file", publisher.file).output
    assert f"{publisher.kid('root')}  encrypted, root" in stick
    publisher.file.write_text("{}")
    damaged = publisher.call(*listed)
    assert damaged.exit_code == 0
    assert "is not used" in damaged.stderr
    assert publisher.kid("run") in damaged.stdout


def test_an_older_registry_is_not_written_over_a_newer(publisher: Publisher) -> None:
    """A restored backup cannot go on as if nothing had been published since; the remedy is named."""
    publisher.add()
    backup = publisher.file.read_bytes()
    publisher.change("registry")
    publisher.change("registry")
    publisher.file.write_bytes(backup)
    _refused(publisher.change("registry"), "version 3 of this root's registry was seen before")
    assert publisher.file.read_bytes() == backup
    publisher.file.unlink()
    _refused(publisher.add(), "--version 4")
    assert not publisher.file.exists()
    assert publisher.add("run", "--version", "4").exit_code == 0
    assert load_registry(publisher.file).registry.version == 4
    _refused(publisher.change("registry", "--version", "9"), "move it away first")


def test_the_file_goes_up_only(tmp_path: Path) -> None:
    """An older version, another of the same number and what is no registry leave the file as it is."""
    path = tmp_path / "deep" / "ragassay-keys.json"
    one = with_keys(first_version(ROOT, now=10, days=1), [RUN.public], start=10)
    two = next_version(one, now=11, days=1)
    store_registry(path, sign_registry(two, ROOT))
    store_registry(path, sign_registry(two, ROOT))
    before = path.read_bytes()
    fork = next_version(one, now=12, days=1)
    for registry, message in ((one, "older"), (fork, "a version is signed once")):
        with pytest.raises(InputError, match=message):
            store_registry(path, sign_registry(registry, ROOT))
    with pytest.raises(VerifyError):
        store_registry(path, b"{}")
    assert path.read_bytes() == before
    path.write_bytes(b"{}")
    with pytest.raises(VerifyError):
        store_registry(path, before)
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def _store(path: Path, seconds: int, told: multiprocessing.SimpleQueue[str]) -> None:
    one = with_keys(first_version(ROOT, now=10, days=1), [RUN.public], start=10)
    try:
        store_registry(path, sign_registry(next_version(one, now=10 + seconds, days=1), ROOT))
    except InputError as error:
        told.put(str(error))
    else:
        told.put("written")


def test_two_writers_of_one_version_do_not_fork(tmp_path: Path) -> None:
    """Of several processes that sign version 2 differently at once, exactly one writes it."""
    path = tmp_path / "ragassay-keys.json"
    context = multiprocessing.get_context("spawn")
    told: multiprocessing.SimpleQueue[str] = context.SimpleQueue()
    writers = [context.Process(target=_store, args=(path, k, told)) for k in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    answers = [told.get() for _ in writers]
    assert answers.count("written") == 1
    assert sum("a version is signed once" in answer for answer in answers) == 3


KILLED = """
import os, sys
from pathlib import Path
from ragassay.manifest.registry_file import store_registry
def die(*args):
    os._exit(9)
if sys.argv[1] == "fsync":
    os.fsync = die
else:
    Path.replace = die
store_registry(Path(sys.argv[2]), Path(sys.argv[3]).read_bytes())
"""


@pytest.mark.parametrize("at", ["fsync", "replace"])
def test_a_kill_while_a_registry_is_written_leaves_the_old(tmp_path: Path, at: str) -> None:
    """The file that is there stays whole, and the next writer is not in its way."""
    one = with_keys(first_version(ROOT, now=10, days=1), [RUN.public], start=10)
    path, new = tmp_path / "ragassay-keys.json", tmp_path / "new"
    store_registry(path, sign_registry(one, ROOT))
    new.write_bytes(sign_registry(next_version(one, now=11, days=1), ROOT))
    died = subprocess.run([sys.executable, "-c", KILLED, at, str(path), str(new)], check=False)
    assert died.returncode == 9
    assert load_registry(path).registry == one
    store_registry(path, new.read_bytes())
    assert load_registry(path).registry.version == 2


def test_a_version_that_was_seen_is_remembered_and_never_goes_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each root has its own; the file is where the user's state is."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert seen_version("a") is None
    for root_, version in (("a", 3), ("b", 1), ("a", 2)):
        remember(root_, version)
    assert (seen_version("a"), seen_version("b"), seen_version("c")) == (3, 1, None)
    assert json.loads((tmp_path / "ragassay" / "registry-seen.json").read_text()) == {"a": 3, "b": 1}
    assert [entry.name for entry in (tmp_path / "ragassay").iterdir()] == ["registry-seen.json"]


def test_where_the_memory_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """$XDG_STATE_HOME if it is absolute, else ~/.local/state."""
    monkeypatch.setenv("HOME", "/home/somebody")
    for value in ("", "relative"):
        monkeypatch.setenv("XDG_STATE_HOME", value)
        assert seen_path() == Path("/home/somebody/.local/state/ragassay/registry-seen.json")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert seen_path() == Path("/state/ragassay/registry-seen.json")


@pytest.mark.parametrize("damage", ["{", "[]", '{"a":"3"}', '{"a":1.5}', "[" * 5000, " " * (1 << 20) + "{}"])
def test_a_damaged_memory_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    """It counts as nothing seen, which is told on stderr, and the next version mends it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = tmp_path / "ragassay" / "registry-seen.json"
    path.parent.mkdir()
    path.write_text(damage)
    assert seen_version("a") is None
    assert "an older one will not be noticed" in capsys.readouterr().err
    remember("a", 4)
    assert seen_version("a") == 4


def test_a_home_that_cannot_be_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Verification goes on, and what it cannot do is told on stderr and not left out in silence."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    remember("a", 4)
    told = capsys.readouterr()
    assert "version 4 of this key registry is not remembered" in told.err
    assert told.out == ""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    remember("a", 4)
    assert "No space left on device" in capsys.readouterr().err
    assert list((tmp_path / "ragassay").iterdir()) == []


def test_a_revoked_key_is_put_aside_and_left_out_of_a_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its revocation the key signs nothing more, and a policy of the workspace's keys no longer trusts it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    publisher = Publisher(tmp_path)
    publisher.call("init", "--dir", publisher.keys, "--name", "run-2", "--kind", "run")
    assert "counts from now on" in publisher.add().output
    assert publisher.add("run-2").exit_code == 0
    revoked = publisher.change("revoke", publisher.kid("run"), "--since", "1790000000", "--dir", publisher.keys)
    assert revoked.exit_code == 0
    assert not (publisher.keys / "run.pem").exists()
    workspace = tmp_path / ".ragassay"
    publisher.keys.rename(tmp_path / "kept")
    workspace.mkdir()
    (tmp_path / "kept").rename(workspace / "keys")
    policy = CliRunner().invoke(root, ["log", "policy", "--workspace", str(workspace)])
    assert policy.exit_code == 0
    assert "left out, as the key registry revoked it: run " in policy.output
    keys = json.loads(policy.stdout)["keys"]
    assert [key["name"] for key in keys] == ["run-2"]


def test_a_fingerprint_that_begins_with_a_dash_is_no_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a key, made elsewhere, is revoked by its fingerprint; here none like it is made."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    publisher = Publisher(tmp_path)
    dashed = next(
        signer
        for signer in (Signer.from_seed(n.to_bytes(32), f"dashed-{n}") for n in range(1, 2000))
        if signer.kid.startswith("-")
    )
    (publisher.keys / "dashed.pub.json").write_bytes(dashed.public.jwk())
    assert publisher.add("dashed").exit_code == 0
    revoked = publisher.change("revoke", dashed.kid, "--since", "1790000000", "--dir", publisher.keys)
    assert revoked.exit_code == 0, revoked.output
    assert dashed.kid in revoked.output
