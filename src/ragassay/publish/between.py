"""Reasons against runs that lie between them: of one publication, with what is public, with the workspace. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragassay.manifest.statement import RunDocument
from ragassay.publish.shared_rows import shared_replies
from ragassay.publish.verdict import Looked, Refusal
from ragassay.site.group import groups, is_measured, role_of, stack_kind
from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import listed
from ragassay.site.record import BoardPlan


def between(chosen: Sequence[LoadedRun], looked: Looked) -> dict[str, list[Refusal]]:
    """Return by run the reasons that lie between it and other runs: of this publication, public, of the workspace."""
    found: dict[str, list[Refusal]] = {}
    new = [run.document for run in chosen if run.document is not None]
    ids = {document.predicate.run_id for document in new}
    old = [run.document for run in looked.public if run.document and run.document.predicate.run_id not in ids]
    for name, refusal in (*_mixed_judges(new, old), *_without_control(new, old, looked.plan)):
        found.setdefault(name, []).append(refusal)
    for shared in shared_replies(_all(chosen, looked)):
        if shared.run in ids:
            text = f"it holds the same replies as run {shared.other}, and no fill says so: one was taken from the other"
            refusal = Refusal(code="FILL_UNDECLARED", text=text, items=shared.items)
            found.setdefault(shared.run, []).append(refusal)
    return found


def _all(chosen: Sequence[LoadedRun], looked: Looked) -> Iterator[tuple[RunDocument, Mapping[str, bytes]]]:
    by_id = {run.id: run for run in (*looked.public, *looked.workspace, *chosen)}
    for run in by_id.values():
        document = run.document or (run.voided.document if run.voided else None)
        if document is not None:
            yield document, run.files


def _mixed_judges(new: Sequence[RunDocument], old: Sequence[RunDocument]) -> Iterator[tuple[str, Refusal]]:
    """Yield a refusal for each run of a question set and profile that stands under several judges."""
    sets: dict[tuple[str, str], list[RunDocument]] = {}
    for document in (*new, *old):
        predicate = document.predicate
        if is_measured(document):
            profile = predicate.metric.id.partition("-judged-by-")[0]
            sets.setdefault((predicate.benchmark.digest.sha256, profile), []).append(document)
    for members in sets.values():
        judges = {_judge(one): one.predicate.judge.id for one in members}
        if len(judges) < 2:
            continue
        public = {id(document) for document in old}
        for one in members:
            if id(one) not in public:
                others = [other for other in members if _judge(other) != _judge(one)]
                yield one.predicate.run_id, _of_another_judge(one, others, public)


def _judge(document: RunDocument) -> tuple[str, str]:
    judge = document.predicate.judge
    return judge.id, judge.digest.sha256 if judge.digest else ""


def _of_another_judge(one: RunDocument, others: Sequence[RunDocument], public: set[int]) -> Refusal:
    def called(other: RunDocument) -> str:
        where = "public" if id(other) in public else "to be published"
        return f"{other.predicate.row.name} ({other.predicate.judge.id}, {where})"

    names = sorted({called(other) for other in others})
    text = (
        f"it was judged by {one.predicate.judge.id}, and others of the same questions were not: {listed(names)}; "
        "rows under different judges are never ranked together: `ragassay judge` judges all of them again with one"
    )
    return Refusal(code="mixed-judges", text=text)


def _without_control(
    new: Sequence[RunDocument], old: Sequence[RunDocument], plan: BoardPlan | None
) -> Iterator[tuple[str, Refusal]]:
    """Yield a refusal for each run whose table has no control, unless the board waives it and says why."""
    if plan is not None and plan.control_waiver:
        return
    ids = {one.predicate.run_id for one in new}
    for group in groups([one for one in (*new, *old) if is_measured(one)], plan):
        if any(role_of(stack_kind(one)) == "control" for one in group.documents):
            continue
        for one in group.documents:
            if one.predicate.run_id in ids:
                text = (
                    "no control is public or published with it: name a row without retrieval too, or say in the board "
                    "file why there is none (control_waiver), which is printed"
                )
                yield one.predicate.run_id, Refusal(code="no-control", text=text)
