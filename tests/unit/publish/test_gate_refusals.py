"""Every refusal of the gate, one by one, with the questions that it is about; and what is not in anybody's way."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from gate_lab import codes, control, finding, loaded, looked, made, signed_off, told, verdict

from ragassay.publish.gate import Verdict, check
from ragassay.records.publication import Decision
from ragassay.site.loaded import Check, LoadedRun
from ragassay.site.record import BoardPlan, PlannedRow
from ragassay.testing.logged_run import Story, void_run
from ragassay.testing.republished_run import republished_files
from ragassay.testing.signed_run import OpenedRun, open_run, public_signer, sample_benchmark, seal_run, signed_run


def plan(**changes: Any) -> BoardPlan:
    """Return the plan of a board of one row."""
    return BoardPlan(name="sample", rows=(PlannedRow(name="bm25", stack="bm25"),), **changes)


def test_a_run_with_everything_in_order_passes() -> None:
    """Announced, logged, eligible, clean, read, with a control that is public: nothing is refused."""
    found = verdict(told())
    assert found.passes
    assert (found.row, found.pass_k, found.of) == ("bm25", 1, 3)


def test_unwitnessed_is_allowed_but_said() -> None:
    """A log that no trusted witness saw stands in nobody's way, and is a note."""
    assert any("no witness" in note for note in verdict(told()).notes)


def test_a_run_without_an_announcement_is_refused() -> None:
    """NO_INTENT, a warning of the verifier, is a refusal here."""
    assert "NO_INTENT" in codes(verdict(loaded(signed_run())))


def test_a_run_whose_other_passes_are_missing_is_refused() -> None:
    """Three passes were announced and one is neither run nor void: PASS_MISSING."""
    found = verdict(told(Story(others=(2,))))
    assert "PASS_MISSING" in codes(found)
    assert "pass 3 of 3" in next(one.text for one in found.refusals if one.code == "PASS_MISSING")


def test_a_run_announced_after_it_began_is_refused() -> None:
    """What fails verification for its announcement is refused by that code."""
    assert "INTENT_AFTER_RUN" in codes(verdict(told(Story(announced_last=True))))


def test_a_run_that_the_workspaces_log_lacks_is_refused() -> None:
    """A run that was logged elsewhere has no place in this workspace's publications."""
    assert "not-logged" in codes(verdict(told(), logged=frozenset()))


def test_a_run_without_its_proofs_is_refused() -> None:
    """The log holds it, and its folder lost the proof."""
    run = told()
    files = {name: data for name, data in run.files.items() if not name.endswith("-proof")}
    assert "not-logged" in codes(verdict(msgspec.structs.replace(run, files=files)))


def test_a_failing_retrieval_backend_is_refused_with_the_questions() -> None:
    """Each question whose retrieval failed is named; a stack that is down is not one that is weak."""
    found = codes(verdict(loaded(signed_run(failed=[0, 2]))))
    assert found["RETRIEVAL_FAILED"] == ("q-001", "q-003")


def test_too_many_missing_questions_are_named() -> None:
    """More than one in fifty without a score is refused; of 50 one may be missing."""
    assert codes(verdict(loaded(signed_run(failed=[1]))))["MISSING_ITEMS"] == ("q-002",)
    assert "MISSING_ITEMS" not in codes(verdict(loaded(signed_run(items=50, failed=[1]))))
    assert codes(verdict(loaded(signed_run(items=50, failed=[1, 7]))))["MISSING_ITEMS"] == ("q-002", "q-008")


def test_a_row_by_another_judge_is_refused_with_the_question() -> None:
    """One row of a run judged by another judge than the run's: JUDGE_MIXED, naming the question."""
    run = open_run(signed_run())
    run.outputs[1]["judge"] = "e" * 64
    found = verdict(loaded(seal_run(run, public_signer())))
    assert codes(found)["JUDGE_MIXED"] == ("q-002",)


def test_rows_under_two_judges_are_refused_together() -> None:
    """Two rows of one publication under different judges: both are refused, each naming the other."""
    one = made("bm25", "bm25", "1" * 32)
    two = made("dense", "dense", "2" * 32, judge={"kind": "literal", "id": "literal/2", "describe": {}})
    verdicts = check([one, two], looked(one, two, public=(control(),)))
    assert ["mixed-judges" in codes(found) for found in verdicts] == [True, True]
    text = next(one.text for one in verdicts[0].refusals if one.code == "mixed-judges")
    assert "dense (literal/2, to be published)" in text


