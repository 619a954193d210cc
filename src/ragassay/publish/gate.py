"""Which runs may be published: every reason against each of them, all at once. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from ragassay.estimate import missing_allowed
from ragassay.manifest.files import INTENT, INTENT_PROOF, OUTPUTS, RUN_PROOF
from ragassay.manifest.statement import RunDocument
from ragassay.publish.deciding import of_run
from ragassay.publish.decisions import undecided
from ragassay.publish.shared_rows import shared_replies
from ragassay.records.publication import Decision, Finding, SignOff
from ragassay.site.group import current_versions, groups, is_measured, is_subset, role_of, stack_kind
from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import listed, plural
from ragassay.site.record import BoardPlan
from ragassay.site.window import filled_by

ANNOUNCED = frozenset({"NO_INTENT", "INTENT_AFTER_RUN", "INTENT_MISMATCH", "PASS_OUT_OF_PLAN", "PASS_MISSING"})
"""What a strict verifier says of a run whose announcement is missing, late, of something else, or not kept."""
UNREAD = "not-signed-off"
UNSEEN = frozenset({"UNWITNESSED", "UNTIMED"})
_AT_ROW = f" ({OUTPUTS}: "


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """One reason against a run: `code` for programs, `text` for people, and the questions that it is about.

    In capitals a code is one of the verifier's; those of the gate itself are small words.
    """

    code: str
    text: str
    items: tuple[str, ...] = ()


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate says of one run; `notes` are said and stand in nobody's way."""

    run: str
    row: str
    pass_k: int
    of: int
    refusals: tuple[Refusal, ...]
    notes: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        """Tell whether nothing speaks against the run."""
        return not self.refusals


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """All that the gate looks at beside the chosen runs.

    `workspace` are all runs of the workspace, `public` the runs that are public already, `logged` the runs that the
    workspace's log holds together with their announcement; `named` were asked for by their ids. `findings` are those of
    a scan of the chosen runs, `unlisted` how many there are beyond; `signed` holds, by run, the sign-offs that hold,
    and `lapsed` those that do not any more.
    """

    workspace: Sequence[LoadedRun]
    public: Sequence[LoadedRun] = ()
    plan: BoardPlan | None = None
    named: frozenset[str] = frozenset()
    logged: frozenset[str] = frozenset()
    findings: Sequence[Finding] = ()
    unlisted: int = 0
    decisions: Sequence[Decision] = ()
    signed: Mapping[str, Sequence[SignOff]] = {}
    lapsed: Mapping[str, Sequence[SignOff]] = {}


def check(chosen: Sequence[LoadedRun], looked: Looked) -> list[Verdict]:
    """Return for each chosen run every reason against publishing it; none is published unless all of them pass.

    Reasons that lie between runs (mixed judges, a missing control, shared replies) stand on each run that they are of.
    """
    together = _together(chosen, looked)
    return [_verdict(run, looked, together.get(run.id, ())) for run in chosen]


def _verdict(run: LoadedRun, looked: Looked, together: Sequence[Refusal]) -> Verdict:
    document = run.document or (run.voided.document if run.voided else None)
    predicate = document.predicate if document else None
    refusals = [*_verified(run), *(_alone(run, run.document, looked) if run.document else ()), *together]
    return Verdict(
        run=run.id,
        row=predicate.row.name if predicate else "unknown",
        pass_k=predicate.pass_.k if predicate else 0,
        of=predicate.pass_.of if predicate else 0,
        refusals=tuple(refusals),
        notes=tuple(_notes(run)),
    )


def _verified(run: LoadedRun) -> Iterator[Refusal]:
    """Yield one refusal for each code for which a verifier refuses the run: stub, voided, mixed judges and all else."""
    texts: dict[str, list[str]] = {}
    for one in run.checks:
        if one.severity == "fail":
            texts.setdefault(one.code, []).append(one.text)
    for code, said in texts.items():
        items = tuple(dict.fromkeys(item for text in said for item in _item(text)))
        more = f" (and {len(said) - 1} more)" if len(said) > 1 else ""
        yield Refusal(code=code, text=f"{said[0]}{more}", items=items)
    if run.document is None and not texts:
        yield Refusal(code="not-verified", text=run.refused or "it could not be verified")


def _item(text: str) -> Iterator[str]:
    """Yield the question that a check is about: its text ends in the place, the file and the question's id."""
    _, found, place = text.rpartition(_AT_ROW)
    if found and place.endswith(")"):
        yield place[:-1]


def _alone(run: LoadedRun, document: RunDocument, looked: Looked) -> Iterator[Refusal]:
    yield from _kind(run, document, looked)
    yield from _eligible(document, looked)
    if is_measured(document):
        yield from _announced(run, looked)
    yield from _scanned(run, looked)
    yield from _read(run, looked)


def _kind(run: LoadedRun, document: RunDocument, looked: Looked) -> Iterator[Refusal]:
    kind = document.predicate.provenance.source_kind
    if not is_measured(document) and run.id not in looked.named:
        text = f"it is {kind}: its scores were computed elsewhere; name it with --run to publish it, never ranked"
        yield Refusal(code="REPUBLISHED", text=text)
    if (by := filled_by([one.document for one in looked.workspace if one.document]).get(run.id)) is not None:
        text = f"its pass was filled by run {by}, which stands for it: publish that, or void the fill first"
        yield Refusal(code="filled-by", text=text)


