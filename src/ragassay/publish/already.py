"""What speaks against publishing a run that is public already, or was: what is public stays as it is."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ragassay.errors import InputError
from ragassay.publish.gate import UNREAD, Looked, Refusal, Verdict
from ragassay.publish.judged import Later
from ragassay.publish.redact import same_public
from ragassay.records.publication import LeftOut, ScanSummary
from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import plural
from ragassay.site.publications import PublicRuns


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """Which judgements would not stand beside a run, and what was judged `later` where it is public.

    `problem` is why the texts of a run cannot be withheld as was decided; `scan` is what a scan of a public run says of
    its files now, where the same detectors looked at the same judgements as when it was published.
    """

    left_out: tuple[LeftOut, ...] = ()
    later: Later | None = None
    problem: str | None = None
    scan: ScanSummary | None = None


def of_public(
    verdict: Verdict, run: LoadedRun, looked: Looked, public: PublicRuns, beside: Beside | None, *, there: bool
) -> Verdict:
    """Return the verdict on a run with what is public of it; `there` tells whether it has a public folder at all."""
    refusals = tuple(_refusals(run, looked, public, beside or Beside(), there=there))
    left = verdict.refusals
    if run.id in public.publications:  # it was read, and it is not published anew
        left = tuple(one for one in left if one.code != UNREAD)
    return msgspec.structs.replace(verdict, refusals=(*left, *refusals))


def _refusals(run: LoadedRun, looked: Looked, public: PublicRuns, beside: Beside, *, there: bool) -> Iterator[Refusal]:
    published = next((one for one in public.runs if one.id == run.id), None)
    if run.id in public.withdrawn:
        why = public.withdrawn[run.id].reason
        text = f"it was withdrawn: {why}; a withdrawn run is never published again: run its row anew"
        yield Refusal(code="withdrawn", text=text)
    elif run.document is None:
        return
    elif published is not None and run.id not in public.publications:
        text = f"it is public already, and its public files: {published.refused}; restore that folder from a copy"
        yield Refusal(code="damaged", text=text)
    elif published is None and there:
        yield Refusal(code="damaged", text="it has a public folder that cannot be read; move that away")
    elif published is not None:
        yield from _judged(published, beside.later)
        changed = list(_changed(run, published, looked, beside.later))
        yield from changed
        if beside.scan is not None and not changed:
            yield from _claimed(public.publications[run.id].scan, beside.scan)
    elif beside.problem is not None:
        yield Refusal(code="not-withholdable", text=beside.problem)


def _judged(published: LoadedRun, later: Later | None) -> Iterator[Refusal]:
    """Yield a refusal for each public judgement that fails verification or is not one of the publication's.

    One that is about to be added, and lies there as a kill left it, is none of these.
    """
    for one in published.judgements:
        if one.document is None and (later is None or later.added.get(one.id) != one.files):
            yield Refusal(code="damaged", text=f"its public judgement {one.id}: {one.refused}")


def _claimed(said: ScanSummary, now: ScanSummary) -> Iterator[Refusal]:
    """Yield a refusal where a publication says something else of its scan than the same scan says now."""
    less = said.findings < now.findings
    if less or (said.texts, said.redacted + said.withheld) != (now.texts, now.redacted + now.withheld):
        text = (
            f"its publication.json says that the scan read {plural(said.texts, 'text')}, with "
            f"{plural(said.findings, 'finding')}, {said.redacted} redacted and {said.withheld} withheld; it reads "
            f"{now.texts}, with {now.findings}, {now.redacted} and {now.withheld}; restore that file from a copy"
        )
        yield Refusal(code="damaged", text=text)


def _changed(run: LoadedRun, published: LoadedRun, looked: Looked, later: Later | None) -> Iterator[Refusal]:
    """Yield a refusal where what is public is not what would be published now."""
    try:
        if not same_public(run, published, looked.findings, looked.decisions):
            yield _change("decisions as they stand now would change what is public")
    except InputError as error:
        yield Refusal(code="not-withholdable", text=str(error))
    for one in later.lost if later is not None else ():
        yield _change(f"its judgement {one.judgement} is public, and would not be published now: {one.reason}")


def _change(what: str) -> Refusal:
    text = (
        f"it is public already, and {what}; that is never done silently: decide as before (restore "
        "review/decisions.jsonl where it was lost), or `ragassay unpublish` withdraws it, and the row is run anew"
    )
    return Refusal(code="changed", text=text)
