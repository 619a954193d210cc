"""What a table says of its judges, put together: panel, noise, null rows, conformance, people. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from ragassay.manifest.judgement import JudgementDocument
from ragassay.manifest.statement import RunDocument
from ragassay.site.agreed import agreed
from ragassay.site.given import Given
from ragassay.site.group import is_measured
from ragassay.site.judgeknown import Asked, Known, calibration_line, conformance_line
from ragassay.site.judgerecord import ComponentsLine, JudgedRow, JudgeLine, Judging, NoiseLine, UnderJudge
from ragassay.site.noise import noise_line
from ragassay.site.nullrows import null_row_lines
from ragassay.site.numbers import decimal6, ratio
from ragassay.site.record import BoardRow
from ragassay.site.underjudge import RowUnder, difference, with_ranks
from ragassay.site.variance import components_line
from ragassay.site.window import RowRuns


class Further(msgspec.Struct, frozen=True, kw_only=True):
    """One further judge with every row of the table under it, in the order of the rows."""

    digest: str
    id: str
    name: str
    rows: tuple[RowUnder, ...]


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """The published judge by its name, and every further judge that judged a run of a window."""

    published: str
    further: tuple[Further, ...] = ()

    def under(self, a: str, b: str) -> tuple[UnderJudge, ...]:
        """Return the difference a − b of two rows, given by key, under each further judge."""
        found = []
        for judge in self.further:
            rows = {one.row.key: one for one in judge.rows}
            by = difference(rows[a], rows[b])
            found.append(UnderJudge(judge=judge.name, difference=None if by is None else decimal6(by)))
        return tuple(found)


def panel_of(rows: Sequence[RowRuns], given: Given, latest: RunDocument) -> Panel:
    """Return the panel of a table; `latest` is any of its runs, which share their judge."""
    own = latest.predicate.judge
    standing = [row for row in rows if row.standing != "superseded"]
    judges = given.panel(run.predicate.run_id for row in standing for run in row.window)
    shared = Counter([own.id, *(identity for _, identity in judges)])
    further = []
    for digest, identity in judges:
        same = own.digest is not None and own.digest.sha256 == digest
        name = f"{identity}, the same judge" if same else identity
        name = f"{identity} ({digest[:8]})" if shared[identity] > 1 and not same else name
        further.append(
            Further(
                digest=digest,
                id=identity,
                name=name,
                rows=tuple(
                    RowUnder(
                        row=row,
                        judgements=tuple(given.first(run.predicate.run_id, "panel", digest) for run in row.window),
                    )
                    for row in standing
                ),
            )
        )
    return Panel(published=own.id, further=tuple(further))


def judging_of(
    rows: Sequence[RowRuns], lines: Sequence[BoardRow], panel: Panel, given: Given, known: Known
) -> Judging | None:
    """Return what is known of a table's judges, None where nothing is or where its scores were not measured here.

    The rows stand in the order of `lines`, in which the table shows them.
    """
    place = {line.key: at for at, line in enumerate(lines)}
    standing = sorted((row for row in rows if row.standing != "superseded"), key=lambda row: place[row.key])
    panel = _in_order(panel, place)
    latest = standing[0].runs[-1] if standing else None
    if latest is None or not is_measured(latest):
        return None
    judges = (_published(standing, lines, panel, given, known), *_further(standing, panel, given, known))
    noise = tuple(noise_line(row, _again(row, given)) for row in standing)
    found = Judging(
        judges=judges,
        noise=noise,
        components=_components(standing, panel, noise),
        refused=given.refused,
        notes=(*given.notes, *known.problems),
    )
    return found if _says_something(found) else None


def _in_order(panel: Panel, place: Mapping[str, int]) -> Panel:
    further = (
        msgspec.structs.replace(judge, rows=tuple(sorted(judge.rows, key=lambda one: place[one.row.key])))
        for judge in panel.further
    )
    return msgspec.structs.replace(panel, further=tuple(further))


def _says_something(found: Judging) -> bool:
    own = found.judges[0]
    measured = own.null_rows or own.conformance.state != "not_measured" or own.calibration.state != "none"
    again = any(line.state in ("measured", "undefined") for line in found.noise)
    return bool(found.panel or measured or again or found.refused or found.notes)


def _asked(latest: RunDocument, identity: str, digest: str | None) -> Asked:
    p = latest.predicate
    profile = p.metric.id.partition("-judged-by-")[0]
    return Asked(id=identity, digest=digest, profile=profile, benchmark=p.benchmark.digest.sha256)


def _published(
    rows: Sequence[RowRuns], lines: Sequence[BoardRow], panel: Panel, given: Given, known: Known
) -> JudgeLine:
    judge = rows[0].runs[-1].predicate.judge
    digest = judge.digest.sha256 if judge.digest else None
    asked = _asked(rows[0].runs[-1], judge.id, digest)
    by_key = {line.key: line for line in lines}
    return JudgeLine(
        id=judge.id,
        name=panel.published,
        digest=digest,
        published=True,
        rows=tuple(_own_row(row, by_key[row.key]) for row in rows if row.key in by_key),
        order_changed=None,
        null_rows=null_row_lines(_nulls(rows, given, digest)),
        conformance=conformance_line(known, asked),
        calibration=calibration_line(known, asked),
    )


def _own_row(row: RowRuns, line: BoardRow) -> JudgedRow:
    return JudgedRow(
        row=row.key,
        runs=len(row.window),
        judged_runs=len(row.window),
        score=ratio(row.shown.predicate.score) if line.score and row.shown and row.shown.predicate.score else None,
        mean=line.mean,
        bounds=line.bounds,
        rank=line.rank,
        rank_published=line.rank,
        asked=line.missing.asked,
        unjudged=line.missing.unjudged,
        why=None if line.score else line.reason,
    )


def _further(rows: Sequence[RowRuns], panel: Panel, given: Given, known: Known) -> list[JudgeLine]:
    found = []
    for judge in panel.further:
        lines = with_ranks(judge.rows)
        ranked = [line for line in lines if line.rank is not None]
        asked = _asked(rows[0].runs[-1], judge.id, judge.digest)
        found.append(
            JudgeLine(
                id=judge.id,
                name=judge.name,
                digest=judge.digest,
                published=False,
                rows=lines,
                order_changed=any(line.moved for line in ranked) if len(ranked) > 1 else None,
                agreement=agreed(
                    (run, one)
                    for under in judge.rows
                    for run, one in zip(under.row.window, under.judgements, strict=True)
                    if one is not None
                ),
                null_rows=null_row_lines(_nulls(rows, given, judge.digest)),
                conformance=conformance_line(known, asked),
                calibration=calibration_line(known, asked),
            )
        )
    return found


def _nulls(rows: Sequence[RowRuns], given: Given, digest: str | None) -> list[JudgementDocument]:
    return [one for row in rows for run in row.runs for one in given.of(run.predicate.run_id, "null-row", digest)]


def _again(row: RowRuns, given: Given) -> Mapping[str, JudgementDocument]:
    ids = [run.predicate.run_id for run in row.window]
    return {run: found[0] for run in ids if (found := given.of(run, "reask"))}


def _components(rows: Sequence[RowRuns], panel: Panel, noise: Sequence[NoiseLine]) -> ComponentsLine | None:
    """Return the components where a further judge scored and something was passed or asked twice."""
    twice = any(len(row.window) > 1 for row in rows) or any(line.n for line in noise)
    if not panel.further or not twice:
        return None
    return components_line(rows, {judge.name: judge.rows for judge in panel.further})
