"""The verified judgements of a table's runs, sorted by what they are for; of several alike the first counts. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragassay.manifest.judgement import JudgementDocument
from ragassay.records import Purpose
from ragassay.site.judgerecord import RefusedJudgement
from ragassay.site.loaded import LoadedRun
from ragassay.site.numbers import listed, plural

_FOLDER = re.compile(r"([0-9a-f]{16})-(panel|reask|null-row)-([1-9][0-9]{0,5})")
MOST_GAPS = 5
"""Missing judgements that are named one by one."""


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """The judgements that count, by run id in the order of their numbers, and what must be said of the others."""

    by_run: Mapping[str, tuple[JudgementDocument, ...]]
    refused: tuple[RefusedJudgement, ...]
    notes: tuple[str, ...]

    def of(self, run: str, purpose: Purpose, judge: str | None = None) -> tuple[JudgementDocument, ...]:
        """Return the judgements of one run for one purpose, by the judge with this digest where one is given."""
        return tuple(
            one
            for one in self.by_run.get(run, ())
            if one.predicate.purpose == purpose and judge in (None, judge_digest(one))
        )

    def first(self, run: str, purpose: Purpose, judge: str) -> JudgementDocument | None:
        """Return the one judgement that counts, or None."""
        return next(iter(self.of(run, purpose, judge)), None)

    def panel(self, runs: Iterable[str]) -> list[tuple[str, str]]:
        """Return digest and id of each further judge of some runs, in the order of ids."""
        found = {judge_digest(one): one.predicate.judge.id for run in runs for one in self.of(run, "panel")}
        return sorted(found.items(), key=lambda judge: (judge[1], judge[0]))


def judge_digest(judgement: JudgementDocument) -> str:
    """Return the digest of the judge; no judgement is read that lacks it."""
    return judgement.predicate.judge.digest.sha256 if judgement.predicate.judge.digest else ""


def given_of(runs: Sequence[LoadedRun]) -> Given:
    """Return the judgements of some runs that count: of one judge, run and purpose the one with the lowest number."""
    by_run, further, gaps = {}, 0, []
    for run in runs:
        documents = [one.document for one in run.judgements if one.document is not None]
        documents.sort(key=lambda one: (judge_digest(one), one.predicate.purpose, one.predicate.n))
        kept: dict[tuple[str, str, str | None], JudgementDocument] = {}
        for one in documents:
            kept.setdefault((judge_digest(one), one.predicate.purpose, one.predicate.null_row), one)
        by_run[run.id] = tuple(kept.values())
        further += len(documents) - len(kept)
        gaps += _gaps(run, documents)
    return Given(
        by_run=by_run,
        refused=tuple(
            RefusedJudgement(run=run.id, id=one.id, code=one.code or "", reason=one.refused or "")
            for run in runs
            for one in run.judgements
            if one.document is None
        ),
        notes=(*_further(further), *_missing(gaps), *_unpinned(runs)),
    )


def _gaps(run: LoadedRun, documents: Sequence[JudgementDocument]) -> list[str]:
    """Return each number below a judgement's own that is not there: whoever removed it may have chosen."""
    names: dict[tuple[str, str], str] = {
        (judge_digest(one)[:16], one.predicate.purpose): one.predicate.judge.id for one in documents
    }
    numbers: dict[tuple[str, str], set[int]] = {}
    for one in run.judgements:
        if (match := _FOLDER.fullmatch(one.id)) is not None:
            numbers.setdefault((match[1], match[2]), set()).add(int(match[3]))
    return [
        f"{purpose} judgement {n} of run {run.id[:8]} by {names[judge, purpose]}"
        for (judge, purpose), found in sorted(numbers.items())
        if (judge, purpose) in names
        for n in range(1, min(max(found), len(found) + MOST_GAPS + 1))
        if n not in found
    ]


def _further(count: int) -> list[str]:
    if not count:
        return []
    verb = "is" if count == 1 else "are"
    return [f"{plural(count, 'further judgement')} {verb} not used: of one judge, run and purpose the first one counts"]


def _missing(gaps: Sequence[str]) -> list[str]:
    if not gaps:
        return []
    more = [f"{len(gaps) - MOST_GAPS} more"] if len(gaps) > MOST_GAPS else []
    return [f"missing though later ones are there: {listed([*gaps[:MOST_GAPS], *more])}"]


def _unpinned(runs: Sequence[LoadedRun]) -> list[str]:
    used = [one for run in runs for one in run.judgements if one.document is not None]
    count = sum(any(check.code == "SIGNER_UNPINNED" for check in one.checks) for one in used)
    if not count:
        return []
    return [
        f"SIGNER_UNPINNED in {count} of {plural(len(used), 'judgement')}: "
        "signed by the key that signed the run, which nobody pinned"
    ]
