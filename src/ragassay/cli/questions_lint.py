"""`ragassay questions check` and `lint`: evidence looked up in the corpus, and the rules that a set breaks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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
from ragassay.question import QuestionFile
from ragassay.question.printable import plural
from ragassay.records import Benchmark

if TYPE_CHECKING:
    from ragassay.question.repairs import Repair
    from ragassay.question.rules import LintFinding, Similar
    from ragassay.question.waivers import Waiver
    from ragassay.run.question_sets.frozen import FrozenSet

WRITABLE = 0o222
"""The bits of a file's mode of which one is set where anybody may write it."""


@click.command("check")
@file_argument
@corpus_option
@json_option
def check(file: Path, source: Path | None, as_json: bool) -> int:
    """Look every evidence text of FILE up in the corpus and lint the set; FILE may be a board (.toml).

    Exit code 1 when evidence is missing or a lint error stands.
    """
    from ragassay.question import lint, match_evidence, report
    from ragassay.run.question_sets.frozen import load_set

    file, source = of_board(file, source)
    if source is None:
        raise click.UsageError("give --corpus, or a board file in place of FILE")
    read, frozen = load_set(file)
    pages = pages_of(source)
    evidence = match_evidence(read.benchmark, pages)
    broken = lint(read.benchmark, pages, evidence, waivers=_waivers(file, frozen))
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


def _list_rules(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from ragassay.question import report

        _print_lines(report.rule_lines())
        context.exit(0)


@click.command("lint")
@file_argument
@corpus_option
@click.option("--rule", "rules", multiple=True, metavar="RULE", help="Look at this rule alone; may be given again.")
@click.option(
    "--severity",
    type=click.Choice(["warning", "error"]),
    default="warning",
    show_default=True,
    help="Leave out what is less severe.",
)
@click.option("--embedder", metavar="KIND", help="Compare the questions with this embedder too (rule same-meaning).")
@click.option(
    "--fix", is_flag=True, help="Mend spaces, letters that are not composed and absent question marks in FILE."
)
@click.option(
    "--list-rules",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_rules,
    help="Print every rule with its severity and meaning.",
)
@json_option
def lint_(
    file: Path,
    source: Path | None,
    rules: tuple[str, ...],
    severity: str,
    embedder: str | None,
    fix: bool,
    as_json: bool,
) -> int:
    """Say which rules the questions of FILE break, and with --corpus (or a board) the rules of the evidence too.

    Lines of a file of the same name ending in .waive let findings stand. Exit code 1 when an error stands; warnings
    alone leave it 0.
    """
    from ragassay.question import lint, literal_problems, report
    from ragassay.run.question_sets.frozen import load_set

    _check_rules(rules)
    file, source = of_board(file, source)
    mended = _mend(file) if fix else ()
    read, frozen = load_set(file)
    pages = None if source is None else pages_of(source)
    similar = None if embedder is None else _similar(embedder)
    found = lint(read.benchmark, pages, waivers=_waivers(file, frozen), similar=similar)
    broken = [finding for finding in found if _wanted(finding, rules, severity)]
    failed = any(finding.fails for finding in broken)
    if as_json:
        unjudgeable = literal_problems(read.benchmark)
        lists = {"lint": report.to_values(broken), "withoutLiterals": unjudgeable, "fixed": report.to_values(mended)}
        print_json({**about(read), "ok": not failed, **lists})
    else:
        _print_lines(report.repair_lines(mended))
        _print_lines(report.lint_lines(broken, _checked(read)))
        _print_unjudgeable(read.benchmark)
    return int(failed)


def _waivers(file: Path, frozen: FrozenSet | None) -> tuple[Waiver, ...]:
    """Return the waivers beside a question file; of a frozen set, those that were signed with it."""
    from ragassay.question import load_waivers
    from ragassay.question.rules.waived import waiver_of

    if frozen is None:
        return load_waivers(file)
    return tuple(waiver_of(one.rule, one.questions, one.reason) for one in frozen.predicate.lint.waivers)


def _check_rules(rules: Sequence[str]) -> None:
    from difflib import get_close_matches

    from ragassay.question.rules import BY_NAME

    for rule in rules:
        if rule not in BY_NAME:
            near = get_close_matches(rule, BY_NAME, 1)
            hint = f"did you mean {near[0]!r}?" if near else "--list-rules names them"
            raise click.UsageError(f"there is no rule {rule!r}; {hint}")


def _wanted(finding: LintFinding, rules: Sequence[str], severity: str) -> bool:
    return (not rules or finding.rule in (*rules, "waiver-wrong")) and (
        severity == "warning" or finding.severity == "error"
    )


def _similar(kind: str) -> Similar:
    """Return the cosine similarity of texts by an embedder of that kind; raises `PluginError` where there is none."""
    import numpy as np

    from ragassay.plugins import load

    embedder = load("embedders", kind)()

    def similar(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        rows = np.asarray(embedder.embed(texts, "document"), dtype=np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(lengths == 0, 1, lengths)
        matrix: Sequence[Sequence[float]] = (rows @ rows.T).tolist()
        return matrix

    return similar


def _mend(file: Path) -> Sequence[Repair]:
    """Write the safe repairs into a question file, whole or not at all, and return them."""
    from ragassay.errors import InputError
    from ragassay.question import load_file
    from ragassay.question.repairs import repaired, repairs
    from ragassay.run.question_sets.frozen import envelope_beside
    from ragassay.run.workspace import replace_bytes

    wanted = repairs(load_file(file).benchmark)
    if not wanted:
        return ()
    file = file.resolve()  # a link stays one: what it leads to is mended
    if (envelope := envelope_beside(file)).exists():
        raise InputError(f"{file} is frozen by {envelope.name} and is not mended; make the next version")
    if not os.access(file, os.W_OK) or not file.stat().st_mode & WRITABLE:
        raise InputError(f"{file} is read-only and is not mended; make it writable")
    before = file.read_bytes()
    made = repaired(before, name=file.stem, suffix=file.suffix, wanted=wanted)
    if file.read_bytes() != before:
        raise InputError(f"{file} was changed while it was being mended, and was left as it is; try again")
    replace_bytes(file, made)
    return wanted


def _checked(read: QuestionFile) -> str:
    questions = read.benchmark.questions
    unsplit = sum(question.unsplit for question in questions)
    counted = plural(len(questions), "question")
    return counted + (f" ({unsplit} unsplit, unreviewed)" if unsplit else "")


def _print_unjudgeable(benchmark: Benchmark) -> None:
    from ragassay.question import literal_problems

    if ids := literal_problems(benchmark):
        shown = ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")
        click.echo(f"{len(ids)} of {len(benchmark.questions)} questions have a claim without literals: {shown}")


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)
