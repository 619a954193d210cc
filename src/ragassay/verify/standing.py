"""Whose a run is, when it was seen, and whether it was announced: what the policy and the log say of it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import msgspec

from ragassay.errors import VerifyError
from ragassay.manifest.announce import SignedIntent
from ragassay.manifest.files import (
    INTENT,
    INTENT_PROOF,
    MANIFEST,
    REDACTION,
    REDACTION_PROOF,
    REGISTRY,
    RUN_PROOF,
)
from ragassay.manifest.redaction_statement import SignedRedaction
from ragassay.manifest.registry import KeyStatus, SignedRegistry, decode_registry
from ragassay.manifest.statement import RunPredicate, SignerRef
from ragassay.manifest.tiles import LogView
from ragassay.verify.announcement import check_before, read_announcement
from ragassay.verify.inclusion import Place, check_inclusion
from ragassay.verify.policy import SLACK_S, Evidence, Judgement, Policy, judge_or_named
from ragassay.verify.report import Announced, Findings, Passes, finding
from ragassay.verify.signature import SignedRun, named_key, note_signature
from ragassay.verify.whole_log import LOG, check_log


class Reader(msgspec.Struct, frozen=True, kw_only=True):
    """Who reads: whom they trust, when they read, and what they were given apart from the run's files."""

    policy: Policy
    now: int
    log: LogView | None = None
    registry: SignedRegistry | None = None
    """The registry that was given, or else the one beside the run."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What was established of a run beyond its own files."""

    pinned: bool = False
    key_status: KeyStatus | None = None
    witnessed_at: int | None = None
    intent: SignedIntent | None = None
    announced: Announced | None = None


NOTHING = Standing()
OwnKeys: TypeAlias = "tuple[tuple[str, bytes | None], ...]"
"""Fingerprint and public key of the run's signer, and of its announcement's where the policy accepts that."""

_UNSEEN_REDACTION = "no log and witness that you trust are shown to hold the redaction"


class _Held(msgspec.Struct, frozen=True):
    """A statement held against the policy: where a log shows it, what was shown to the policy, what it said."""

    place: Place | None
    evidence: Evidence
    judged: Judgement


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
    reader: Reader,
    findings: Findings,
    redaction: SignedRedaction | None = None,
) -> Standing:
    """Hold run, announcement and redaction against the policy, their proofs, and the whole log where it is given."""
    predicate = run.statement.predicate
    place = check_inclusion(files, RUN_PROOF, run.data, "the run", findings)
    held = _hold(predicate.signer, run.signed_by, (MANIFEST, RUN_PROOF), place, reader, findings)
    _note_checks(held, reader, findings)
    _check_time(predicate, held.judged.witnessed, reader.now, findings)
    intent = read_announcement(predicate, files, findings)
    announcing = _check_intent(intent, predicate, files, held, reader, findings) if intent else None
    own = _own_keys(held, announcing)
    redacting = _check_redaction(redaction, held, own, files, reader, findings) if redaction else None
    passes = check_log(
        run,
        redaction.data if redaction else None,
        tuple(held.place for held in (held, announcing, redacting) if held is not None),
        policy=reader.policy,
        accept=Accepting(own, reader if held.judged.key_status is not None else None),
        log=reader.log,
        findings=findings,
    )
    return Standing(
        pinned=held.judged.signer == "pinned",
        key_status=held.judged.key_status,
        witnessed_at=held.judged.witnessed,
        intent=intent,
        announced=_announced(predicate, intent, announcing, passes),
    )


def _hold(
    signer: SignerRef,
    signed_by: Callable[[bytes], bool],
    names: tuple[str, str],
    place: Place | None,
    reader: Reader,
    findings: Findings,
) -> _Held:
    """Ask the policy about a statement; `names` are the files that hold it and its proof of inclusion.

    A signature that the policy held against no key is held against the named one, and said to be that. That no key is
    pinned is said of the run and not again of its announcement.
    """
    where, proof = names
    evidence = Evidence(
        where=where,
        proof=proof,
        kid=signer.kid,
        x=named_key(signer, findings, where),
        signed_by=signed_by,
        now=reader.now,
        checkpoint=place.checkpoint if place else None,
        registry=reader.registry,
        registry_version=signer.registry_version,
    )
    judged = judge_or_named(reader.policy, evidence)
    found = judged.findings
    if not reader.policy.logs:
        found += (finding("UNWITNESSED", _UNSEEN_REDACTION if where == REDACTION else None, proof),)
    findings.extend(one for one in found if one.code != "SIGNER_UNPINNED" or where == MANIFEST)
    return _Held(place, evidence, msgspec.structs.replace(judged, findings=found))


