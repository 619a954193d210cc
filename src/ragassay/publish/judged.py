"""Which judgements of a run are public with it, which are added to a run that is public already, and why others not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ragassay.publish.deciding import decided_by_place, of_run
from ragassay.publish.texts import JUDGEMENTS
from ragassay.records.publication import Decision, Finding, LeftOut, Publication
from ragassay.site.loaded import LoadedJudgement, LoadedRun
from ragassay.verify import Unpinned
from ragassay.verify.judgement import verify_judgement


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """The files of each judgement that goes with a run, by the name of its folder, and why each other one does not."""

    kept: Mapping[str, Mapping[str, bytes]]
    left_out: tuple[LeftOut, ...]


class Later(msgspec.Struct, frozen=True, kw_only=True):
    """What was judged after a run was published: `added` can stand beside it.

    `left_out` is all that is not public, with those that `publication.json` names already; `lost` are public ones that
    would not be published as things are decided now, and why.
    """

    added: Mapping[str, Mapping[str, bytes]]
    left_out: tuple[LeftOut, ...]
    lost: tuple[LeftOut, ...]


def judged_with(
    run: LoadedRun, files: Mapping[str, bytes], findings: Sequence[Finding], decisions: Sequence[Decision], *, now: int
) -> Judged:
    """Return the judgements of a run that can be published beside `files`: those of its public copy."""
    touched = _touched(run, findings, decisions)
    kept: dict[str, Mapping[str, bytes]] = {}
    left_out: list[LeftOut] = []
    for one in run.judgements:
        why = _against(one, touched, files, now)
        if why is None:
            kept[one.id] = one.files
        else:
            left_out.append(LeftOut(judgement=one.id, reason=why))
    return Judged(kept=kept, left_out=tuple(left_out))


def judged_later(
    run: LoadedRun,
    published: LoadedRun,
    publication: Publication,
    findings: Sequence[Finding],
    decisions: Sequence[Decision],
    *,
    now: int,
) -> Later:
    """Return what is new among the judgements of a run since it was published; what is public already stays."""
    found = judged_with(run, published.files, findings, decisions, now=now)
    public, here = frozenset(publication.judgements), {one.id for one in run.judgements}
    earlier = [one for one in publication.left_out if one.judgement not in here]
    return Later(
        added={name: files for name, files in found.kept.items() if name not in public},
        left_out=(*earlier, *(one for one in found.left_out if one.judgement not in public)),
        lost=tuple(one for one in found.left_out if one.judgement in public),
    )


def _touched(run: LoadedRun, findings: Sequence[Finding], decisions: Sequence[Decision]) -> frozenset[str]:
    """Return the judgements in which a text stands that is redacted or withheld."""
    return frozenset(
        key.file.removeprefix(JUDGEMENTS).partition("/")[0]
        for key in decided_by_place(of_run(findings, run.id), decisions)
        if key.file.startswith(JUDGEMENTS)
    )


def _against(one: LoadedJudgement, touched: frozenset[str], files: Mapping[str, bytes], now: int) -> str | None:
    if one.document is None:
        return f"it could not be verified: {one.refused}"
    if one.id in touched:
        return "it holds a text that is withheld"
    report = verify_judgement(one.files, run_files=files, policy=Unpinned(), now=now)
    if report.ok():
        return None
    return f"it cannot be checked against what is published of the run: {', '.join(report.codes)}"
