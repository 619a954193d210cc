"""What must hold before the first call: every reason not to start is named at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ragassay.canon import digest
from ragassay.corpus.found import unreadable
from ragassay.errors import InputError, PluginError
from ragassay.question import EvidenceFinding, evidence_chunks, evidence_gone, literal_problems, match_evidence
from ragassay.records import Benchmark, Corpus
from ragassay.run.board_file import BoardFile
from ragassay.run.build import check_stack, naming, parts_of
from ragassay.run.gathered import Gathered
from ragassay.seams import Judge


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """A board that may start: the oracle's chunks by question text, and the rows left out with the reason."""

    evidence: Mapping[str, Sequence[str]]
    left_out: Mapping[str, str]
    findings: Sequence[EvidenceFinding]
    """Where each evidence text stands in the corpus."""
    notes: tuple[str, ...]


def check(
    board: BoardFile, benchmark: Benchmark, corpus: Corpus, judge: Judge, *, allow_missing_evidence: bool
) -> Ready:
    """Return what the oracle delivers; raises `InputError` with every reason not to start."""
    problems = _judge_problems(board, benchmark, judge)
    findings = match_evidence(benchmark, corpus.pages)
    gone = evidence_gone(findings)
    if gone and not allow_missing_evidence:
        problems += [
            f"question {question}: its evidence is not in the corpus "
            "(correct the question or the corpus, or pass --allow-missing-evidence)"
            for question in gone
        ]
    problems += _budget_problems(board)
    if problems:
        raise InputError(f"{board.path.name} cannot be run as it is", problems)
    by_id = evidence_chunks(benchmark, corpus, findings)
    notes = [f"evidence of {len(gone)} questions is missing from the corpus"] if gone else []
    if lacking := unreadable(corpus.source):
        notes.append(f"pages of the crawl that cannot be read are left out: {lacking:,}; `corpus build` lists them")
    return Ready(
        evidence={q.input: by_id[q.id] for q in benchmark.questions if q.id in by_id},
        left_out=oracle_left_out(board, benchmark, len(by_id)),
        findings=findings,
        notes=tuple(notes),
    )


def _judge_problems(board: BoardFile, benchmark: Benchmark, judge: Judge) -> list[str]:
    if not judge.needs_literals:
        return []
    if board.scorer != "factual-consistency/2":
        return [f"the judge {judge.id} reads frozen claims; it needs scorer = 'factual-consistency/2'"]
    return [
        f"question {question}: a claim has no literals (`must`), so the judge {judge.id} cannot read it"
        for question in literal_problems(benchmark)
    ]


def _budget_problems(board: BoardFile) -> list[str]:
    if board.max_microusd is None:
        return []
    tables = {"answer": board.answer, "judge.model": board.judge.model}
    bare = [name for name, table in tables.items() if table and table.kind == "openai" and table.price is None]
    bare += [
        f"row {row.name!r}, {part.place}"
        for row in board.rows
        for part in parts_of(row.stack)
        if part.seam == "models" and part.entry["kind"] == "openai" and "price" not in part.entry
    ]
    return [
        f"[budget] needs a price for {name}: price = {{ input_usd_per_mtok = '…', output_usd_per_mtok = '…' }}"
        for name in bare
    ]


def oracle_left_out(board: BoardFile, benchmark: Benchmark, found: int) -> dict[str, str]:
    """Return the oracle's rows that cannot be run, with the reason; `found` questions have evidence in the corpus."""
    total = len(benchmark.questions)
    if found == total:
        return {}
    reason = (
        "no question has evidence"
        if found == 0
        else f"{total - found} of {total} questions have no evidence in the corpus"
    )
    return {row.name: reason for row in board.rows if row.stack.get("kind") == "oracle"}


def subset(benchmark: Benchmark, size: int) -> Benchmark:
    """Return the benchmark of the first `size` questions in digest order: a set of its own, never eligible."""
    if not 0 < size < len(benchmark.questions):
        raise InputError(f"a subset must hold from 1 to {len(benchmark.questions) - 1} questions, not {size}")
    order = sorted(benchmark.questions, key=lambda q: digest({"id": q.id, "input": q.input}))
    chosen = {question.id for question in order[:size]}
    return msgspec.structs.replace(
        benchmark,
        name=f"{benchmark.name}#{size}",
        questions=tuple(q for q in benchmark.questions if q.id in chosen),
    )


def check_rows(board: BoardFile, problems: Gathered) -> list[str]:
    """Check every row's stack without building it; return which rows' plugins cannot be imported, and why."""
    absent = []
    for row in board.rows:
        place = f"row {row.name!r}"
        try:
            with naming(place):
                problems.of(lambda row=row, place=place: check_stack(row.stack, place))  # type: ignore[misc]
        except PluginError as error:
            absent.append(str(error))
    return absent


def refuse_absent(absent: Sequence[str]) -> None:
    """Raise `PluginError` with all rows whose plugins cannot be imported, where there are any."""
    if absent:
        raise PluginError(absent[0] if len(absent) == 1 else "\n  - ".join(["these rows cannot be run", *absent]))
