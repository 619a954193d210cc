"""Attacks on a bundle, each named by its defect, with the reason codes that must refuse it. Pure and repeatable.

The attacker is somebody who changes a bundle on its way, or the publisher, who can sign and log whatever they like:
their lies about a run are logged and witnessed as if they were true.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import msgspec

from ragassay import canon
from ragassay.manifest import sign_payload
from ragassay.manifest.files import INTENT, INTENT_PROOF, RUN_PROOF
from ragassay.manifest.registry import REGISTRY_TYPE
from ragassay.manifest.sign import WEAK_KEYS, Signer, encode_x, thumbprint
from ragassay.manifest.statement import RUN_KIND, CorpusRef, Digest, DigestOf, IntentPredicate, JudgeRef, RowRef
from ragassay.testing.bundles import Case, PolicyKind, key_record, registry_of, rotated_registry, told, with_registry
from ragassay.testing.fills import UNDECLARED_FILLS
from ragassay.testing.lies import SIGNED_LIES
from ragassay.testing.logged_run import (
    NOW,
    OTHER,
    OURS,
    SEEN_AT,
    WITNESS_SIGNER,
    Bundle,
    MemoryLog,
    Story,
    planned_id,
    tell,
    void_pass,
    void_run,
)
from ragassay.testing.redaction_attacks import REDACTION_ATTACKS
from ragassay.testing.republished_run import republished_files, resealed
from ragassay.testing.signed_run import STARTED, OpenedRun, open_run, public_signer, seal_run, signed_run
from ragassay.testing.tampering import TAMPERINGS, Tampering, change_envelope, take_out

_LOGGED: PolicyKind = "key, log and witness"
_ROOT: PolicyKind = "root, log and witness"


def tampered(attack: Tampering) -> Callable[[], Bundle]:
    """Return what builds the honest, logged bundle after a change of its bytes."""

    def build() -> Bundle:
        bundle = tell(Story())
        return msgspec.structs.replace(bundle, files=attack(bundle.files))

    return build


def forged_by(signer: Signer, **claims: str) -> Callable[[], Bundle]:
    """Return a run that `signer` signs while its manifest claims other things of the signer."""

    def build() -> Bundle:
        bundle = tell(Story(signer=signer))
        opened = open_run(bundle.files)
        files = seal_run(opened, signer, claim=lambda run: run.predicate["signer"].update(claims))
        kid = claims.get("kid", signer.kid)
        signed = change_envelope(files, lambda envelope: envelope["signatures"][0].update(keyid=kid))
        return msgspec.structs.replace(bundle, files={**bundle.files, **signed})

    return build


def weak_forgery(x: bytes) -> Callable[[], Bundle]:
    """Return a run under a weak key, with the one signature that is valid for every message."""

    def build() -> Bundle:
        kid = thumbprint(x)
        files = seal_run(
            open_run(signed_run()), OURS, claim=lambda run: run.predicate["signer"].update(kid=kid, x=encode_x(x))
        )
        forged = [{"keyid": kid, "sig": base64.b64encode(bytes([1]) + bytes(63)).decode()}]
        return Bundle(files=change_envelope(files, lambda envelope: envelope.update(signatures=forged)))

    return build


def changed_registry(change: Callable[[dict[str, Any]], object], signer: Signer | None) -> Callable[[], Bundle]:
    """Return a run beside a registry that was changed, and signed again where there is a `signer`."""

    def build() -> Bundle:
        honest = rotated_registry(key_record())
        envelope = json.loads(honest)
        value = json.loads(base64.b64decode(envelope["payload"]))
        change(value)
        payload = canon.canonical(value)
        envelope["payload"] = base64.b64encode(payload).decode()
        data = sign_payload(payload, signer, REGISTRY_TYPE) if signer else canon.canonical(envelope)
        return with_registry(Story(), data)()

    return build


def announced(**members: Any) -> Story:
    """Return the story of a publisher who announces something else than is run."""

    def announce(intent: IntentPredicate) -> IntentPredicate:
        return msgspec.structs.replace(intent, **members)

    return Story(announce=announce)


def claimed(**members: Any) -> Story:
    """Return the story of a publisher who names the announcement in another way."""
    return Story(claim=lambda run: run.predicate["intent"].update(members))


def _unname(run: OpenedRun) -> None:
    run.predicate["intent"] = None


def _of_the_future(run: OpenedRun) -> None:
    run.statement["predicateType"] = f"{RUN_KIND}v9.0"


def _other_verdicts(run: OpenedRun) -> None:
    run.predicate["verdicts"] = {"sha256": "5" * 64}


def _other_lines(run: OpenedRun) -> None:
    run.predicate["lines"] = {"sha256": "5" * 64}


def _rows_of_another(run: OpenedRun) -> None:
    run.outputs = open_run(signed_run(run_id="a" * 32)).outputs


def _answer_late(run: OpenedRun) -> None:
    """Give the last answer only after a witness saw the run."""
    run.telemetry[-1]["answeredAt"] = run.predicate["window"]["end"] = SEEN_AT + 1000


def _hide_failure(run: OpenedRun) -> None:
    """Call a failed retrieval a failure of the harness, and count it so."""
    run.outputs[7].update(status="harness_failed", failure={"kind": "bug", "message": "an index error"})
    run.predicate["counts"].update(retrievalFailed=0, harnessFailed=1)


def _hidden_failure() -> Bundle:
    return tell(Story(change=_hide_failure), signed_run(run_id=planned_id(1), items=60, failed=[7]))


def _know_version(run: OpenedRun) -> None:
    run.predicate["signer"]["registryVersion"] = 2


def _before_its_time() -> Bundle:
    return msgspec.structs.replace(tell(Story()), now=STARTED - 1000)


def truncated_log() -> Bundle:
    """Return a run whose log, signed anew by its keeper, has lost the entries after the announcement."""
    bundle = tell(Story())
    return msgspec.structs.replace(bundle, log=MemoryLog(entries=[bundle.files[INTENT]]).files())


def rewritten_log() -> Bundle:
    """Return a run whose log, signed anew by its keeper, holds something else in the place of pass 2."""
    log = MemoryLog()
    bundle = tell(Story(after=lambda kept, _: log.entries.extend(kept.entries)))
    log.entries[2] = b"something else"
    return msgspec.structs.replace(bundle, log=log.files())


def torn_log() -> Bundle:
    """Return a run whose log has entries that its checkpoint does not sign."""
    bundle = tell(Story(), with_log=True)
    assert bundle.log is not None
    name = next(name for name in bundle.log if name.startswith("tile/entries/"))
    data = bundle.log[name]
    return msgspec.structs.replace(bundle, log={**bundle.log, name: data[:-1] + bytes([data[-1] ^ 1])})


def other_log(log: MemoryLog) -> Callable[[], Bundle]:
    """Return a run beside another log than its own."""

    def build() -> Bundle:
        bundle = tell(Story())
        log.entries = [bundle.files[INTENT]]
        return msgspec.structs.replace(bundle, log=log.files())

    return build


def _case(build: Callable[[], Bundle], policy: PolicyKind, *codes: str, ok: bool = False) -> Case:
    return Case(build=build, policy=policy, codes=frozenset(codes), ok=ok, strict=False)


def _rooted(story: Story, registry: bytes, *codes: str) -> Case:
    return _case(with_registry(story, registry), _ROOT, *codes)


def _logged(story: Story, *codes: str, ok: bool = False, with_log: bool = False) -> Case:
    return _case(told(story, with_log=with_log), _LOGGED, *codes, ok=ok)


_DEPRECATED = registry_of(key_record(status="deprecated", end=SEEN_AT + 100))
_REVOKED = registry_of(key_record(status="revoked", invalid_since=SEEN_AT))
_STOLEN = key_record(OTHER, status="revoked", invalid_since=STARTED - 90)
_UNSEEN = Story(announced_at=None, seen_at=None)
_OTHER_ROOT = public_signer("root of another")
_NEW_ROOT = public_signer("root-2")
_ZEROS = Digest(sha256="0" * 64)

_SIGNATURES: dict[str, Case] = {
    "forged by another key": _case(forged_by(OTHER), _LOGGED, "KEY_UNKNOWN", "SIGNATURE_INVALID"),
    "forged under our fingerprint": _case(forged_by(OTHER, kid=OURS.kid), _LOGGED, "SIGNATURE_INVALID"),
    "forged under our fingerprint and key": _case(
        forged_by(OTHER, kid=OURS.kid, x=encode_x(OURS.x)), _LOGGED, "SIGNATURE_INVALID",
    ),
    "forged under our fingerprint, nothing pinned": _case(forged_by(OTHER, kid=OURS.kid), "none", "SIGNATURE_INVALID"),
    "forged under our key, nothing pinned": _case(
        forged_by(OTHER, kid=OURS.kid, x=encode_x(OURS.x)), "none", "SIGNATURE_INVALID",
    ),
    **{f"weak key {at}": _case(weak_forgery(x), "none", "KEY_WEAK") for at, x in enumerate(sorted(WEAK_KEYS), 1)},
}  # fmt: skip

_KEYS: dict[str, Case] = {
    "signed after the key's end": _rooted(Story(), registry_of(key_record(end=SEEN_AT - 1)), "KEY_EXPIRED"),
    "signed before the key's time": _rooted(Story(), registry_of(key_record(start=SEEN_AT + 1)), "KEY_EXPIRED"),
    "signed after the key was revoked": _rooted(Story(), _REVOKED, "KEY_REVOKED"),
    "deprecated key, seen by no witness": _rooted(_UNSEEN, _DEPRECATED, "KEY_EXPIRED"),
    "revoked key, seen by no witness": _rooted(_UNSEEN, _REVOKED, "KEY_REVOKED"),
    "key that the registry does not list": _rooted(Story(), registry_of(key_record(OTHER)), "KEY_UNKNOWN"),
    "root pinned, and no registry": _case(told(Story()), _ROOT, "KEY_UNKNOWN"),
    "registry by another root": _rooted(Story(), registry_of(key_record(), root=_OTHER_ROOT), "KEY_UNKNOWN"),
    "registry older than the signer's": _rooted(
        Story(claim=_know_version), registry_of(key_record()), "REGISTRY_ROLLBACK",
    ),
    "registry changed": _case(changed_registry(lambda r: r.update(version=3), None), _ROOT, "SIGNATURE_INVALID"),
    "registry whose root nobody handed over to": _case(
        changed_registry(lambda r: r["rotations"][0].update(fromSig=r["rotations"][0]["toSig"]), _NEW_ROOT),
        _ROOT, "SIGNATURE_INVALID",
    ),
    "announced by a revoked key": _rooted(
        Story(announcer=OTHER), registry_of(key_record(), _STOLEN), "KEY_REVOKED",
    ),
}  # fmt: skip

_ANNOUNCEMENTS: dict[str, Case] = {
    "announced after the run": _logged(Story(announced_last=True), "INTENT_AFTER_RUN"),
    "announced after the first answer": _logged(Story(created=STARTED + 1), "INTENT_AFTER_RUN"),
    "announcement seen after the first answer": _logged(Story(announced_at=STARTED + 1), "UNTIMED", ok=True),
    "announced by another key": _logged(Story(announcer=OTHER), "KEY_UNKNOWN", "SIGNATURE_INVALID"),
    "announced by another key, nothing pinned": _case(told(Story(announcer=OTHER)), "none", "INTENT_MISMATCH"),
    "another row announced": _logged(announced(row=RowRef(name="dense", key="0" * 64)), "INTENT_MISMATCH"),
    "another configuration announced": _logged(announced(config=DigestOf(digest=_ZEROS)), "INTENT_MISMATCH"),
    "another judge announced": _logged(announced(judge=JudgeRef(id="kind", digest=_ZEROS)), "INTENT_MISMATCH"),
    "another corpus announced": _logged(
        announced(corpus=CorpusRef(pages=1, chunks=1, digest=_ZEROS)), "INTENT_MISMATCH",
    ),
    "announcement of another digest": _logged(claimed(digest={"sha256": "0" * 64}), "INTENT_MISMATCH"),
    "announcement at another index": _logged(claimed(index=1), "INTENT_MISMATCH"),
    "announcement in another log": _logged(claimed(log="example.net/log"), "INTENT_MISMATCH"),
    "announcement that the run does not name": _logged(Story(claim=_unname), "NO_INTENT", "BUNDLE_NAME"),
    "run that was not planned": _logged(
        announced(runs=("f" * 32, planned_id(2), planned_id(3))), "PASS_OUT_OF_PLAN",
    ),
    "run planned as another pass": _logged(
        announced(runs=(planned_id(2), planned_id(1), planned_id(3))), "PASS_OUT_OF_PLAN",
    ),
    "more passes announced than the run says": _logged(
        announced(runs=tuple(planned_id(k) for k in range(1, 5))), "PASS_OUT_OF_PLAN",
    ),
}  # fmt: skip

_LOGS: dict[str, Case] = {
    "three passes announced, one published": _logged(Story(others=()), "PASS_MISSING", ok=True, with_log=True),
    "run taken back": _logged(Story(after=void_run()), "RUN_VOIDED", with_log=True),
    "pass given up and published all the same": _logged(Story(after=void_pass(1)), "RUN_VOIDED", with_log=True),
    "second manifest of one run": _logged(Story(rehearsed=True), "PASS_OUT_OF_PLAN", with_log=True),
    "log truncated": _case(truncated_log, _LOGGED, "LOG_FORK"),
    "log rewritten": _case(rewritten_log, _LOGGED, "LOG_FORK"),
    "log torn": _case(torn_log, _LOGGED, "LOG_FORK"),
    "log under another key": _case(other_log(MemoryLog(OTHER)), _LOGGED, "LOG_INCLUSION"),
    "another log": _case(other_log(MemoryLog(origin="example.net/log")), _LOGGED, "LOG_INCLUSION"),
    "log of the trusted name by another key": _logged(Story(log_signer=OTHER), "LOG_INCLUSION"),
    "logged elsewhere": _logged(Story(origin="example.net/log"), "UNWITNESSED", ok=True),
    "seen by a stranger": _logged(Story(witness=OTHER), "UNWITNESSED", "UNTIMED", ok=True),
    "seen by nobody": _logged(_UNSEEN, "UNWITNESSED", "UNTIMED", ok=True),
    "seen at a time to come": _logged(Story(seen_at=NOW + 301), "UNWITNESSED", "UNTIMED", ok=True),
    "seen by its own signer": _case(
        with_registry(Story(signer=WITNESS_SIGNER), registry_of(key_record(WITNESS_SIGNER))),
        _ROOT, "UNWITNESSED", "UNTIMED", ok=True,
    ),
    "proof of the run taken out": _case(tampered(take_out(RUN_PROOF)), _LOGGED, "UNWITNESSED", "UNTIMED", ok=True),
    "proof of the announcement taken out": _case(
        tampered(take_out(INTENT_PROOF)), _LOGGED, "UNWITNESSED", "UNTIMED", ok=True,
    ),
    "seen before its last answer": _logged(Story(change=_answer_late), "WINDOW"),
    "answered in the future": _case(_before_its_time, _LOGGED, "WINDOW"),
}  # fmt: skip

_ROWS: dict[str, Case] = {
    "verdicts digest of other rows": _logged(Story(claim=_other_verdicts), "VERDICTS_DIGEST"),
    "lines digest of other rows": _logged(Story(claim=_other_lines), "LINES_DIGEST"),
    "run of a version to come": _logged(Story(claim=_of_the_future), "VERSION_UNKNOWN"),
    "rows of another run": _logged(Story(change=_rows_of_another), "ROW_FOREIGN_RUN"),
    "failed retrieval called the harness's": _case(_hidden_failure, _LOGGED, "RETRIEVAL_FAILED", ok=True),
}


def republished(code: str, row: dict[str, Any], **claims: Any) -> Case:
    """Return the case of scores that were taken over, by a publisher who says more of them than that."""

    def build() -> Bundle:
        files = resealed(
            republished_files(),
            rows=lambda rows: rows[0].update(row),
            claim=lambda predicate: predicate["provenance"].update(claims),
        )
        return Bundle(files=files)

    return _case(build, "key", code)


_VERDICT = {
    "answerKind": "answer", "centralContradicted": False, "extraWrong": False, "injectionSeen": False,
    "referenceInsufficient": False,
}  # fmt: skip

_REPUBLISHED: dict[str, Case] = {
    "republished, and a model was invoked": republished("ENVELOPE_MALFORMED", {}, modelInvoked=True),
    "republished with a verdict": republished("STATUS", {"verdict": _VERDICT}),
    "republished with a retrieval": republished("STATUS", {"retrieval": "empty"}),
    "republished as refused": republished("STATUS", {"status": "refused"}),
    "republished without a score and a reason": republished("STATUS", {"status": "judge_failed", "score": None}),
    "republished score with a failure": republished("STATUS", {"failure": {"kind": "bug", "message": "none"}}),
    "republished score of 101": republished("ITEM_SCORE", {"score": 101}),
}

ATTACKS: dict[str, Case] = {
    **{name: _case(tampered(attack), _LOGGED, *codes) for name, (attack, codes) in TAMPERINGS.items()},
    **_SIGNATURES,
    **_KEYS,
    **_ANNOUNCEMENTS,
    **_LOGS,
    **_ROWS,
    **_REPUBLISHED,
    **REDACTION_ATTACKS,
    **UNDECLARED_FILLS,
    **{f"lie: {name}": _logged(Story(change=change), code) for name, (change, code) in SIGNED_LIES.items()},
}
"""Each attack by its name, with reason codes that must be among its findings."""
