"""Was the run announced before its first answer, and does the announcement plan exactly this run? Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragassay import canon
from ragassay.errors import VerifyError
from ragassay.manifest.announce import SignedIntent, decode_intent
from ragassay.manifest.files import INTENT, INTENT_PROOF, RUN_PROOF
from ragassay.manifest.statement import IntentPredicate, RunPredicate
from ragassay.records import OutputRow
from ragassay.verify.inclusion import Place
from ragassay.verify.report import Findings

SAME = ("row", "benchmark", "config", "corpus", "stack", "model", "judge", "metric")
"""What a run must have exactly as it was announced."""


def read_announcement(predicate: RunPredicate, files: Mapping[str, bytes], findings: Findings) -> SignedIntent | None:
    """Return the announcement that the run names, where it is there and can be read; its signature is unchecked."""
    if predicate.intent is None:
        findings.add("NO_INTENT")
        findings.not_made("announcement", "the run names none")
        return None
    if INTENT not in files:
        findings.add("FILE_MISSING", f"{INTENT}, the announcement that the run names, is missing", INTENT)
        findings.not_made("announcement", f"{INTENT} is not there")
        return None
    if canon.sha256(files[INTENT]) != predicate.intent.digest.sha256:
        findings.add("INTENT_MISMATCH", "the announcement is not the one whose digest the run names", INTENT)
    try:
        intent = decode_intent(files[INTENT])
    except VerifyError as error:
        findings.error(error, INTENT)
        findings.not_made("announcement", f"{INTENT} cannot be read")
        return None
    for name in _differences(predicate, intent.predicate):
        findings.add("INTENT_MISMATCH", f"`{name}` of the run is not what was announced", INTENT)
    findings.made("announcement")
    return intent


def _differences(run: RunPredicate, intent: IntentPredicate) -> Iterator[str]:
    return (name for name in SAME if getattr(run, name) != getattr(intent, name))


def check_plan(
    predicate: RunPredicate, intent: IntentPredicate, rows: Sequence[OutputRow] | None, findings: Findings
) -> None:
    """Check that the announcement plans this run as this pass, or that the run is a declared fill of a planned one."""
    k, planned = predicate.pass_.k, intent.runs
    if len(planned) != predicate.pass_.of:
        message = f"{len(planned)} passes were announced, and the run says {predicate.pass_.of}"
        findings.add("PASS_OUT_OF_PLAN", message, INTENT)
    named = planned[k - 1] if k <= len(planned) else None
    if predicate.run_id != named and not _is_fill(rows or (), planned):
        findings.add("PASS_OUT_OF_PLAN", f"the run of pass {k} was announced as {named}, and this is another", INTENT)
    findings.made("planned passes")


def _is_fill(rows: Sequence[OutputRow], planned: Sequence[str]) -> bool:
    """Tell whether rows were filled in, each from the planned run of the pass that it names."""
    sources = [row.fill for row in rows if row.fill is not None]
    return bool(sources) and all(
        1 <= source.pass_ <= len(planned) and planned[source.pass_ - 1] == source.run for source in sources
    )


def check_before(
    predicate: RunPredicate,
    intent: IntentPredicate,
    places: tuple[Place | None, Place | None],
    findings: Findings,
) -> None:
    """Check that the announcement was made and logged before the run; `places` are announcement's and run's.

    When a witness saw it is checked beside this: what stands here is what the signer cannot deny.
    """
    window, ref = predicate.window, predicate.intent
    if window is not None and intent.created > window.start:
        findings.add("INTENT_AFTER_RUN", "the announcement was made after the first answer", INTENT)
    announced, ran = places
    if announced is not None and ref is not None and (announced.origin, announced.index) != (ref.log, ref.index):
        message = f"it is entry {announced.index} of {announced.origin!r}; the run names {ref.index} of {ref.log!r}"
        findings.add("INTENT_MISMATCH", message, INTENT_PROOF)
    if announced is None or ran is None:
        findings.not_made("order of announcement and run in the log", "one of their proofs is missing or not good")
        return
    if announced.origin != ran.origin:
        findings.add("INTENT_MISMATCH", "the run stands in another log than its announcement", RUN_PROOF)
    elif ran.index <= announced.index:
        message = f"the run is entry {ran.index} of the log, its announcement {announced.index}"
        findings.add("INTENT_AFTER_RUN", message, RUN_PROOF)
    findings.made("order of announcement and run in the log")
