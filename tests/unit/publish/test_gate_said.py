"""What becomes public beside the outputs is scanned too: reasons, readers' names, the board file, the log."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from release_lab import KEYS, MAIL, NOW, copy, decide, found_by, make, published, ready, refusals, seen, sign_off
from run_lab import LOG_SIGNER, SIGNER, Lab

from ragassay.errors import InputError
from ragassay.manifest import LogFolder
from ragassay.publish.deciding import decided, possible
from ragassay.publish.decisions import DecisionFile
from ragassay.publish.looking import Wanted, look
from ragassay.publish.said import anew
from ragassay.publish.withdraw import ReasonNotDecided, take_back
from ragassay.records.publication import Decision, Finding
from ragassay.run.voiding import void_pass
from ragassay.run.workspace import Workspace
from ragassay.site.publications import load_public
from ragassay.site.record import BoardPlan, PlannedRow

OTHER = "joe.doe@acme-mail.org"


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A board that was run once for all tests."""
    return make(tmp_path_factory.mktemp("said"))


def redact(space: Workspace, reason: str) -> None:
    """Redact the address in the outputs for a reason."""
    (mail,) = [one for one in seen(space).scan.findings if one.text == MAIL]
    DecisionFile(space.root).add(mail, "redact", reason=reason, by="Ann")


def beside(space: Workspace) -> dict[str, Finding]:
    """Return what was found beside the outputs, by its text."""
    return {one.text: one for one in seen(space).said.findings}


def test_an_address_in_the_reason_of_a_redaction_is_found(lab: Lab, tmp_path: Path) -> None:
    """The reason is signed and published; what it names is undecided until the finding is decided in other words."""
    space = copy(lab, tmp_path)
    redact(space, f"{OTHER} asked for it")
    sign_off(space)
    found = beside(space)[OTHER]
    assert possible(found) == ("allow",)
    assert "decide that finding again with another --reason" in (anew(found) or "")
    assert "beside the outputs that are not decided: 1" in refusals(space)["undecided"]
    redact(space, "its owner asked for it")
    sign_off(space)
    assert not refusals(space)


def test_a_reason_that_holds_the_very_words_that_it_redacts_is_found(lab: Lab, tmp_path: Path) -> None:
    """A decision to redact does not cover its own reason, and rewriting it is possible though the words stand there."""
    space = copy(lab, tmp_path)
    redact(space, f"{MAIL} is private")
    sign_off(space)
    assert MAIL in beside(space)
    assert set(refusals(space)) == {"undecided"}
    redact(space, "private")
    sign_off(space)
    assert MAIL not in beside(space)
    published(space)
    assert not [
        path for path in (space.root / "public").rglob("*") if path.is_file() and MAIL.encode() in path.read_bytes()
    ]


def test_a_reason_that_was_written_after_publishing_is_not_what_is_public(lab: Lab, tmp_path: Path) -> None:
    """A public run says what it said: a later reason for the same decision is not published, so it is not scanned."""
    space = ready(copy(lab, tmp_path))
    published(space)
    redact(space, f"{OTHER} asked for it")
    assert not refusals(space)
    assert not beside(space)


def test_what_a_public_run_says_is_looked_at_again(lab: Lab, tmp_path: Path) -> None:
    """What was allowed in a published reason and is not any more is found there, with what can still be done."""
    space = copy(lab, tmp_path)
    redact(space, f"{OTHER} asked for it")
    sign_off(space)
    DecisionFile(space.root).add(beside(space)[OTHER], "allow", reason="she agreed", by="Ann")
    published(space)
    lines = DecisionFile(space.root).path.read_bytes().splitlines(keepends=True)
    DecisionFile(space.root).path.write_bytes(b"".join(lines[:-1]))
    (found,) = [one for one in beside(space).values() if one.text == OTHER]
    assert {place.file for place in found.places} == {"withheld.jsonl"}
    assert "unpublish" in (anew(found) or "")
    assert set(refusals(space)) == {"undecided"}


def test_a_reason_of_what_is_allowed_is_not_published_and_not_scanned(lab: Lab, tmp_path: Path) -> None:
    """What was allowed is published without a reason, so its reason may say anything."""
    space = copy(lab, tmp_path)
    for one in seen(space).scan.findings:
        DecisionFile(space.root).add(one, "allow", reason=f"{OTHER} agreed", by="Ann")
    sign_off(space)
    assert not beside(space)
    assert not refusals(space)


