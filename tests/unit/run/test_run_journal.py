"""The journal: grouped, crash-safe, one writer."""

from __future__ import annotations

import fcntl
import multiprocessing
import time
from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.records import Failure
from ragassay.run.journal import Entry, GroupWriter, Journal


def _entry(n: int) -> Entry:
    return Entry(event="failed", at=n, q=f"q-{n}", status="harness_failed", failure=Failure(kind="x", message="é\n"))


def test_entries_come_back_in_order(tmp_path: Path) -> None:
    """What was appended is read back, whole and in order, after the journal was closed."""
    with GroupWriter() as writer:
        journal = Journal(tmp_path / "journal.jsonl", writer)
        for n in range(1000):
            journal.append(_entry(n))
        journal.close()
        again = Journal(tmp_path / "journal.jsonl", writer)
        assert [entry.at for entry in again.entries()] == list(range(1000))
        again.close()


def test_a_record_is_on_disk_after_the_group_time(tmp_path: Path) -> None:
    """A single record does not wait for its group to fill."""
    with GroupWriter() as writer:
        journal = Journal(tmp_path / "journal.jsonl", writer)
        journal.append(_entry(1))
        deadline = time.monotonic() + 5
        while not journal.path.read_bytes() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert journal.path.read_bytes().endswith(b"}\n")
        journal.close()


@pytest.mark.parametrize("tail", [b'{"event":"fai', b"\x00", b'{"event":"failed"}'])
def test_a_torn_last_line_is_cut_off_and_reported(tmp_path: Path, tail: bytes) -> None:
    """A last line without its newline is dropped, its length is known, and the whole records stay."""
    path = tmp_path / "journal.jsonl"
    with GroupWriter() as writer:
        journal = Journal(path, writer)
        journal.append(_entry(1))
        journal.close()
        whole = path.read_bytes()
        path.write_bytes(whole + tail)
        again = Journal(path, writer)
        assert again.torn_bytes == len(tail)
        again.append(_entry(2))
        again.close()
        last = Journal(path, writer)
        assert [entry.at for entry in last.entries()] == [1, 2]
        assert last.torn_bytes == 0
        last.close()


def test_a_damaged_line_in_the_middle_is_an_error_with_its_place(tmp_path: Path) -> None:
    """A whole line that is no record is never skipped."""
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"event":"unknown"}\n')
    with GroupWriter() as writer:
        journal = Journal(path, writer)
        with pytest.raises(InputError, match="line 1"):
            list(journal.entries())
        journal.close()


def _hold_and_die(path: Path) -> None:
    with GroupWriter() as writer:
        Journal(path, writer)
        time.sleep(60)


def test_one_writer_and_a_dead_one_holds_no_lock(tmp_path: Path) -> None:
    """A second writer is refused while the first lives, and admitted once it was killed."""
    path = tmp_path / "journal.jsonl"
    process = multiprocessing.get_context("spawn").Process(target=_hold_and_die, args=(path,))
    process.start()
    with GroupWriter() as writer:
        deadline = time.monotonic() + 30
        refused = False
        while not refused and time.monotonic() < deadline:
            time.sleep(0.05)
            if path.exists():
                try:
                    Journal(path, writer).close()
                except InputError as error:
                    refused = "another process" in str(error)
        assert refused
        process.kill()
        process.join()
        Journal(path, writer).close()


def test_a_full_disk_stops_the_run_with_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails is raised at the next record, and nothing is silently dropped."""
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)  # the whole machine has one such device
    with GroupWriter() as writer:
        journal = Journal(Path("/dev/full"), writer)
        journal.append(_entry(1))
        with pytest.raises(InputError, match="free the disk"):
            writer.flush()
        with pytest.raises(InputError, match="free the disk"):
            journal.append(_entry(2))


def test_a_read_only_folder_is_a_clear_error(tmp_path: Path) -> None:
    """A path that cannot be opened names itself."""
    (tmp_path / "file").write_text("")
    with GroupWriter() as writer, pytest.raises(InputError, match="cannot be opened"):
        Journal(tmp_path / "file" / "journal.jsonl", writer)