def test_a_judge_that_differs_from_what_is_public_is_refused() -> None:
    """A row by another judge than the public ones of the same questions is refused, also when it comes alone."""
    new = made("bm25", "bm25", "1" * 32, judge={"kind": "literal", "id": "literal/2", "describe": {}})
    found = verdict(new, public=(control(),))
    text = next(one.text for one in found.refusals if one.code == "mixed-judges")
    assert "no-retrieval (literal/1, public)" in text
    assert "never ranked together" in text


def test_another_question_set_may_have_another_judge() -> None:
    """Judges are compared within one question set and profile: other questions are another table."""
    new = made("bm25", "bm25", "1" * 32, items=4, judge={"kind": "literal", "id": "literal/2", "describe": {}})
    assert "mixed-judges" not in codes(verdict(new, public=(control(),)))


def test_a_missing_control_is_refused() -> None:
    """Without a control, public or in this publication, no number can be read."""
    run = told()
    assert "no-control" in codes(verdict(run, public=()))
    together = check([run, control()], looked(run, control(), public=()))
    assert "no-control" not in codes(together[0])


def test_a_control_of_another_table_is_none() -> None:
    """A control under another answering model is no control of this row."""
    other = control(answer={"kind": "reader", "id": "reader/9", "template": "chunks-as-system/1", "describe": {}})
    assert "no-control" in codes(verdict(told(), public=(other,)))


def test_a_waived_control_is_not_asked_for() -> None:
    """A board that waives its control says why, and that is printed; the gate lets it pass."""
    assert "no-control" not in codes(verdict(told(), public=(), plan=plan(control_waiver="the model knows it all")))


def test_a_subset_is_refused() -> None:
    """A subset is a question set of its own and never eligible."""
    run = told()
    assert run.document is not None
    reference = msgspec.structs.replace(run.document.predicate.benchmark, id="sample#3")
    predicate = msgspec.structs.replace(run.document.predicate, benchmark=reference)
    subset = msgspec.structs.replace(run, document=msgspec.structs.replace(run.document, predicate=predicate))
    assert "subset" in codes(verdict(subset))


def test_an_old_version_of_the_questions_is_refused() -> None:
    """The board file names the current question set; a run of an earlier version of it is refused."""
    current = sample_benchmark(4)
    found = verdict(told(), plan=plan(benchmark=current.digest(), benchmark_id=current.name))
    assert "old-benchmark" in codes(found)


def _stub(run: OpenedRun) -> None:
    run.predicate["provenance"]["sourceKind"] = "stub"


def test_a_stub_is_refused() -> None:
    """A fabricated fixture is refused as the verifier refuses it."""
    assert "STUB" in codes(verdict(loaded(seal_run(open_run(signed_run()), public_signer(), claim=_stub))))


def test_a_voided_run_is_refused() -> None:
    """A run that its log takes back is refused, with the reason that stands there."""
    found = verdict(told(Story(after=void_run())))
    text = next(one.text for one in found.refusals if one.code == "RUN_VOIDED")
    assert "the index was of another version" in text


def test_a_run_that_fails_verification_is_refused_with_every_code() -> None:
    """One edited answer breaks several digests: each reason code is a refusal."""
    files = signed_run()
    changed = {**files, "outputs.jsonl": files["outputs.jsonl"].replace(b"8001", b"8009")}
    assert {"OUTPUTS_DIGEST", "CONTENT_DIGEST"} <= set(codes(verdict(loaded(changed))))


def test_a_run_that_came_out_different_when_executed_again_is_refused() -> None:
    """RERUN_DIFFERS is a failed check of a run that has its document, and refuses it all the same."""
    run = told()
    differs = Check(code="RERUN_DIFFERS", severity="fail", text="executed again, 1 of 3 rows came out different")
    assert "RERUN_DIFFERS" in codes(verdict(msgspec.structs.replace(run, checks=(differs, *run.checks))))


