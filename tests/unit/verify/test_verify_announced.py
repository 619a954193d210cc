"""What announcement and whole log say of a run, beyond the table of attacks."""

from __future__ import annotations

import msgspec
import pytest

from ragassay.manifest.files import BENCHMARK, CONFIG, MANIFEST, OUTPUTS, TELEMETRY
from ragassay.manifest.statement import IntentPredicate
from ragassay.manifest.tiles import read_log
from ragassay.testing.bundles import key_record, registry_of
from ragassay.testing.logged_run import (
    KEY_POLICY,
    LOG_KEY,
    NOW,
    OTHER,
    OURS,
    ROOT_SIGNER,
    SEEN_AT,
    WITNESS_KEY,
    Bundle,
    MemoryLog,
    Story,
    planned_id,
    tell,
    void_run,
)
from ragassay.testing.republished_run import republished_files
from ragassay.testing.signed_run import STARTED, OpenedRun, signed_run
from ragassay.verify import (
    AllOf,
    AnyOf,
    PinnedKey,
    PinnedRoot,
    Policy,
    Report,
    TrustedLog,
    Unpinned,
    load_policy,
    verify,
    verify_run,
)

POLICY = load_policy(KEY_POLICY)
LOG = TrustedLog(LOG_KEY, (WITNESS_KEY,), 1)


def check(bundle: Bundle, policy: Policy = POLICY) -> Report:
    """Return the report on a bundle with its log."""
    log = read_log(bundle.log) if bundle.log is not None else None
    return verify(bundle.files, policy=policy, now=bundle.now, log=log, registry=bundle.registry)


def test_a_report_says_what_was_announced() -> None:
    """Place, number of passes and the time of the witness are there; how each pass ended only with the whole log."""
    announced = check(tell(Story())).announced
    assert announced is not None
    assert (announced.log, announced.index, announced.planned, announced.passes) == ("example.org/log", 0, 3, None)
    passes = check(tell(Story(others=(3,)), with_log=True)).announced
    assert passes is not None
    assert passes.passes is not None
    assert (passes.passes.published, passes.passes.voided, passes.passes.missing) == ((1, 3), (), (2,))


def test_without_a_pin_the_same_key_counts() -> None:
    """The log says how the passes ended to whoever trusts nobody; a stranger's voiding counts for nothing."""
    report = check(tell(Story(others=(), after=void_run(OTHER)), with_log=True), Unpinned())
    assert report.codes == {"SIGNER_UNPINNED", "UNTIMED", "UNWITNESSED", "PASS_MISSING"}


def test_of_two_trusted_publishers_neither_voids_the_other() -> None:
    """A key that is pinned beside the run's cannot take back what is not its own."""
    bundle = tell(Story(after=void_run(OTHER)), with_log=True)
    both = AllOf((AnyOf((PinnedKey(OURS.public), PinnedKey(OTHER.public))), LOG))
    assert check(bundle, both).ok(strict=True)


def test_a_run_announced_by_another_trusted_key() -> None:
    """Where both keys are pinned, run and announcement belong together, and so they do in the whole log."""
    both = AllOf((AnyOf((PinnedKey(OURS.public), PinnedKey(OTHER.public))), LOG))
    assert check(tell(Story(announcer=OTHER)), both).ok(strict=True)
    assert check(tell(Story(announcer=OTHER), with_log=True), both).ok(strict=True)


def test_another_key_of_the_registry_may_void() -> None:
    """A publisher whose first key is gone takes back a run with the next one."""
    bundle = tell(Story(after=void_run(OTHER)), with_log=True)
    registry = registry_of(key_record(), key_record(OTHER))
    rooted = AllOf((PinnedRoot(ROOT_SIGNER.kid), LOG))
    assert "RUN_VOIDED" in check(msgspec.structs.replace(bundle, registry=registry), rooted).codes
    stolen = registry_of(key_record(), key_record(OTHER, status="revoked", invalid_since=STARTED))
    assert check(msgspec.structs.replace(bundle, registry=stolen), rooted).ok(strict=True)


