"""Clocks that were set back: no run is signed whose answers are dated before its announcement."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

UNIT = Path(__file__).resolve().parent.parent / "unit" / "run"
sys.path.insert(0, str(UNIT))

from run_lab import LOG_SIGNER, SIGNER, Lab  # noqa: E402

from ragassay.errors import InputError  # noqa: E402
from ragassay.manifest.log_folder import LogFolder  # noqa: E402
from ragassay.run.plan import open_passes  # noqa: E402
from ragassay.run.prepared import Options  # noqa: E402
from ragassay.run.voiding import void_pass  # noqa: E402
from ragassay.verify.audit import audit  # noqa: E402


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A board of two rows."""
    found = Lab(tmp_path, 2)
    found.write()
    return found


def test_a_clock_behind_the_announcement_asks_nothing(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run that would be dated before its announcement is refused before its first answer."""
    now = time.time()
    with monkeypatch.context() as patch:
        patch.setattr("ragassay.run.registration.time.time", lambda: now + 3600)
        patch.setattr("ragassay.run.executor.traverse", None)
        with pytest.raises(TypeError):
            lab.run()
    with pytest.raises(InputError, match=r"row 'no-retrieval' was announced 3\d\d\d seconds after .*set the clock"):
        lab.run()
    assert all(path.stat().st_size == 0 for path in lab.space.passes.glob("*/*/journal.jsonl"))


@pytest.mark.parametrize("seal", [False, True])
def test_answers_dated_before_the_announcement_are_held_and_can_be_void(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, seal: bool
) -> None:
    """Set back while it ran: the pass stays open and says how to end it, with --seal too; the log then says void."""
    earlier = time.time_ns() - 3600 * 10**9
    with monkeypatch.context() as patch:
        patch.setattr("ragassay.run.passes.time.time_ns", lambda: earlier)
        ended = lab.run(Options(seal=seal))
    assert not lab.space.runs.exists()
    for end in ended.values():
        assert end.held is not None
        assert "its first answer is dated" in end.held
        assert f"ragassay log void {end.run_id}" in end.held
    for plan in list(open_passes(lab.space)):
        void_pass(lab.space, plan.run_id, "the clock was set back", SIGNER, LOG_SIGNER)
    assert all(end.held is None for end in lab.run().values())
    found = audit(LogFolder(lab.space.log).view(), accept=lambda *_: True, same_key=True)
    assert found.ok
    assert [row.count("void") for row in found.rows] == [1, 1, 0, 0]
