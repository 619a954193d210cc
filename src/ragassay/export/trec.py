"""Runs as TREC run files with their qrels, on which other tools compute what a board says of retrieval.

For each run: `.run` (what was delivered), `.qrels` (of each question the one text that is credited), `.all.qrels`
(every delivered text, 1 where it holds evidence, else 0) and `.notes.tsv` (questions without lines, and why).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from math import log2
from pathlib import Path
from typing import Literal, TextIO, TypeAlias

from ragassay.export.about import about, left_out_json, write_about
from ragassay.export.item import ExportedItem
from ragassay.export.source import RunSource, VerifiedRun
from ragassay.export.trec_lines import NOT_DELIVERED, by_rank, escaped, falling
from ragassay.records import Record, to_json
from ragassay.score import EvidenceRanks

Scores: TypeAlias = Literal["stack", "rank"]
SUFFIXES = ("run", "qrels", "all.qrels", "notes.tsv")


class RetrievalMeasures(Record, frozen=True):
    """What a board says of retrieval, not rounded: over the `questions` that are in the qrels."""

    questions: int
    k: int
    reach: float
    mrr: float
    ndcg: float


class TrecRun(Record, frozen=True):
    """One run as it was written; a question may be counted under several reasons.

    `measures` is None where no question is in the qrels.
    """

    run: str
    row: str
    pass_k: int
    files: tuple[str, ...]
    questions: int
    in_run: int
    """Questions with at least one line in the run file."""
    in_qrels: int
    returned_nothing: int
    """Searches that worked and found nothing: no line in the run file, and 0 in every measure if in the qrels."""
    retrieval_failed: int
    """In neither file: a failure is no 0."""
    without_evidence: int
    text_withheld: int
    """Not in the qrels, for where the evidence stands is not known."""
    lines: int
    scores_lowered: int
    """Scores that were tied or out of order, and are written as the next float below."""
    questions_by_rank: int
    """Questions whose scores say the rank alone."""
    measures: RetrievalMeasures | None


def write_trec(source: RunSource, folder: Path, *, scores: Scores = "stack") -> tuple[TrecRun, ...]:
    """Write every run that retrieved into `folder`, one at a time, and return what was written.

    A run without retrieval (a control, republished scores) has no run file: it is listed in `source.left_out`.
    """
    written = []
    for run in source:
        if (why := _no_retrieval(run)) is not None:
            source.drop(run, "NO_RETRIEVAL", why)
        else:
            written.append(_write_run(run, folder, scores))
    source.require_some()
    written.sort(key=lambda one: (one.row, one.pass_k, one.run))
    found = about("trec", scores=scores, runs=[to_json(one) for one in written])
    write_about(folder, {**found, "leftOut": left_out_json(source.left_out)})
    return tuple(written)


def _no_retrieval(run: VerifiedRun) -> str | None:
    if run.facts.kind == "republished":
        return "republished scores say nothing of retrieval"
    return "retrieval was switched off: a control delivers nothing" if run.facts.stack == "none" else None


def file_stem(run: VerifiedRun) -> str:
    """Return the name under which a run's files stand: its row, pass and id, safe on every file system."""
    row = re.sub(r"[^A-Za-z0-9._-]+", "-", run.facts.row).strip("-.")[:80] or "row"
    return f"{row}.{run.facts.pass_k}.{run.facts.run}"


def _write_run(run: VerifiedRun, folder: Path, scores: Scores) -> TrecRun:
    names = [f"{file_stem(run)}.{suffix}" for suffix in SUFFIXES]
    with ExitStack() as stack:
        files = [stack.enter_context((folder / name).open("w", encoding="utf-8", newline="\n")) for name in names]
        tally = _Tally(tag=f"{escaped(run.facts.row)}/{run.facts.pass_k}", scores=scores)
        files[3].write("question\twhy\n")
        for item in run.items():
            tally.write(item, *files)
    return tally.record(run, tuple(names))


