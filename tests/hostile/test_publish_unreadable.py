"""What nobody could verify is not signed, and what is no file of ours is neither replaced nor waited for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

UNIT = Path(__file__).resolve().parent.parent / "unit" / "run"
sys.path.insert(0, str(UNIT))

from run_lab import SIGNER, Lab  # noqa: E402

from ragassay.cli.log import command as log_command  # noqa: E402
from ragassay.cli.new_file import write_new  # noqa: E402
from ragassay.cli.run import read_registry  # noqa: E402
from ragassay.errors import InputError  # noqa: E402
from ragassay.manifest import generate_key, read_run  # noqa: E402
from ragassay.manifest.files import MAX_BYTES, OUTPUTS, REGISTRY  # noqa: E402
from ragassay.manifest.keyfile import load_key  # noqa: E402
from ragassay.manifest.log_disk import write_files  # noqa: E402
from ragassay.manifest.readable import unreadable  # noqa: E402
from ragassay.run.board_file import load_board  # noqa: E402
from ragassay.run.plan import open_passes  # noqa: E402
from ragassay.run.prepared import Options  # noqa: E402
from ragassay.site.runs import load_runs  # noqa: E402


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A board of two rows."""
    found = Lab(tmp_path, 2)
    found.write()
    return found


@pytest.mark.parametrize("seal", [False, True])
def test_a_pass_over_a_limit_is_held_and_not_signed(lab: Lab, monkeypatch: pytest.MonkeyPatch, seal: bool) -> None:
    """A run that every reader would refuse is not written; the pass stays open with the limit, and loses nothing."""
    with monkeypatch.context() as patch:
        patch.setitem(MAX_BYTES, OUTPUTS, 100)
        ended = lab.run(Options(seal=seal))
    for end in ended.values():
        assert end.held is not None
        assert "outputs.jsonl has " in end.held
        assert f"ragassay log void {end.run_id}" in end.held
    assert not lab.space.runs.exists()
    assert len(list(open_passes(lab.space))) == 2
    assert all(end.held is None for end in lab.run().values())


def test_the_files_of_a_signed_run_can_be_read(lab: Lab) -> None:
    """What a whole run writes is within every limit; without its rows it would not be."""
    run_id = next(iter(lab.run().values())).run_id
    files = read_run(lab.space.runs / run_id).files
    assert unreadable(files) is None
    assert unreadable({**files, OUTPUTS: b"x"}) is not None


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"\xff" * 100, b"x" * (2 << 20)], ids=["empty", "other", "bytes", "large"]
)
def test_a_registry_that_is_none_is_wrong_input(lab: Lab, data: bytes) -> None:
    """Beside a board file it stops the run with its place and a way out, before anything is asked."""
    (lab.folder / REGISTRY).write_bytes(data)
    with pytest.raises(InputError, match=r"ragassay-keys\.json"):
        read_registry(load_board(lab.folder / "board.toml"))


@pytest.mark.parametrize("kind", ["pipe", "folder", "link to nothing"])
def test_a_registry_that_is_no_file_is_wrong_input(lab: Lab, kind: str) -> None:
    """It is neither waited for nor passed over."""
    path = lab.folder / REGISTRY
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("no")
    with pytest.raises(InputError, match=r"no plain file|a link to nothing"):
        read_registry(load_board(lab.folder / "board.toml"))


def test_a_pipe_in_place_of_a_key_is_not_waited_for(tmp_path: Path) -> None:
    """A private key is read from a plain file alone."""
    os.mkfifo(tmp_path / "run.pem", 0o600)
    with pytest.raises(InputError, match=r"run\.pem is no plain file"):
        load_key(tmp_path / "run.pem")


@pytest.mark.parametrize("force", [False, True])
def test_what_is_no_plain_file_is_not_replaced(tmp_path: Path, force: bool) -> None:
    """A device or a pipe that was named as output stays what it is."""
    os.mkfifo(tmp_path / "out")
    with pytest.raises(InputError, match="no plain file"):
        write_new(tmp_path / "out", b"x", force=force)
    with pytest.raises(InputError, match="no plain file"):
        write_files(tmp_path, {"out": b"x"})
    assert (tmp_path / "out").is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_empty_pin_is_no_missing_one(lab: Lab) -> None:
    """`--vkey` with an unset variable is refused: an audit that was to pin a key never goes on without."""
    lab.run()
    done = CliRunner().invoke(log_command, ["audit", str(lab.space.log), "--vkey", ""])
    assert isinstance(done.exception, InputError)
    assert "is no key of a log" in str(done.exception)


def test_a_key_replaced_after_the_announcement(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The board trusts both keys of its workspace, and the run is not refused for the first one's announcement."""
    with monkeypatch.context() as patch:
        patch.setattr("ragassay.run.executor.traverse", None)
        with pytest.raises(TypeError):
            lab.run()
    new = generate_key("run-2")
    lab.space.keys.mkdir(parents=True)
    for signer in (SIGNER, new):
        (lab.space.keys / f"{signer.name}.pub.json").write_bytes(signer.public.jwk())
    monkeypatch.setattr("run_lab.SIGNER", new)
    lab.run()
    assert [run.refused for run in load_runs(lab.space.root)] == [None, None]
