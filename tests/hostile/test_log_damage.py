"""A log folder that was damaged, cut, edited or put back is never appended to, and what is wrong with it is said."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ragassay.errors import InputError, VerifyError
from ragassay.manifest.checkpoint import cosign
from ragassay.manifest.log_folder import LogFolder
from ragassay.manifest.note import note_key
from ragassay.testing.signed_run import public_signer

SIGNER, WITNESS = public_signer("log"), public_signer("witness")
KEY = note_key("w.example", "witness", WITNESS.x)
ENTRIES = [f"entry {i}".encode() for i in range(300)]


def fresh(folder: Path, count: int = 300) -> LogFolder:
    """A log of so many entries, grown in two steps."""
    log = LogFolder(folder)
    log.append(ENTRIES[: count // 2], SIGNER)
    log.append(ENTRIES[:count], SIGNER)
    return log


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder but the lock."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    """Take the last byte from a file."""
    path.write_bytes(path.read_bytes()[:-1])


DAMAGE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "an edited full tile": ("tile/0/000 does not hold", lambda log: flip(log / "tile/0/000")),
    "a cut full tile": ("tile/0/000 has 8191 bytes", lambda log: cut(log / "tile/0/000")),
    "a missing full tile": ("tile/0/000 is missing", lambda log: (log / "tile/0/000").unlink()),
    "an edited last tile": ("not those of the checkpoint of size 300", lambda log: flip(log / "tile/0/001.p/44")),
    "a cut last tile": ("tile/0/001.p/44 has 1407 bytes", lambda log: cut(log / "tile/0/001.p/44")),
    "an edited upper tile": ("not those of the checkpoint of size 300", lambda log: flip(log / "tile/1/000.p/1")),
    "an edited last bundle": ("tile/entries/001.p/44", lambda log: flip(log / "tile/entries/001.p/44")),
    "a cut last bundle": ("tile/entries/001.p/44", lambda log: cut(log / "tile/entries/001.p/44")),
    "a missing last bundle": ("tile/entries/001.p/44", lambda log: (log / "tile/entries/001.p/44").unlink()),
    "an edited checkpoint": (
        "no signed note|not signed by the key|no checkpoint",
        lambda log: flip(log / "checkpoint"),
    ),
    "a checkpoint that is none": ("no signed note", lambda log: (log / "checkpoint").write_bytes(b"")),
    "a large checkpoint": ("more than the 65536 bytes", lambda log: (log / "checkpoint").write_bytes(b"x" * 70_000)),
    "a lost checkpoint": ("has lost its checkpoint", lambda log: (log / "checkpoint").unlink()),
}


@pytest.mark.parametrize(("message", "damage"), DAMAGE.values(), ids=DAMAGE.keys())
def test_nothing_is_appended_to_a_damaged_log(tmp_path: Path, message: str, damage: Callable[[Path], object]) -> None:
    """The damage is named, nothing is signed, and no file of the log changes."""
    log = fresh(tmp_path / "log")
    damage(log.path)
    before = files(log.path)
    with pytest.raises(InputError, match=message):
        LogFolder(log.path).append([b"more"], SIGNER)
    assert files(log.path) == before


@pytest.mark.parametrize("name", [name for name in DAMAGE if "full" not in name])
def test_a_process_that_knows_the_log_sees_damage_where_it_grows(tmp_path: Path, name: str) -> None:
    """A process that has checked the full tiles once looks at all others, and the checkpoint, each time anew."""
    log = fresh(tmp_path / "log")
    message, damage = DAMAGE[name]
    damage(log.path)
    with pytest.raises(InputError, match=message):
        log.append([b"more"], SIGNER)


def test_an_edited_old_entry_is_found_by_whoever_reads_the_log(tmp_path: Path) -> None:
    """An entry in a full bundle is not read for an append, but no view of the log shows it changed."""
    log = fresh(tmp_path / "log")
    flip(log.path / "tile/entries/000")
    with pytest.raises(VerifyError) as refused:
        log.view()
    assert refused.value.code == "LOG_FORK"


def test_a_folder_put_back_to_an_older_state_is_not_appended_to(tmp_path: Path) -> None:
    """A copy from before a witness saw more is refused: what is appended to it would be a second history."""
    log = fresh(tmp_path / "log", 4)
    shutil.copytree(log.path, tmp_path / "backup")
    log.append(ENTRIES[:7], SIGNER)
    log.accept(cosign(log.checkpoint().data, WITNESS, KEY.name, 1_790_000_000), [KEY])
    witnessed = (log.path / "witnessed").rename(tmp_path / "witnessed")
    shutil.rmtree(log.path)
    shutil.copytree(tmp_path / "backup", log.path)
    witnessed.rename(log.path / "witnessed")
    before = files(log.path)
    with pytest.raises(InputError, match="put back to an old state: it has 4 entries, and a witness saw 7"):
        LogFolder(log.path).append([b"another history"], SIGNER)
    assert files(log.path) == before


def test_a_checkpoint_alone_put_back_is_published_anew(tmp_path: Path) -> None:
    """Where only the published checkpoint is old, the log goes on from what was signed, never from what was shown."""
    log = fresh(tmp_path / "log", 4)
    old = (log.path / "checkpoint").read_bytes()
    log.append(ENTRIES[:7], SIGNER)
    (log.path / "checkpoint").write_bytes(old)
    assert LogFolder(log.path).view().entries == tuple(ENTRIES[:4])
    assert LogFolder(log.path).append([b"more"], SIGNER) == [7]
    assert LogFolder(log.path).view().entries == (*ENTRIES[:7], b"more")


def test_tiles_of_a_killed_append_are_overwritten(tmp_path: Path) -> None:
    """What lies beyond the checkpoint was never published, and stands in nobody's way."""
    log = fresh(tmp_path / "log", 4)
    for name in ("tile/0/000.p/5", "tile/entries/000.p/5", "tile/0/.000.p.torn"):
        (log.path / name).write_bytes(b"torn")
    assert log.append([b"more"], SIGNER) == [4]
    assert LogFolder(log.path).view().entries == (*ENTRIES[:4], b"more")


