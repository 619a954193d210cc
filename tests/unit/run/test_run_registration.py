"""Pre-registration: announcements stand in the log before the first answer, and every planned pass ends in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from run_lab import LOG_SIGNER, SIGNER, Lab, register

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest import generate_key, read_run
from ragassay.manifest.announce import SignedIntent, SignedVoid, decode_intent, decode_void
from ragassay.manifest.checkpoint import cosign
from ragassay.manifest.decode import decode_statement
from ragassay.manifest.dsse import decode_base64, decode_envelope
from ragassay.manifest.files import INTENT, INTENT_PROOF, MANIFEST, RUN_PROOF
from ragassay.manifest.log_folder import LogFolder
from ragassay.manifest.note import note_key
from ragassay.manifest.proof import decode_proof
from ragassay.manifest.statement import RunPredicate
from ragassay.run.plan import NEW_INSTEAD, all_passes, open_passes
from ragassay.run.prepared import Options
from ragassay.run.registration import Registrar

SIGNER_2 = generate_key("witness")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A board of two rows."""
    found = Lab(tmp_path, questions=4)
    found.write()
    return found


def predicate_of(data: bytes) -> RunPredicate:
    """Return what a run's manifest claims."""
    envelope = decode_envelope(data)
    return decode_statement(envelope.payload_type, decode_base64(envelope.payload)).predicate


def intents_of(entries: tuple[bytes, ...]) -> list[SignedIntent]:
    """Return the announcements among the entries of a log."""
    return [decode_intent(entry) for entry in entries if b"application/vnd.in-toto" in entry and _is(entry, "intent")]


def voids_of(entries: tuple[bytes, ...]) -> list[SignedVoid]:
    """Return the voidings among the entries of a log."""
    return [decode_void(entry) for entry in entries if _is(entry, "void")]


def _is(entry: bytes, kind: str) -> bool:
    return f"/run-{kind}/".encode() in decode_base64(decode_envelope(entry).payload)


def test_each_run_names_its_announcement_and_carries_both_proofs(lab: Lab) -> None:
    """Rows are announced first, then logged as runs; the files beside each run prove both."""
    lab.write(head="passes = 2")
    ended = lab.run()
    log = LogFolder(lab.space.log)
    entries = log.view().entries
    assert len(entries) == 2 + 4
    assert len(intents_of(entries[:2])) == 2
    for end in ended.values():
        files = read_run(lab.space.runs / end.run_id).files
        predicate = predicate_of(files[MANIFEST])
        assert predicate.intent is not None
        assert predicate.intent.log == log.origin
        assert predicate.intent.digest.sha256 == canon.sha256(files[INTENT])
        announced = decode_proof(files[INTENT_PROOF])
        assert (announced.index, announced.includes(files[INTENT])) == (predicate.intent.index, True)
        logged = decode_proof(files[RUN_PROOF])
        assert logged.includes(files[MANIFEST])
        assert logged.index > announced.index
        intent = decode_intent(files[INTENT]).predicate
        assert intent.runs[end.k - 1] == end.run_id
        assert intent.config.digest.sha256 == canon.sha256(files["config.json"])
        assert intent.benchmark == predicate.benchmark


def test_nothing_is_searched_before_the_announcement_is_logged(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the first question reaches a stack, the log holds the announcement of every row."""
    seen: list[int] = []

    def search(_text: str, _k: int, _chunks: Any) -> list[Any]:
        seen.append(len(intents_of(LogFolder(lab.space.log).view().entries)))
        return []

    lab.write(stack=register(monkeypatch, search))
    lab.run()
    assert seen[0] == 2


def test_a_continued_pass_is_not_announced_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Resuming keeps the announcement that stands, and the runs name it."""
    monkeypatch.setattr("ragassay.run.board_run._seal", _killed)
    with pytest.raises(KeyboardInterrupt):
        lab.run()
    monkeypatch.undo()
    before = LogFolder(lab.space.log).view().entries
    lab.run()
    assert LogFolder(lab.space.log).view().entries[: len(before)] == before
    assert len(intents_of(LogFolder(lab.space.log).view().entries)) == 2


def _killed(*_: Any) -> None:
    raise KeyboardInterrupt


def test_what_a_killed_process_did_not_log_is_logged_by_the_next(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was written and not yet logged gets its entry and its proofs from the next command."""
    monkeypatch.setattr(Registrar, "enter", _killed)
    with pytest.raises(KeyboardInterrupt):
        lab.run()
    monkeypatch.undo()
    written = [path.name for path in lab.space.runs.iterdir()]
    assert written
    assert not (lab.space.runs / written[0] / RUN_PROOF).exists()
    Registrar(lab.space, SIGNER, LOG_SIGNER).sync()
    files = read_run(lab.space.runs / written[0]).files
    assert decode_proof(files[RUN_PROOF]).includes(files[MANIFEST])
    assert decode_proof(files[INTENT_PROOF]).includes(files[INTENT])


def test_begun_passes_that_are_given_up_are_void_in_the_log(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--new` says of each pass that it gives up that it will not be finished, and why."""
    monkeypatch.setattr("ragassay.run.board_run._seal", _killed)
    with pytest.raises(KeyboardInterrupt):
        lab.run()
    monkeypatch.undo()
    begun = {plan.run_id for plan in open_passes(lab.space)}
    lab.run(Options(new=True))
    voids = [void.predicate for void in voids_of(LogFolder(lab.space.log).view().entries)]
    assert {void.run_id for void in voids} == begun
    assert {void.reason for void in voids} == {NEW_INSTEAD}
    assert all(void.intent is not None and void.run is None for void in voids)


def test_a_pass_with_answers_and_no_announcement_stays_without(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """An announcement that would come after answers is not made up: the run says that it has none."""
    monkeypatch.setattr("ragassay.run.board_run._seal", _killed)
    monkeypatch.setattr(Registrar, "announce", lambda *_: None)
    with pytest.raises(KeyboardInterrupt):
        lab.run()
    monkeypatch.undo()
    ended = lab.run()
    for end in ended.values():
        files = read_run(lab.space.runs / end.run_id).files
        assert predicate_of(files[MANIFEST]).intent is None
        assert INTENT not in files


def test_a_log_that_lost_the_announcement_signs_nothing(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the entry that a run would name there is no run, and the error says what to restore."""
    monkeypatch.setattr(LogFolder, "find", lambda self, entry: None)
    with pytest.raises(InputError, match="does not hold the announcement"):
        lab.run()
    assert not lab.space.runs.exists()


def test_voiding_a_finished_board_finds_nothing_open(lab: Lab) -> None:
    """After a whole run no pass is open, and the log holds no voiding."""
    lab.run()
    assert list(open_passes(lab.space)) == []
    assert len(list(all_passes(lab.space))) == 2
    assert voids_of(LogFolder(lab.space.log).view().entries) == []


def test_rows_that_no_witness_saw_are_named_while_there_is_time(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first answer every row is unseen; with a cosigned log none is, and after answers none is asked for."""
    named: list[list[str]] = []

    async def stop(_prepared: Any, _rows: Any, plans: Any, _space: Any, *, registrar: Registrar, **_: Any) -> Any:
        named.append(registrar.unseen(plans))
        log = registrar.log
        cosigned = cosign(log.checkpoint().data, SIGNER_2, "witness.test", 1_790_000_000)
        log.accept(cosigned, [note_key("witness.test", "witness", SIGNER_2.x)])
        named.append(registrar.unseen(plans))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("run_lab.run_passes", stop)
        with pytest.raises(KeyboardInterrupt):
            lab.run()
    assert named == [["no-retrieval", "row"], []]
