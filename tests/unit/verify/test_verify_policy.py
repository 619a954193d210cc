"""Policies: what each asks for, and how they compose."""

from __future__ import annotations

import pytest

from ragassay.manifest.files import MANIFEST, RUN_PROOF
from ragassay.manifest.note import NoteKey
from ragassay.manifest.proof import decode_proof
from ragassay.manifest.registry import decode_registry
from ragassay.manifest.sign import PublicKey
from ragassay.testing.bundles import key_record, registry_of, rotated_registry
from ragassay.testing.logged_run import (
    ANNOUNCED_AT,
    LOG_KEY,
    NOW,
    OTHER,
    OURS,
    ROOT_SIGNER,
    SEEN_AT,
    WITNESS_KEY,
    Story,
    tell,
)
from ragassay.testing.signed_run import public_signer, signed_run
from ragassay.verify import (
    AllOf,
    AnyOf,
    Evidence,
    Judgement,
    PinnedKey,
    PinnedRoot,
    Policy,
    TrustedLog,
    Unpinned,
    verify,
)

SECOND = public_signer("second witness")
SECOND_KEY = NoteKey("example.net/witness", "witness", SECOND.x)


def evidence(*, signer: str = OURS.kid, registry: bytes | None = None, seen: bool = False) -> Evidence:
    """Return evidence of a statement that our key signed and that the log's proof shows where it was `seen`."""
    proof = decode_proof(tell(Story()).files[RUN_PROOF]).signed() if seen else None
    return Evidence(
        where=MANIFEST,
        proof=RUN_PROOF,
        kid=signer,
        x=OURS.x,
        signed_by=lambda x: x == OURS.x,
        now=NOW,
        checkpoint=proof,
        registry=decode_registry(registry) if registry else None,
    )


def codes(judgement: Judgement) -> list[str]:
    """Return the reason codes of a judgement."""
    return [found.code for found in judgement.findings]


LOG = TrustedLog(LOG_KEY, (WITNESS_KEY,), 1)
OURS_PINNED, OTHER_PINNED = PinnedKey(OURS.public), PinnedKey(OTHER.public)


@pytest.mark.parametrize("kind", [AllOf, AnyOf])
def test_a_policy_of_nothing_is_refused(kind: type[AllOf] | type[AnyOf]) -> None:
    """All of nothing would accept everything, any of nothing could accept nothing."""
    with pytest.raises(ValueError, match="of no policy"):
        kind(())


def test_any_of_takes_the_nearest() -> None:
    """One key that signed is enough, wherever it stands; of several refusals the nearest one is told."""
    assert AnyOf((OTHER_PINNED, OURS_PINNED)).judge(evidence()) == OURS_PINNED.judge(evidence())
    neither = AnyOf((PinnedKey(public_signer("third").public), OTHER_PINNED)).judge(evidence(signer=OTHER.kid))
    assert codes(neither) == ["SIGNATURE_INVALID"]


def test_any_of_prefers_what_has_no_warning() -> None:
    """A pinned key beats the lack of any."""
    judged = AnyOf((Unpinned(), OURS_PINNED)).judge(evidence())
    assert (codes(judged), judged.signer) == ([], "pinned")


def test_all_of_tells_everything() -> None:
    """Every member's findings stand there, and the strongest knowledge of the signer counts."""
    judged = AllOf((Unpinned(), OTHER_PINNED, LOG)).judge(evidence())
    assert codes(judged) == ["SIGNER_UNPINNED", "KEY_UNKNOWN", "SIGNATURE_INVALID", "UNWITNESSED"]
    assert judged.signer == "pinned"


@pytest.mark.parametrize("log_first", [True, False])
def test_the_witnessed_time_is_known_to_the_others(log_first: bool) -> None:
    """A root judges its keys by the time that the log beside it establishes, in either order."""
    registry = registry_of(key_record(status="deprecated", end=SEEN_AT))
    root = PinnedRoot(ROOT_SIGNER.kid)
    members: tuple[Policy, ...] = (LOG, root) if log_first else (root, LOG)
    judged = AllOf(members).judge(evidence(registry=registry, seen=True))
    assert (codes(judged), judged.witnessed, judged.key_status) == ([], SEEN_AT, "deprecated")
    assert codes(root.judge(evidence(registry=registry, seen=True))) == ["KEY_EXPIRED"]