class _Tally:
    """Counts what is written, so that nothing is dropped unsaid."""

    def __init__(self, tag: str, scores: Scores) -> None:
        self.tag, self.scores = tag, scores
        self.counts: Counter[str] = Counter()
        self.first: Counter[int] = Counter()
        self.most = 0

    def write(self, item: ExportedItem, run: TextIO, qrels: TextIO, every: TextIO, notes: TextIO) -> None:
        """Write the lines of one question."""
        found, word = item.evidence(), escaped(item.question.id)
        self.counts["questions"] += 1
        self.most = max(self.most, len(item.chunks))
        run.writelines(self._run_lines(item, word))
        if found.state != "none":
            self.counts["in_qrels"] += 1
            self.first[found.first or 0] += 1
            credited = NOT_DELIVERED if found.first is None else escaped(item.chunks[found.first - 1].id)
            qrels.write(f"{word} 0 {credited} 1\n")
            every.writelines(_judged(item, found, word))
        for why in _whys(item):
            self.counts[why] += 1
            notes.write(f"{word}\t{why.replace('_', '-')}\n")

    def _run_lines(self, item: ExportedItem, word: str) -> Iterator[str]:
        if not item.chunks:
            return
        kept = falling([chunk.score for chunk in item.chunks]) if self.scores == "stack" else None
        words, lowered = kept if kept is not None else (by_rank(len(item.chunks)), 0)
        self.counts.update(in_run=1, lines=len(item.chunks), lowered=lowered, by_rank=int(kept is None))
        for chunk, score in zip(item.chunks, words, strict=True):
            yield f"{word} Q0 {escaped(chunk.id)} {chunk.rank} {score} {self.tag}\n"

    def record(self, run: VerifiedRun, names: tuple[str, ...]) -> TrecRun:
        """Return what was counted."""
        top_k = run.facts.top_k or 0
        k = max(self.most if run.facts.stack == "oracle" else top_k or self.most, 1)
        return TrecRun(
            run=run.facts.run,
            row=run.facts.row,
            pass_k=run.facts.pass_k,
            files=names,
            questions=self.counts["questions"],
            in_run=self.counts["in_run"],
            in_qrels=self.counts["in_qrels"],
            returned_nothing=self.counts["returned_nothing"],
            retrieval_failed=self.counts["retrieval_failed"],
            without_evidence=self.counts["without_evidence"],
            text_withheld=self.counts["text_withheld"],
            lines=self.counts["lines"],
            scores_lowered=self.counts["lowered"],
            questions_by_rank=self.counts["by_rank"],
            measures=_measures(self.first, k),
        )


def _judged(item: ExportedItem, found: EvidenceRanks, word: str) -> Iterator[str]:
    """Yield every delivered text as judged; one that repeats an earlier text is judged as that one."""
    holding = {item.chunks[rank - 1].sha256 for rank in found.ranks}
    for chunk in item.chunks:
        yield f"{word} 0 {escaped(chunk.id)} {int(chunk.sha256 in holding)}\n"
    if not holding:
        yield f"{word} 0 {NOT_DELIVERED} 1\n"


def _whys(item: ExportedItem) -> Iterator[str]:
    if item.retrieval == "failed":
        yield "retrieval_failed"
    elif item.retrieval == "empty":
        yield "returned_nothing"
    if not any(text.strip() for text in item.question.evidence):
        yield "without_evidence"
    elif item.texts is None:
        yield "text_withheld"


def _measures(first: Counter[int], k: int) -> RetrievalMeasures | None:
    """Return the means over questions, from how many have their first credited text at which rank (0: at none)."""
    total = first.total()
    if not total:
        return None
    ranks = [(rank, count) for rank, count in sorted(first.items()) if rank]
    return RetrievalMeasures(
        questions=total,
        k=k,
        reach=sum(count for rank, count in ranks if rank <= k) / total,
        mrr=sum(count / rank for rank, count in ranks) / total,
        ndcg=sum(count / log2(1 + rank) for rank, count in ranks if rank <= k) / total,
    )
