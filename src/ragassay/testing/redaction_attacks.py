"""Attacks on runs with texts withheld, by their names, with the reason codes that must refuse each. Pure.

Whoever changes a bundle on its way has no key; the publisher signs and logs each lie as if it were true.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ragassay import canon
from ragassay.manifest.files import (
    INTENT,
    MANIFEST,
    PUBLIC_OUTPUTS,
    PUBLIC_TELEMETRY,
    REDACTION,
    REDACTION_PROOF,
    TELEMETRY,
    WITHHELD,
)
from ragassay.manifest.statement import INTENT_TYPE, RUN_TYPE, VOID_TYPE
from ragassay.testing.cases import Case, PolicyKind, key_record, registry_of, told
from ragassay.testing.logged_run import OTHER, SEEN_AT, Bundle, Story, planned_id, tell, void_run
from ragassay.testing.redacted_run import REDACTED_AT, Redacting, Rows, beside_whole, redact, whole_telemetry
from ragassay.testing.redactions import redacted, under_registry
from ragassay.testing.signed_run import STARTED, OpenedRun, signed_run
from ragassay.testing.tampering import Tampering, add, change_proof, edit, put, take_out

_LOGGED: PolicyKind = "key, log and witness"
_ROOT: PolicyKind = "root, log and witness"


def on_its_way(attack: Tampering) -> Callable[[], Bundle]:
    """Return what builds the honest redaction after a change of its bytes."""

    def build() -> Bundle:
        bundle = redact(Redacting())
        return msgspec.structs.replace(bundle, files=attack(bundle.files))

    return build


def _refused(build: Callable[[], Bundle], *codes: str, policy: PolicyKind = _LOGGED, ok: bool = False) -> Case:
    return Case(build=build, policy=policy, codes=frozenset(codes), ok=ok, strict=False)


def _lie(*codes: str, **changes: Any) -> Case:
    return _refused(redacted(Redacting(**changes)), *codes)


def _row(at: int, **members: Any) -> Callable[[Rows], object]:
    return lambda rows: rows[at].update(members)


def _claims(at: int, **members: Any) -> Callable[[Rows], object]:
    return lambda rows: rows[at]["claims"][1].update(members)


def _swap_verdicts(rows: Rows) -> None:
    """Give the second row the verdicts and the score of the first, and the other way round: the total stays."""
    one, other = rows[0], rows[1]
    for name in ("verdict", "score", "status"):
        one[name], other[name] = other[name], one[name]
    for mine, theirs in zip(one["claims"], other["claims"], strict=True):
        mine["verdict"], theirs["verdict"] = theirs["verdict"], mine["verdict"]


def _swap_lines(rows: Rows) -> None:
    rows[0], rows[1] = rows[1], rows[0]


def _drop_entry(rows: Rows) -> None:
    """List no longer that the chunk of the first row is withheld."""
    rows[0]["texts"] = [one for one in rows[0]["texts"] if not one["field"].startswith("chunks/")]


def _unlist_row(rows: Rows) -> None:
    """List the first row no longer, and leave it as it is."""
    rows.pop(0)


def _invent_entry(field: str) -> Callable[[Rows], object]:
    def change(rows: Rows) -> None:
        rows[0]["texts"].append({"field": field, "reason": "so", "saltedSha256": "0" * 64})

    return change


def _list_stranger(rows: Rows) -> None:
    rows.append({**rows[0], "id": "q-999"})


def _with_reply(**members: Any) -> Callable[[Rows], object]:
    return lambda rows: rows[0]["judgeReplies"][0].update(members)


def _usage(rows: Rows) -> None:
    rows[0]["answerUsage"]["inputTokens"] = 1


def _older_manifest() -> Bundle:
    """Return the redaction of a manifest that was signed before the one that it stands beside."""
    older = redact(Redacting(story=Story(claim=lambda run: run.predicate["provenance"].update(upstreamRef="draft"))))
    newer = redact(Redacting())
    return msgspec.structs.replace(newer, files={**newer.files, REDACTION: older.files[REDACTION]})


def _of_another_run() -> Bundle:
    """Return a run beside a redaction of pass 2, with everything that this one names."""
    other = signed_run(run_id=planned_id(2), pass_k=2)
    public = redact(Redacting(run=other, story=Story(others=(1, 3)))).files
    mine = redact(Redacting()).files
    taken = (REDACTION, PUBLIC_OUTPUTS, PUBLIC_TELEMETRY, WITHHELD, REDACTION_PROOF)
    return Bundle(files={**mine, **{name: public[name] for name in taken}})


def _of_version_1(run: OpenedRun) -> None:
    run.statement["predicateType"] = RUN_TYPE.replace("v0.2", "v0.1")
    for name in ("verdicts", "lines", "figures"):
        run.predicate.pop(name)


def _redacted_version_1() -> Bundle:
    """Return a run of version v0.1 with the redaction of the same run in version v0.2, made to name it."""
    old = tell(Story(claim=_of_version_1))
    redacting = Redacting(claim=lambda said: said.update(of={"sha256": canon.sha256(old.files[MANIFEST])}))
    public = redact(redacting).files
    shared = {name: data for name, data in old.files.items() if name in public}
    return msgspec.structs.replace(old, files={**public, **shared})


_ON_ITS_WAY: dict[str, Case] = {
    "redaction: answer of a shown row edited": _refused(
        on_its_way(edit(PUBLIC_OUTPUTS, b"Service 3 listens", b"Service 3 listened")), "OUTPUTS_DIGEST", "LINES_DIGEST",
    ),
    "redaction: telemetry edited": _refused(
        on_its_way(edit(PUBLIC_TELEMETRY, b'"answerMs":1', b'"answerMs":2')), "TELEMETRY_DIGEST", "LINES_DIGEST",
    ),
    "redaction: list edited": _refused(on_its_way(edit(WITHHELD, b"licensed", b"missing")), "REDACTION_MISMATCH"),
    "redaction: list taken out": _refused(on_its_way(take_out(WITHHELD)), "FILE_MISSING"),
    "redaction: list that is none": _refused(on_its_way(add(WITHHELD, b"{}\n")), "ROW_MALFORMED"),
    "redaction: statement taken out": _refused(on_its_way(take_out(REDACTION)), "FILE_MISSING"),
    "redaction: statement that is none": _refused(on_its_way(add(REDACTION, b"{}")), "ENVELOPE_MALFORMED"),
    "redaction: public rows taken out": _refused(on_its_way(take_out(PUBLIC_OUTPUTS)), "FILE_MISSING"),
    "redaction: public telemetry taken out": _refused(on_its_way(take_out(PUBLIC_TELEMETRY)), "FILE_MISSING"),
    "redaction: the signed telemetry beside the public": _refused(
        on_its_way(lambda files: {**files, TELEMETRY: whole_telemetry()}), "BUNDLE_NAME",
    ),
    "redaction: the signed telemetry in the place of the public": _refused(
        on_its_way(lambda files: {**take_out(PUBLIC_TELEMETRY)(files), TELEMETRY: whole_telemetry()}),
        "FILE_MISSING", "BUNDLE_NAME",
    ),
    "redaction: beside the whole outputs": _refused(lambda: beside_whole(Redacting()), "BUNDLE_NAME"),
    "redaction: beside a whole run": _refused(
        lambda: msgspec.structs.replace(
            tell(Story()), files={**tell(Story()).files, REDACTION: redact(Redacting()).files[REDACTION]}
        ),
        "BUNDLE_NAME",
    ),
    "redaction: announcement in its place": _refused(on_its_way(put(REDACTION, INTENT)), "TYPE_UNKNOWN"),
    "redaction: run in its place": _refused(on_its_way(put(REDACTION, MANIFEST)), "TYPE_UNKNOWN"),
    "redaction: in the place of the run": _refused(on_its_way(put(MANIFEST, REDACTION)), "TYPE_UNKNOWN"),
    "redaction: in the place of the announcement": _refused(
        on_its_way(put(INTENT, REDACTION)), "TYPE_UNKNOWN", "INTENT_MISMATCH",
    ),
    "redaction: proof of the announcement in the place of its own": _refused(
        on_its_way(put(REDACTION_PROOF, "intent.tlog-proof")), "LOG_INCLUSION",
    ),
    "redaction: proof of another index": _refused(
        on_its_way(change_proof(REDACTION_PROOF, lambda one: msgspec.structs.replace(one, index=0))), "LOG_INCLUSION",
    ),
    "redaction: proof taken out": _refused(on_its_way(take_out(REDACTION_PROOF)), "UNWITNESSED", ok=True),
    "redaction: of another run": _refused(_of_another_run, "REDACTION_MISMATCH", "ROW_FOREIGN_RUN", "LINES_DIGEST"),
    "redaction: of an older manifest": _refused(_older_manifest, "REDACTION_MISMATCH"),
}  # fmt: skip

_SIGNED: dict[str, Case] = {
    "redaction: a verdict changed": _lie("VERDICTS_DIGEST", "ITEM_SCORE", rows=_claims(0, verdict="CONTRADICTS")),
    "redaction: two verdicts swapped and the total kept": _lie("VERDICTS_DIGEST", rows=_swap_verdicts),
    "redaction: a verdict of a shown row changed": _lie(
        "VERDICTS_DIGEST", "LINES_DIGEST", rows=_claims(2, verdict="OMITS"),
    ),
    "redaction: a score changed": _lie("VERDICTS_DIGEST", "RUN_SCORE", rows=_row(1, score=100)),
    "redaction: a status changed": _lie("VERDICTS_DIGEST", "STATUS", rows=_row(1, status="refused")),
    "redaction: the text of a claim changed": _lie("VERDICTS_DIGEST", rows=_claims(0, text="It uses UDP.")),
    "redaction: the question changed": _lie("VERDICTS_DIGEST", rows=_row(0, question="Which port?")),
    "redaction: the digest of a chunk changed": _lie(
        "VERDICTS_DIGEST", rows=lambda rows: rows[0]["chunks"][0].update(sha256="0" * 64),
    ),
    "redaction: an answer taken away": _lie("VERDICTS_DIGEST", "STATUS", rows=_row(0, answer=None)),
    "redaction: a row dropped": _lie(
        "ROW_MISSING", "VERDICTS_DIGEST", "LINES_DIGEST", rows=lambda rows: rows.pop(2),
    ),
    "redaction: a listed row dropped": _lie(
        "ROW_MISSING", "VERDICTS_DIGEST", "REDACTION_MISMATCH", rows=lambda rows: rows.pop(0),
    ),
    "redaction: a row duplicated": _lie(
        "ROW_DUPLICATE", "VERDICTS_DIGEST", "LINES_DIGEST", rows=lambda rows: rows.insert(1, rows[0]),
    ),
    "redaction: rows reordered": _lie("ROW_ORDER", "VERDICTS_DIGEST", "LINES_DIGEST", rows=lambda rows: rows.reverse()),
    "redaction: a shown answer changed": _lie("LINES_DIGEST", rows=_row(2, answer="It listens on 8003 over TCP.")),
    "redaction: a shown answer called withheld": _lie("LINES_DIGEST", rows=_row(2, answer="[withheld]")),
    "redaction: a row of another run": _lie("ROW_FOREIGN_RUN", rows=_row(0, run="f" * 32)),
    "redaction: a row of an earlier pass": _lie("FILL_UNDECLARED", rows=_row(0, **{"pass": 2})),
    "redaction: a text withheld and not listed": _lie(
        "REDACTION_MISMATCH", rows=lambda rows: rows[1]["claims"][0].update(quote="[withheld]"),
    ),
    "redaction: words taken out and not listed": _lie("REDACTION_MISMATCH", rows=_row(1, answer="[redacted] on 8002")),
    "redaction: a chunk withheld and not listed": _lie("REDACTION_MISMATCH", entries=_drop_entry),
    "redaction: a listed text that stands there": _lie("REDACTION_MISMATCH", rows=_row(0, answer="It is 8001, TCP.")),
    "redaction: a chunk replaced by words": _lie(
        "REDACTION_MISMATCH", rows=lambda rows: rows[0]["chunks"][0].update(text="[withheld]"),
    ),
    "redaction: a row that lost texts and is not listed": _lie("LINES_DIGEST", entries=_unlist_row),
    "redaction: an entry for a text that never was": _lie("REDACTION_MISMATCH", entries=_invent_entry("chunks/9/text")),
    "redaction: an entry for a question": _lie("REDACTION_MISMATCH", entries=_invent_entry("question")),
    "redaction: an entry for a verdict": _lie("REDACTION_MISMATCH", entries=_invent_entry("claims/1/verdict")),
    "redaction: an entry twice": _lie("REDACTION_MISMATCH", entries=_invent_entry("answer")),
    "redaction: an entry for a reply that never was": _lie(
        "REDACTION_MISMATCH", entries=lambda rows: rows[1]["texts"].append(
            {"field": "telemetry/judgeReplies/7/text", "reason": "so", "saltedSha256": "0" * 64}),
    ),
    "redaction: a row that is not in the run": _lie("REDACTION_MISMATCH", entries=_list_stranger),
    "redaction: a row listed twice": _lie("REDACTION_MISMATCH", entries=lambda rows: rows.append(rows[0])),
    "redaction: rows listed in another order": _lie("REDACTION_MISMATCH", entries=_swap_lines),
    "redaction: a row listed for nothing": _lie("REDACTION_MISMATCH", entries=_row(0, texts=[], line=None)),
    "redaction: the leaf of another line": _lie("LINES_DIGEST", entries=_row(0, line="0" * 64)),
    "redaction: a leaf that is none": _lie("REDACTION_MISMATCH", entries=_row(0, line="secret")),
    "redaction: a leaf left out": _lie("REDACTION_MISMATCH", entries=_row(0, line=None)),
    "redaction: without a reason": _lie(
        "REDACTION_MISMATCH", entries=lambda rows: rows[0]["texts"][0].update(reason=" "),
    ),
    "redaction: a salted digest that is none": _lie(
        "REDACTION_MISMATCH", entries=lambda rows: rows[0]["texts"][0].update(saltedSha256="0"),
    ),
    "redaction: attempts of telemetry changed": _lie("LINES_DIGEST", telemetry=_row(0, answerAttempts=0)),
    "redaction: a time of telemetry changed": _lie("LINES_DIGEST", telemetry=_row(1, answeredAt=STARTED)),
    "redaction: tokens of telemetry changed": _lie("LINES_DIGEST", telemetry=_usage),
    "redaction: a figure of a listed row changed": _lie("LINES_DIGEST", telemetry=_row(1, answerMs=9)),
    "redaction: the window moved": _lie("WINDOW", "LINES_DIGEST", telemetry=_row(0, answeredAt=STARTED - 5)),
    "redaction: a reply changed and not listed": _lie("LINES_DIGEST", telemetry=_with_reply(text="yes")),
    "redaction: a reply withheld and not listed": _lie("LINES_DIGEST", telemetry=_with_reply(text="[withheld]")),
    "redaction: a reply taken away": _lie(
        "LINES_DIGEST", "REDACTION_MISMATCH", telemetry=lambda rows: rows[1]["judgeReplies"].clear(),
    ),
    "redaction: telemetry of a row dropped": _lie("TELEMETRY_ROWS", telemetry=lambda rows: rows.pop()),
    "redaction: counts other rows": _lie("REDACTION_MISMATCH", claim=lambda said: said["withheld"].update(rows=1)),
    "redaction: counts nothing": _lie("ENVELOPE_MALFORMED", claim=lambda said: said["withheld"].update(rows=0)),
    "redaction: digest of other rows": _lie(
        "OUTPUTS_DIGEST", claim=lambda said: said.update(outputs={"sha256": "0" * 64}),
    ),
    "redaction: digest of other telemetry": _lie(
        "TELEMETRY_DIGEST", claim=lambda said: said.update(telemetry={"sha256": "0" * 64}),
    ),
    "redaction: telemetry not named": _lie(
        "FILE_MISSING", "BUNDLE_NAME", claim=lambda said: said.update(telemetry=None),
    ),
    "redaction: names another run": _lie("REDACTION_MISMATCH", claim=lambda said: said.update(runId="f" * 32)),
    "redaction: names another row": _lie("REDACTION_MISMATCH", claim=lambda said: said["row"].update(name="dense")),
    "redaction: names another pass": _lie("REDACTION_MISMATCH", claim=lambda said: said["pass"].update(k=2)),
    "redaction: made before the run's end": _lie("REDACTION_MISMATCH", created=STARTED - 1000),
    "redaction: made in the future": _lie("REDACTION_MISMATCH", created=SEEN_AT + 10**6),
    "redaction: signed as an announcement": _lie("TYPE_UNKNOWN", kind=INTENT_TYPE),
    "redaction: signed as a voiding": _lie("TYPE_UNKNOWN", kind=VOID_TYPE),
    "redaction: of a version to come": _lie(
        "VERSION_UNKNOWN", kind="https://ragassay.dev/attestation/benchmark-run-redaction/v9",
    ),
    "redaction: of a run of version v0.1": _refused(_redacted_version_1, "REDACTION_MISMATCH"),
    "redaction: of a run that was taken back": _refused(
        redacted(Redacting(story=Story(after=void_run())), with_log=True), "RUN_VOIDED",
    ),
    "redaction: by another key": _lie("KEY_UNKNOWN", "SIGNATURE_INVALID", signer=OTHER),
    "redaction: by another key, nothing pinned": _refused(
        redacted(Redacting(signer=OTHER)), "REDACTION_MISMATCH", policy="none",
    ),
    "redaction: by another publisher whom the reader trusts too": _refused(
        redacted(Redacting(signer=OTHER, rows=_row(0, answer="It is 8001 [redacted] TCP, as everybody knows."))),
        "REDACTION_MISMATCH", policy="two keys, log and witness",
    ),
    "redaction: by a key that the registry does not list": _refused(
        under_registry(Redacting(signer=OTHER), registry_of(key_record())), "KEY_UNKNOWN", policy=_ROOT,
    ),
    "redaction: by a key that was revoked": _refused(
        under_registry(
            Redacting(signer=OTHER),
            registry_of(key_record(), key_record(OTHER, status="revoked", invalid_since=REDACTED_AT)),
        ),
        "KEY_REVOKED", policy=_ROOT,
    ),
    "redaction: seen by nobody": _refused(redacted(Redacting(seen_at=None)), "UNWITNESSED", ok=True),
    "redaction: not in the given log": _refused(
        redacted(Redacting(logged=False), with_log=True), "UNWITNESSED", ok=True,
    ),
    "figures digest of other telemetry": _refused(
        told(Story(claim=lambda run: run.predicate.update(figures={"sha256": "5" * 64}))), "LINES_DIGEST",
    ),
    "figures digest left out": _refused(
        told(Story(claim=lambda run: run.predicate.update(figures=None))), "ENVELOPE_MALFORMED",
    ),
}  # fmt: skip

REDACTION_ATTACKS: dict[str, Case] = {**_ON_ITS_WAY, **_SIGNED}
"""Each attack on a run with texts withheld, with reason codes that must be among its findings."""
