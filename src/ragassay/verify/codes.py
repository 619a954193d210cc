"""Every reason code with what it does to the answer, plainly and under `strict`, and what it means. One table."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Severity: TypeAlias = Literal["fail", "warn"]


class Reason(msgspec.Struct, frozen=True):
    """What a code does without and with `strict`, and its meaning in one sentence."""

    plain: Severity
    strict: Severity
    meaning: str


def _fail(meaning: str) -> Reason:
    return Reason("fail", "fail", meaning)


def _warn(meaning: str) -> Reason:
    return Reason("warn", "fail", meaning)


CODES: dict[str, Reason] = {
    # the bundle
    "FILE_MISSING": _fail("A file that the manifest names, or the manifest itself, is not there."),
    "BUNDLE_NAME": _fail("The run holds something that the manifest does not cover."),
    "BUNDLE_DUPLICATE": _fail("Two members of the bundle have one name, or names that differ in case only."),
    "BUNDLE_LINK": _fail("A member of the run is a link and not a file."),
    "BUNDLE_TOO_LARGE": _fail("The run has more files, or a file more bytes, than is read."),
    "BUNDLE_DAMAGED": _fail("A file of the run cannot be read."),
    # the envelope
    "ENVELOPE_MALFORMED": _fail("The manifest is not one signed statement of the form of a run."),
    "ENVELOPE_NOT_CANONICAL": _fail("The bytes of the manifest are not the one canonical form of what they say."),
    "TYPE_UNKNOWN": _fail("The envelope or its statement is of another type than a run."),
    "VERSION_UNKNOWN": _fail("The run is of a version that this verifier does not know."),
    # the signature
    "SIGNATURE_INVALID": _fail("The signature is not by the key that it has to be by."),
    "KEY_UNKNOWN": _fail("The run names another key than the pinned one."),
    "KEY_WEAK": _fail("Under the named key anyone can sign."),
    "KEY_EXPIRED": _fail("The key was not valid at the time at which a witness saw the run."),
    "KEY_REVOKED": _fail("The key was revoked, and no witness saw the run before that."),
    "REGISTRY_ROLLBACK": _fail("The key registry is older than one that was seen before."),
    "REGISTRY_EXPIRED": _warn("The key registry is past its own expiry, so a newer one may say otherwise."),
    "SIGNER_UNPINNED": _warn("No key was pinned, so the signature shows that nothing changed, but not whose it is."),
    # the files
    "OUTPUTS_DIGEST": _fail("outputs.jsonl, or its public form, is not the file that was signed."),
    "TELEMETRY_DIGEST": _fail("telemetry.jsonl, or its public form, is not the file that was signed."),
    "CONFIG_DIGEST": _fail("config.json is not the file that was signed, or is no configuration."),
    "BENCHMARK_DIGEST": _fail("benchmark.json is not the file that was signed, or is no question set."),
    "CONTENT_DIGEST": _fail("The digest over the rows without run and pass is not the signed one."),
    "VERDICTS_DIGEST": _fail("The rows without the texts that may be withheld are not the signed ones."),
    "LINES_DIGEST": _fail("The tree over the rows of outputs.jsonl or of telemetry.jsonl is not the signed one."),
    "CONFIG_MISMATCH": _fail("Manifest or rows say something else than the configuration that is signed."),
    "BENCHMARK_MISMATCH": _fail("Manifest or configuration names another question set than the one that is signed."),
    # the rows
    "ROW_MALFORMED": _fail("A line is not the canonical form of a row."),
    "ROW_MISSING": _fail("A question of the benchmark has no row."),
    "ROW_DUPLICATE": _fail("A question has more than one row."),
    "ROW_UNKNOWN": _fail("A row answers a question that is not in the benchmark."),
    "ROW_ORDER": _fail("The rows are not in the benchmark's order."),
    "ROW_FOREIGN_RUN": _fail("A row belongs to another run."),
    "ROW_CHANGED": _fail("A row's question or claims are not the benchmark's."),
    "CHUNK_DIGEST": _fail(
        "A retrieved text is not the one of its digest and span, stands twice, or is not at rank 1, 2, 3, …"
    ),
    "STATUS": _fail("A row's status does not follow from its retrieval, answer, verdict and failure."),
    "REDACTION_MISMATCH": _fail("The redaction is of another run, or does not say what is withheld from this one."),
    "TEXT_WITHHELD": Reason("warn", "warn", "A text is withheld, or words of it are, so it cannot be checked."),
    # the numbers
    "ITEM_SCORE": _fail("An item's score does not follow from its verdicts."),
    "SCORED_FAILURE": _fail("A failed item carries a score, or a scored item carries no verdict."),
    "QUOTE_NOT_IN_ANSWER": _fail("A verdict quotes words that the answer does not hold."),
    "RUN_SCORE": _fail("The run's score does not follow from the items."),
    "COUNTS": _fail("The counts do not follow from the rows."),
    "JUDGE_MIXED": _fail("A row was judged by another judge than the run's."),
    # the circumstances
    "TELEMETRY_ROWS": _fail(
        "The rows of telemetry.jsonl are not those of outputs.jsonl, or hold a figure that cannot be."
    ),
    "WINDOW": _fail("The signed window is not the time in which the answers were produced."),
    "FILL_UNDECLARED": _fail("A row comes from another pass and does not say so."),
    "FILLED": _warn("Rows were filled in from another pass, as the run declares."),
    "RETRIEVAL_FAILED": _warn("Retrieval failed for a question, so the run is not eligible for the board."),
    "MISSING_ITEMS": _warn("More than one in fifty questions ended without a score."),
    # what kind of run it is
    "STUB": _fail("The run is a fabricated fixture and measures nothing."),
    "REPUBLISHED": _warn("The scores were computed earlier and elsewhere; their verdicts cannot be checked."),
    # the announcement and the log
    "NO_INTENT": _warn("The run was not announced before its first answer."),
    "INTENT_AFTER_RUN": _fail("The announcement was logged or made after the run had begun."),
    "INTENT_MISMATCH": _fail("The announcement is not the one that the run names, or announces something else."),
    "PASS_OUT_OF_PLAN": _fail("The announcement does not plan this run as this pass."),
    "PASS_MISSING": _warn("A pass that was announced is neither published nor void."),
    "LOG_INCLUSION": _fail("The proof does not show that the log holds this statement."),
    "LOG_FORK": _fail("The log is not the one that was witnessed: entries were changed, or cut off."),
    "RUN_VOIDED": _fail("The log says that this run no longer counts."),
    "UNTIMED": _warn("No witness says that the announcement was there before the first answer, or the run when."),
    "UNWITNESSED": _warn("No log and witness that you trust are shown to hold the run, or what is said of it."),
    # a frozen question set
    "ITEM_MISMATCH": _fail("The item manifest says something else of a question than the question file does."),
    "ITEM_EVIDENCE": _fail("A page or an evidence text of a frozen set is not in the documentation as it was signed."),
    "SET_PREVIOUS": _fail("The version before is not the one that a frozen set names."),
    # re-execution
    "RERUN_DIFFERS": _fail("The run was executed again, and its content, counts or score came out different."),
}


def severity(code: str, *, strict: bool) -> Severity:
    """Return what `code` does to the answer."""
    reason = CODES[code]
    return reason.strict if strict else reason.plain
