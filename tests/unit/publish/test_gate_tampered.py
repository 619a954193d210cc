"""A careless or dishonest publisher: what was changed by hand after publishing is noticed, and names the run."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from release_lab import KEYS, MAIL, NOW, copy, decide, make, published, ready, refusals, seen, sign_off
from run_lab import LOG_SIGNER, Lab

from ragassay.errors import InputError, RagassayError
from ragassay.manifest import LogFolder, NoteKey, Signer, generate_key
from ragassay.manifest.checkpoint import cosign
from ragassay.manifest.folder import read_run
from ragassay.publish.decisions import DecisionFile
from ragassay.publish.redact import Keys
from ragassay.publish.release import release
from ragassay.publish.store import publishing
from ragassay.publish.withdraw import take_back
from ragassay.records.publication import Decision
from ragassay.run.workspace import Workspace, locked
from ragassay.site.publications import PUBLIC, PUBLICATION, load_public
from ragassay.site.write import public_board_of
from ragassay.verify import PinnedKey, verify


def _no_key() -> Signer:
    raise AssertionError("nothing is to be signed")


NO_KEYS = Keys(run=_no_key, log=_no_key)


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A board that was run once for all tests."""
    return make(tmp_path_factory.mktemp("tampered"))


@pytest.fixture
def space(lab: Lab, tmp_path: Path) -> Workspace:
    """A workspace of which everything is public; the address in its row is redacted."""
    space = ready(copy(lab, tmp_path))
    published(space)
    return space


def run_of(space: Workspace, row: str = "row") -> str:
    """Return the public run of a row."""
    public = load_public(space.root, NOW).publications
    return next(run for run, one in public.items() if one.row == row)


def said(space: Workspace, run: str) -> str:
    """Return why the public board leaves a run out; fails where it draws it, or leaves out another."""
    board, _ = public_board_of(space.root, now=NOW)
    assert [one.id for one in board.refused] == [run]
    assert "damaged" in refusals(space), "and `publish` refuses, too"
    return board.refused[0].reason


def change(path: Path, edit: Callable[[Any], Any]) -> None:
    """Edit a JSON file by hand."""
    value = json.loads(path.read_text(encoding="utf-8"))
    edit(value)
    path.write_text(json.dumps(value), encoding="utf-8")


def _reader(value: Any) -> None:
    value["signOffs"][0]["reader"] = "Somebody Famous"


def _two_readers(value: Any) -> None:
    value["signOffs"].append({**value["signOffs"][0], "reader": "Bob"})


def _no_reader(value: Any) -> None:
    value["signOffs"] = []


def _another_shown(value: Any) -> None:
    value["signOffs"][0]["shown"] = "0" * 64


def _clean_scan(value: Any) -> None:
    value["scan"] |= {"findings": 0, "redacted": 0}


def _uncounted(value: Any) -> None:
    value["scan"]["findings"] = 0


def _not_redacted(value: Any) -> None:
    value["redaction"] = None


def _another_redaction(value: Any) -> None:
    value["redaction"] = "0" * 64


def _another_pass(value: Any) -> None:
    value["pass"] = 2


def _another_row(value: Any) -> None:
    value["row"] = "oracle"


def _another_signer(value: Any) -> None:
    value["signer"] = "a-key-that-is-trusted"


