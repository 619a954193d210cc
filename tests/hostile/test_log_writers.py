"""Several processes that append at once, and processes that are killed: the log never forks and stays sound."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragassay.manifest.log_folder import LogFolder
from ragassay.manifest.note import parse_vkey
from ragassay.manifest.tiles import LogView
from ragassay.testing.signed_run import public_signer

SIGNER = public_signer("log")
WRITER = """
import sys
from pathlib import Path
from ragassay.manifest.log_folder import LogFolder
from ragassay.testing.signed_run import public_signer

folder, name, count = sys.argv[1:]
signer = public_signer("log")
log = LogFolder(Path(folder))
for i in range(int(count)):
    entry = f"{name} {i}".encode()
    (index, shared) = log.append([entry, f"shared {i}".encode()], signer)
    print(index, shared, entry.decode(), flush=True)
"""


def start(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    """A process that appends `count` times an entry of its own and one that all append."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), name, str(count)], stdout=subprocess.PIPE, text=True
    )


def sound(folder: Path) -> LogView:
    """The log as a stranger reads it, its checkpoint signed by its key."""
    log = LogFolder(folder)
    view = log.view()
    assert view.checkpoint.signed_by(parse_vkey(log.vkey))
    return view


@pytest.mark.parametrize("writers", [2, 4])
def test_processes_that_append_at_once_make_one_history(tmp_path: Path, writers: int) -> None:
    """Every entry stands once, at the index that each process was told."""
    processes = [start(tmp_path / "log", f"writer {n}", 20) for n in range(writers)]
    told = [line.split(" ", 2) for process in processes for line in process.communicate(timeout=120)[0].splitlines()]
    assert [process.returncode for process in processes] == [0] * writers
    entries = sound(tmp_path / "log").entries
    assert len(set(entries)) == len(entries) == 20 * writers + 20
    assert len(told) == 20 * writers
    for index, shared, text in told:
        assert entries[int(index)].decode() == text
        assert entries[int(shared)].decode() == f"shared {text.rsplit(' ', 1)[1]}"


def test_a_process_killed_at_any_moment_leaves_a_log_that_goes_on(tmp_path: Path) -> None:
    """After each kill the log reads as a log, holds all that was reported, and takes the next entry."""
    folder = tmp_path / "log"
    LogFolder(folder).append([b"first"], SIGNER)
    moment = random.Random(7)
    reported: dict[int, str] = {}
    for turn in range(12):
        before = sound(folder)
        process = start(folder, f"turn {turn}", 10_000)
        assert process.stdout is not None
        told = process.stdout.readline()
        time.sleep(moment.uniform(0, 0.06))
        process.send_signal(signal.SIGKILL)
        told += process.communicate(timeout=60)[0]
        view = sound(folder)
        assert view.entries[: before.checkpoint.size] == before.entries
        for line in told[: told.rfind("\n") + 1].splitlines():
            index, _, text = line.split(" ", 2)
            reported[int(index)] = text
        assert LogFolder(folder).append([f"after {turn}".encode()], SIGNER)[0] >= view.checkpoint.size
    entries = sound(folder).entries
    assert len(reported) >= 12
    assert {index: entries[index].decode() for index in reported} == reported


def test_a_kill_between_any_two_writes_leaves_a_sound_log(tmp_path: Path) -> None:
    """The process is ended before each single rename in turn; the old or the new state is there, never another."""
    script = """
import os, sys
from pathlib import Path
from ragassay.manifest.log_folder import LogFolder
from ragassay.testing.signed_run import public_signer

left = int(sys.argv[2])
replace = Path.replace

def counted(self, target):
    global left
    if left == 0:
        os._exit(9)
    left -= 1
    return replace(self, target)

Path.replace = counted
LogFolder(Path(sys.argv[1])).append([b"new %d" % i for i in range(60)], public_signer("log"))
"""
    old = [f"old {i}".encode() for i in range(220)]
    new = [f"new {i}".encode() for i in range(60)]
    states = []
    for writes in range(30):
        folder = tmp_path / str(writes)
        LogFolder(folder).append(old, SIGNER)
        done = subprocess.run([sys.executable, "-c", script, str(folder), str(writes)], check=False)
        states.append(sound(folder).entries)
        assert LogFolder(folder).append([b"next", *new], SIGNER)[1:] != []
        assert set(sound(folder).entries) == {*old, *new, b"next"}
        if done.returncode == 0:
            break
    assert done.returncode == 0
    assert states[0] == tuple(old)
    assert states[-1] == (*old, *new)
    assert set(states) == {tuple(old), (*old, *new)}


def test_a_kill_while_the_log_begins_leaves_one_that_goes_on(tmp_path: Path) -> None:
    """The very first append can be cut off anywhere, too."""
    script = """
import os, sys
from pathlib import Path
from ragassay.manifest.log_folder import LogFolder
from ragassay.testing.signed_run import public_signer

left = int(sys.argv[2])
replace = Path.replace

def counted(self, target):
    global left
    if left == 0:
        os._exit(9)
    left -= 1
    return replace(self, target)

Path.replace = counted
LogFolder(Path(sys.argv[1])).append([b"a", b"b"], public_signer("log"))
"""
    for writes in range(12):
        folder = tmp_path / str(writes)
        done = subprocess.run([sys.executable, "-c", script, str(folder), str(writes)], check=False)
        assert sorted(LogFolder(folder).append([b"a", b"b", b"c"], SIGNER)) == [0, 1, 2]
        assert set(sound(folder).entries) == {b"a", b"b", b"c"}
        if done.returncode == 0:
            return
    raise AssertionError("the append never came to its end")
