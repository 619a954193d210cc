"""A log whose checkpoint claims more than it holds, or whose server never ends, is refused soon."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ragassay.cli import log_source
from ragassay.cli.log_source import open_log, read_view
from ragassay.errors import PluginError, VerifyError
from ragassay.manifest.checkpoint import Checkpoint, sign_checkpoint
from ragassay.testing.logged_run import LOG_SIGNER, ORIGIN, Story, tell


@pytest.mark.parametrize("size", [257, 2**20, 2**40, 2**53 - 1])
def test_a_folder_whose_checkpoint_counts_entries_that_are_not_there(tmp_path: Path, size: int) -> None:
    """Nobody looks for each of a million million files."""
    log = tell(Story(), with_log=True).log
    assert log is not None
    for name, data in {**log, "checkpoint": sign_checkpoint(Checkpoint(ORIGIN, size, bytes(32)), LOG_SIGNER)}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    begun = time.process_time()
    with pytest.raises(VerifyError) as refused:
        read_view(open_log(str(tmp_path)))
    assert refused.value.code == "LOG_FORK"
    assert time.process_time() - begun < 2


def test_a_server_whose_files_take_too_long_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file within its time is not enough."""
    clock = iter(range(0, 10_000, 250))
    monkeypatch.setattr("ragassay.cli.log_source.time.monotonic", lambda: float(next(clock)))
    asked: list[float] = []

    def slow(url: str, *, max_bytes: int, timeout_s: float) -> bytes:
        asked.append(timeout_s)
        return b"x"

    monkeypatch.setattr(log_source, "fetch", slow)
    source = open_log("https://example.org/log")
    assert [source.read("tile/entries/000", 100) for _ in range(2)] == [b"x", b"x"]
    with pytest.raises(PluginError, match="600 seconds"):
        source.read("tile/entries/000", 100)
    assert asked == [30.0, 30.0]
