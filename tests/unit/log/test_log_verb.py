"""`ragassay log`: what its verbs print, write and refuse."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ragassay.cli import log as log_verb
from ragassay.errors import InputError, PluginError, RagassayError, VerifyError
from ragassay.manifest import MANIFEST, LogFolder, Signer, parse_vkey, read_log, store_key
from ragassay.manifest.files import INTENT, INTENT_PROOF, RUN_PROOF
from ragassay.manifest.note import note_key
from ragassay.manifest.proof import decode_proof
from ragassay.records import Secret
from ragassay.testing.logged_run import OTHER, OURS, Story, tell, void_pass
from ragassay.testing.signed_run import public_signer, signed_run
from ragassay.verify import AllOf, load_policy

LOG_SIGNER = public_signer("log")
PASSPHRASE = Secret("everybody knows it")


def entries_of(story: Story) -> list[bytes]:
    """The entries of the log that a story ends with."""
    files = tell(story, with_log=True).log
    assert files is not None
    return list(read_log(files).entries)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with a log of one announcement and three runs, the runs, and a witness key."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGASSAY_PASSPHRASE", PASSPHRASE.reveal())
    LogFolder(Path(".ragassay/log"), origin="example.org/log").append(entries_of(Story()), LOG_SIGNER)
    bundle = tell(Story())
    run = Path(".ragassay/runs/1")
    run.mkdir(parents=True)
    for name in (MANIFEST, INTENT):
        (run / name).write_bytes(bundle.files[name])
    store_key(Signer.from_seed(b"w" * 32, "witness"), Path("keys"), PASSPHRASE, "witness")
    return tmp_path


def call(*args: str) -> Result:
    """Run the verb; errors that are raised on purpose come out as they are."""
    result = CliRunner().invoke(log_verb.command, list(args))
    if isinstance(result.exception, RagassayError):
        raise result.exception
    return result


def cosign(*args: str, log: str = ".ragassay/log") -> Result:
    """Cosign as the witness of this folder."""
    return call("cosign", log, "--name", "w.example/1", "--dir", "keys", *args)


def vkey_of(result: Result) -> str:
    """The witness's key that `cosign` printed."""
    assert result.exit_code == 0, result.output
    return next(line.removeprefix("witness  ") for line in result.output.splitlines() if line.startswith("witness  "))


