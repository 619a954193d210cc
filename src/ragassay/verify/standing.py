"""Whose a run is, when it was seen, and whether it was announced: what the policy and the log say of it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from ragassay.errors import VerifyError
from ragassay.manifest.announce import SignedIntent
from ragassay.manifest.files import INTENT, INTENT_PROOF, MANIFEST, REGISTRY, RUN_PROOF
from ragassay.manifest.registry import KeyStatus, SignedRegistry, decode_registry
from ragassay.manifest.statement import RunPredicate, SignerRef
from ragassay.manifest.tiles import LogView
from ragassay.verify.announcement import check_before, read_announcement
from ragassay.verify.audit import Accept
from ragassay.verify.inclusion import Place, check_inclusion
from ragassay.verify.policy import Evidence, Judgement, Policy, Unpinned
from ragassay.verify.report import Announced, Findings, finding
from ragassay.verify.signature import SignedRun, named_key
from ragassay.verify.whole_log import LOG, check_log

SLACK_S = 300
"""Seconds by which the clocks of signer, witness and reader may differ."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What was established of a run beyond its own files."""

    pinned: bool = False
    key_status: KeyStatus | None = None
    witnessed_at: int | None = None
    intent: SignedIntent | None = None
    announced: Announced | None = None


NOTHING = Standing()


class _Announcing(msgspec.Struct, frozen=True):
    """Where a proof shows the announcement, and when trusted witnesses saw it."""

    place: Place | None
    witnessed: int | None


def check_registry(files: Mapping[str, bytes], given: bytes | None, findings: Findings) -> SignedRegistry | None:
    """Return the registry that was given, else the one beside the run; either must be one, whoever is trusted."""
    read = []
    for data in (given, files.get(REGISTRY)):
        try:
            read.append(decode_registry(data) if data is not None else None)
        except VerifyError as error:
            findings.error(error, REGISTRY)
            read.append(None)
    return read[1] if given is None else read[0]


def check_standing(
    run: SignedRun,
    files: Mapping[str, bytes],
    policy: Policy,
    now: int,
    registry: SignedRegistry | None,
    log: LogView | None,
    findings: Findings,
) -> Standing:
    """Hold run and announcement against the policy, their proofs, and the whole log where it is given."""
    predicate = run.statement.predicate
    place = check_inclusion(files, RUN_PROOF, run.data, "the run", findings)
    evidence = Evidence(
        where=MANIFEST,
        proof=RUN_PROOF,
        kid=predicate.signer.kid,
        x=named_key(predicate.signer, findings, MANIFEST),
        signed_by=run.signed_by,
        now=now,
        checkpoint=place.checkpoint if place else None,
        registry=registry,
        registry_version=predicate.signer.registry_version,
    )
    judged = _judge(policy, evidence, findings)
    _note_checks(policy, judged, evidence, findings)
    _check_time(predicate, judged.witnessed, now, findings)
    intent = read_announcement(predicate, files, findings)
    announcing = _check_intent(intent, predicate, files, place, policy, evidence, findings) if intent else None
    counted = check_log(
        run,
        (place, announcing.place if announcing else None),
        policy=policy,
        accept=_accepting(policy, evidence, log, judged),
        log=log,
        findings=findings,
    )
    announced = None
    if predicate.intent is not None:
        announced = Announced(
            log=predicate.intent.log,
            index=predicate.intent.index,
            planned=len(intent.predicate.runs) if intent else None,
            witnessed_at=announcing.witnessed if announcing else None,
            passes=counted,
        )
    return Standing(
        pinned=judged.signer == "pinned",
        key_status=judged.key_status,
        witnessed_at=judged.witnessed,
        intent=intent,
        announced=announced,
    )


def _judge(policy: Policy, evidence: Evidence, findings: Findings) -> Judgement:
    """Ask the policy; a signature that it held against no key is held against the named one, and said to be that.

    That no key is pinned is said of the run and not again of its announcement.
    """
    judged = policy.judge(evidence)
    found = judged.findings
    if judged.signer == "unchecked":
        named = Unpinned().judge(evidence)
        found += named.findings
        judged = msgspec.structs.replace(judged, signer=named.signer)
    findings.extend(one for one in found if one.code != "SIGNER_UNPINNED" or evidence.where == MANIFEST)
    if not policy.logs:
        findings.extend([finding("UNWITNESSED", None, evidence.proof)])
    return judged


