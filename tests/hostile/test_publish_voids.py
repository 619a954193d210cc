"""Voidings that are killed, raced or ask for what is gone: a void pass is never run, and none stays without an end."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

UNIT = Path(__file__).resolve().parent.parent / "unit" / "run"
sys.path.insert(0, str(UNIT))

from run_lab import LOG_SIGNER, SIGNER, Lab  # noqa: E402

from ragassay.errors import InputError  # noqa: E402
from ragassay.manifest.files import INTENT  # noqa: E402
from ragassay.manifest.log_folder import LogFolder  # noqa: E402
from ragassay.run import plan, registration, voiding  # noqa: E402
from ragassay.run.journal import claimed  # noqa: E402
from ragassay.run.plan import VOID, PassPlan, all_passes, open_passes  # noqa: E402
from ragassay.run.prepared import Options  # noqa: E402
from ragassay.run.registration import Registrar  # noqa: E402
from ragassay.run.voiding import void_pass  # noqa: E402
from ragassay.verify.audit import Audit, audit  # noqa: E402


class Killed(BaseException):
    """Stands for a SIGKILL: no handler of ours may catch it."""


def kill(*_: Any, **__: Any) -> None:
    """End as a killed process does."""
    raise Killed


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Two rows of three passes, announced; nothing is asked yet."""
    found = Lab(tmp_path, 2)
    found.write(head="passes = 3")
    with monkeypatch.context() as patch:
        patch.setattr("ragassay.run.executor.traverse", kill)
        with pytest.raises(Killed):
            found.run()
    return found


def first(lab: Lab) -> PassPlan:
    """The first open pass of `row`, beside which the announcement of all three stands."""
    return next(one for one in open_passes(lab.space) if one.row == "row")


def void(lab: Lab, one: PassPlan, reason: str = "why") -> None:
    """Void a pass."""
    void_pass(lab.space, one.run_id, reason, SIGNER, LOG_SIGNER)


def found(lab: Lab) -> Audit:
    """What the log says to somebody who pins nobody."""
    return audit(LogFolder(lab.space.log).view(), accept=lambda *_: True, same_key=True)


def states(lab: Lab, row: str = "row") -> list[list[str]]:
    """How the passes of each announcement of a row ended."""
    return [[one.state for one in line.passes] for line in found(lab).rows if line.row == row]


def nothing_twice(lab: Lab) -> bool:
    """No pass is both void and run, and no statement stands twice."""
    said = found(lab)
    return said.ok and not said.repeated and not any(p.void and p.run for row in said.rows for p in row.passes)


def test_the_other_passes_of_a_void_one_stay_announced(lab: Lab) -> None:
    """Pass 1 of 3 is void, 2 and 3 are run under the announcement that stands; the next run begins three anew."""
    void(lab, first(lab))
    lab.run()
    assert states(lab) == [["void", "published", "published"]]
    lab.run()
    assert states(lab) == [["void", "published", "published"], ["published"] * 3]
    assert nothing_twice(lab)
    assert found(lab).unannounced == ()


@pytest.mark.parametrize(("module", "name"), [(registration, "sign_void"), (Registrar, "sync"), (voiding, "give_up")])
def test_a_pass_whose_voiding_was_killed_is_not_run(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, module: Any, name: str
) -> None:
    """Once the voiding is written the pass never gets a run; killed before that, it is run and not void."""
    one = first(lab)
    with monkeypatch.context() as patch:
        patch.setattr(module, name, kill)
        with pytest.raises(Killed):
            void(lab, one)
    lab.run()
    expected = "published" if name == "sign_void" else "void"
    assert states(lab) == [[expected, "published", "published"]]
    assert nothing_twice(lab)


@pytest.mark.parametrize(("module", "name"), [(Registrar, "sync"), (plan, "give_up")])
def test_new_that_was_killed_voids_each_pass_once(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, module: Any, name: str
) -> None:
    """`--new`, killed after the first voiding and given again, says of each old pass once that it is void."""
    with monkeypatch.context() as patch:
        patch.setattr(module, name, kill)
        with pytest.raises(Killed):
            lab.run(Options(new=True))
    lab.run(Options(new=True))
    assert states(lab) == [["void"] * 3, ["published"] * 3]
    assert nothing_twice(lab)