def test_scores_from_elsewhere_are_published_only_by_name() -> None:
    """A republished run is refused unless named; named, it needs neither announcement nor control; never ranked."""
    run = loaded(republished_files(scores=("1", "0.5", "0", "1", "0.25")))
    assert run.document is not None
    assert "REPUBLISHED" in codes(verdict(run, public=()))
    named = verdict(run, public=(), named=frozenset({run.id}), logged=frozenset())
    assert named.passes
    assert "republished: it is never ranked" in named.notes


def test_error_texts_as_answers_are_refused_with_the_questions() -> None:
    """An answer that is the text of an error is refused, by its questions, until it is allowed with a reason."""
    run = told()
    errors = finding("error_text", "503 Service Unavailable", run.id, "q-001", "q-003")
    assert codes(verdict(run, findings=(errors,)))["error-text"] == ("q-001", "q-003")
    redacted = decision(errors.id, "error_text", "redact")
    assert "error-text" in codes(verdict(run, findings=(errors,), decisions=(redacted,)))
    allowed = decision(errors.id, "error_text", "allow")
    assert verdict(run, findings=(errors,), decisions=(allowed,)).passes


def decision(identity: str, kind: str, action: str) -> Decision:
    """Return a decision."""
    fields: dict[str, Any] = {"kind": kind, "action": action}
    return Decision(finding=identity, reason="it is asked for", by="Ann", at=1, **fields)


def test_an_undecided_finding_is_refused_with_the_questions() -> None:
    """A finding is in the way until it is decided; one of another run is not."""
    run = told()
    mail = finding("email", "jane@acme-mail.org", run.id, "q-002")
    assert codes(verdict(run, findings=(mail,)))["undecided"] == ("q-002",)
    assert verdict(run, findings=(mail,), decisions=(decision(mail.id, "email", "redact"),)).passes
    assert verdict(run, findings=(finding("email", "jane@acme-mail.org", "9" * 32, "q-002"),)).passes


def test_findings_beyond_those_that_are_listed_are_in_the_way() -> None:
    """What cannot be decided because there is too much of it is never published."""
    assert "unlisted" in codes(verdict(told(), unlisted=3))


def test_a_run_that_nobody_signed_off_is_refused() -> None:
    """Without a sign-off, and with one that does not hold any more, the refusal says which."""
    run = told()
    never = verdict(run, signed={}).refusals
    assert [one.code for one in never] == ["not-signed-off"]
    lapsed = verdict(run, signed={}, lapsed={run.id: (signed_off(run),)}).refusals
    assert "Ann does not hold any more" in lapsed[0].text


def test_all_refusals_of_all_runs_are_said_at_once() -> None:
    """Nobody has to publish again to see the next reason."""
    one, two = loaded(signed_run(failed=[0])), told(Story(others=()))
    verdicts = check([one, two], looked(one, two, signed={}, logged=frozenset()))
    assert {"NO_INTENT", "RETRIEVAL_FAILED", "MISSING_ITEMS", "no-control", "not-signed-off"} <= set(codes(verdicts[0]))
    assert {"PASS_MISSING", "not-logged", "no-control", "not-signed-off"} <= set(codes(verdicts[1]))


HOSTILE = "q‮) (outputs.jsonl: <script>\x1b[31m"


def test_a_hostile_id_of_a_question_stays_one_text() -> None:
    """A question's id with brackets, a script and an escape is reported as it is; whoever prints it disarms it."""
    failed = Check(code="STATUS", severity="fail", text=f"the status is 'ok' (outputs.jsonl: {HOSTILE})")
    run = LoadedRun(id="a" * 32, files={}, checks=(failed,), refused="STATUS: …")
    found: Verdict = check([run], looked(run))[0]
    assert found.refusals[0].code == "STATUS"
    assert all("\n" not in item for item in found.refusals[0].items)


@pytest.mark.parametrize("checks", [(), (Check(code="", severity="ok", text="order"),)])
def test_a_refused_run_without_a_failed_check_is_refused_too(checks: tuple[Check, ...]) -> None:
    """Whatever the reason why there is no document, nothing without one is published."""
    run = LoadedRun(id="a" * 32, files={}, checks=checks, refused="it cannot be read")
    assert [one.code for one in check([run], looked(run))[0].refusals] == ["not-verified"]
