"""Whom the person who verifies trusts: policies that compose. Pure.

A policy is shown the `Evidence` for one signed statement, a run or its announcement, and answers with a `Judgement`:
findings, and what it established. What every statement must hold, whoever is trusted, is checked elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, Protocol, TypeAlias

import msgspec

from ragassay.manifest.checkpoint import SignedCheckpoint
from ragassay.manifest.files import REGISTRY
from ragassay.manifest.note import NoteKey
from ragassay.manifest.registry import KeyRecord, KeyStatus, Registry, SignedRegistry, status_at
from ragassay.manifest.sign import PublicKey, decode_x, is_weak
from ragassay.verify.codes import severity
from ragassay.verify.report import Finding, finding

SignerKnown: TypeAlias = Literal["unchecked", "named", "pinned"]
"""Whether the signature was held against no key, against the one that the statement names, or a trusted one."""

SLACK_S = 300
"""Seconds by which the clocks of signer, witness and reader may differ."""

_STRENGTH: tuple[SignerKnown, ...] = ("unchecked", "named", "pinned")


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What the bytes show of one signed statement."""

    where: str
    """The file that holds the statement."""
    proof: str
    """The file that holds the proof of its inclusion in a log, whether or not it is there."""
    kid: str
    """The fingerprint that the statement claims; nothing is proved by it."""
    x: bytes | None
    """The public key that the statement names, or None where that is no usable key."""
    signed_by: Callable[[bytes], bool]
    """Tells whether the one signature is by the public key of these 32 bytes."""
    now: int
    """When the person verifies, in Unix seconds."""
    checkpoint: SignedCheckpoint | None = None
    """The checkpoint whose tree is proved to hold the statement; who signed it is the policy's to ask."""
    registry: SignedRegistry | None = None
    registry_version: int | None = None
    """The version of the registry that the signer knew, as the statement says."""
    witnessed: int | None = None
    """When trusted witnesses saw the statement, in Unix seconds; set by `AllOf` from what its members establish."""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy found and established."""

    findings: tuple[Finding, ...] = ()
    signer: SignerKnown = "unchecked"
    witnessed: int | None = None
    key_status: KeyStatus | None = None

    def failures(self, *, strict: bool) -> int:
        """Return how many findings stand between this and a yes."""
        return sum(severity(found.code, strict=strict) == "fail" for found in self.findings)


class Policy(Protocol):
    """Whom one trusts."""

    @property
    def logs(self) -> tuple[NoteKey, ...]:
        """The keys of the logs that are trusted."""
        ...

    def judge(self, evidence: Evidence) -> Judgement:
        """Return what speaks against the statement, and what was established."""
        ...


class Unpinned(msgspec.Struct, frozen=True):
    """Trusts nobody: the signature is held against the key that the statement itself names (SIGNER_UNPINNED)."""

    logs: ClassVar[tuple[NoteKey, ...]] = ()

    def judge(self, evidence: Evidence) -> Judgement:
        """Return SIGNER_UNPINNED, and SIGNATURE_INVALID where the named key did not sign."""
        found = [finding("SIGNER_UNPINNED", None, evidence.where)]
        if evidence.x is None:
            return Judgement(findings=tuple(found), signer="unchecked")
        if not evidence.signed_by(evidence.x):
            found.append(_not_by("the key that the statement names", evidence))
        return Judgement(findings=tuple(found), signer="named")


def judge_or_named(policy: Policy, evidence: Evidence) -> Judgement:
    """Ask the policy whose a statement is; a signature that it held against no key is held against the named one."""
    judged = policy.judge(evidence)
    if judged.signer != "unchecked":
        return judged
    named = Unpinned().judge(evidence)
    return msgspec.structs.replace(judged, signer=named.signer, findings=judged.findings + named.findings)


class PinnedKey(msgspec.Struct, frozen=True):
    """Accepts the holder of one key; only the bytes of that key are used, whatever the statement names."""

    key: PublicKey

    logs: ClassVar[tuple[NoteKey, ...]] = ()

    def judge(self, evidence: Evidence) -> Judgement:
        """Return KEY_WEAK, KEY_UNKNOWN or SIGNATURE_INVALID."""
        if is_weak(self.key.x):
            weak = finding("KEY_WEAK", "the pinned key is weak: anyone can sign under it", evidence.where)
            return Judgement(findings=(weak,), signer="pinned")
        found = []
        if evidence.kid != self.key.kid:
            found.append(finding("KEY_UNKNOWN", "it is signed by another key than the pinned one", evidence.where))
        if not evidence.signed_by(self.key.x):
            found.append(_not_by("the pinned key", evidence))
        return Judgement(findings=tuple(found), signer="pinned")


class PinnedRoot(msgspec.Struct, frozen=True):
    """Accepts the keys of one publisher's registry, each by its status at the time when witnesses saw the statement.

    `fingerprint` is that of the root, or of one that handed over to it. A registry older than `min_version`, or than
    the one that the signer knew, is refused. Where nothing establishes a witnessed time, an active key is taken.
    """

    fingerprint: str
    min_version: int | None = None

    logs: ClassVar[tuple[NoteKey, ...]] = ()

    def judge(self, evidence: Evidence) -> Judgement:
        """Return KEY_UNKNOWN, KEY_EXPIRED, KEY_REVOKED, KEY_WEAK, SIGNATURE_INVALID or REGISTRY_*."""
        signed = evidence.registry
        if signed is None:
            return _unknown(
                "a root is pinned, and there is no key registry: give one with the run, or name it", evidence
            )
        if not signed.vouched_by(self.fingerprint):
            return _unknown("the key registry is not by the pinned root", evidence)
        found = self._of_registry(signed.registry, evidence)
        record = signed.registry.key(evidence.kid)
        if record is None:
            return _unknown("the key registry does not list the key that signed", evidence, found)
        found.extend(_of_key(record, evidence))
        return Judgement(findings=tuple(found), signer="pinned", key_status=record.status)

    def _of_registry(self, registry: Registry, evidence: Evidence) -> list[Finding]:
        found = []
        least = max(self.min_version or 0, evidence.registry_version or 0)
        if registry.version < least:
            message = (
                f"the key registry is of version {registry.version}, and version {least} is known: name the newest"
            )
            found.append(finding("REGISTRY_ROLLBACK", message, REGISTRY))
        if registry.expires < evidence.now:
            found.append(finding("REGISTRY_EXPIRED", None, REGISTRY))
        return found


def _unknown(message: str, evidence: Evidence, found: Sequence[Finding] = ()) -> Judgement:
    """Return that no trusted registry lists the key; the signature is held against the named key all the same."""
    judged = [*found, finding("KEY_UNKNOWN", message, evidence.where)]
    if evidence.x is not None and not evidence.signed_by(evidence.x):
        judged.append(_not_by("the key that the statement names", evidence))
    return Judgement(findings=tuple(judged), signer="pinned")


def _not_by(whose: str, evidence: Evidence) -> Finding:
    message = f"the signature is not by {whose}, or something was changed"
    return finding("SIGNATURE_INVALID", message, evidence.where)


def _of_key(record: KeyRecord, evidence: Evidence) -> list[Finding]:
    """Return what speaks against a listed key; that an active one has no witnessed time is said once for the run."""
    found = []
    code = status_at(record, evidence.witnessed)
    if code is not None and code != "UNTIMED":
        found.append(finding(code, None, evidence.where))
    if code != "KEY_WEAK" and not evidence.signed_by(decode_x(record.x)):
        found.append(_not_by("the key that the registry lists", evidence))
    return found


class TrustedLog(msgspec.Struct, frozen=True):
    """Asks for inclusion in one log, under a checkpoint that at least `quorum` of `witnesses` cosigned.

    The signer of a statement is no witness of it, and a time to come none at which anyone saw it.
    Without any witness (quorum 0) a forged inclusion is refused, and UNWITNESSED stands on every statement. A quorum
    that cannot be met, or of none where there are witnesses, is refused with `ValueError`.
    """

    log: NoteKey
    witnesses: tuple[NoteKey, ...]
    quorum: int

    def __post_init__(self) -> None:
        """Refuse a quorum that nobody or everybody meets, and one witness that counts twice."""
        if not min(1, len(self.witnesses)) <= self.quorum <= len(self.witnesses):
            raise ValueError(f"a quorum of {self.quorum} of {len(self.witnesses)} witnesses cannot be")
        if len({witness.x for witness in self.witnesses}) != len(self.witnesses):
            raise ValueError("a witness stands twice, and each counts once")
        if self.log.x in {witness.x for witness in self.witnesses}:
            raise ValueError("the log is not its own witness: their keys must differ")

    @property
    def logs(self) -> tuple[NoteKey, ...]:
        """The key of this log."""
        return (self.log,)

    def judge(self, evidence: Evidence) -> Judgement:
        """Return UNWITNESSED or LOG_INCLUSION, or the time at which the quorum was full."""
        checkpoint = evidence.checkpoint
        if checkpoint is None:
            return _against("UNWITNESSED", "nothing shows that the trusted log holds this", evidence)
        if checkpoint.origin != self.log.name:
            return _against("UNWITNESSED", f"it stands in the log {checkpoint.origin!r}, not in the trusted", evidence)
        if not checkpoint.signed_by(self.log):
            return _against("LOG_INCLUSION", "the checkpoint is not signed by the trusted log", evidence)
        if not self.witnesses:
            return _against("UNWITNESSED", "the trusted log holds it, and no witness is trusted", evidence)
        others = [witness for witness in self.witnesses if witness.x != evidence.x]
        times = sorted(time for time in checkpoint.witnessed(others).values() if time <= evidence.now + SLACK_S)
        if len(times) < self.quorum:
            message = f"{len(times)} of the trusted witnesses saw it; {self.quorum} are asked for"
            return _against("UNWITNESSED", message, evidence)
        return Judgement(witnessed=times[self.quorum - 1])


def _against(code: str, message: str, evidence: Evidence) -> Judgement:
    return Judgement(findings=(finding(code, message, evidence.proof),))


class AllOf(msgspec.Struct, frozen=True):
    """Asks for everything that each of `policies` asks for; none at all is refused with `ValueError`."""

    policies: tuple[Policy, ...]

    def __post_init__(self) -> None:
        """Refuse the policy that would accept everything."""
        if not self.policies:
            raise ValueError("AllOf of no policy would accept everything; name at least one")

    @property
    def logs(self) -> tuple[NoteKey, ...]:
        """The logs of all members."""
        return tuple(log for policy in self.policies for log in policy.logs)

    def judge(self, evidence: Evidence) -> Judgement:
        """Return the findings of all; the witnessed time that some establish is known to the others."""
        witnessed = _latest([policy.judge(evidence) for policy in self.policies])
        timed = msgspec.structs.replace(evidence, witnessed=witnessed if witnessed is not None else evidence.witnessed)
        judgements = [policy.judge(timed) for policy in self.policies]
        return Judgement(
            findings=tuple(found for judgement in judgements for found in judgement.findings),
            signer=max((judgement.signer for judgement in judgements), key=_STRENGTH.index),
            witnessed=witnessed,
            key_status=next((j.key_status for j in judgements if j.key_status is not None), None),
        )


class AnyOf(msgspec.Struct, frozen=True):
    """Accepts what one of `policies` accepts; none at all is refused with `ValueError`."""

    policies: tuple[Policy, ...]

    def __post_init__(self) -> None:
        """Refuse the policy that could never accept anything."""
        if not self.policies:
            raise ValueError("AnyOf of no policy would accept nothing; name at least one")

    @property
    def logs(self) -> tuple[NoteKey, ...]:
        """The logs of all members."""
        return tuple(log for policy in self.policies for log in policy.logs)

    def judge(self, evidence: Evidence) -> Judgement:
        """Return the judgement that is nearest to a yes, the first of several."""
        judgements = [policy.judge(evidence) for policy in self.policies]
        return min(judgements, key=lambda one: (one.failures(strict=False), one.failures(strict=True)))


def _latest(judgements: Sequence[Judgement]) -> int | None:
    """Return the time at which all witnesses that were asked had seen the statement."""
    return max((j.witnessed for j in judgements if j.witnessed is not None), default=None)
