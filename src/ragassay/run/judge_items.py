"""What of a signed run is put to a further judge, and why the rest is not. Pure: a function of stored bytes."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from ragassay.judge import build_item, is_empty, settle_empty
from ragassay.literals import judgeable
from ragassay.manifest.judgement import NOT_JUDGED, profile_of
from ragassay.manifest.reask import reask_order, share_of
from ragassay.manifest.statement import RunDocument
from ragassay.records import Failure, JudgeItem, OutputRow, Profile, Question, Verdict


class Put(msgspec.Struct, frozen=True, kw_only=True):
    """One item of a run: put to the judge (`item`), settled by code (`settled`), or neither, with the reason."""

    id: str
    item: JudgeItem | None = None
    settled: Verdict | None = None
    why_not: Failure | None = None


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """What one judgement asks about: all answers, a share of them, or one text in place of each."""

    needs_literals: bool
    share: str | None = None
    """The share that is asked again; None where the judge is asked about every answer."""
    shown: str | None = None
    """The text of a null row, None where the stored answers are judged."""


def run_profile(run: RunDocument) -> Profile:
    """Return the scorer profile of a run; raises `ValueError` for a metric that names none that is known."""
    profile = profile_of(run.predicate.metric.id)
    if profile is None:
        raise ValueError(f"the metric {run.predicate.metric.id!r} names no profile that is known")
    return profile


def put_items(run: RunDocument, of: str, asking: Asking) -> list[Put]:
    """Return one `Put` per row of the run, in its order; `of` is the SHA-256 of the bytes of the run's envelope."""
    questions = {question.id: question for question in run.benchmark.questions}
    drawn = _drawn(run, of, asking.share) if asking.share is not None else None
    profile = run_profile(run)
    return [_put(row, questions[row.id], profile, asking, drawn) for row in run.outputs]


def is_control(run: RunDocument) -> bool:
    """Tell whether a run is of the control row."""
    return run.config is not None and run.config.measure.stack.get("kind") == "none"


def _drawn(run: RunDocument, of: str, share: str) -> set[str]:
    """Return the ids that are asked again: a share of the judged ones in seeded order; all of the control row."""
    judged = [row.id for row in run.outputs if row.verdict is not None and row.answer is not None]
    order = reask_order(of, run.predicate.benchmark.digest.sha256, judged)
    whole = is_control(run) and share != "0%"
    return set(order if whole else order[: share_of(share, len(order))])


def _put(row: OutputRow, question: Question, profile: Profile, asking: Asking, drawn: Collection[str] | None) -> Put:
    text = row.answer if asking.shown is None else asking.shown
    if (kind := _why_not(row, question, profile, asking, drawn)) is not None or text is None:
        kind = kind or "no_answer"
        return Put(id=row.id, why_not=Failure(kind=kind, message=NOT_JUDGED[kind]))
    contexts = [chunk.text for chunk in row.chunks if chunk.text is not None]
    item = build_item(question, text, contexts, profile)
    if not is_empty(item):
        return Put(id=row.id, item=item)
    if not question.claims:
        return Put(id=row.id, why_not=Failure(kind="no_claims", message=NOT_JUDGED["no_claims"]))
    return Put(id=row.id, settled=_settled(item, profile))


def _why_not(
    row: OutputRow, question: Question, profile: Profile, asking: Asking, drawn: Collection[str] | None
) -> str | None:
    if asking.shown is None and row.answer is None:
        return "no_answer"
    if drawn is not None and row.verdict is None:
        return "no_verdict"
    if drawn is not None and row.id not in drawn:
        return "not_drawn"
    if profile == "factual-consistency/1" and any(chunk.text is None for chunk in row.chunks):
        return "withheld"
    if profile == "factual-consistency/2" and not question.claims:
        return "no_claims"
    if asking.needs_literals and not all(judgeable(claim) for claim in question.claims):
        return "no_literals"
    return None


def _settled(item: JudgeItem, profile: Profile) -> Verdict:
    """Return what code says of an empty answer; profile 1 knows neither answer kinds nor central claims."""
    verdict = settle_empty(item)
    if profile == "factual-consistency/2":
        return verdict
    claims = tuple(msgspec.structs.replace(claim, central=False) for claim in verdict.claims)
    return msgspec.structs.replace(verdict, claims=claims, answer_kind=None)
