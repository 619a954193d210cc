"""From a real workspace to public bundles: what is written, when it is killed, raced, repeated, changed, taken back."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest
from release_lab import KEYS, MAIL, NOW, copy, decide, make, published, ready, seen, sign_off
from run_lab import SIGNER, Lab, register

from ragassay.errors import InputError, StackError
from ragassay.manifest import LogFolder, NoteKey, Signer, decode_run, generate_key
from ragassay.manifest.checkpoint import cosign
from ragassay.manifest.dsse import decode_base64, decode_envelope
from ragassay.manifest.folder import read_run
from ragassay.publish import store, withdraw
from ragassay.publish.decisions import DecisionFile
from ragassay.publish.fill import fill_from
from ragassay.publish.release import release
from ragassay.publish.withdraw import take_back
from ragassay.records import Hit
from ragassay.run.prepared import Options
from ragassay.run.workspace import Workspace
from ragassay.site.publications import PUBLIC, load_public
from ragassay.site.runs import load_runs
from ragassay.verify import PinnedKey, verify


class Killed(BaseException):
    """Stands for a SIGKILL: no handler of ours may catch it."""


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A board that was run once for all tests."""
    return make(tmp_path_factory.mktemp("release"))


@pytest.fixture
def space(lab: Lab, tmp_path: Path) -> Workspace:
    """A workspace in which everything is decided (the address is redacted) and signed off."""
    return ready(copy(lab, tmp_path))


def codes(space: Workspace) -> set[str]:
    """Return every code for which a chosen run is refused."""
    return {one.code for verdict in seen(space).verdicts for one in verdict.refusals}


def bundles(space: Workspace) -> dict[str, dict[str, bytes]]:
    """Return every file of every public folder."""
    folders = sorted(path for path in (space.root / PUBLIC).iterdir() if path.is_dir())
    return {
        one.name: {str(path.relative_to(one)): path.read_bytes() for path in sorted(one.rglob("*")) if path.is_file()}
        for one in folders
    }


def test_nothing_is_published_before_it_was_decided_and_read(lab: Lab, tmp_path: Path) -> None:
    """A fresh workspace is refused for what nobody decided and nobody read; `release` itself refuses too."""
    fresh = copy(lab, tmp_path)
    assert codes(fresh) == {"undecided", "not-signed-off"}
    with pytest.raises(ValueError, match="did not let"):
        release(fresh, seen(fresh), KEYS, now=NOW)
    decide(fresh)
    assert codes(fresh) == {"not-signed-off"}
    sign_off(fresh)
    assert codes(fresh) == set()


def test_a_decision_after_the_sign_off_voids_it(space: Workspace) -> None:
    """What was read under other decisions is not what would be published: it is read, or at least signed, anew."""
    decide(space, "withhold")
    assert codes(space) == {"not-signed-off"}


def test_every_public_bundle_is_accepted_and_holds_no_redacted_text(space: Workspace) -> None:
    """A stranger's verifier accepts each bundle under the publisher's key, and the address is in none."""
    done = published(space)
    assert len(done) == 2
    for run_id in done:
        files = read_run(space.root / PUBLIC / run_id / "run").files
        assert verify(files, policy=PinnedKey(SIGNER.public), now=NOW).ok()
    assert not [name for files in bundles(space).values() for name, data in files.items() if MAIL.encode() in data]


def test_the_signed_runs_are_never_touched(space: Workspace) -> None:
    """Publishing changes no byte below `runs`."""
    before = {path: path.read_bytes() for path in space.runs.rglob("*") if path.is_file()}
    published(space)
    assert {path: path.read_bytes() for path in space.runs.rglob("*") if path.is_file()} == before


def test_a_redaction_is_logged_with_its_proof_and_its_salts_stay_private(space: Workspace) -> None:
    """The log holds each redaction; the file of salts is readable by its owner alone and lies outside of `public`."""
    published(space)
    found = [files for files in bundles(space).values() if "run/redaction.dsse.json" in files]
    assert found
    log = LogFolder(space.log)
    for files in found:
        assert log.find(files["run/redaction.dsse.json"]) is not None
        assert "run/redaction.tlog-proof" in files
    salts = list((space.root / "review" / "salts").iterdir())
    assert len(salts) == len(found)
    assert {path.stat().st_mode & 0o777 for path in salts} == {0o600}