def _eligible(document: RunDocument, looked: Looked) -> Iterator[Refusal]:
    """Yield what keeps a run out of every window, each with the questions that it is about."""
    reference, counts = document.predicate.benchmark, document.predicate.counts
    documents = [one.document for one in looked.workspace if one.document]
    current = current_versions([*documents, document], looked.plan)
    if is_subset(reference.id):
        yield Refusal(code="subset", text=f"it asked a subset of the questions ({reference.id})")
    elif current.get(reference.id) != reference.digest.sha256:
        text = f"it asked another version of the question set ({reference.id} {reference.version}) than the current one"
        yield Refusal(code="old-benchmark", text=text)
    if failed := tuple(row.id for row in document.outputs if row.retrieval == "failed"):
        text = f"retrieval failed for {plural(len(failed), 'question')}: the stack was down, which is not weak"
        yield Refusal(code="RETRIEVAL_FAILED", text=text, items=failed)
    missing = tuple(row.id for row in document.outputs if row.score is None)
    allowed = missing_allowed(counts.asked)
    if is_measured(document) and (len(missing) > allowed or document.predicate.score is None):
        text = f"{len(missing)} of {counts.asked} questions have no score, where at most {allowed} may be missing"
        yield Refusal(code="MISSING_ITEMS", text=text, items=missing)


def _announced(run: LoadedRun, looked: Looked) -> Iterator[Refusal]:
    for one in run.checks:
        if one.code in ANNOUNCED and one.severity == "warn":
            yield Refusal(code=one.code, text=one.text)
    lacking = [name for name in (INTENT, INTENT_PROOF, RUN_PROOF) if name not in run.files]
    if "NO_INTENT" in {one.code for one in run.checks}:
        return
    if run.id not in looked.logged:
        text = "the workspace's log does not hold it together with its announcement: publish where it was run"
        yield Refusal(code="not-logged", text=text)
    elif lacking:
        yield Refusal(code="not-logged", text=f"it lacks {listed(lacking)}; `ragassay run` writes what is missing")


def _scanned(run: LoadedRun, looked: Looked) -> Iterator[Refusal]:
    open_ = undecided(of_run(looked.findings, run.id), looked.decisions)
    errors = [one for one in open_ if one.kind == "error_text"]
    if errors:
        items = tuple(dict.fromkeys(place.item for one in errors for place in one.places if place.item is not None))
        text = f"the text of an error stands as answer to {plural(len(items), 'question')}: run again, or allow it"
        yield Refusal(code="error-text", text=text, items=items)
    if len(open_) > len(errors):
        rest = [one for one in open_ if one.kind != "error_text"]
        items = tuple(dict.fromkeys(place.item for one in rest for place in one.places if place.item is not None))
        text = f"findings of the scan that are not decided: {len(rest)}"
        yield Refusal(code="undecided", text=text, items=items)
    if looked.unlisted:
        text = f"the scan found {looked.unlisted} more than it lists; nothing is published before all can be decided"
        yield Refusal(code="unlisted", text=text)


def _read(run: LoadedRun, looked: Looked) -> Iterator[Refusal]:
    if looked.signed.get(run.id):
        return
    lapsed = looked.lapsed.get(run.id, ())
    if lapsed:
        names = listed(sorted({one.reader for one in lapsed}))
        text = f"the sign-off of {names} does not hold any more: the run, or a decision that touches it, has changed"
    else:
        text = "nobody has read its outputs and signed off; `ragassay serve` opens the page for that"
    yield Refusal(code=UNREAD, text=text)


def _notes(run: LoadedRun) -> Iterator[str]:
    document = run.document
    if document is None:
        return
    if not is_measured(document):
        yield "republished: it is never ranked"
    elif {one.code for one in run.checks} & UNSEEN:
        yield "no witness is known to have seen it: the time of its announcement is the publisher's word"
    if filled := document.predicate.counts.filled:
        yield f"{plural(filled, 'item')} filled from another pass: strict verification refuses it (FILLED)"


def _together(chosen: Sequence[LoadedRun], looked: Looked) -> dict[str, list[Refusal]]:
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
        for one in new:
            if one in members:
                others = [other for other in members if _judge(other) != _judge(one)]
                yield one.predicate.run_id, _of_another_judge(one, others, {id(document) for document in old})


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
    for group in groups([one for one in (*new, *old) if is_measured(one)], plan):
        if any(role_of(stack_kind(one)) == "control" for one in group.documents):
            continue
        for one in group.documents:
            if one in new:
                text = (
                    "no control is public or published with it: publish a row without retrieval too, or say in the "
                    "board file why there is none (control_waiver), which is printed"
                )
                yield one.predicate.run_id, Refusal(code="no-control", text=text)


def undecided_of(looked: Looked, runs: Iterable[str]) -> list[Finding]:
    """Return the findings in some runs that are not decided yet, each with its places in these runs."""
    wanted = frozenset(runs)
    cut = (
        msgspec.structs.replace(one, places=tuple(place for place in one.places if place.run in wanted))
        for one in undecided(looked.findings, looked.decisions)
    )
    return [one for one in cut if one.places]
