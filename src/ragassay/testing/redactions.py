"""Honest runs with texts withheld, each by its name with all reason codes that it has. Pure and repeatable."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ragassay.manifest.redaction import Withholding
from ragassay.testing.cases import Case, PolicyKind, key_record, registry_of
from ragassay.testing.logged_run import OTHER, Bundle, Story, planned_id
from ragassay.testing.redacted_run import Redacting, redact
from ragassay.testing.signed_run import OpenedRun, signed_run

_LOGGED: PolicyKind = "key, log and witness"
_ROOT: PolicyKind = "root, log and witness"
HOSTILE_REASON = "\x1b[31m\u202e<script>alert(1)</script>"
"""A reason that steers a terminal, turns text around, and would be markup on a page."""


def redacted(redacting: Redacting, *, with_log: bool = False) -> Callable[[], Bundle]:
    """Return what builds the bundle of a redaction."""
    return lambda: redact(redacting, with_log=with_log)


def under_registry(redacting: Redacting, registry: bytes) -> Callable[[], Bundle]:
    """Return what builds it with a registry that is given apart."""
    return lambda: msgspec.structs.replace(redact(redacting), registry=registry)


def text(field: str, name: str = "q-001", reason: str = "it is licensed") -> Redacting:
    """Return the redaction of one whole text."""
    return Redacting(withhold=(Withholding(id=name, field=field, reason=reason),))


def every_field() -> Redacting:
    """Return the redaction of every text that the first row has, in outputs and in telemetry."""
    fields = ("answer", "chunks/1/text", "claims/1/quote", "claims/1/reason", "claims/2/quote", "claims/2/reason")
    named = (*fields, "telemetry/judgeReplies/0/text")
    return Redacting(withhold=tuple(Withholding(id="q-001", field=field, reason="all of it") for field in named))


def _mark_an_answer(run: OpenedRun) -> None:
    """Let the first row's answer hold the words that mark a redaction, and its second claim's reason be one."""
    run.outputs[0]["answer"] += " [redacted]"
    run.outputs[0]["claims"][1]["reason"] = "[withheld]"


def _withhold_a_chunk(run: OpenedRun) -> None:
    run.outputs[0]["chunks"][0]["text"] = None


def _of_a_failed_item() -> Bundle:
    failed = signed_run(run_id=planned_id(1), items=60, failed=[7])
    return redact(Redacting(run=failed, withhold=(Withholding(id="q-008", field="failure/message", reason="a path"),)))


def _honest(build: Callable[[], Bundle], *codes: str, policy: PolicyKind = _LOGGED) -> Case:
    found = frozenset(codes) | {"TEXT_WITHHELD"}
    return Case(build=build, policy=policy, codes=found, ok=True, strict=found <= {"TEXT_WITHHELD"})


_TWO_KEYS = registry_of(key_record(), key_record(OTHER))

HONEST_REDACTIONS: dict[str, Case] = {
    "texts withheld": _honest(redacted(Redacting())),
    "texts withheld, with its whole log": _honest(redacted(Redacting(), with_log=True)),
    "all texts of a row withheld": _honest(redacted(every_field())),
    "only a chunk withheld": _honest(redacted(text("chunks/1/text"))),
    "only a reply of the judge withheld": _honest(redacted(text("telemetry/judgeReplies/0/text"))),
    "the message of a failure withheld": _honest(_of_a_failed_item, "RETRIEVAL_FAILED"),
    "a text withheld beside words that mark a redaction": _honest(
        redacted(msgspec.structs.replace(text("chunks/1/text"), story=Story(change=_mark_an_answer))),
    ),
    "a text withheld beside a chunk that the run withholds": _honest(
        redacted(msgspec.structs.replace(text("answer"), story=Story(change=_withhold_a_chunk))),
    ),
    "a reason that steers a display": _honest(redacted(text("answer", reason=HOSTILE_REASON))),
    "texts withheld by another key of the registry": _honest(
        under_registry(Redacting(signer=OTHER), _TWO_KEYS), policy=_ROOT,
    ),
    "texts withheld, and the redaction is not logged": _honest(
        redacted(Redacting(logged=False)), "UNWITNESSED",
    ),
    "texts withheld, and only the key is pinned": _honest(
        redacted(Redacting()), "UNWITNESSED", "UNTIMED", policy="key",
    ),
    "texts withheld, and nothing is pinned": _honest(
        redacted(Redacting()), "SIGNER_UNPINNED", "UNWITNESSED", "UNTIMED", policy="none",
    ),
}  # fmt: skip
"""Each honest run with texts withheld, with all reason codes that it has."""
