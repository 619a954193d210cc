"""Which runs may be published: every reason against each of them, all at once. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ragassay.estimate import missing_allowed
from ragassay.manifest.files import INTENT, INTENT_PROOF, OUTPUTS, RUN_PROOF
from ragassay.manifest.statement import RunDocument
from ragassay.publish.between import between
from ragassay.publish.deciding import of_run
from ragassay.publish.decisions import undecided
from ragassay.publish.verdict import Looked as Looked
from ragassay.publish.verdict import Refusal as Refusal
from ragassay.publish.verdict import Verdict as Verdict
from ragassay.records.publication import Finding
from ragassay.site.group import current_versions, is_measured
from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import listed, plural
from ragassay.site.subset import is_subset
from ragassay.site.window import filled_by

ANNOUNCED = frozenset({"NO_INTENT", "INTENT_AFTER_RUN", "INTENT_MISMATCH", "PASS_OUT_OF_PLAN", "PASS_MISSING"})
"""What a strict verifier says of a run whose announcement is missing, late, of something else, or not kept."""
ANEW = "`--fill-from-earlier` takes them from another pass, or `ragassay run` runs the row anew"
HINTS = {
    "NO_INTENT": "`ragassay run` announces the row and runs it anew",
    "PASS_MISSING": "`ragassay run` finishes it, or `ragassay log void RUN --reason TEXT` gives it up for good",
}
"""What to do about it, by code; the others say that the run cannot be published."""
UNREAD = "not-signed-off"
UNSEEN = frozenset({"UNWITNESSED", "UNTIMED"})
_AT_ROW = f" ({OUTPUTS}: "


def check(chosen: Sequence[LoadedRun], looked: Looked) -> list[Verdict]:
    """Return for each chosen run every reason against publishing it; none is published unless all of them pass.

    Reasons that lie between runs (mixed judges, a missing control, shared replies) stand on each run that they are of.
    """
    together = between(chosen, looked)
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
    yield from _clock(document, looked)
    yield from _kind(run, document, looked)
    yield from _eligible(document, looked)
    if is_measured(document):
        yield from _announced(run, looked)
    yield from _scanned(run, looked)
    yield from _read(run, looked)


def _clock(document: RunDocument, looked: Looked) -> Iterator[Refusal]:
    """Yield a refusal where the clock says that the run is not over yet: all that is signed now would say so too."""
    end = document.predicate.window.end if document.predicate.window else 0
    if looked.now is not None and looked.now < end:
        text = (
            "by the clock of this machine the run has not ended yet: set the clock, for what is signed now has its time"
        )
        yield Refusal(code="clock", text=text)


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
        text = f"it asked a subset of the questions ({reference.id}): `ragassay run` without --subset asks all"
        yield Refusal(code="subset", text=text)
    elif current.get(reference.id) != reference.digest.sha256:
        version = f"{reference.id} {reference.version}"
        text = (
            f"it asked another version of the question set ({version}) than the current one: `ragassay run` asks that"
        )
        yield Refusal(code="old-benchmark", text=text)
    if failed := tuple(row.id for row in document.outputs if row.retrieval == "failed"):
        text = f"retrieval failed for {plural(len(failed), 'question')}: the stack was down, which is not weak; {ANEW}"
        yield Refusal(code="RETRIEVAL_FAILED", text=text, items=failed)
    missing = tuple(row.id for row in document.outputs if row.score is None)
    allowed = missing_allowed(counts.asked)
    if is_measured(document) and (len(missing) > allowed or document.predicate.score is None):
        text = (
            f"{len(missing)} of {counts.asked} questions have no score, where at most {allowed} may be missing; {ANEW}"
        )
        yield Refusal(code="MISSING_ITEMS", text=text, items=missing)


def _announced(run: LoadedRun, looked: Looked) -> Iterator[Refusal]:
    for one in run.checks:
        if one.code in ANNOUNCED and one.severity == "warn":
            hint = f"; {HINTS[one.code]}" if one.code in HINTS else ""
            yield Refusal(code=one.code, text=f"{one.text}{hint}")
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
    if beside := undecided(said_beside(run.id, looked.said), looked.decisions):
        text = f"findings in what becomes public beside the outputs that are not decided: {len(beside)}"
        yield Refusal(code="undecided", text=text)
    if looked.unlisted:
        text = f"the scan found {looked.unlisted} more than it lists; nothing is published before all can be decided"
        yield Refusal(code="unlisted", text=text)


def said_beside(run: str, said: Iterable[Finding]) -> list[Finding]:
    """Return the findings in what is said of one run, and of all of them."""
    return [one for one in said if any(place.run in (None, run) for place in one.places)]


def _read(run: LoadedRun, looked: Looked) -> Iterator[Refusal]:
    if looked.signed.get(run.id):
        return
    lapsed = looked.lapsed.get(run.id, ())
    if lapsed:
        names = listed(sorted({one.reader for one in lapsed}))
        text = (
            f"the sign-off of {names} does not hold any more: the run, or a decision that touches it, has changed; "
            "`ragassay serve` shows what is to be read again, and takes it anew"
        )
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
        yield (
            "no witness that .ragassay/policy.json names is shown to have seen it: the time of its announcement is the "
            "publisher's word"
        )
    if filled := document.predicate.counts.filled:
        yield f"{plural(filled, 'item')} filled from another pass: strict verification refuses it (FILLED)"


def undecided_of(looked: Looked, runs: Iterable[str]) -> list[Finding]:
    """Return the findings in some runs that are not decided yet, each with its places in these runs."""
    wanted = frozenset(runs)
    cut = (
        msgspec.structs.replace(one, places=tuple(place for place in one.places if place.run in wanted))
        for one in undecided(looked.findings, looked.decisions)
    )
    return [one for one in cut if one.places]