def _unknown_member(value: Any) -> None:
    value["endorsedBy"] = "Somebody Famous"


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (_reader, "signoffs.jsonl holds no such sign-off by Somebody Famous"),
        (_two_readers, "signoffs.jsonl holds no such sign-off by Bob"),
        (_no_reader, "nobody who read it"),
        (_another_shown, "no such sign-off by Ann"),
        (_clean_scan, "nothing was redacted or withheld"),
        (_uncounted, "of 0 findings"),
        (_not_redacted, "another redaction"),
        (_another_redaction, "another redaction"),
        (_another_pass, "another row, pass or signer"),
        (_another_row, "another row, pass or signer"),
        (_another_signer, "another row, pass or signer"),
        (_unknown_member, "is no publication"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_publication_that_claims_something_else_is_noticed(
    space: Workspace, edit: Callable[[Any], Any], why: str
) -> None:
    """What it claims of run, redaction, scan and readers is held against the bundle and the review folder."""
    run = run_of(space)
    change(space.root / PUBLIC / run / PUBLICATION, edit)
    assert why in said(space, run)


def test_a_scan_that_claims_to_have_read_more_is_noticed_by_publish(space: Workspace) -> None:
    """The board cannot scan; `publish` scans again, and holds the figures of the same detectors against it."""
    run = run_of(space)
    change(space.root / PUBLIC / run / PUBLICATION, lambda value: value["scan"].update(texts=1_000))
    assert "says that the scan read 1,000 texts" in refusals(space, run)["damaged"]


def _verdict(run: Path) -> None:
    path = run / "outputs.public.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"verdict":"SUPPORTS"', b'"verdict":"CONTRADICTS"', 1))


def _text_back(run: Path) -> None:
    path = run / "outputs.public.jsonl"
    shown = path.read_bytes().replace(b'"text":null', f'"text":"ask {MAIL}"'.encode(), 1)
    assert MAIL.encode() in shown
    path.write_bytes(shown)


def _notes(run: Path) -> None:
    (run / "notes.txt").write_text("trust me", encoding="utf-8")


def _notes_beside(run: Path) -> None:
    (run.parent / "notes.txt").write_text("trust me", encoding="utf-8")


def _folder_beside(run: Path) -> None:
    (run.parent / "more").mkdir()


def _foreign_judgement(run: Path) -> None:
    (run.parent / "judgements" / "mine-panel-1").mkdir(parents=True)


def _link_in_run(run: Path) -> None:
    (run / "config.json").rename(run.parent.parent / "config.json")
    (run / "config.json").symlink_to(run.parent.parent / "config.json")


def _run_is_link(run: Path) -> None:
    run.rename(run.parent.parent.parent / "elsewhere")
    run.symlink_to(run.parent.parent.parent / "elsewhere")


def _publication_is_link(run: Path) -> None:
    path = run.parent / PUBLICATION
    path.rename(run.parent.parent.parent / "elsewhere.json")
    path.symlink_to(run.parent.parent.parent / "elsewhere.json")


def _folder_is_link(run: Path) -> None:
    run.parent.rename(run.parent.parent.parent / "elsewhere")
    run.parent.symlink_to(run.parent.parent.parent / "elsewhere")


def _no_redaction(run: Path) -> None:
    for name in ("redaction.dsse.json", "redaction.tlog-proof", "withheld.jsonl"):
        (run / name).unlink()


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_verdict, "OUTPUTS_DIGEST"),
        (_text_back, "OUTPUTS_DIGEST"),
        (_notes, "BUNDLE_NAME"),
        (_notes_beside, "BUNDLE_NAME: notes.txt is no file of a publication"),
        (_folder_beside, "BUNDLE_NAME: more is no file of a publication"),
        (_link_in_run, "BUNDLE_LINK"),
        (_run_is_link, "BUNDLE_LINK: run is a link"),
        (_publication_is_link, "BUNDLE_LINK: publication.json is a link"),
        (_folder_is_link, "is a link; a public folder holds files only"),
        (_no_redaction, ""),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_public_folder_that_was_edited_by_hand_is_noticed(
    space: Workspace, spoil: Callable[[Path], None], why: str
) -> None:
    """Changed, added, missing or linked: the run is left out, and the reason names it."""
    run = run_of(space)
    spoil(space.root / PUBLIC / run / "run")
    assert why in said(space, run)


def test_a_judgement_put_there_by_hand_is_not_drawn(space: Workspace) -> None:
    """A folder among the judgements that no publication lists is refused, and `publish` names it."""
    run = run_of(space)
    _foreign_judgement(space.root / PUBLIC / run / "run")
    (found,) = [one for one in load_public(space.root, NOW).runs if one.id == run]
    assert [(one.id, one.document, one.code) for one in found.judgements] == [("mine-panel-1", None, "BUNDLE_NAME")]
    assert "mine-panel-1" in refusals(space)["damaged"]


def test_lost_decisions_are_said_and_nothing_public_changes(space: Workspace) -> None:
    """Without its decisions a public run is refused with what to do; the board of what is public stands as it is."""
    DecisionFile(space.root).path.unlink()
    assert "restore review/decisions.jsonl" in refusals(space)["changed"]
    board, _ = public_board_of(space.root, now=NOW)
    assert not board.refused
    with pytest.raises(ValueError, match="did not let"):
        published(space)


def test_lost_sign_offs_take_nothing_from_what_was_published(space: Workspace) -> None:
    """Where the review folder is not there, nothing is compared: a copy of what is public can be built anywhere."""
    shutil.rmtree(space.root / "review")
    board, _ = public_board_of(space.root, now=NOW)
    assert not board.refused


def test_a_public_folder_of_another_workspace_is_noticed(space: Workspace, tmp_path: Path) -> None:
    """Copied into a workspace with a log of its own, a run is left out: this log has never held it."""
    (tmp_path / "other").mkdir()
    other = Lab(tmp_path / "other", 3)
    other.write()
    other.run()
    other.space.keys.mkdir()
    shutil.copyfile(space.keys / "run.pub.json", other.space.keys / "run.pub.json")
    shutil.copytree(space.root / PUBLIC, other.space.root / PUBLIC)
    board, _ = public_board_of(other.space.root, now=NOW)
    assert {one.id for one in board.refused} == set(load_public(space.root, NOW).publications)


def test_two_workspaces_that_were_one_cannot_both_go_on(space: Workspace, tmp_path: Path) -> None:
    """Where a copy of a workspace published further, a witness that saw it does not cosign the log of the other."""
    shutil.copytree(space.root, tmp_path / "copy" / ".ragassay")
    twin = Workspace(tmp_path / "copy" / ".ragassay")
    take_back(space, run_of(space), "a mistake", KEYS, None, now=NOW)
    take_back(twin, run_of(twin), "another mistake", KEYS, None, now=NOW)
    witness = generate_key("witness")
    here, there = LogFolder(space.log, seen=space.log_seen), LogFolder(twin.log, seen=twin.log_seen)
    signed = cosign(here.checkpoint().data, witness, "example.org/witness", NOW)
    with pytest.raises(RagassayError):
        there.accept(signed, [NoteKey("example.org/witness", "witness", witness.x)])