def test_a_publication_says_who_read_it_and_what_the_scan_found(space: Workspace) -> None:
    """`publication.json` holds the manifest's digest, the reader, and the counts of what was decided."""
    published(space)
    public = load_public(space.root, NOW)
    by_row = {one.row: one for one in public.publications.values()}
    assert by_row["row"].scan.redacted == 1
    assert by_row["row"].redaction is not None
    assert by_row["no-retrieval"].redaction is None
    assert [one.reader for one in by_row["row"].sign_offs] == ["Ann"]
    assert by_row["row"].at == NOW


def test_publishing_twice_changes_nothing(space: Workspace) -> None:
    """The second time nothing is published, nothing is logged and no byte is another."""
    published(space)
    before, size = bundles(space), LogFolder(space.log).checkpoint().size
    assert published(space) == []
    assert len(seen(space).already) == 2
    assert (bundles(space), LogFolder(space.log).checkpoint().size) == (before, size)


def test_changed_decisions_are_never_published_silently(space: Workspace) -> None:
    """A public run whose texts would now be others is refused, and stays as it is."""
    published(space)
    before = bundles(space)
    decide(space, "allow")
    sign_off(space)
    assert codes(space) == {"changed"}
    with pytest.raises(ValueError, match="did not let"):
        published(space)
    assert bundles(space) == before


def test_a_reader_who_reads_later_changes_nothing(space: Workspace) -> None:
    """A public run needs no sign-off any more: what was read is what is public."""
    published(space)
    (space.root / "review" / "signoffs.jsonl").unlink()
    assert codes(space) == set()


