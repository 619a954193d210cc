"""What strangers get of a run: texts replaced or left out as decided, judgements kept or left out with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from gate_lab import finding, loaded, told

from ragassay.errors import InputError
from ragassay.manifest import generate_key
from ragassay.manifest.redaction import CUT, GONE
from ragassay.manifest.statement import RUN_KIND
from ragassay.publish.redact import Keys, public_files, same_public, withholdings, would_be_public
from ragassay.publish.store import Salts, read_salts, write_salts
from ragassay.records.publication import Action, Decision, Place
from ragassay.run.workspace import Workspace
from ragassay.site.loaded import LoadedJudgement, LoadedRun
from ragassay.testing.signed_run import OpenedRun, open_run, public_signer, seal_run, signed_run


def decided(identity: str, action: Action, reason: str = "private") -> Decision:
    """Return a decision on an e-mail address."""
    return Decision(finding=identity, kind="email", action=action, reason=reason, by="Ann", at=1)


def keys() -> Keys:
    """Return keys of nobody."""
    run, log = generate_key(), generate_key("log")
    return Keys(run=lambda: run, log=lambda: log)


def never() -> Keys:
    """Return keys that must not be asked for."""

    def asked() -> Any:
        raise AssertionError("no key is needed")

    return Keys(run=asked, log=asked)


def test_what_is_redacted_loses_the_words_and_what_is_withheld_the_text() -> None:
    """Two answers with the same address: by the decision the words are cut out, or the whole text is gone."""
    run = told()
    mail = finding("email", "Service", run.id, "q-001", "q-002")
    cut = would_be_public(run, [mail], [decided(mail.id, "redact")])["outputs.public.jsonl"].decode()
    assert cut.count(CUT) == 2
    gone = would_be_public(run, [mail], [decided(mail.id, "withhold")])["outputs.public.jsonl"].decode()
    assert gone.count(GONE) == 2
    assert "outputs.public.jsonl" not in would_be_public(run, [mail], [decided(mail.id, "allow")])


def test_one_decision_to_withhold_takes_the_whole_text() -> None:
    """Of two findings in one text one is redacted and one withheld: the text goes whole, for both reasons."""
    run = told()
    one = finding("email", "Service", run.id, "q-001")
    two = finding("email", "Service 1", run.id, "q-001")
    (found,) = withholdings(
        run.id, [one, two], [decided(one.id, "redact", "a name"), decided(two.id, "withhold", "a person")]
    )
    assert found.spans is None
    assert set(found.reason.split("; ")) == {"a name", "a person"}


def test_a_decision_without_a_reason_says_what_was_found() -> None:
    """The signed redaction always gives a reason: where nobody did, the kind of the finding."""
    run = told()
    mail = finding("email", "Service", run.id, "q-001")
    assert withholdings(run.id, [mail], [decided(mail.id, "redact", "")])[0].reason == "email"


def test_what_stands_in_another_run_is_not_withheld_here() -> None:
    """A finding touches the runs in which it stands and no other."""
    run = told()
    mail = finding("email", "Service", "9" * 32, "q-001")
    assert withholdings(run.id, [mail], [decided(mail.id, "withhold")]) == []


def test_a_clean_run_needs_no_key(tmp_path: Path) -> None:
    """Where nothing is withheld nothing is signed, logged or salted, and the bundle is the run."""
    run = told()
    public = public_files(Workspace(tmp_path / ".ragassay"), run, [], [], never(), now=1)
    assert public.files == run.files
    assert public.redaction is None
    assert list(tmp_path.iterdir()) == []


def test_the_same_decisions_carried_out_again_give_the_same_bytes(tmp_path: Path) -> None:
    """Salts and time are kept: a redaction that is made again after a kill is the same entry of the log."""
    run, space, both = told(), Workspace(tmp_path / ".ragassay"), keys()
    mail = finding("email", "Service", run.id, "q-001")
    made = [public_files(space, run, [mail], [decided(mail.id, "redact")], both, now=now) for now in (5, 9)]
    assert made[0].redaction == made[1].redaction
    assert made[0].files == made[1].files


def _old(run: OpenedRun) -> None:
    run.statement["predicateType"] = f"{RUN_KIND}v0.1"
    for name in ("verdicts", "lines", "figures"):
        run.predicate[name] = None


def test_nothing_of_a_run_of_the_first_version_can_be_withheld() -> None:
    """A manifest that binds no row by itself cannot be redacted, and the error says so."""
    run = loaded(seal_run(open_run(signed_run()), public_signer(), claim=_old))
    assert run.document is not None
    mail = finding("email", "Service", run.id, "q-001")
    with pytest.raises(InputError, match=r"version v0\.1"):
        would_be_public(run, [mail], [decided(mail.id, "redact")])


def test_what_is_public_is_compared_text_by_text() -> None:
    """Another decision with the same effect changes nothing; one with another effect does."""
    run = told()
    mail = finding("email", "Service", run.id, "q-001")
    files = would_be_public(run, [mail], [decided(mail.id, "redact")])
    public = msgspec.structs.replace(run, files=files)
    assert same_public(run, public, [mail], [decided(mail.id, "redact", "another reason")])
    assert not same_public(run, public, [mail], [decided(mail.id, "withhold")])
    assert not same_public(run, public, [mail], [decided(mail.id, "allow")])


def judged(run: LoadedRun, name: str, *, refused: str | None = None) -> LoadedRun:
    """Return a run with one judgement, refused or read (its files verify against nothing)."""
    document: Any = None if refused else object()
    one = LoadedJudgement(id=name, files={}, checks=(), document=document, refused=refused)
    return msgspec.structs.replace(run, judgements=(one,))


@pytest.mark.parametrize(
    ("refused", "touched", "why"),
    [
        ("KEY_UNKNOWN: a stranger's", False, "could not be verified: KEY_UNKNOWN"),
        (None, True, "holds a text that is withheld"),
        (None, False, "cannot be checked against what is published of the run"),
    ],
    ids=["refused", "withheld", "unverifiable"],
)
def test_a_judgement_that_is_left_out_is_named_with_the_reason(
    tmp_path: Path, refused: str | None, touched: bool, why: str
) -> None:
    """No judgement is dropped in silence: each that is not published stands in the publication with its reason."""
    run = judged(told(), "j-panel-1", refused=refused)
    place = Place(
        file="judgements/j-panel-1/verdicts.jsonl", run=run.id, item="q-001", field="claims/1/quote", start=0, end=7
    )
    mail = msgspec.structs.replace(finding("email", "Service", run.id, "q-001"), places=(place,))
    decisions = [decided(mail.id, "redact")] if touched else []
    public = public_files(Workspace(tmp_path / ".ragassay"), run, [mail], decisions, never(), now=1)
    assert public.judgements == {}
    assert [(one.judgement, why in one.reason) for one in public.left_out] == [("j-panel-1", True)]
    assert public.redaction is None


@pytest.mark.parametrize("data", [b"", b"{", b'{"created":1,"secret":"zz"}', b'{"created":1}'])
def test_damaged_salts_are_an_error(tmp_path: Path, data: bytes) -> None:
    """Salts that cannot be read are never replaced: what was withheld under them could not be shown any more."""
    write_salts(tmp_path, "a" * 32, Salts(created=1, secret="00"))
    path = tmp_path / "review" / "salts" / f"{'a' * 32}.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match="restore it from a copy"):
        read_salts(tmp_path, "a" * 32)
    assert path.read_bytes() == data
