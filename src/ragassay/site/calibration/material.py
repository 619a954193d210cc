"""What there is to rate: the answers of the board's main table, its rows, and the scores of its judges. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ragassay.errors import InputError
from ragassay.estimate import seed_from
from ragassay.manifest.statement import RunDocument
from ragassay.records.calibration import CalibrationSample
from ragassay.site.calibration.items import Pool, pool_of
from ragassay.site.calibration.report import JudgeScores
from ragassay.site.calibration.rubric import rubric_digest
from ragassay.site.calibration.sample import draw
from ragassay.site.group import groups, is_measured
from ragassay.site.loaded import LoadedRun
from ragassay.site.record import BoardPlan

DEFAULT_SIZE = 100
MAX_SIZE = 10_000


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """The rateable answers of one table; all its runs share question set, judge, answering model and corpus."""

    documents: tuple[RunDocument, ...]
    pool: Pool
    rows: frozenset[str]
    """The keys of the rows of today: of rows that share a name the one that ran last."""
    outdated: bool
    """True where these runs answer the board's questions as they were, and none does as they are."""
    published: JudgeScores
    panel: tuple[JudgeScores, ...]

    @property
    def benchmark(self) -> str:
        """Return the digest of the question set."""
        return self.documents[-1].predicate.benchmark.digest.sha256

    @property
    def metric(self) -> str:
        """Return the metric of the runs."""
        return self.documents[-1].predicate.metric.id


def material_of(runs: Sequence[LoadedRun], plan: BoardPlan | None = None) -> Material:
    """Return what can be rated of the verified ones among `runs`; raises `InputError` where nothing can."""
    verified = [run.document for run in runs if run.document is not None]
    found = groups([document for document in verified if is_measured(document)], plan)
    if not found:
        raise InputError("there is no verified run whose answers could be rated; `ragassay run` makes them")
    documents = found[0].documents
    pool = pool_of(documents)
    if not pool.items:
        raise InputError("the runs hold no text of an answer, so there is nothing to rate")
    judge = documents[-1].predicate.judge
    scores = {(d.predicate.run_id, line.id): line.score for d in documents for line in d.outputs}
    ours = {document.predicate.run_id for document in documents}
    return Material(
        documents=documents,
        pool=pool,
        rows=frozenset({d.predicate.row.name: d.predicate.row.key for d in documents}.values()),
        outdated=plan is not None and plan.benchmark not in (None, found[0].benchmark().digest),
        published=JudgeScores(judge=judge.id, digest=judge.digest.sha256 if judge.digest else None, scores=scores),
        panel=panel_scores([run for run in runs if run.id in ours]),
    )


def panel_scores(runs: Sequence[LoadedRun]) -> tuple[JudgeScores, ...]:
    """Return what each further judge gave, by judge; where one judged a run several times, the first time counts."""
    found: dict[tuple[str, str], dict[tuple[str, str], int | None]] = {}
    for run in runs:
        documents = [one.document for one in run.judgements if one.document is not None]
        for document in sorted(documents, key=lambda one: one.predicate.n):
            p = document.predicate
            if p.purpose != "panel" or p.judge.digest is None:
                continue
            scores = found.setdefault((p.judge.id, p.judge.digest.sha256), {})
            for row in document.rows:
                scores.setdefault((p.run_id, row.id), row.score)
    return tuple(
        JudgeScores(judge=judge, digest=digest, scores=found[judge, digest]) for judge, digest in sorted(found)
    )


def wanted_sample(
    material: Material, stored: CalibrationSample | None, size: int | None, seed: int | None
) -> CalibrationSample:
    """Return the stored sample where it is of this table and rubric and as large and seeded as asked; else draw one.

    What is not asked for is as in the stored sample, or else 100 answers and a seed that follows from the question set.
    One that holds fewer answers than asked is drawn again: there may be more by now.
    """
    usable = stored if stored and _same_matter(material, stored) else None
    wanted = size if size is not None else (usable.size if usable else DEFAULT_SIZE)
    default = str(seed_from(material.benchmark, (), "calibration"))
    seeded = str(seed) if seed is not None else (usable.seed if usable else default)
    if usable and (usable.size, usable.seed) == (wanted, seeded) and len(usable.items) == wanted:
        return usable
    return CalibrationSample(
        size=wanted,
        seed=seeded,
        benchmark=material.benchmark,
        metric=material.metric,
        judge=material.published.digest,
        rubric=rubric_digest(),
        items=draw(material.pool.items.values(), material.rows, wanted, seeded),
    )


def _same_matter(material: Material, stored: CalibrationSample) -> bool:
    ours = (material.benchmark, material.metric, material.published.digest, rubric_digest())
    return ours == (stored.benchmark, stored.metric, stored.judge, stored.rubric)