def test_a_lost_key_file_is_written_again(tmp_path: Path) -> None:
    """The public key follows from the key that signs."""
    log = fresh(tmp_path / "log", 4)
    vkey = log.vkey
    (log.path / "vkey").unlink()
    log.append([b"more"], SIGNER)
    assert log.vkey == vkey


def test_a_full_disk_is_told_and_leaves_the_log_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file cannot be written nothing is published, and the next append goes on."""
    import os

    log = fresh(tmp_path / "log", 4)

    def refuse(file: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", refuse)
        with pytest.raises(InputError, match="No space left on device"):
            log.append([b"more"], SIGNER)
    assert LogFolder(log.path).view().entries == tuple(ENTRIES[:4])
    assert log.append([b"other"], SIGNER) == [4]


def test_a_witnessed_checkpoint_that_is_no_longer_one_is_told(tmp_path: Path) -> None:
    """A file of a witness that was edited, or stands under another size, is damage and not passed over."""
    log = fresh(tmp_path / "log", 4)
    log.accept(cosign(log.checkpoint().data, WITNESS, KEY.name, 1_790_000_000), [KEY])
    kept = log.path / "witnessed" / "4.checkpoint"
    kept.rename(kept.with_name("3.checkpoint"))
    for use in (lambda: log.prove(0), log.witnessed, lambda: log.append([b"more"], SIGNER)):
        with pytest.raises(InputError, match=r"witnessed/3\.checkpoint is of size 4"):
            use()
    kept.with_name("3.checkpoint").write_bytes(b"")
    with pytest.raises(InputError, match="no signed note"):
        log.prove(0)