def test_a_log_that_grew_is_the_same_log() -> None:
    """Proofs of earlier checkpoints hold against a log with later entries."""
    told: list[bytes] = []
    bundle = tell(Story(after=lambda log, _: told.extend(log.entries)))
    later = MemoryLog(entries=[*told, b"later", b"and later"])
    assert check(msgspec.structs.replace(bundle, log=later.files())).ok(strict=True)


def test_an_unlogged_run_beside_a_log() -> None:
    """A log that does not hold the run is told, and refuses nothing that was not claimed."""
    bundle = Bundle(files=signed_run(), log=MemoryLog(entries=[b"x"]).files())
    report = check(bundle, PinnedKey(OURS.public))
    assert report.ok()
    assert [f.message for f in report.findings if f.where == "log"] == ["the given log does not hold the run"]


def _fill_from(run_id: str, pass_k: int) -> Story:
    def fill(run: OpenedRun) -> None:
        run.outputs[0]["fill"] = {"run": run_id, "pass": pass_k}
        run.predicate["counts"]["filled"] = 1

    return Story(change=fill)


@pytest.mark.parametrize(
    ("source", "planned"), [((planned_id(1), 1), True), ((planned_id(1), 2), False), (("e" * 32, 1), False)]
)
def test_a_fill_of_a_planned_pass(source: tuple[str, int], planned: bool) -> None:
    """A run of another id fills a planned pass when its filled rows come from planned runs, and says so."""
    bundle = tell(_fill_from(*source), signed_run(run_id="f" * 32))
    report = check(bundle)
    assert "FILLED" in report.codes
    assert ("PASS_OUT_OF_PLAN" in report.codes) is not planned
    assert report.ok() is planned


def test_an_announcement_at_the_very_second_of_the_first_answer_counts() -> None:
    """Made and witnessed no later than the first answer, to the second; a second later it is not."""
    assert check(tell(Story(created=STARTED, announced_at=STARTED))).ok(strict=True)
    assert check(tell(Story(created=STARTED, announced_at=STARTED + 1))).codes == {"UNTIMED"}


@pytest.mark.parametrize(("late", "refused"), [(300, False), (301, True)])
def test_clocks_may_differ_by_five_minutes(late: int, refused: bool) -> None:
    """The last answer may lie 300 seconds after the reader's clock, and after that of the witness."""

    def answer(run: OpenedRun) -> None:
        run.telemetry[-1]["answeredAt"] = run.predicate["window"]["end"] = SEEN_AT + late

    assert ("WINDOW" in check(tell(Story(change=answer))).codes) is refused
    bundle = tell(Story())
    end = STARTED + 2
    assert ("WINDOW" in check(msgspec.structs.replace(bundle, now=end - late)).codes) is refused


def test_more_passes_announced_than_are_asked_for_elsewhere() -> None:
    """A pass beyond the announced ones is out of plan and crashes nothing."""

    def fewer(intent: IntentPredicate) -> IntentPredicate:
        return msgspec.structs.replace(intent, runs=(planned_id(1),))

    bundle = tell(Story(announce=fewer), signed_run(run_id=planned_id(3), pass_k=3))
    assert "PASS_OUT_OF_PLAN" in check(bundle).codes


def test_verify_run_is_a_short_way() -> None:
    """Files held one by one get the report that the bundle gets, a foreign question set included."""
    files = signed_run()
    policy = PinnedKey(OURS.public)
    short = verify_run(
        files[MANIFEST], outputs=files[OUTPUTS], benchmark=files[BENCHMARK], config=files[CONFIG],
        telemetry=files[TELEMETRY], policy=policy, now=NOW,
    )  # fmt: skip
    assert short == verify(files, policy=policy, now=NOW)
    foreign = republished_files()
    republished = verify_run(
        foreign[MANIFEST], outputs=foreign[OUTPUTS], benchmark=foreign["benchmark.foreign"], policy=policy, now=NOW
    )
    assert republished == verify(foreign, policy=policy, now=NOW)
    assert "FILE_MISSING" in verify_run(files[MANIFEST], outputs=b"", benchmark=b"", policy=policy, now=NOW).codes
    assert not verify_run(b"", outputs=b"", benchmark=b"", policy=policy, now=NOW).ok()