@pytest.mark.parametrize(
    ("module", "name"),
    [("store", "write_whole"), ("store", "sync"), ("release", "store"), ("redact", "public_files")],
    ids=["first-file", "folders", "after-redaction", "before-redaction"],
)
def test_a_kill_leaves_whole_publications_and_the_next_completes(
    space: Workspace, monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    """Wherever it is killed: what is there is whole, and publishing again publishes the rest, redacted once."""
    with monkeypatch.context() as patch:
        where = "release" if name == "public_files" else module
        patch.setattr(f"ragassay.publish.{where}.{name}", _kill)
        with pytest.raises(Killed):
            published(space)
    assert all("publication.json" in files for files in bundles(space).values() if files)
    published(space)
    public = load_public(space.root, NOW)
    assert len(public.publications) == 2
    assert sum(map(_is_redaction, LogFolder(space.log).view().entries)) == 1
    assert not [path for path in (space.root / PUBLIC).iterdir() if path.name.startswith(".") and path.is_dir()]


def _is_redaction(entry: bytes) -> bool:
    return b"benchmark-run-redaction" in decode_base64(decode_envelope(entry).payload)


def _kill(*_: Any, **__: Any) -> None:
    raise Killed


@pytest.mark.parametrize("missing", ["run", "log"])
def test_a_key_that_cannot_be_had_leaves_nothing_public(space: Workspace, missing: str) -> None:
    """Runs that need no signature are not published before one that does: all of them or none."""

    def refuse() -> Signer:
        raise InputError(f"the {missing} key is encrypted")

    keys = msgspec.structs.replace(KEYS, **{missing: refuse})
    with pytest.raises(InputError, match="is encrypted"):
        release(space, seen(space), keys, now=NOW)
    assert not (space.root / PUBLIC).exists()


def test_a_half_written_folder_of_a_killed_process_is_removed(space: Workspace) -> None:
    """What a SIGKILL left under a temporary name is nobody's publication, and goes."""
    left = space.root / PUBLIC / f".{'a' * 32}.{'b' * 8}"
    left.mkdir(parents=True)
    (left / "publication.json").write_text("{", encoding="utf-8")
    published(space)
    assert not left.exists()
    assert len(load_public(space.root, NOW).publications) == 2


def test_two_publishers_at_once_publish_each_run_once(space: Workspace) -> None:
    """Of two that publish together one does, the other finds it done; no bundle is written twice."""
    found: list[list[str]] = []
    threads = [threading.Thread(target=lambda: found.append(published(space))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(len, found)) == [0, 2]
    assert len(bundles(space)) == 2


def test_a_disk_that_cannot_be_written_is_an_error_that_leaves_nothing(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No space, or a read-only disk: the place is named, nothing is half there, and it can be done again."""

    def full(*_: Any) -> None:
        raise OSError(30, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr(store, "write_whole", full)
        with pytest.raises(InputError, match=r"public.*cannot be written \(Read-only file system\)"):
            published(space)
    assert bundles(space) == {}
    assert len(published(space)) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only to root")
def test_a_read_only_workspace_is_refused(space: Workspace) -> None:
    """A folder of public runs that cannot be made is named."""
    space.root.chmod(0o500)
    try:
        with pytest.raises(InputError, match="cannot be written"):
            published(space)
    finally:
        space.root.chmod(0o700)


@pytest.mark.parametrize("name", ["../../etc", "", "x" * 32, "A" * 32, "a" * 31, "a" * 32 + "\n"])
def test_no_name_leads_out_of_the_folder_of_public_runs(tmp_path: Path, name: str) -> None:
    """What is no id of a run names no folder."""
    with pytest.raises(InputError, match="no id of a run"):
        store.folder_of(tmp_path, name)


@pytest.mark.parametrize("name", ["../run", "a/b", "", "..", "a\\b", "a\0b"])
def test_no_file_of_a_bundle_lies_elsewhere(space: Workspace, name: str) -> None:
    """A judgement or a file with a hostile name is refused before anything is written."""
    published(space)
    publication = next(iter(load_public(space.root, NOW).publications.values()))
    bundle = store.Bundle(run={name: b"x"}, judgements={}, publication=publication)
    with pytest.raises(InputError, match="cannot be the name"):
        store.store(space.root, "f" * 32, bundle)
    assert not (space.root / PUBLIC / ("f" * 32)).exists()


def test_a_public_bundle_that_was_changed_is_refused(space: Workspace) -> None:
    """One byte of a public bundle: it is drawn nowhere, and publishing says that it is damaged."""
    run_id = published(space)[0]
    path = space.root / PUBLIC / run_id / "run" / "config.json"
    path.write_bytes(path.read_bytes().replace(b"bm25", b"bm26").replace(b"none", b"nome"))
    public = load_public(space.root, NOW)
    assert run_id not in public.publications
    assert next(run for run in public.runs if run.id == run_id).document is None
    assert "damaged" in codes(space)


def test_a_publication_of_another_run_is_refused(space: Workspace) -> None:
    """`publication.json` names the manifest beside it; another one's says nothing of this run."""
    one, two = published(space)
    source = space.root / PUBLIC / one / "publication.json"
    (space.root / PUBLIC / two / "publication.json").write_bytes(source.read_bytes())
    assert set(load_public(space.root, NOW).publications) == {one}


def test_taking_back_voids_in_the_log_and_deletes_nothing(space: Workspace) -> None:
    """The voiding stands in the log with its reason, and in the folder; every file stays; rows say what they lose."""
    run_id = next(run for run in published(space) if row_of(space, run) == "row")
    before = bundles(space)[run_id]
    done = take_back(space, run_id[:8], "it names a person", KEYS, None, now=NOW)
    after = bundles(space)[run_id]
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"withdrawn.json"}
    assert (done.row, done.withdrawal.reason, done.earlier) == ("row", "it names a person", False)
    assert [(one.row, one.before, one.after) for one in done.lost] == [("row", 1, 0)]
    public = load_public(space.root, NOW)
    assert public.withdrawn[run_id].reason == "it names a person"
    assert next(run for run in public.runs if run.id == run_id).document is None
    assert next(run for run in load_runs(space.root, now=NOW) if run.id == run_id).voided is not None


def row_of(space: Workspace, run_id: str) -> str:
    """Return the row of a run."""
    return decode_run(read_run(space.runs / run_id).files).predicate.row.name


def test_a_withdrawn_run_is_not_published_again(space: Workspace) -> None:
    """It is void for good: named again it is refused, and the public folder stays as it is."""
    run_id = published(space)[0]
    take_back(space, run_id, "a mistake", KEYS, None, now=NOW)
    refused = {one.code for verdict in seen(space, run_id).verdicts for one in verdict.refusals}
    assert {"RUN_VOIDED", "withdrawn"} <= refused


def test_what_cannot_be_taken_back_is_said(space: Workspace) -> None:
    """Unknown, not public, withdrawn already, no reason: each has its own words, and the log stays as it is."""
    private = next(iter(sorted(path.name for path in space.runs.iterdir())))
    with pytest.raises(InputError, match="not public"):
        take_back(space, private, "why", KEYS, None, now=NOW)
    published(space)
    size = LogFolder(space.log).checkpoint().size
    for name, reason, words in (
        ("nobody", "why", "no run, public or not"),
        ("../..", "why", "no run, public or not"),
        ("", "why", "no run, public or not"),
        (private, "  ", "a reason of 1 to"),
        (private, "x" * 2001, "a reason of 1 to"),
        (private, "half \ud800", "no text that can be signed"),
    ):
        with pytest.raises(InputError, match=words):
            take_back(space, name, reason, KEYS, None, now=NOW)
    assert LogFolder(space.log).checkpoint().size == size
    take_back(space, private, "why", KEYS, None, now=NOW)
    with pytest.raises(InputError, match="withdrawn already: why"):
        take_back(space, private, "again", KEYS, None, now=NOW)


def test_a_killed_withdrawal_is_completed(space: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between log and folder the run is void at once; the next withdrawal marks the folder, and logs nothing."""
    run_id = published(space)[0]
    with monkeypatch.context() as patch:
        patch.setattr(withdraw, "withdraw", _kill)
        with pytest.raises(Killed):
            take_back(space, run_id, "the first reason", KEYS, None, now=NOW)
    assert run_id in load_public(space.root, NOW).withdrawn
    size = LogFolder(space.log).checkpoint().size
    done = take_back(space, run_id, "another reason", KEYS, None, now=NOW)
    assert (done.earlier, done.withdrawal.reason) == (True, "the first reason")
    assert LogFolder(space.log).checkpoint().size == size


def test_a_text_that_was_allowed_is_published_as_it_is(lab: Lab, tmp_path: Path) -> None:
    """Allowed with a reason nothing is redacted: no statement, no salts, and the bundle is the run."""
    space = ready(copy(lab, tmp_path), "allow")
    for run_id in published(space):
        assert read_run(space.root / PUBLIC / run_id / "run").files == read_run(space.runs / run_id).files
    assert not (space.root / "review" / "salts").exists()


def test_a_damaged_file_of_decisions_stops_everything(space: Workspace) -> None:
    """A line that is no decision is named, and nothing is published on the strength of the others."""
    with DecisionFile(space.root).path.open("ab") as file:
        file.write(b"{}\n")
    with pytest.raises(InputError, match=r"decisions\.jsonl has lines that are no decisions"):
        published(space)
    assert bundles(space) == {}


# -- fills ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A row of two passes whose stack fails once, in one pass, and is sealed as it is."""
    searched: dict[str, int] = {}

    def search(text: str, k: int, chunks: Any) -> list[Hit]:
        searched[text] = searched.get(text, 0) + 1
        if "part 1 " in text and searched[text] == 1:
            raise StackError("down for a moment")
        return [Hit(chunk=chunk.id, score=1.0) for chunk in chunks if text.split("part ")[1][0] in chunk.id][:k]

    lab = Lab(tmp_path, 3)
    lab.write(stack=register(monkeypatch, search), head="passes = 2")
    lab.run(Options(seal=True))
    lab.space.keys.mkdir()
    (lab.space.keys / "run.pub.json").write_bytes(SIGNER.public.jwk())
    return lab


def passes(space: Workspace) -> tuple[str, str]:
    """Return the run of the row that failed, and the one that did not."""
    runs = [run.document for run in load_runs(space.root) if run.document is not None]
    row = [one for one in runs if one.predicate.row.name == "row"]
    bad = next(one.predicate.run_id for one in row if one.predicate.counts.retrieval_failed)
    return bad, next(one.predicate.run_id for one in row if one.predicate.run_id != bad)


def test_a_fill_is_signed_logged_and_stands_for_its_pass(failing: Lab) -> None:
    """The failed pass is filled from the other: a run of its own with announcement and proofs, in its place."""
    space = failing.space
    bad, good = passes(space)
    before = read_run(space.runs / bad).files
    filled = fill_from(space, bad[:10], [good], KEYS)
    assert filled.taken == {"q-001": good}
    assert read_run(space.runs / bad).files == before
    run = next(one for one in load_runs(space.root) if one.id == filled.run_id)
    assert run.document is not None
    codes = {one.code for one in run.checks}
    assert "FILLED" in codes
    assert not codes & {"NO_INTENT", "PASS_MISSING", "PASS_OUT_OF_PLAN", "INTENT_MISMATCH"}
    assert {"intent.dsse.json", "intent.tlog-proof", "run.tlog-proof"} <= set(run.files)
    chosen = {one.id for one in seen(space).chosen}
    assert {filled.run_id, good} <= chosen
    assert bad not in chosen


def test_a_fill_made_twice_is_one(failing: Lab) -> None:
    """The same fill again adds no run and no entry; one from elsewhere is refused: one fill stands for a pass."""
    space = failing.space
    bad, good = passes(space)
    filled = fill_from(space, bad, [good], KEYS)
    size = LogFolder(space.log).checkpoint().size
    again = fill_from(space, bad, [good], KEYS)
    assert again == msgspec.structs.replace(filled, new=False)
    assert LogFolder(space.log).checkpoint().size == size
    with pytest.raises(InputError, match="a fill is not filled again"):
        fill_from(space, filled.run_id, [good], KEYS)


def test_a_killed_fill_is_completed(failing: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between its folder and the log, the fill is logged by the same command again."""
    space = failing.space
    bad, good = passes(space)
    with monkeypatch.context() as patch:
        patch.setattr(LogFolder, "append", _kill)
        with pytest.raises(Killed):
            fill_from(space, bad, [good], KEYS)
    filled = fill_from(space, bad, [good], KEYS)
    assert LogFolder(space.log).find((space.runs / filled.run_id / "run.dsse.json").read_bytes()) is not None
    assert (space.runs / filled.run_id / "run.tlog-proof").exists()


def test_a_dry_fill_writes_nothing(failing: Lab) -> None:
    """With `dry` the items are said and nothing is there afterwards."""
    space = failing.space
    bad, good = passes(space)
    filled = fill_from(space, bad, [good], KEYS, dry=True)
    assert not (space.runs / filled.run_id).exists()


def test_the_gate_wants_the_fill_and_not_what_was_filled(failing: Lab) -> None:
    """The run that was filled is refused by the name of the run that stands for it; the fill passes when it is read."""
    space = failing.space
    bad, good = passes(space)
    filled = fill_from(space, bad, [good], KEYS)
    refused = {one.code: one.text for verdict in seen(space, bad).verdicts for one in verdict.refusals}
    assert filled.run_id in refused["filled-by"]
    assert "RETRIEVAL_FAILED" in refused
    ready(space)
    assert filled.run_id in published(space)
    done = take_back(space, filled.run_id, "the fill was a mistake", KEYS, None, now=NOW)
    assert done.withdrawal.reason == "the fill was a mistake"
    assert filled.run_id in load_public(space.root, NOW).withdrawn


def test_what_cannot_be_named_is_not_filled(failing: Lab) -> None:
    """Unknown runs, and runs that are refused, are said so."""
    space = failing.space
    bad, good = passes(space)
    with pytest.raises(InputError, match="no runs have an id"):
        fill_from(space, "nobody", [good], KEYS)
    path = space.runs / good / "outputs.jsonl"
    path.write_bytes(path.read_bytes().replace(b"part", b"port", 1))
    with pytest.raises(InputError, match="is refused, so nothing is taken"):
        fill_from(space, bad, [good], KEYS)


# -- a witness that comes later ------------------------------------------------------------------------------------


def test_proofs_of_public_runs_are_renewed_when_a_witness_has_seen_the_log(space: Workspace) -> None:
    """Published first and cosigned then: the next publication brings the cosignature to every public bundle."""
    published(space)
    witness = generate_key("witness")
    log = LogFolder(space.log, seen=space.log_seen)
    signed = cosign(log.checkpoint().data, witness, "example.org/witness", NOW)
    log.accept(signed, [NoteKey("example.org/witness", "witness", witness.x)])
    before = bundles(space)
    assert published(space) == []
    after = bundles(space)
    changed = {name for run in before for name in after[run] if after[run][name] != before[run].get(name)}
    assert changed == {"run/run.tlog-proof", "run/intent.tlog-proof", "run/redaction.tlog-proof"}
    assert all(b"example.org/witness" in after[run][name] for run in after for name in after[run] if "-proof" in name)