def _note_checks(policy: Policy, judged: Judgement, evidence: Evidence, findings: Findings) -> None:
    findings.made("key")
    if judged.signer == "unchecked":
        findings.not_made("signature", "there is no usable key to check it with")
    else:
        findings.made("signature")
    if policy.logs:
        findings.made("trusted log and witnesses")
    else:
        findings.not_made("trusted log and witnesses", "no log is pinned")
    if judged.key_status is not None:
        findings.made("status of the key in a registry")
    else:
        why = "no registry was given" if evidence.registry is None else "no root is pinned whose registry lists the key"
        findings.not_made("status of the key in a registry", why)


def _check_time(predicate: RunPredicate, witnessed: int | None, now: int, findings: Findings) -> None:
    window = predicate.window
    if window is not None and window.end > now + SLACK_S:
        findings.add("WINDOW", f"its last answer is {window.end - now} seconds in the future", MANIFEST)
    if witnessed is None:
        findings.add("UNTIMED", "no trusted witness says when the run was signed", RUN_PROOF)
    elif window is not None and witnessed < window.end - SLACK_S:
        message = f"the run was witnessed {window.end - witnessed} seconds before its last answer"
        findings.add("WINDOW", message, RUN_PROOF)


def _check_intent(
    intent: SignedIntent,
    predicate: RunPredicate,
    files: Mapping[str, bytes],
    ran: Place | None,
    policy: Policy,
    of_run: Evidence,
    findings: Findings,
) -> _Announcing:
    """Hold the announcement against the policy as the run was, and against its time."""
    signer = intent.predicate.signer
    place = check_inclusion(files, INTENT_PROOF, intent.data, "the announcement", findings)
    evidence = Evidence(
        where=INTENT,
        proof=INTENT_PROOF,
        kid=signer.kid,
        x=named_key(signer, findings, INTENT),
        signed_by=intent.signed_by,
        now=of_run.now,
        checkpoint=place.checkpoint if place else None,
        registry=of_run.registry,
        registry_version=signer.registry_version,
    )
    judged = _judge(policy, evidence, findings)
    _check_same_signer(judged, signer, predicate.signer, findings)
    check_before(predicate, intent.predicate, (place, ran), findings)
    window = predicate.window
    if judged.witnessed is None or (window is not None and judged.witnessed > window.start):
        findings.add("UNTIMED", "no witness saw the announcement before the first answer", INTENT_PROOF)
    return _Announcing(place, judged.witnessed)


def _check_same_signer(judged: Judgement, announced: SignerRef, ran: SignerRef, findings: Findings) -> None:
    """Where no key is pinned, the one thing that can be asked is that one key signed both."""
    if judged.signer != "pinned" and announced.kid != ran.kid:
        findings.add("INTENT_MISMATCH", "the announcement is signed by another key than the run", INTENT)


def _accepting(policy: Policy, of_run: Evidence, log: LogView | None, judged: Judgement) -> Accept:
    """Return what tells whether another statement of the log is by the run's publisher.

    That is the run's own key or, where the run was accepted by a registry, another key that the registry lists: of two
    publishers whom one trusts, neither may void the other's runs.
    """

    def accept(signer: SignerRef, signed_by: Callable[[bytes], bool]) -> bool:
        if signer.kid == of_run.kid:
            return of_run.x is not None and signed_by(of_run.x)
        other = Evidence(
            where=LOG,
            proof=LOG,
            kid=signer.kid,
            x=None,
            signed_by=signed_by,
            now=of_run.now,
            checkpoint=log.checkpoint if log else None,
            registry=of_run.registry,
        )
        theirs = policy.judge(other)
        return None not in (judged.key_status, theirs.key_status) and not theirs.failures(strict=False)

    return accept
