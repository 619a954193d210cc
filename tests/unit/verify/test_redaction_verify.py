"""What a reader is told of a run with texts withheld: what was checked, what was not, what a whole log says of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragassay.manifest.files import MANIFEST, PUBLIC_OUTPUTS, PUBLIC_TELEMETRY, REDACTION
from ragassay.manifest.sign import Signer
from ragassay.manifest.statement import SignerRef
from ragassay.manifest.tiles import read_log
from ragassay.testing.cases import POLICIES, key_record, registry_of, report_on
from ragassay.testing.logged_run import (
    KEY_POLICY,
    NOW,
    OTHER,
    OURS,
    ROOT_POLICY,
    SEEN_AT,
    Bundle,
    MemoryLog,
    Story,
    planned_id,
    tell,
    void_run,
)
from ragassay.testing.redacted_run import Redacting, redact
from ragassay.testing.redactions import HONEST_REDACTIONS, text
from ragassay.verify import Kept, KeptFor, Policy, Report, Unpinned, load_policy, verify
from ragassay.verify.audit import Audit, audit
from ragassay.verify.log_entries import kind_of

ALWAYS = {"digest of outputs.jsonl", "digests and quotes of the texts that are withheld", "content digest"}


def report(bundle: Bundle, policy: bytes | None = KEY_POLICY) -> Report:
    """Return what is said of a bundle, with its log where it has one."""
    trusted: Policy = load_policy(policy) if policy is not None else Unpinned()
    log = read_log(bundle.log) if bundle.log is not None else None
    return verify(bundle.files, policy=trusted, now=NOW, log=log, registry=bundle.registry)


def not_made(found: Report) -> set[str]:
    """Return the checks that were not made because texts are missing."""
    names = ("digest of", "digests and quotes", "content")
    return {item.check for item in found.not_made if item.check.startswith(names)}


def test_a_redacted_announced_witnessed_run_is_accepted_strictly() -> None:
    """With its whole log too, and every check that needs no missing text is made."""
    found = report(redact(Redacting(), with_log=True))
    assert found.ok(strict=True)
    assert found.codes == {"TEXT_WITHHELD"}
    plain = report(tell(Story(), with_log=True))
    assert set(plain.made) - set(found.made) == {
        "digest of outputs.jsonl",
        "digest of telemetry.jsonl",
        "content digest",
    }
    assert (found.score, found.counts, found.announced) == (plain.score, plain.counts, plain.announced)


def test_what_is_withheld_is_counted_with_its_reasons() -> None:
    """How many texts of how many rows, and how many for each reason."""
    reasons = (KeptFor(reason="it names a person", texts=3), KeptFor(reason="the page is licensed", texts=1))
    assert report(redact(Redacting())).withheld == Kept(texts=4, rows=2, reasons=reasons)
    assert report(tell(Story())).withheld is None


def test_each_text_is_told_with_its_place_and_reason() -> None:
    """By the file that a reader has, the question and the field."""
    told = {(one.where, one.message) for one in report(redact(Redacting())).findings}
    assert told == {
        (f"{PUBLIC_OUTPUTS}: q-001", "answer is shown in part: it names a person"),
        (f"{PUBLIC_OUTPUTS}: q-001", "chunks/1/text is withheld: the page is licensed"),
        (f"{PUBLIC_OUTPUTS}: q-002", "claims/1/reason is withheld: it names a person"),
        (f"{PUBLIC_TELEMETRY}: q-002", "telemetry/judgeReplies/0/text is withheld: it names a person"),
    }


def test_checks_that_need_a_missing_text_are_listed() -> None:
    """A withheld reply costs the digest of telemetry; where only it is withheld, the content digest is checked."""
    assert not_made(report(redact(Redacting()))) == {*ALWAYS, "digest of telemetry.jsonl"}
    assert not_made(report(redact(text("answer")))) == ALWAYS
    only_reply = report(redact(text("telemetry/judgeReplies/0/text")))
    assert not_made(only_reply) == {*ALWAYS, "digest of telemetry.jsonl"} - {"content digest"}
    assert "content digest" in only_reply.made


def test_quotes_of_rows_whose_answer_is_shown_are_checked() -> None:
    """A false quote in a row that lost a chunk alone is found; beside a withheld answer nobody can."""

    def invent(rows: list[dict[str, object]]) -> None:
        claims = rows[0]["claims"]
        assert isinstance(claims, list)
        claims[0]["quote"] = "over UDP"

    changed = Redacting(withhold=text("chunks/1/text").withhold, rows=invent)
    assert "QUOTE_NOT_IN_ANSWER" in report(redact(changed)).codes
    hidden = Redacting(withhold=text("answer").withhold, rows=invent)
    assert "QUOTE_NOT_IN_ANSWER" not in report(redact(hidden)).codes


def test_places_are_named_by_the_public_file() -> None:
    """Whatever is found in a row is said of the file that the reader holds."""
    found = report(redact(Redacting(rows=lambda rows: rows[1].update(score=100))))
    files = {one.where.partition(":")[0] for one in found.findings if one.where is not None and one.code != "RUN_SCORE"}
    assert files <= {PUBLIC_OUTPUTS, PUBLIC_TELEMETRY}


def test_another_accepted_key_may_redact() -> None:
    """Another key that the registry lists as good, judged by the time at which witnesses saw it; no other."""
    bundle = redact(Redacting(signer=OTHER))
    listed = registry_of(key_record(), key_record(OTHER))
    ended = registry_of(key_record(), key_record(OTHER, status="deprecated", end=SEEN_AT))
    for registry, code in ((listed, None), (ended, "KEY_EXPIRED"), (registry_of(key_record()), "KEY_UNKNOWN")):
        found = report(Bundle(files=bundle.files, registry=registry), ROOT_POLICY)
        assert found.ok(strict=True) is (code is None)
        assert code is None or code in found.codes


@pytest.mark.parametrize("policy", ["key", "none"])
def test_without_a_pinned_log_the_redaction_is_said_to_be_unwitnessed(policy: str) -> None:
    """By a sentence of its own, at the place of its own proof."""
    found = report(redact(Redacting()), POLICIES["key"] if policy == "key" else None)
    [said] = [one for one in found.findings if one.where == "redaction.tlog-proof"]
    assert (said.code, said.message) == (
        "UNWITNESSED", "no log and witness that you trust are shown to hold the redaction",
    )  # fmt: skip


# --- a whole log ----------------------------------------------------------------------------------------------------


def anyone(*_: object) -> bool:
    """Take every signer at its word."""
    return True


def by(*signers: Signer) -> Callable[[SignerRef, Callable[[bytes], bool]], bool]:
    """Take these signers alone."""
    return lambda signer, signed_by: any(signer.kid == one.kid and signed_by(one.x) for one in signers)


def audited(bundle: Bundle) -> Audit:
    """Return what a reader without a pin finds in the log of a bundle."""
    assert bundle.log is not None
    return audit(read_log(bundle.log), accept=anyone, same_key=True)


def test_a_log_lists_redactions_with_run_and_numbers() -> None:
    """A sound redaction is no problem, and changes nothing of how the passes ended."""
    found = audited(redact(Redacting(), with_log=True))
    assert found.ok
    assert found.problems == ()
    [one] = found.redactions
    assert (one.index, one.run, one.run_id, one.row, one.k, one.of) == (4, 1, planned_id(1), "bm25", 1, 3)
    assert (one.texts, one.rows, one.kid) == (4, 2, OURS.kid)
    assert [planned.state for planned in found.rows[0].passes] == ["published"] * 3


def test_a_redaction_of_a_voided_run_is_listed_too() -> None:
    """The run stays void."""
    found = audited(redact(Redacting(story=Story(after=void_run())), with_log=True))
    assert len(found.redactions) == 1
    assert found.rows[0].passes[0].state == "void"


def test_a_redaction_of_nothing_in_the_log_is_a_problem() -> None:
    """Its run is another, or it names the run by another id or pass, or is by another key where nobody is pinned."""
    for redacting in (
        Redacting(claim=lambda said: said.update(of={"sha256": "0" * 64})),
        Redacting(claim=lambda said: said.update(runId="f" * 32)),
        Redacting(claim=lambda said: said["pass"].update(k=2)),
        Redacting(signer=OTHER),
    ):
        found = audited(redact(redacting, with_log=True))
        assert not found.ok
        assert [(one.index, one.code) for one in found.problems] == [(4, "REDACTION_MISMATCH")]
        assert found.redactions == ()


def test_whose_redactions_count() -> None:
    """Where keys are pinned, one by a stranger counts for nothing, and one by another pinned key counts."""
    bundle = redact(Redacting(signer=OTHER), with_log=True)
    assert bundle.log is not None
    view = read_log(bundle.log)
    assert [one.index for one in audit(view, accept=by(OURS)).foreign] == [4]
    assert len(audit(view, accept=by(OURS, OTHER)).redactions) == 1


def test_the_same_redaction_twice_is_said_once() -> None:
    """An entry that says what an earlier one said is repeated."""
    bundle = redact(Redacting(), with_log=True)
    assert bundle.log is not None
    entries = read_log(bundle.log).entries
    found = audit(read_log(MemoryLog(entries=[*entries, entries[4]]).files()), accept=anyone)
    assert found.repeated == (5,)
    assert len(found.redactions) == 1


def test_an_entry_is_known_for_a_redaction() -> None:
    """By its type, and by nothing else."""
    files = redact(Redacting()).files
    assert kind_of(files[REDACTION]) == "redaction"
    assert kind_of(files[MANIFEST]) == "run"


def test_every_honest_redaction_names_what_it_withholds() -> None:
    """Each of the table says how many texts are withheld, and why."""
    for name, case in HONEST_REDACTIONS.items():
        kept = report_on(case).withheld
        assert kept is not None, name
        assert kept.texts == sum(one.texts for one in kept.reasons) > 0
