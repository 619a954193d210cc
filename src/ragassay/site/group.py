"""Which runs may stand in one table: those that differ in nothing but retrieval. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragassay import canon
from ragassay.estimate import missing_allowed, seed_from
from ragassay.manifest.statement import RunDocument, RunPredicate
from ragassay.site.record import BenchmarkLine, BoardPlan, Role
from ragassay.site.subset import is_subset

ROLES: Mapping[str, Role] = {"none": "control", "oracle": "oracle"}


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of one table, oldest first; all share question set, judge, scorer, answering model and corpus."""

    documents: tuple[RunDocument, ...]

    @property
    def latest(self) -> RunDocument:
        """Return the most recent run."""
        return self.documents[-1]

    def benchmark(self) -> BenchmarkLine:
        """Return the question set."""
        ref = self.latest.predicate.benchmark
        return BenchmarkLine(
            id=ref.id,
            version=ref.version,
            items=ref.items,
            digest=ref.digest.sha256,
            item_set=ref.item_set.sha256,
        )


def ended(document: RunDocument) -> int:
    """Return the Unix second at which a run's last answer was there; 0 where it gives none."""
    window = document.predicate.window
    return window.end if window else 0


def by_time(documents: Iterable[RunDocument]) -> list[RunDocument]:
    """Return runs oldest first, equal times by id."""
    return sorted(documents, key=lambda d: (ended(d), d.predicate.run_id))


def stack_kind(document: RunDocument) -> str:
    """Return the kind of a run's stack."""
    if document.config is not None:
        return str(document.config.measure.stack.get("kind", "unknown"))
    return document.predicate.stack.name if document.predicate.stack else "unknown"


def role_of(kind: str) -> Role:
    """Return control for the stack kind `none`, oracle for `oracle`, row for everything else."""
    return ROLES.get(kind, "row")


def _corpus(document: RunDocument) -> str | None:
    ref = document.predicate.corpus
    return ref.digest.sha256 if ref and ref.digest else None


def is_measured(document: RunDocument) -> bool:
    """Tell whether a run was measured, and its scores not merely taken over from elsewhere."""
    return document.predicate.provenance.source_kind == "measured"


def table_key(p: RunPredicate) -> str:
    """Return a digest that runs share which may stand in one table, but for their corpus."""
    return canon.digest(list(_held_fixed(p)))


def table_id(p: RunPredicate, corpus: str | None) -> str:
    """Return a short name of the table that a run stands in, from what its rows share; stable while they do."""
    shared = [p.metric.id, p.judge.id, corpus or "", str(p.model)]
    return f"{seed_from(p.benchmark.digest.sha256, shared, 'table'):016x}"[:8]


def _held_fixed(p: RunPredicate) -> tuple[str, ...]:
    judge = p.judge.digest.sha256 if p.judge.digest else ""
    model = p.model.digest.sha256 if p.model else ""
    kind = p.provenance.source_kind
    return (kind, p.benchmark.digest.sha256, p.metric.id, p.judge.id, judge, model)


def groups(documents: Iterable[RunDocument], plan: BoardPlan | None) -> list[Group]:
    """Return the tables' runs, the main one first, then the others by their most recent run.

    The main table holds the most recent run of the plan's question set, or of any that is no subset; scores that were
    not measured here are in it only where nothing was. A row whose stack owns its corpus stands with the most recent
    corpus.
    """
    fixed: dict[tuple[str, ...], list[RunDocument]] = {}
    for document in by_time(documents):
        fixed.setdefault(_held_fixed(document.predicate), []).append(document)
    found = [group for members in fixed.values() for group in _by_corpus(members)]
    found.sort(
        key=lambda g: (is_measured(g.latest), _preferred(g, plan), ended(g.latest), g.latest.predicate.run_id),
        reverse=True,
    )
    return found


def _by_corpus(members: Sequence[RunDocument]) -> list[Group]:
    newest = next((c for d in reversed(members) if (c := _corpus(d)) is not None), None)
    parts: dict[str | None, list[RunDocument]] = {}
    for document in members:
        parts.setdefault(_corpus(document) or newest, []).append(document)
    return [Group(documents=tuple(part)) for part in parts.values()]


def _preferred(group: Group, plan: BoardPlan | None) -> bool:
    benchmark = group.latest.predicate.benchmark
    if plan is not None and plan.benchmark is not None:
        return benchmark.digest.sha256 == plan.benchmark
    return not is_subset(benchmark.id)


def why_apart(group: Group, main: Group) -> str:
    """Say what forbids ranking `group` against `main`."""
    here, there = group.latest.predicate, main.latest.predicate
    reasons = [] if is_measured(group.latest) else ["republished scores, not measured here"]
    if here.benchmark.digest != there.benchmark.digest:
        same = here.benchmark.id == there.benchmark.id
        what = "another version of the question set" if same else "another question set"
        reasons.append(f"{what} ({here.benchmark.id} {here.benchmark.version})")
    if (here.judge.id, here.judge.digest) != (there.judge.id, there.judge.digest):
        reasons.append(f"another judge ({here.judge.id})")
    if _profile(here.metric.id) != _profile(there.metric.id):
        reasons.append(f"another scorer ({_profile(here.metric.id)})")
    if here.model != there.model and is_measured(group.latest):
        reasons.append(f"another answering model or other parameters ({here.model.id if here.model else 'unknown'})")
    if not reasons:
        reasons.append("another corpus or other chunks")
    return "; ".join(reasons)


def _profile(metric: str) -> str:
    return metric.partition("-judged-by-")[0]


def current_versions(documents: Iterable[RunDocument], plan: BoardPlan | None) -> dict[str, str]:
    """Return for each question set id the digest of its current version: the plan's, else that of the latest run."""
    ordered = by_time(documents)
    current = {d.predicate.benchmark.id: d.predicate.benchmark.digest.sha256 for d in ordered}
    if plan is not None and plan.benchmark is not None:
        planned = {d.predicate.benchmark.id for d in ordered if d.predicate.benchmark.digest.sha256 == plan.benchmark}
        current |= dict.fromkeys(planned | {plan.benchmark_id or ""}, plan.benchmark)
    return current


def why_not_eligible(document: RunDocument, current: Mapping[str, str]) -> str | None:
    """Return why a verified run cannot enter a window, or None where it can."""
    p, counts = document.predicate, document.predicate.counts
    if not is_measured(document):
        return f"{p.provenance.source_kind}, not measured here"
    if is_subset(p.benchmark.id):
        return "subset, not eligible"
    if current.get(p.benchmark.id) != p.benchmark.digest.sha256:
        return "another version of the question set than the current one"
    if failed := sum(row.retrieval == "failed" for row in document.outputs):
        return f"{failed} of {counts.asked} retrievals failed: ask them again"
    if p.score is None:
        return f"none of {counts.asked} questions has a score"
    if counts.missing > missing_allowed(counts.asked):
        allowed = missing_allowed(counts.asked)
        return f"{counts.missing} of {counts.asked} without a score, where at most {allowed} may be missing"
    return None