def test_what_another_key_than_the_runs_withholds_is_refused_before_anything_is_written(
    lab: Lab, tmp_path: Path
) -> None:
    """Strangers refuse such a redaction, so not even the runs without one are published, and nothing is logged."""
    space, new = ready(copy(lab, tmp_path)), generate_key()
    (space.keys / "run-2.pub.json").write_bytes(new.public.jwk())
    size = LogFolder(space.log).checkpoint().size
    keys = Keys(run=lambda: new, log=lambda: LOG_SIGNER)
    with publishing(space.root), pytest.raises(InputError, match="run key was replaced") as refused:
        release(space, seen(space), keys, now=NOW)
    assert any("REDACTION_MISMATCH" in problem for problem in refused.value.problems)
    assert not load_public(space.root, NOW).runs
    assert LogFolder(space.log).checkpoint().size == size
    assert len(published(space)) == 2, "with the run's own key it is published after all"


def test_a_run_by_a_key_that_was_replaced_is_published_where_nothing_is_withheld(lab: Lab, tmp_path: Path) -> None:
    """Its own signature is all there is then, and no key is asked for."""
    space = ready(copy(lab, tmp_path), "allow")
    (space.keys / "run-2.pub.json").write_bytes(generate_key().public.jwk())
    with publishing(space.root):
        assert len(release(space, seen(space), NO_KEYS, now=NOW).runs) == 2
    files = read_run(space.root / PUBLIC / run_of(space) / "run").files
    assert verify(files, policy=PinnedKey(KEYS.run().public), now=NOW).ok()


def test_a_log_that_was_put_back_stops_everything(lab: Lab, tmp_path: Path) -> None:
    """A log older than what this workspace signed is appended to by nobody: not to publish, not to take back."""
    space = ready(copy(lab, tmp_path))
    shutil.copytree(space.log, tmp_path / "older")
    run = published(space)[0]
    shutil.rmtree(space.log)
    shutil.copytree(tmp_path / "older", space.log)
    assert not seen(space).passes
    assert {one.refused.partition(":")[0] for one in seen(space).broken if one.refused} == {"LOG_FORK"}
    board, _ = public_board_of(space.root, now=NOW)
    assert run in {one.id for one in board.refused}
    with pytest.raises(RagassayError, match=r"[Rr]estore"):
        take_back(space, run, "a mistake", KEYS, None, now=NOW)


def test_a_log_that_was_deleted_stops_everything(space: Workspace) -> None:
    """Without its log nothing is published or taken back, and the reason says what to restore."""
    run = run_of(space)
    shutil.rmtree(space.log)
    assert not seen(space).passes
    assert {one.id for one in seen(space).broken} >= {run}
    with pytest.raises(RagassayError, match=r"[Rr]estore"):
        take_back(space, run, "a mistake", KEYS, None, now=NOW)


def test_a_hundred_thousand_decisions_are_read_in_seconds(space: Workspace) -> None:
    """A file of decisions grows for years; the last line of each finding counts, whatever stands before."""
    file = DecisionFile(space.root)
    line = Decision(finding="f" * 16, kind="email", action="allow", reason="r", by="Ann", at=1)
    file.add_all([line] * 100_000)
    begun = time.process_time()
    assert not refusals(space)
    assert time.process_time() - begun < 10


def test_publishing_waits_for_no_run(space: Workspace, lab: Lab, tmp_path: Path) -> None:
    """While a pass holds the lock of the workspace, what is finished is published all the same."""
    (tmp_path / "running").mkdir()
    busy = ready(copy(lab, tmp_path / "running"))
    with locked(busy.passes / ".lock"):
        assert len(published(busy)) == 2


def test_a_decision_between_the_look_and_the_release_is_not_published_half(lab: Lab, tmp_path: Path) -> None:
    """What was looked at is what is published, whoever decides meanwhile; the next look says that it differs."""
    space = ready(copy(lab, tmp_path))
    with publishing(space.root):
        found = seen(space)
        decide(space, "allow")
        sign_off(space)
        release(space, found, KEYS, now=NOW)
    assert "changed" in refusals(space)
    assert MAIL.encode() not in b"".join(
        path.read_bytes() for path in (space.root / PUBLIC).rglob("*") if path.is_file()
    )


def test_a_withdrawal_that_was_deleted_by_hand_changes_nothing(space: Workspace) -> None:
    """The log says that the run is void, so it stays void on the board, and is not published again."""
    run = run_of(space)
    take_back(space, run, "a mistake", KEYS, None, now=NOW)
    (space.root / PUBLIC / run / "withdrawn.json").unlink()
    public = load_public(space.root, NOW)
    assert public.withdrawn[run].reason == "a mistake"
    assert "withdrawn" in refusals(space, run)
    with pytest.raises(InputError, match="no run"):
        take_back(space, "f" * 32, "a mistake", KEYS, None, now=NOW)