@pytest.fixture
def served(here: Path) -> Iterator[str]:
    """The address under which the log of this folder is served."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    handler = partial(Quiet, directory=str(here / ".ragassay" / "log"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_show_prints_what_a_log_is() -> None:
    """Origin, size, root, key, and that nobody has witnessed it yet; then who has."""
    text = call("show").output
    assert "origin   example.org/log\nsize     4\n" in text
    assert "signed   yes, by that key\nwitness  none yet\n" in text
    cosign()
    assert "witness  w.example/1: 4 entries at 20" in call("show").output
    shown = json.loads(call("show", "--json").output)
    assert (shown["size"], shown["signed"], shown["vkey"]) == (4, True, LogFolder(Path(".ragassay/log")).vkey)
    assert [(one["size"], one["name"]) for one in shown["witnessed"]] == [(4, "w.example/1")]


def test_audit_of_an_honest_log_says_yes() -> None:
    """Three of three, exit code 0."""
    result = call("audit")
    assert "intent 0 bm25: 3 of 3 published\n" in result.output
    assert result.exit_code == 0


def test_audit_counts_what_is_missing_and_says_no() -> None:
    """One of three, two MISSING with their run ids, exit code 1; the same as JSON."""
    LogFolder(Path("other"), origin="example.org/log").append(entries_of(Story(others=())), LOG_SIGNER)
    result = call("audit", "other")
    assert "intent 0 bm25: 1 of 3 published, 2 MISSING\n" in result.output
    assert "  pass 3 MISSING: run 00000000000000000000000000000003 is neither published nor void\n" in result.output
    assert result.exit_code == 1
    as_json = call("audit", "other", "--json")
    assert as_json.exit_code == 1
    found = json.loads(as_json.output)
    assert (found["ok"], found["logKey"]) == (False, "its own word")
    assert [one["state"] for one in found["rows"][0]["passes"]] == ["published", "missing", "missing"]


def test_audit_gives_reasons_and_lists_what_stands_apart() -> None:
    """Voids with reasons, runs without an announcement, what is not sound: each has its lines."""
    log = LogFolder(Path("other"), origin="example.org/log")
    log.append(entries_of(Story(others=(2,), after=void_pass(3))), LOG_SIGNER)
    log.append([signed_run(run_id="ff" * 16)[MANIFEST], b"\x1b[2Jhello"], LOG_SIGNER)
    result = call("audit", "other")
    assert "intent 0 bm25: 2 of 3 published, 1 void\n" in result.output
    assert "  pass 3 void (entry 3): the index was of another version\n" in result.output
    assert "runs without an announcement:\n  entry 4  bm25, pass 1 of 3, 0.5833, run ffff" in result.output
    assert "NOT sound:\n  entry 5  ENVELOPE_MALFORMED: " in result.output
    assert "\x1b" not in result.output
    assert result.exit_code == 1


def test_audit_with_a_pinned_signer_counts_that_one_alone() -> None:
    """What others announced and ran is listed and counts for nothing."""
    for name, signer in (("ours", OURS), ("other", OTHER)):
        Path(f"{name}.json").write_bytes(signer.public.jwk())
    assert "3 of 3 published" in call("audit", "--key", "ours.json").output
    result = call("audit", "--key", "other.json")
    assert "no announcement counts\nby other signers:\n  entry 0 by " in result.output
    assert "3 of 3 published" in call("audit", "--key", "other.json", "--key", "ours.json").output


def test_audit_with_another_log_key_says_no() -> None:
    """A pinned key has to have signed the log."""
    own = LogFolder(Path(".ragassay/log")).vkey
    assert "signed by the pinned key" in call("audit", "--vkey", own).output
    other = LogFolder(Path("other"), origin="example.org/log")
    other.append([b"x"], OTHER)
    with pytest.raises(VerifyError) as refused:
        call("audit", "--vkey", other.vkey)
    assert refused.value.code == "LOG_INCLUSION"


def test_a_served_log_is_audited_and_shown_like_its_folder(served: str) -> None:
    """An address gives the same lines as the folder, but for how the key was known."""
    assert call("audit", served).output == call("audit").output
    assert "size     4\n" in call("show", served).output


def test_a_served_log_with_an_entry_changed_is_refused(served: str) -> None:
    """The entries have to give the root of the checkpoint."""
    bundle = Path(".ragassay/log/tile/entries/000.p/4")
    bundle.write_bytes(bundle.read_bytes().replace(b"payload", b"paylaod", 1))
    with pytest.raises(VerifyError) as refused:
        call("audit", served)
    assert refused.value.code == "LOG_FORK"
    bundle.unlink()
    with pytest.raises(VerifyError) as refused:
        call("audit", served)
    assert refused.value.code == "LOG_FORK"


def test_a_place_without_a_log_says_so(served: str) -> None:
    """A folder, and an address, that hold none."""
    with pytest.raises(InputError, match="there is no log"):
        call("audit", "nowhere")
    with pytest.raises(InputError, match="there is no log at"):
        call("audit", f"{served}deeper")
    with pytest.raises(PluginError):
        call("audit", "http://127.0.0.1:9/")
    with pytest.raises(InputError):
        call("audit", "ftp://127.0.0.1/log")


def test_cosigning_a_folder_adds_the_cosignature_and_renews_the_proofs() -> None:
    """The published checkpoint carries it, and the run's proofs are under a checkpoint that this witness cosigned."""
    result = cosign()
    witness = parse_vkey(vkey_of(result))
    assert "renewed 2 proofs beside its runs" in result.output
    log = LogFolder(Path(".ragassay/log"))
    assert list(log.checkpoint().witnessed([witness])) == [witness]
    run = Path(".ragassay/runs/1")
    for statement, proof in ((INTENT, INTENT_PROOF), (MANIFEST, RUN_PROOF)):
        found = decode_proof((run / proof).read_bytes())
        assert found.includes((run / statement).read_bytes())
        assert list(found.signed().witnessed([witness])) == [witness]


def test_a_cosigned_proof_is_not_replaced_by_a_later_one() -> None:
    """The proof with the earliest time stays."""
    cosign()
    before = Path(".ragassay/runs/1", RUN_PROOF).read_bytes()
    LogFolder(Path(".ragassay/log")).append([b"more"], LOG_SIGNER)
    assert "renewed 0 proofs" in cosign().output
    assert Path(".ragassay/runs/1", RUN_PROOF).read_bytes() == before


def test_a_log_that_was_put_back_is_not_cosigned() -> None:
    """The witness remembers, though the owner's folder does not: LOG_FORK, and the state stays."""
    shutil.copytree(".ragassay/log", "backup")
    LogFolder(Path(".ragassay/log")).append([b"more"], LOG_SIGNER)
    cosign()
    state = Path("keys/w.example-1.state.json").read_bytes()
    for fork in (False, True):
        if fork:
            LogFolder(Path("backup")).append([b"another", b"history"], LOG_SIGNER)
        with pytest.raises(VerifyError) as refused:
            cosign("--out", "out.checkpoint", log="backup")
        assert refused.value.code == "LOG_FORK"
    assert Path("keys/w.example-1.state.json").read_bytes() == state
    assert not Path("out.checkpoint").exists()


