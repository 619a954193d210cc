"""The log of a workspace that is deleted, put back or exchanged: nothing is signed over it, and the board says so."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

UNIT = Path(__file__).resolve().parent.parent / "unit" / "run"
sys.path.insert(0, str(UNIT))

from run_lab import LOG_SIGNER, SIGNER, Lab  # noqa: E402

from ragassay.errors import InputError  # noqa: E402
from ragassay.manifest.log_folder import LogFolder  # noqa: E402
from ragassay.run.voiding import void_pass  # noqa: E402
from ragassay.site.runs import load_runs  # noqa: E402
from ragassay.verify.audit import audit  # noqa: E402


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A board of two rows that was run once; `older` beside it is the log as it was then; the board is run again."""
    found = Lab(tmp_path, 3)
    found.write()
    found.run()
    shutil.copytree(found.space.log, tmp_path / "older")
    found.run()
    return found


def deleted(lab: Lab) -> None:
    """The whole folder is gone."""
    shutil.rmtree(lab.space.log)


def put_back(lab: Lab) -> None:
    """An older copy stands in its place."""
    deleted(lab)
    shutil.copytree(lab.folder / "older", lab.space.log)


def exchanged(lab: Lab) -> None:
    """The log of another history under the same key, and as long, stands in its place."""
    deleted(lab)
    LogFolder(lab.space.log).append([b"another entry %d" % n for n in range(9)], LOG_SIGNER)


LOST = [
    pytest.param(deleted, "is gone: .* remembers 8 entries", id="deleted"),
    pytest.param(put_back, "put back to an old state: it has 4 entries, and .* remembers 8", id="put back"),
    pytest.param(exchanged, "its tiles are not those of the checkpoint of size 8", id="exchanged"),
]


@pytest.mark.parametrize(("lose", "said"), LOST)
def test_a_lost_log_is_not_appended_to(lab: Lab, lose: Callable[[Lab], None], said: str) -> None:
    """No run and no voiding makes a second history, the message says what to restore, and nothing is asked."""
    lose(lab)
    runs = sorted(path.name for path in lab.space.runs.iterdir())
    journals = sorted(lab.space.passes.glob("*/*/journal.jsonl"))
    for use in (lab.run, lambda: void_pass(lab.space, runs[0], "x", SIGNER, LOG_SIGNER)):
        with pytest.raises(InputError, match=said) as caught:
            use()
        assert "Restore" in str(caught.value)
    assert sorted(path.name for path in lab.space.runs.iterdir()) == runs
    assert sorted(lab.space.passes.glob("*/*/journal.jsonl")) == journals


@pytest.mark.parametrize(("lose", "said"), LOST)
def test_a_board_over_a_lost_log_ranks_nothing(lab: Lab, lose: Callable[[Lab], None], said: str) -> None:
    """Its runs stand in no log that can be read, so each is refused with LOG_FORK and none disappears."""
    assert said
    (lab.space.keys).mkdir()
    (lab.space.keys / "run.pub.json").write_bytes(SIGNER.public.jwk())
    before = load_runs(lab.space.root)
    assert [run.refused for run in before] == [None] * 4
    lose(lab)
    after = load_runs(lab.space.root)
    assert [run.id for run in after] == [run.id for run in before]
    assert all(run.refused is not None and run.refused.startswith("LOG_FORK") for run in after)


def test_the_newest_copy_put_back_goes_on(lab: Lab) -> None:
    """Once the right folder is restored the same command works, and every announced pass is there."""
    shutil.copytree(lab.space.log, lab.folder / "newest")
    deleted(lab)
    with pytest.raises(InputError):
        lab.run()
    shutil.copytree(lab.folder / "newest", lab.space.log, dirs_exist_ok=True)
    lab.run()
    found = audit(LogFolder(lab.space.log).view(), accept=lambda *_: True, same_key=True)
    assert found.ok
    assert len(found.rows) == 6


def test_a_workspace_of_an_older_version_is_remembered_from_its_next_run_on(lab: Lab) -> None:
    """Where nothing was remembered yet the first append remembers what is there."""
    lab.space.log_seen.unlink()
    lab.run()
    assert lab.space.log_seen.read_bytes() == LogFolder(lab.space.log).checkpoint().data


@pytest.mark.parametrize("data", [b"", b"x", b"\xff\x00"])
def test_a_memory_that_is_none_is_told(lab: Lab, data: bytes) -> None:
    """A damaged memory is not taken for none."""
    lab.space.log_seen.write_bytes(data)
    with pytest.raises(InputError, match=r"log\.checkpoint is damaged: .*Restore it"):
        lab.run()