def test_new_after_an_announcement_that_was_not_logged_yet(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """An announcement that was signed and never logged is logged and its passes are void: signing it was a promise."""
    lab.run()
    with monkeypatch.context() as patch:
        patch.setattr(Registrar, "sync", kill)
        with pytest.raises(Killed):
            lab.run()
    lab.run(Options(new=True))
    assert states(lab, "no-retrieval")[1:] == [["void"] * 3, ["published"] * 3]
    assert nothing_twice(lab)


def test_a_pass_under_way_is_neither_void_nor_given_up(lab: Lab) -> None:
    """While another process writes a pass, `log void` and `--new` are refused, and change nothing at all."""
    one = first(lab)
    folder = lab.space.pass_folder(one.row, one.run_id)
    with claimed(folder / "journal.jsonl"):
        for use in (lambda: void(lab, one), lambda: lab.run(Options(new=True))):
            with pytest.raises(InputError, match="being written by another process"):
                use()
        assert not list(lab.space.passes.glob(f"*/*/{VOID}"))
        assert not list(lab.space.passes.glob("*/*/given-up.json"))
    lab.run()
    assert states(lab) == [["published"] * 3]


@pytest.mark.parametrize("moment", ["announce", "run"])
def test_a_pass_given_up_between_planning_and_asking_is_not_run(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """The process that planned it finds it void, asks nothing, and says to run again."""
    one = first(lab)

    def meanwhile(after: Callable[..., Any]) -> Callable[..., Any]:
        def use(*args: Any, **names: Any) -> Any:
            if moment == "announce":
                void(lab, one)
                return after(*args, **names)
            done = after(*args, **names)
            void(lab, one)
            return done

        return use

    with monkeypatch.context() as patch:
        patch.setattr(Registrar, "announce", meanwhile(Registrar.announce))
        with pytest.raises(InputError, match="by another process meanwhile; run the same command again"):
            lab.run()
    lab.run()
    assert states(lab) == [["void", "published", "published"]]
    assert nothing_twice(lab)


def test_a_pass_whose_folder_is_gone_gets_no_second_and_can_be_void(lab: Lab) -> None:
    """The folder that held the announcement is lost: the log still has it, no pass is added to its plan."""
    one = first(lab)
    assert (lab.space.pass_folder(one.row, one.run_id) / INTENT).exists()
    shutil.rmtree(lab.space.pass_folder(one.row, one.run_id))
    ended = lab.run()
    assert sorted(k for row, k in ended if row == "row") == [2, 3]
    assert states(lab) == [["missing", "published", "published"]]
    assert found(lab).unannounced == ()
    void(lab, one)
    assert states(lab) == [["void", "published", "published"]]
    with pytest.raises(InputError, match="void already"):
        void(lab, one)
    assert nothing_twice(lab)


def test_new_passes_are_announced_in_the_second_in_which_others_were_void(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Passes that were given up do not lend their announcement to others that are begun within the same second."""
    created = first(lab).created
    for one in list(open_passes(lab.space)):
        void(lab, one)
    monkeypatch.setattr("ragassay.run.plan.time.time", lambda: float(created))
    monkeypatch.setattr("ragassay.run.passes.time.time_ns", lambda: created * 10**9)
    lab.run()
    assert states(lab) == [["void"] * 3, ["published"] * 3]
    assert found(lab).unannounced == ()
    assert len({plan.created for plan in all_passes(lab.space, given_up=True)}) == 2


@pytest.mark.parametrize("reason", ["\udcff\udcfe", "a\ud800"])
def test_a_reason_that_is_no_text_is_refused(lab: Lab, reason: str) -> None:
    """Bytes of a shell that are no UTF-8 cannot be signed, and the pass stays as it is."""
    one = first(lab)
    with pytest.raises(InputError, match="no text that can be signed"):
        void(lab, one, reason)
    assert one in list(open_passes(lab.space))


def test_an_edited_announcement_is_named(lab: Lab) -> None:
    """A file that is no announcement stops the run with its place; moved away, the log's copy is used."""
    one = first(lab)
    path = lab.space.pass_folder(one.row, one.run_id) / INTENT
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match=r"intent\.dsse\.json is no announcement: .*move it away"):
        lab.run()
    path.unlink()
    lab.run()
    assert states(lab) == [["published"] * 3]
    assert found(lab).unannounced == ()
