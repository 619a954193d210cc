"""The audit of a whole log: every announced pass is published, void or missing, and every entry is accounted for."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from ragassay import canon
from ragassay.manifest.announce import sign_void
from ragassay.manifest.files import MANIFEST
from ragassay.manifest.sign import WEAK_KEYS, Signer, encode_x, thumbprint
from ragassay.manifest.statement import Digest, IntentRef, PassRef, SignerRef, VoidPredicate
from ragassay.manifest.tiles import read_log
from ragassay.testing.logged_run import (
    ORIGIN,
    OTHER,
    OURS,
    MemoryLog,
    Story,
    planned_id,
    tell,
    void_pass,
    void_run,
)
from ragassay.testing.signed_run import STARTED, OpenedRun, open_run, seal_run, signed_run
from ragassay.verify.audit import Audit, audit
from ragassay.verify.log_entries import kind_of, read_entry


def anyone(*_: object) -> bool:
    """Take every signer at its word."""
    return True


def ours(signer: SignerRef, signed_by: Callable[[bytes], bool]) -> bool:
    """Take the publisher alone."""
    return signer.kid == OURS.kid and signed_by(OURS.x)


def audited(story: Story) -> Audit:
    """What a reader without a pin finds in the log that a story ends with."""
    files = tell(story, with_log=True).log
    assert files is not None
    return audit(read_log(files), accept=anyone, same_key=True)


def states(found: Audit) -> list[str]:
    """How the passes of the first announcement ended."""
    return [one.state for one in found.rows[0].passes]


def everything(found: Audit) -> list[int]:
    """The index of every entry that the audit speaks of, each as often as it does."""
    indexes = [row.index for row in found.rows]
    indexes += [one.run for row in found.rows for one in row.passes if one.run is not None]
    indexes += [one.void for row in found.rows for one in row.passes if one.void is not None]
    indexes += [fill for row in found.rows for fill in row.fills]
    indexes += [run.index for run in found.unannounced]
    indexes += [problem.index for problem in found.problems] + [one.index for one in found.foreign]
    return sorted([*indexes, *found.repeated])


def run_of(log: MemoryLog, k: int, change: Callable[[OpenedRun], None] | None = None, **options: object) -> bytes:
    """A run of pass k under the first announcement of a log, changed before it is signed."""
    ref = IntentRef(log=ORIGIN, index=0, digest=Digest(sha256=canon.sha256(log.entries[0])))
    signer = options.get("signer", OURS)
    assert isinstance(signer, Signer)
    run = signed_run(run_id=str(options.get("run_id", planned_id(k))), pass_k=k, signer=signer, intent=ref)
    return (seal_run(open_run(run), signer, claim=change) if change else run)[MANIFEST]


def test_three_published_passes_are_three_of_three() -> None:
    """An honest log is in order, with the score and the place of each run."""
    found = audited(Story())
    assert found.ok
    assert states(found) == ["published"] * 3
    assert [(one.k, one.run_id, one.run) for one in found.rows[0].passes] == [(k, planned_id(k), k) for k in (1, 2, 3)]
    assert all(one.score is not None and one.score.decimal == "0.5833" for one in found.rows[0].passes)
    assert (found.rows[0].row, found.rows[0].index, found.rows[0].kid) == ("bm25", 0, OURS.kid)
    assert everything(found) == [0, 1, 2, 3]


def test_two_unpublished_passes_are_two_missing() -> None:
    """Whoever planned three and published one is told so by the log alone."""
    found = audited(Story(others=()))
    assert not found.ok
    assert (found.rows[0].count("published"), found.rows[0].count("missing"), found.missing) == (1, 2, 2)


def test_a_voided_pass_is_void_with_its_reason() -> None:
    """A pass that was given up with a reason is not missing."""
    found = audited(Story(others=(2,), after=void_pass(3)))
    assert found.ok
    assert states(found) == ["published", "published", "void"]
    assert found.rows[0].passes[2].reason == "the index was of another version"
    assert everything(found) == [0, 1, 2, 3]


def test_a_voided_run_is_void_and_keeps_its_score_in_sight() -> None:
    """A run that was withdrawn no longer counts, and what it scored stays readable."""
    found = audited(Story(after=void_run()))
    assert found.ok
    assert states(found) == ["void", "published", "published"]
    assert found.rows[0].passes[0].score is not None
    assert [(run.index, run.reason) for run in found.voided] == [(1, "the index was of another version")]
    assert everything(found) == [0, 1, 2, 3, 4]


def test_a_run_without_an_announcement_is_listed_and_counts_for_nothing() -> None:
    """It fills no pass of an announcement, whatever pass it calls itself."""

    def after(log: MemoryLog, _: bytes) -> None:
        log.append(signed_run(run_id=planned_id(2), pass_k=2, signer=OURS)[MANIFEST])

    found = audited(Story(others=(), after=after))
    assert [(run.index, run.run_id, run.k, run.of) for run in found.unannounced] == [(2, planned_id(2), 2, 3)]
    assert states(found) == ["published", "missing", "missing"]


Tamper = Callable[[MemoryLog], bytes]


def then(make: Tamper) -> Callable[[MemoryLog, bytes], None]:
    """Return what appends one more entry to a log."""

    def after(log: MemoryLog, _: bytes) -> None:
        log.append(make(log))

    return after


NOT_COUNTED: dict[str, tuple[str, Tamper]] = {
    "another configuration": (
        "INTENT_MISMATCH",
        lambda log: run_of(log, 2, lambda run: run.predicate["config"]["digest"].update(sha256="ab" * 32)),
    ),
    "another row": ("INTENT_MISMATCH", lambda log: run_of(log, 2, lambda run: run.predicate["row"].update(name="x"))),
    "another judge": (
        "INTENT_MISMATCH",
        lambda log: run_of(log, 2, lambda run: run.predicate["judge"].update(id="x")),
    ),
    "another index": (
        "INTENT_MISMATCH",
        lambda log: run_of(log, 2, lambda run: run.predicate["intent"].update(index=1)),
    ),
    "another log": (
        "INTENT_MISMATCH",
        lambda log: run_of(log, 2, lambda run: run.predicate["intent"].update(log="other.example")),
    ),
    "an announcement that is not there": (
        "INTENT_MISMATCH",
        lambda log: run_of(log, 2, lambda run: run.predicate["intent"]["digest"].update(sha256="ab" * 32)),
    ),
    "another key": ("INTENT_MISMATCH", lambda log: run_of(log, 2, signer=OTHER)),
    "a first answer before the announcement": (
        "INTENT_AFTER_RUN",
        lambda log: run_of(log, 2, lambda run: run.predicate["window"].update(start=STARTED - 10_000)),
    ),
    "another run id": ("PASS_OUT_OF_PLAN", lambda log: run_of(log, 2, run_id="ff" * 16)),
    "the run id of another pass": ("PASS_OUT_OF_PLAN", lambda log: run_of(log, 2, run_id=planned_id(3))),
    "more passes than planned": (
        "PASS_OUT_OF_PLAN",
        lambda log: run_of(log, 2, lambda run: run.predicate["pass"].update(of=4)),
    ),
}


@pytest.mark.parametrize(("code", "make"), NOT_COUNTED.values(), ids=NOT_COUNTED.keys())
def test_a_run_that_is_not_the_announced_one_leaves_its_pass_missing(code: str, make: Tamper) -> None:
    """It is listed with the reason and does not count as the pass that it calls itself."""
    found = audited(Story(others=(3,), after=then(make)))
    assert [(problem.index, problem.code) for problem in found.problems] == [(3, code)]
    assert states(found) == ["published", "missing", "published"]
    assert everything(found) == [0, 1, 2, 3]


def test_a_run_that_was_logged_before_its_announcement_does_not_count() -> None:
    """The order in the log is what the signer cannot choose afterwards."""
    found = audited(Story(announced_last=True, others=()))
    assert [problem.code for problem in found.problems] == ["INTENT_AFTER_RUN"]
    assert found.missing == 3


def test_a_second_manifest_of_one_run_does_not_count() -> None:
    """The first that was logged stands; another with the same id, signed later, is a problem."""

    def after(log: MemoryLog, _: bytes) -> None:
        log.append(run_of(log, 1, lambda run: run.predicate["score"].update(num=300, decimal="1.0000")))

    found = audited(Story(after=after))
    assert [(problem.index, problem.code) for problem in found.problems] == [(4, "PASS_OUT_OF_PLAN")]
    score = found.rows[0].passes[0].score
    assert score is not None
    assert score.decimal == "0.5833"
    assert not found.ok


def test_a_fill_run_is_listed_beside_the_passes() -> None:
    """A run of a pass under another id whose rows are declared as filled is no further pass, and no problem."""

    def after(log: MemoryLog, _: bytes) -> None:
        log.append(run_of(log, 2, lambda run: run.predicate["counts"].update(filled=1), run_id="ff" * 16))

    found = audited(Story(after=after))
    assert found.ok
    assert found.rows[0].fills == (4,)
    assert states(found) == ["published"] * 3


def test_bytes_that_stand_twice_count_once() -> None:
    """A repeated entry is named and changes nothing."""
    found = audited(Story(after=then(lambda log: log.entries[1])))
    assert found.ok
    assert found.repeated == (4,)


def test_a_second_voiding_of_the_same_run_is_named() -> None:
    """The first voiding gives the reason."""

    def after(log: MemoryLog, run: bytes) -> None:
        void_run()(log, run)
        first = read_entry(log.entries[-1]).predicate
        assert isinstance(first, VoidPredicate)
        log.append(sign_void(msgspec.structs.replace(first, reason="another"), OURS))

    found = audited(Story(after=after))
    assert found.repeated == (5,)
    assert found.voided[0].reason == "the index was of another version"


VOID = VoidPredicate(
    run_id=planned_id(2),
    pass_=PassRef(k=2, of=3),
    intent=None,
    run=None,
    reason="x",
    created=1,
    signer=OURS.ref(),
)


@pytest.mark.parametrize(
    "defect", ["no such run", "no such announcement", "another pass", "another number", "a stranger"]
)
def test_a_voiding_of_what_is_not_there_voids_nothing(defect: str) -> None:
    """A voiding that names nothing in the log as it says is a problem, and the pass stays missing."""

    def after(log: MemoryLog, _: bytes) -> None:
        intent = Digest(sha256=canon.sha256(log.entries[0]))
        nowhere = Digest(sha256="ab" * 32)
        void = {
            "no such run": msgspec.structs.replace(VOID, run=nowhere),
            "no such announcement": msgspec.structs.replace(VOID, intent=nowhere),
            "another pass": msgspec.structs.replace(VOID, intent=intent, run_id=planned_id(3)),
            "another number": msgspec.structs.replace(VOID, intent=intent, pass_=PassRef(k=2, of=2)),
            "a stranger": msgspec.structs.replace(VOID, intent=intent, signer=OTHER.ref()),
        }[defect]
        log.append(sign_void(void, OTHER if defect == "a stranger" else OURS))

    found = audited(Story(others=(3,), after=after))
    assert [(problem.index, problem.code) for problem in found.problems] == [(3, "INTENT_MISMATCH")]
    assert states(found) == ["published", "missing", "published"]


def weak_run() -> bytes:
    """A run that names a weak key as its own, in the envelope too."""
    weak = sorted(WEAK_KEYS)[0]
    ref = {"kid": thumbprint(weak), "x": encode_x(weak)}
    manifest = seal_run(open_run(signed_run()), OURS, claim=lambda run: run.predicate["signer"].update(ref))[MANIFEST]
    envelope = msgspec.json.decode(manifest)
    envelope["signatures"][0]["keyid"] = thumbprint(weak)
    return canon.canonical(envelope)


BYTES: dict[str, tuple[str, bytes]] = {
    "no JSON": ("ENVELOPE_MALFORMED", b"hello"),
    "no byte": ("ENVELOPE_MALFORMED", b""),
    "not canonical": ("ENVELOPE_NOT_CANONICAL", signed_run()[MANIFEST] + b"\n"),
    "another kid": (
        "ENVELOPE_MALFORMED",
        seal_run(open_run(signed_run()), OURS, claim=lambda run: run.predicate["signer"].update(kid=OTHER.kid))[
            MANIFEST
        ],
    ),
    "another key under our kid": (
        "SIGNATURE_INVALID",
        seal_run(open_run(signed_run()), OURS, claim=lambda run: run.predicate["signer"].update(x=encode_x(OTHER.x)))[
            MANIFEST
        ],
    ),
    "no key": (
        "ENVELOPE_MALFORMED",
        seal_run(open_run(signed_run()), OURS, claim=lambda run: run.predicate["signer"].update(x="x"))[MANIFEST],
    ),
    "a later version": (
        "VERSION_UNKNOWN",
        seal_run(
            open_run(signed_run()),
            OURS,
            claim=lambda run: run.statement.update(predicateType=run.statement["predicateType"].replace("0.2", "9")),
        )[MANIFEST],
    ),
}


@pytest.mark.parametrize(("code", "data"), BYTES.values(), ids=BYTES.keys())
def test_an_entry_that_cannot_be_read_is_a_problem_with_its_code(code: str, data: bytes) -> None:
    """Nothing in a log is passed over in silence."""
    found = audited(Story(after=then(lambda log: data)))
    assert [(problem.index, problem.code) for problem in found.problems] == [(4, code)]
    assert not found.ok
    assert states(found) == ["published"] * 3


def test_a_weak_key_signs_nothing_that_counts() -> None:
    """An entry under a key with which anybody can sign is named as such."""
    found = audited(Story(after=then(lambda log: weak_run())))
    assert [(problem.index, problem.code) for problem in found.problems] == [(4, "KEY_WEAK")]


def test_with_a_pin_only_the_pinned_key_counts() -> None:
    """Another's sound entries are listed as foreign; what the pinned key announced is judged alone."""

    def after(log: MemoryLog, _: bytes) -> None:
        log.append(run_of(log, 2, signer=OTHER))

    files = tell(Story(others=(3,), after=after), with_log=True).log
    assert files is not None
    found = audit(read_log(files), accept=ours)
    assert [(one.index, one.kid) for one in found.foreign] == [(3, OTHER.kid)]
    assert states(found) == ["published", "missing", "published"]
    nobody = audit(read_log(files), accept=lambda signer, signed_by: False)
    assert (nobody.rows, len(nobody.foreign), nobody.ok) == ((), 4, True)


def test_without_same_key_two_accepted_keys_work_together() -> None:
    """Where the reader trusts several keys, a run by one counts for an announcement by another."""
    files = tell(Story(others=(), after=then(lambda log: run_of(log, 2, signer=OTHER))), with_log=True).log
    assert files is not None
    assert states(audit(read_log(files), accept=anyone)) == ["published", "published", "missing"]
    assert states(audit(read_log(files), accept=anyone, same_key=True)) == ["published", "missing", "missing"]


def test_what_claims_nothing_known_is_read_as_a_run() -> None:
    """The loose look at an entry never raises."""
    for data in (b"", b"[]", b"{}", b'{"payload":"!","payloadType":"x","signatures":[]}', b"[" * 100_000):
        assert kind_of(data) == "run"