def test_a_reader_whose_name_is_an_address_is_found(lab: Lab, tmp_path: Path) -> None:
    """Readers are named in what is published; the finding can be allowed, and the publication counts it."""
    space = copy(lab, tmp_path)
    decide(space)
    sign_off(space, OTHER)
    found = beside(space)[OTHER]
    assert {place.file for place in found.places} == {"review/signoffs.jsonl"}
    assert set(refusals(space)) == {"undecided"}
    DecisionFile(space.root).add(found, "allow", reason="it is how she signs", by="Ann")
    assert not refusals(space)
    published(space)
    by_row = {one.row: one.scan for one in load_public(space.root, NOW).publications.values()}
    assert (by_row["no-retrieval"].allowed, by_row["row"].allowed, by_row["row"].redacted) == (1, 1, 1)


def test_what_the_board_file_says_is_looked_at(lab: Lab, tmp_path: Path) -> None:
    """Why there is no control, and the names of board and rows, stand on the public board."""
    space = ready(copy(lab, tmp_path))
    plan = BoardPlan(
        name="board",
        control_waiver=f"ask {OTHER}",
        rows=tuple(PlannedRow(name=name, stack="bm25") for name in ("row", "no-retrieval")),
    )
    found = look(space, plan, Wanted(), found_by(), now=NOW)
    (one,) = found.said.findings
    assert (one.text, one.places[0].field, one.places[0].run) == (OTHER, "control_waiver", None)
    assert [sum(r.code == "undecided" for r in verdict.refusals) for verdict in found.verdicts] == [1, 1]
    assert "write it otherwise in the board file" in (anew(one) or "")


def test_the_reason_of_a_voiding_in_the_log_is_found(lab: Lab, tmp_path: Path) -> None:
    """The log is published with the runs and forgets nothing: such a finding can only be allowed, and that is said."""
    space = ready(copy(lab, tmp_path))
    row = next(run.id for run in seen(space).chosen if run.document and run.document.predicate.row.name == "row")
    void_pass(space, row, f"{OTHER} broke it", SIGNER, LOG_SIGNER)
    found = beside(space)[OTHER]
    assert found.places[0].file.startswith("log entry ")
    assert found.places[0].field == "payload/predicate/reason"
    assert "for good" in (anew(found) or "")
    assert "undecided" in refusals(space)
    DecisionFile(space.root).add(found, "allow", reason="she knows", by="Ann")
    assert not refusals(space)


def test_the_log_alone_is_no_finding(lab: Lab, tmp_path: Path) -> None:
    """Announcements, manifests and redactions of an honest workspace hold nothing that a scan finds."""
    space = ready(copy(lab, tmp_path))
    published(space)
    assert seen(space).said.findings == ()


def test_a_withdrawal_whose_reason_names_somebody_is_refused_before_anything_is_logged(
    lab: Lab, tmp_path: Path
) -> None:
    """Nothing is void then; other words pass at once, and what is allowed is stored with why."""
    space = ready(copy(lab, tmp_path))
    run = published(space)[0]
    size = LogFolder(space.log).checkpoint().size
    with pytest.raises(ReasonNotDecided) as refused:
        take_back(space, run, f"{OTHER} complained", KEYS, None, now=NOW, detectors=found_by())
    (one,) = refused.value.findings
    assert one.text == OTHER
    assert LogFolder(space.log).checkpoint().size == size
    assert run in load_public(space.root, NOW).publications

    def allowed(finding: Finding) -> Decision:
        return decided(finding, "allow", reason="she agreed", by="Ann", at=NOW)

    done = take_back(space, run, f"{OTHER} complained", KEYS, None, now=NOW, detectors=found_by(), allowed=allowed)
    assert done.withdrawal.reason == f"{OTHER} complained"
    assert DecisionFile(space.root).decisions()[-1].finding == one.id


def test_a_clock_that_was_set_back_is_noticed(lab: Lab, tmp_path: Path) -> None:
    """What is signed has the clock's time: before the run's own end nothing is published and nothing taken back."""
    space = ready(copy(lab, tmp_path))
    early = look(space, None, Wanted(), found_by(), now=1_000_000_000)
    assert all("clock" in {one.code for one in verdict.refusals} for verdict in early.verdicts)
    run = published(space)[0]
    with pytest.raises(InputError, match="set the clock"):
        take_back(space, run, "a mistake", KEYS, None, now=1_000_000_000)
    assert not msgspec.to_builtins(load_public(space.root, NOW).withdrawn)
