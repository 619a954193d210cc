"""Voiding a pass: the log says why, an unfinished pass is given up, and no pass is void twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from run_lab import LOG_SIGNER, SIGNER, Lab

from ragassay.errors import InputError
from ragassay.manifest.log_folder import LogFolder
from ragassay.run import voiding
from ragassay.run.plan import PassPlan, open_passes
from ragassay.run.voiding import Voided, void_pass
from ragassay.verify.audit import Audit, audit


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A board of two rows."""
    found = Lab(tmp_path, questions=4)
    found.write()
    return found


def killed(*_: Any) -> None:
    """End as a killed process does."""
    raise KeyboardInterrupt


def unfinished(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> PassPlan:
    """Begin all passes, finish none, and return the first."""
    with monkeypatch.context() as patched:
        patched.setattr("ragassay.run.board_run._seal", killed)
        with pytest.raises(KeyboardInterrupt):
            lab.run()
    return next(iter(open_passes(lab.space)))


def found(lab: Lab) -> Audit:
    """What the log of a board says."""
    return audit(LogFolder(lab.space.log).view(), accept=lambda *_: True, same_key=True)


def state_of(lab: Lab, run_id: str) -> tuple[str, str | None]:
    """How the pass with this run id ended, and the reason."""
    return next((one.state, one.reason) for row in found(lab).rows for one in row.passes if one.run_id == run_id)


def test_an_unfinished_pass_is_void_and_not_continued(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log gives the reason, and a later run leaves the pass alone."""
    plan = unfinished(lab, monkeypatch)
    assert state_of(lab, plan.run_id) == ("missing", None)
    done = void_pass(lab.space, plan.run_id, "the server is gone", SIGNER, LOG_SIGNER)
    assert done == Voided(row=plan.row, k=plan.k, of=plan.of, signed=False)
    assert state_of(lab, plan.run_id) == ("void", "the server is gone")
    assert plan.run_id not in {one.run_id for one in open_passes(lab.space)}
    lab.run()
    assert not (lab.space.runs / plan.run_id).exists()
    assert found(lab).ok


def test_a_signed_run_is_void_by_its_digest(lab: Lab) -> None:
    """The run stays where it is, and the log says that exactly this manifest no longer counts."""
    run_id = next(iter(lab.run().values())).run_id
    done = void_pass(lab.space, run_id, "the index was stale", SIGNER, LOG_SIGNER)
    assert done.signed
    assert state_of(lab, run_id) == ("void", "the index was stale")
    assert [(run.run_id, run.reason) for run in found(lab).voided] == [(run_id, "the index was stale")]
    assert (lab.space.runs / run_id).is_dir()
    with pytest.raises(InputError, match="void already"):
        void_pass(lab.space, run_id, "again", SIGNER, LOG_SIGNER)


def test_a_killed_voiding_is_completed_and_not_repeated(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the log says void and the pass was not given up yet, the next try gives it up under the first reason."""
    plan = unfinished(lab, monkeypatch)
    with monkeypatch.context() as patched:
        patched.setattr(voiding, "give_up", killed)
        with pytest.raises(KeyboardInterrupt):
            void_pass(lab.space, plan.run_id, "first", SIGNER, LOG_SIGNER)
    size = LogFolder(lab.space.log).checkpoint().size
    void_pass(lab.space, plan.run_id, "second", SIGNER, LOG_SIGNER)
    assert LogFolder(lab.space.log).checkpoint().size == size
    assert state_of(lab, plan.run_id) == ("void", "first")
    assert plan.run_id not in {one.run_id for one in open_passes(lab.space)}


@pytest.mark.parametrize("reason", ["", "  ", "x" * 2001])
def test_a_voiding_gives_a_reason(lab: Lab, reason: str) -> None:
    """Without one, or with a very long one, nothing is logged."""
    run_id = next(iter(lab.run().values())).run_id
    with pytest.raises(InputError, match="a reason of 1 to 2000"):
        void_pass(lab.space, run_id, reason, SIGNER, LOG_SIGNER)
    assert found(lab).voided == ()


@pytest.mark.parametrize("run_id", ["00" * 16, "../../etc", ""])
def test_a_run_id_of_nobody_is_refused(lab: Lab, run_id: str) -> None:
    """Only passes of this workspace can be voided."""
    lab.run()
    with pytest.raises(InputError, match="has no pass with the run id"):
        void_pass(lab.space, run_id, "x", SIGNER, LOG_SIGNER)
