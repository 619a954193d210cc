"""`ragassay questions check` and `lint`: evidence looked up in the corpus, and the rules that a set breaks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragassay.cli.question_sources import (
    about,
    corpus_option,
    file_argument,
    json_option,
    of_board,
    pages_of,
    print_json,
)
from ragassay.question import QuestionFile, load_file
from ragassay.records import Benchmark


@click.command("check")
@file_argument
@corpus_option
@json_option
def check(file: Path, source: Path | None, as_json: bool) -> int:
    """Look every evidence text of FILE up in the corpus and lint the set; FILE may be a board (.toml).

    Exit code 1 when evidence is missing or a lint error stands.
    """
    from ragassay.question import lint, match_evidence, report
    from ragassay.run.frozen import load_set

    file, source = of_board(file, source)
    if source is None:
        raise click.UsageError("give --corpus, or a board file in place of FILE")
    read, _ = load_set(file)
    pages = pages_of(source)
    evidence = match_evidence(read.benchmark, pages)
    broken = lint(read.benchmark, findings=evidence)
    failed = any(finding.fails for finding in broken)
    if as_json:
        counts = {**report.evidence_counts(evidence), "pages": len(pages)}
        found = report.to_values(evidence), report.to_values(broken)
        print_json({**about(read), "ok": not failed, "counts": counts, "evidence": found[0], "lint": found[1]})
    else:
        _print_lines(report.evidence_lines(evidence, len(pages)))
        _print_lines(report.lint_lines(broken, _checked(read)))
        _print_unjudgeable(read.benchmark)
    return int(failed)


@click.command("lint")
@file_argument
@corpus_option
@json_option
def lint_(file: Path, source: Path | None, as_json: bool) -> int:
    """Say which rules the questions break: literals, keys, and with --corpus (or a board) the evidence too.

    Exit code 1 when an error stands; warnings alone leave it 0.
    """
    from ragassay.question import lint, literal_problems, report

    file, source = of_board(file, source)
    read = load_file(file)
    broken = lint(read.benchmark, None if source is None else pages_of(source))
    failed = any(finding.fails for finding in broken)
    if as_json:
        unjudgeable = literal_problems(read.benchmark)
        lists = {"lint": report.to_values(broken), "withoutLiterals": unjudgeable}
        print_json({**about(read), "ok": not failed, **lists})
    else:
        _print_lines(report.lint_lines(broken, _checked(read)))
        _print_unjudgeable(read.benchmark)
    return int(failed)


def _checked(read: QuestionFile) -> str:
    questions = read.benchmark.questions
    unsplit = sum(question.unsplit for question in questions)
    counted = f"{len(questions)} question{'' if len(questions) == 1 else 's'}"
    return counted + (f" ({unsplit} unsplit, unreviewed)" if unsplit else "")


def _print_unjudgeable(benchmark: Benchmark) -> None:
    from ragassay.question import literal_problems

    if ids := literal_problems(benchmark):
        shown = ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")
        click.echo(f"{len(ids)} of {len(benchmark.questions)} questions have a claim without literals: {shown}")


def _print_lines(lines: Any) -> None:
    for line in lines:
        click.echo(line)
