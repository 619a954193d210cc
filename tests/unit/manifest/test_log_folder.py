"""The log in a folder: what append, find, prove and accept promise, and what is refused."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from ragassay.errors import InputError, VerifyError
from ragassay.manifest.checkpoint import Checkpoint, cosign, parse_checkpoint, sign_checkpoint
from ragassay.manifest.log_folder import LogFolder
from ragassay.manifest.note import note_key, parse_vkey
from ragassay.manifest.proof import decode_proof
from ragassay.manifest.tiles import MAX_ENTRY_BYTES, bundles_of, hash_tiles_of, read_log
from ragassay.testing.signed_run import public_signer

SIGNER, OTHER, FIRST, SECOND = (public_signer(name) for name in ("log", "another", "witness 1", "witness 2"))
W1, W2 = note_key("w.example/1", "witness", FIRST.x), note_key("w.example/2", "witness", SECOND.x)
TIME = 1_790_000_000


def entries(count: int, start: int = 0) -> list[bytes]:
    """Entries of different lengths."""
    return [f"entry {i}".encode() * (i % 7 + 1) for i in range(start, start + count)]


def served(folder: Path) -> dict[str, bytes]:
    """The files of a log folder that a web server would serve, by path."""
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def log(tmp_path: Path) -> LogFolder:
    """A log of five entries."""
    found = LogFolder(tmp_path / "log")
    found.append(entries(5), SIGNER)
    return found


def test_entries_get_indexes_in_order_and_keep_them(log: LogFolder) -> None:
    """New entries follow, known bytes give their old index, also twice within one call."""
    assert log.append([*entries(2, 4), b"new", b"new", *entries(1)], SIGNER) == [4, 5, 6, 6, 0]
    assert log.append([], SIGNER) == []
    assert [log.find(entry) for entry in (*entries(6), b"new", b"never")] == [0, 1, 2, 3, 4, 5, 6, None]
    assert log.view().entries == (*entries(6), b"new")


def test_appending_what_is_there_signs_nothing_new(log: LogFolder) -> None:
    """The checkpoint stays byte for byte where no entry is new."""
    before = served(log.path)
    assert log.append(entries(5), SIGNER) == [0, 1, 2, 3, 4]
    assert served(log.path) == before


def test_the_folder_is_a_log_that_can_be_served(log: LogFolder) -> None:
    """Its files are the checkpoint, the tiles of the layout, and the key; they read as a log signed by that key."""
    files = served(log.path)
    assert set(files) == {"checkpoint", "vkey", "tile/0/000.p/5", "tile/entries/000.p/5"}
    view = read_log(files)
    assert view.checkpoint.signed_by(parse_vkey(log.vkey))
    assert log.origin == f"ragassay.dev/log/{SIGNER.kid[:16]}"
    assert files["vkey"].decode() == log.vkey + "\n"


def test_full_tiles_replace_their_partial_versions(log: LogFolder) -> None:
    """Once a tile is full its partial versions go; those of the last tile stay for readers of older checkpoints."""
    for size in (200, 255, 256, 300, 513):
        log.append(entries(size), SIGNER)
        files = set(served(log.path))
        assert {*bundles_of(size), *hash_tiles_of(size)} <= files
    assert [path for path in files if path.startswith("tile/0/000")] == ["tile/0/000"]
    assert [path for path in files if path.startswith("tile/entries/001")] == ["tile/entries/001"]
    assert log.view().entries == tuple(entries(513))


def test_every_entry_has_a_proof(log: LogFolder) -> None:
    """Each proof holds for its entry under the published checkpoint; an index that is not there has none."""
    log.append(entries(300), SIGNER)
    for index in (0, 4, 5, 255, 256, 299):
        proof = decode_proof(log.prove(index))
        assert proof.includes(entries(300)[index])
        assert proof.signed().size == 300
    for index in (300, -1):
        with pytest.raises(InputError, match="300 entries and no entry"):
            log.prove(index)


def test_an_origin_is_chosen_once(tmp_path: Path) -> None:
    """The first append fixes the origin; another one later is refused, the same or none is taken."""
    log = LogFolder(tmp_path / "log", origin="board.example/log")
    log.append([b"a"], SIGNER)
    assert LogFolder(tmp_path / "log").append([b"b"], SIGNER) == [1]
    assert LogFolder(tmp_path / "log", origin="board.example/log").append([b"c"], SIGNER) == [2]
    assert log.origin == "board.example/log"
    with pytest.raises(InputError, match="cannot become 'other"):
        LogFolder(tmp_path / "log", origin="other.example").append([b"d"], SIGNER)
    with pytest.raises(InputError, match="cannot be the origin"):
        LogFolder(tmp_path / "new", origin="a log").append([b"d"], SIGNER)


def test_a_folder_without_a_log_has_nothing(tmp_path: Path) -> None:
    """Nothing is found in it, and what needs a log says how one begins."""
    log = LogFolder(tmp_path / "log")
    assert not log.exists
    assert log.find(b"a") is None
    assert log.witnessed() == []
    for use in (log.view, lambda: log.origin, lambda: log.prove(0), log.checkpoint):
        with pytest.raises(InputError, match="there is no log"):
            use()
    with pytest.raises(InputError, match="vkey is missing"):
        _ = log.vkey


def test_an_entry_over_65535_bytes_is_refused_and_one_of_65535_is_not(log: LogFolder) -> None:
    """The limit of the layout is told before anything is signed."""
    before = served(log.path)
    with pytest.raises(InputError, match="entry 1 has 65536 bytes"):
        log.append([b"a", b"x" * (MAX_ENTRY_BYTES + 1)], SIGNER)
    assert served(log.path) == before
    assert log.append([b"x" * MAX_ENTRY_BYTES, b""], SIGNER) == [5, 6]
    assert log.view().entries[5:] == (b"x" * MAX_ENTRY_BYTES, b"")


def test_another_key_does_not_append(log: LogFolder) -> None:
    """A log has one key; what another would sign nobody who pinned the log would believe."""
    with pytest.raises(InputError, match="not signed by the key"):
        log.append([b"a"], OTHER)
    assert log.view().checkpoint.size == 5


def test_a_cosigned_checkpoint_is_kept_and_used_for_proofs(log: LogFolder) -> None:
    """The earliest cosigned checkpoint that covers an entry is the one of its proof, since it proves its time."""
    assert log.accept(cosign(log.checkpoint().data, FIRST, W1.name, TIME), [W1, W2]) == {W1: TIME}
    assert log.checkpoint().witnessed([W1]) == {W1: TIME}
    log.append(entries(9), SIGNER)
    log.accept(cosign(log.checkpoint().data, FIRST, W1.name, TIME + 60), [W1])
    log.append(entries(12), SIGNER)
    sizes = [decode_proof(log.prove(index)).signed().size for index in range(12)]
    assert sizes == [5] * 5 + [9] * 4 + [12] * 3
    assert [decode_proof(log.prove(index)).signed().witnessed([W1]) for index in (0, 5, 9)] == [
        {W1: TIME},
        {W1: TIME + 60},
        {},
    ]
    assert [one.size for one in log.witnessed()] == [5, 9]
    assert all(decode_proof(log.prove(index)).includes(entry) for index, entry in enumerate(entries(12)))


def test_a_proof_can_ask_for_more_witnesses(log: LogFolder) -> None:
    """With a quorum of two the earliest checkpoint that two cosigned is taken, not the earliest of one."""
    log.accept(cosign(log.checkpoint().data, FIRST, W1.name, TIME), [W1])
    log.append(entries(8), SIGNER)
    both = cosign(cosign(log.checkpoint().data, FIRST, W1.name, TIME + 5), SECOND, W2.name, TIME + 6)
    assert log.accept(both, [W1, W2]) == {W1: TIME + 5, W2: TIME + 6}
    assert decode_proof(log.prove(0)).signed().size == 5
    assert decode_proof(log.prove(0, quorum=2)).signed().size == 8
    assert decode_proof(log.prove(0, quorum=3)).signed().data == log.checkpoint().data


def test_cosignatures_of_one_state_are_gathered_and_the_earliest_time_stays(log: LogFolder) -> None:
    """A second witness adds to the first; the same witness again, later, takes nothing from its first time."""
    plain = log.checkpoint().data
    log.accept(cosign(plain, FIRST, W1.name, TIME), [W1])
    log.accept(cosign(plain, SECOND, W2.name, TIME + 9), [W2])
    log.accept(cosign(plain, FIRST, W1.name, TIME + 20), [W1])
    for signed in (*log.witnessed(), log.checkpoint()):
        assert signed.witnessed([W1, W2]) == {W1: TIME, W2: TIME + 9}


def test_signatures_by_unnamed_keys_are_not_taken_in(log: LogFolder) -> None:
    """Of a checkpoint with several cosignatures those of the named witnesses are kept."""
    data = cosign(cosign(log.checkpoint().data, FIRST, W1.name, TIME), SECOND, W2.name, TIME)
    log.accept(data, [W2])
    assert [one.name for one in log.witnessed()[0].signatures] == [log.origin, W2.name]


def test_a_checkpoint_that_this_log_never_had_is_not_accepted(log: LogFolder) -> None:
    """Of another log, of another history of this one, or cosigned by nobody named: refused by reason code."""
    own = log.checkpoint()

    def refused(data: bytes) -> str:
        with pytest.raises(VerifyError) as error:
            log.accept(data, [W1])
        return error.value.code

    forged = sign_checkpoint(Checkpoint(own.origin, 5, bytes(32)), SIGNER)
    larger = sign_checkpoint(Checkpoint(own.origin, 6, own.root), SIGNER)
    foreign = sign_checkpoint(own.checkpoint, OTHER)
    assert refused(cosign(forged, FIRST, W1.name, TIME)) == "LOG_FORK"
    assert refused(cosign(larger, FIRST, W1.name, TIME)) == "LOG_FORK"
    assert refused(cosign(foreign, FIRST, W1.name, TIME)) == "LOG_INCLUSION"
    assert refused(cosign(own.data, SECOND, W2.name, TIME)) == "UNWITNESSED"
    assert refused(own.data) == "UNWITNESSED"
    assert refused(b"no checkpoint") == "LOG_INCLUSION"
    assert log.witnessed() == []


def test_several_objects_on_one_folder_see_each_others_entries(log: LogFolder) -> None:
    """What one appended the other finds, and neither forks the log."""
    other = LogFolder(log.path)
    assert other.append([b"x"], SIGNER) == [5]
    assert log.append([b"y", b"x"], SIGNER) == [6, 5]
    assert (other.find(b"y"), log.find(b"x")) == (6, 5)
    assert log.view().entries == (*entries(5), b"x", b"y")


def test_appending_to_a_large_log_stays_quick(tmp_path: Path) -> None:
    """One entry more on 10,000 takes less than 50 milliseconds of processor time, also for a process that comes new."""
    LogFolder(tmp_path / "log").append(entries(10_000), SIGNER)
    spent = []
    for i in range(3):
        log = LogFolder(tmp_path / "log")
        began = time.process_time()
        assert log.append([f"more {i}".encode()], SIGNER) == [10_000 + i]
        spent.append(time.process_time() - began)
    assert min(spent) < 0.05


def test_names_of_temporary_files_do_not_stay(log: LogFolder) -> None:
    """After an append only the files of a log are there."""
    hidden = [path.name for path in log.path.rglob(".*")]
    assert sorted(hidden) == [".lock", ".signed"]
    assert re.fullmatch(rb"(?s)ragassay\.dev/log/.*", (log.path / ".signed").read_bytes())
    assert parse_checkpoint((log.path / ".signed").read_bytes()).checkpoint == log.checkpoint().checkpoint