def test_a_log_says_nothing_of_the_signer() -> None:
    """A policy that names no key leaves the signature to the named one, which the report says."""
    bundle = tell(Story())
    report = verify(bundle.files, policy=LOG, now=NOW)
    assert report.codes == {"SIGNER_UNPINNED"}
    assert not report.pinned
    forged = {**bundle.files, MANIFEST: signed_run(signer=OTHER)[MANIFEST]}
    assert not verify(forged, policy=AnyOf((LOG,)), now=NOW).ok()


@pytest.mark.parametrize("quorum", [0, 3, -1])
def test_a_quorum_that_cannot_be_is_refused(quorum: int) -> None:
    """Of two witnesses one or both can be asked for."""
    with pytest.raises(ValueError, match="quorum"):
        TrustedLog(LOG_KEY, (WITNESS_KEY, SECOND_KEY), quorum)


def test_one_witness_counts_once() -> None:
    """The same key under two names is one witness, and a log is not its own."""
    twin = NoteKey("example.com/twin", "witness", WITNESS_KEY.x)
    with pytest.raises(ValueError, match="twice"):
        TrustedLog(LOG_KEY, (WITNESS_KEY, twin), 2)
    with pytest.raises(ValueError, match="its own witness"):
        TrustedLog(LOG_KEY, (NoteKey("w", "witness", LOG_KEY.x),), 1)


def test_a_log_without_witnesses_vouches_for_no_time() -> None:
    """Inclusion is checked; that nobody saw it stays a warning."""
    judged = TrustedLog(LOG_KEY, (), 0).judge(evidence(seen=True))
    assert (codes(judged), judged.witnessed) == (["UNWITNESSED"], None)


def test_the_quorum_is_full_with_its_last_witness() -> None:
    """The witnessed time is the quorum-th smallest; a quorum of two is not met by one."""
    assert LOG.judge(evidence(seen=True)).witnessed == SEEN_AT
    both = TrustedLog(LOG_KEY, (WITNESS_KEY, SECOND_KEY), 2)
    assert codes(both.judge(evidence(seen=True))) == ["UNWITNESSED"]
    bundle = tell(Story())
    report = verify(bundle.files, policy=AllOf((OURS_PINNED, LOG)), now=NOW)
    assert report.witnessed_at == SEEN_AT
    assert report.announced is not None
    assert report.announced.witnessed_at == ANNOUNCED_AT


def test_a_weak_pin_is_refused() -> None:
    """Pinning a key under which anyone can sign accepts nothing."""
    weak = PublicKey(x=bytes(32), name="weak")
    assert codes(PinnedKey(weak).judge(evidence())) == ["KEY_WEAK"]


@pytest.mark.parametrize(("least", "refused"), [(None, False), (2, False), (3, True)])
def test_an_older_registry_than_seen_is_refused(least: int | None, refused: bool) -> None:
    """The least version is the caller's memory of what it saw."""
    judged = PinnedRoot(ROOT_SIGNER.kid, least).judge(evidence(registry=rotated_registry(key_record())))
    assert ("REGISTRY_ROLLBACK" in codes(judged)) is refused


def test_an_unknown_key_is_still_held_against_itself() -> None:
    """Where no registry lists the key, a broken signature is told beside it."""
    root = PinnedRoot(ROOT_SIGNER.kid)
    assert codes(root.judge(evidence())) == ["KEY_UNKNOWN"]
    broken = Evidence(where=MANIFEST, proof=RUN_PROOF, kid=OURS.kid, x=OURS.x, signed_by=lambda x: False, now=NOW)
    assert codes(root.judge(broken)) == ["KEY_UNKNOWN", "SIGNATURE_INVALID"]