def test_the_state_is_written_before_the_cosignature_is_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the state cannot be brought to the disk, nobody gets a cosignature."""

    def refuse(file: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", refuse)
        for args in ((), ("--out", "out.checkpoint")):
            with pytest.raises(InputError, match=r"state\.json cannot be written"):
                cosign(*args)
    assert not Path("out.checkpoint").exists()
    assert len(LogFolder(Path(".ragassay/log")).checkpoint().signatures) == 1


def test_a_state_that_cannot_be_read_is_not_taken_for_none() -> None:
    """A torn file, or something else in its place, stops the witness."""
    state = Path("keys/w.example-1.state.json")
    cosign()
    state.write_bytes(state.read_bytes()[:-9])
    with pytest.raises(InputError, match="state cannot be read"):
        cosign()
    state.unlink()
    state.mkdir()
    with pytest.raises(InputError, match="no plain file"):
        cosign()


def test_a_served_log_is_cosigned_and_the_owner_takes_it_back(served: str) -> None:
    """The first time the key is given; the file goes back to the owner, whose proofs are renewed."""
    with pytest.raises(InputError, match="--out"):
        cosign(log=served)
    with pytest.raises(InputError, match="not known to this witness yet"):
        cosign("--out", "out.checkpoint", log=served)
    own = LogFolder(Path(".ragassay/log")).vkey
    witness = vkey_of(cosign("--out", "out.checkpoint", "--vkey", own, log=served))
    assert len(LogFolder(Path(".ragassay/log")).checkpoint().signatures) == 1
    vkey_of(cosign("--out", "again.checkpoint", log=served))
    result = call("accept", "out.checkpoint", "--witness", witness)
    assert "w.example/1 saw it at 20" in result.output
    assert "renewed 2 proofs beside the runs of .ragassay\n" in result.output
    assert len(LogFolder(Path(".ragassay/log")).witnessed()) == 1


def test_accept_refuses_what_no_named_witness_signed() -> None:
    """The key of a log is no witness's; another witness's signature counts for nothing."""
    cosign("--out", "out.checkpoint")
    stranger = "w.example/2+" + vkey_of(cosign("--out", "out.checkpoint")).split("+", 1)[1]
    with pytest.raises(InputError):
        call("accept", "out.checkpoint", "--witness", stranger)
    with pytest.raises(InputError, match="key of a log"):
        call("accept", "out.checkpoint", "--witness", LogFolder(Path(".ragassay/log")).vkey)
    other = Signer.from_seed(b"v" * 32, "witness")
    with pytest.raises(VerifyError) as refused:
        call("accept", "out.checkpoint", "--witness", note_key("w.example/1", "witness", other.x).vkey())
    assert refused.value.code == "UNWITNESSED"
    with pytest.raises(InputError, match="no file"):
        call("accept", "nothing", "--witness", vkey_of(cosign("--out", "out.checkpoint")))


def test_cosigning_without_a_key_says_how_to_make_one_of_the_right_kind() -> None:
    """The kind and the name stand in the command that it gives."""
    with pytest.raises(InputError, match=r"`ragassay keys init --kind witness` makes one"):
        call("cosign", ".ragassay/log", "--name", "witness.example/1")
    with pytest.raises(InputError, match=r"`ragassay keys init --kind witness --name second` makes one"):
        call("cosign", ".ragassay/log", "--name", "witness.example/1", "--dir", "keys", "--key-name", "second")


def test_the_witness_key_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that is given as a variable needs no file."""
    signer = Signer.from_seed(b"e" * 32, "witness")
    monkeypatch.setenv("RAGASSAY_WITNESS_KEY", signer.to_pem(PASSPHRASE).decode())
    assert parse_vkey(vkey_of(cosign())).x == signer.x


def test_policy_pins_run_key_log_and_witness() -> None:
    """What is printed is a policy file of this workspace; without a witness it pins the run key alone and says so."""
    keys = Path(".ragassay/keys")
    store_key(Signer.from_seed(b"r" * 32, "run"), keys, PASSPHRASE)
    witness = vkey_of(cosign())
    printed = call("policy", "--witness", witness).output
    policy = json.loads(printed)
    assert policy["log"] == LogFolder(Path(".ragassay/log")).vkey
    assert policy["witnesses"] == {"keys": [witness], "quorum": 1}
    assert [key["kid"] for key in policy["keys"]] == [Signer.from_seed(b"r" * 32, "run").kid]
    assert isinstance(load_policy(printed.encode()), AllOf)
    assert call("policy", "--witness", witness, "--out", "policy.json").output == "wrote policy.json\n"
    assert Path("policy.json").read_text(encoding="utf-8") == printed
    alone = call("policy")
    assert "asks for no log" in alone.stderr
    assert set(json.loads(alone.stdout)) == {"keys"}
    with pytest.raises(InputError):
        call("policy", "--witness", witness, "--quorum", "2")


def test_policy_needs_a_run_key() -> None:
    """A workspace without a run key has nothing to pin."""
    with pytest.raises(InputError, match="no run key"):
        call("policy")


def test_void_needs_a_reason_and_a_log() -> None:
    """A voiding without a reason is wrong usage; where there is no log there is nothing to void."""
    assert call("void", "00" * 16).exit_code == 2
    with pytest.raises(InputError, match="there is no log"):
        call("void", "00" * 16, "--reason", "x", "--workspace", "elsewhere")