def _note_checks(held: _Held, reader: Reader, findings: Findings) -> None:
    note_signature(findings, checked=held.judged.signer != "unchecked")
    if reader.policy.logs:
        findings.made("trusted log and witnesses")
    else:
        findings.not_made("trusted log and witnesses", "no log is pinned")
    if held.judged.key_status is not None:
        findings.made("status of the key in a registry")
    else:
        why = "no registry was given" if reader.registry is None else "no root is pinned whose registry lists the key"
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
    ran: _Held,
    reader: Reader,
    findings: Findings,
) -> _Held:
    """Hold the announcement against the policy as the run was, and against the time of the first answer."""
    signer, window = intent.predicate.signer, predicate.window
    place = check_inclusion(files, INTENT_PROOF, intent.data, "the announcement", findings)
    held = _hold(signer, intent.signed_by, (INTENT, INTENT_PROOF), place, reader, findings)
    if held.judged.signer != "pinned" and signer.kid != predicate.signer.kid:
        findings.add("INTENT_MISMATCH", "the announcement is signed by another key than the run", INTENT)
    check_before(predicate, intent.predicate, (place, ran.place), findings)
    witnessed = held.judged.witnessed
    if witnessed is None or (window is not None and witnessed > window.start):
        findings.add("UNTIMED", "no witness saw the announcement before the first answer", INTENT_PROOF)
    return held


def _check_redaction(
    redaction: SignedRedaction,
    ran: _Held,
    own: OwnKeys,
    files: Mapping[str, bytes],
    reader: Reader,
    findings: Findings,
) -> _Held:
    """Hold the redaction against the policy as the run was; only the run's publisher may say what is withheld from it.

    What is shown of a row that lost a text rests on this signature, so another publisher, whom one trusts as well,
    could put words into the mouth of this one. Whose keys are the publisher's is as for the statements of a log.
    """
    signer = redaction.predicate.signer
    place = check_inclusion(files, REDACTION_PROOF, redaction.data, "the redaction", findings)
    held = _hold(signer, redaction.signed_by, (REDACTION, REDACTION_PROOF), place, reader, findings)
    listed = ran.judged.key_status is not None and held.judged.key_status is not None
    if signer.kid not in {kid for kid, _ in own} and not listed:
        message = "the redaction is signed by another key than the run, which no registry lists beside that of the run"
        findings.add("REDACTION_MISMATCH", message, REDACTION)
    return held


class Accepting(msgspec.Struct, frozen=True):
    """Tells whether another statement of the log is by the run's publisher.

    That is the key of the run, that of an announcement which the policy accepts or, where the run was accepted by a
    registry, another key that it lists: of two publishers whom one trusts, neither may void the other's runs.
    """

    own: OwnKeys
    """Fingerprint and public key of each signer that counts by itself."""
    registry: Reader | None
    """Who asks the registry about further keys, None where it was not asked about the run's."""

    def __call__(self, signer: SignerRef, signed_by: Callable[[bytes], bool]) -> bool:
        """Tell whether the statement of this signer counts."""
        for kid, x in self.own:
            if signer.kid == kid:
                return x is not None and signed_by(x)
        return self.registry is not None and _in_registry(signer.kid, signed_by, self.registry)


def _own_keys(ran: _Held, announced: _Held | None) -> OwnKeys:
    own = [(ran.evidence.kid, ran.evidence.x)]
    if announced is not None and announced.judged.signer == "pinned" and not announced.judged.failures(strict=False):
        own.append((announced.evidence.kid, announced.evidence.x))
    return tuple(own)


def _in_registry(kid: str, signed_by: Callable[[bytes], bool], reader: Reader) -> bool:
    """Tell whether the registry lists a key that was good when the witnesses of the given log saw it."""
    evidence = Evidence(
        where=LOG,
        proof=LOG,
        kid=kid,
        x=None,
        signed_by=signed_by,
        now=reader.now,
        checkpoint=reader.log.checkpoint if reader.log else None,
        registry=reader.registry,
    )
    judged = reader.policy.judge(evidence)
    return judged.key_status is not None and not judged.failures(strict=False)


def _announced(
    predicate: RunPredicate, intent: SignedIntent | None, held: _Held | None, passes: Passes | None
) -> Announced | None:
    if predicate.intent is None:
        return None
    return Announced(
        log=predicate.intent.log,
        index=predicate.intent.index,
        planned=len(intent.predicate.runs) if intent else None,
        witnessed_at=held.judged.witnessed if held else None,
        passes=passes,
    )
