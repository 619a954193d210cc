"""What `claims freeze` writes and prints at its end: the frozen question file, counts and hashes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragassay.cli.claims_lines import count_line, counts
from ragassay.cli.new_file import write_new
from ragassay.question.freeze import claims_hashes, frozen_benchmark
from ragassay.records import Benchmark
from ragassay.run.question_sets.claims_files import ReviewFile
from ragassay.site.safe import one_line

if TYPE_CHECKING:
    from ragassay.cli.claims import Given


def write_frozen(
    benchmark: Benchmark, file: ReviewFile, version: str, out: Path, report: dict[str, Any], *, force: bool
) -> None:
    """Write the question file with every taken proposal, and report on it; where none is taken, write nothing."""
    taken = {identity: one for identity, one in file.proposals.items() if one.frozen}
    if not taken:
        return
    frozen = frozen_benchmark(benchmark, taken, version)
    write_new(out, frozen.full_form(), force=force)
    each, whole = claims_hashes(frozen.questions)
    report["frozen"] = {
        "file": str(out),
        "version": version,
        "questions": list(taken),
        "claims": each,
        "claimsHash": whole,
        "digest": frozen.digest(),
        "digestBefore": benchmark.digest(),
        "itemSet": frozen.item_set_digest(),
        "unsplit": [question.id for question in frozen.questions if question.unsplit],
    }


def print_report(
    benchmark: Benchmark, questions: Path, file: ReviewFile, given: Given, report: Mapping[str, Any]
) -> None:
    """Print what stands where, what was refused and what was written; `questions` is the file as it was named."""
    found = counts(file.proposals)
    if given.as_json:
        whole = {**report, "counts": found, "review": str(file.path)}
        click.echo(json.dumps(whole, ensure_ascii=False, indent=1))
        return
    for identity in report["stale"]:
        click.echo(f"  stale     {one_line(identity)}: proposed for a question that changed or is gone; not used")
    for identity, problems in report.get("refused", {}).items():
        click.echo(f"  refused   {one_line(identity)}: {one_line('; '.join(problems))}")
    click.echo(count_line(benchmark.questions, file.proposals))
    if "frozen" in report:
        _print_frozen(len(benchmark.questions), report["frozen"])
    elif given.accept or given.out:
        click.echo("no proposal is accepted, so no question file was written")
    elif found["proposed"] and not given.review:
        click.echo(f"look at them: ragassay claims freeze {one_line(str(questions))} --review --reviewer NAME")


def _print_frozen(questions: int, about: Mapping[str, Any]) -> None:
    print_hashes({identity: about["claims"][identity] for identity in about["questions"]}, about["claimsHash"])
    click.echo(f"wrote {one_line(about['file'])}: version {one_line(about['version'])}")
    if about["unsplit"]:
        click.echo(f"{len(about['unsplit'])} of {questions} questions still have no claims of their own")
    click.echo(f"the benchmark's digest was {about['digestBefore']}")
    click.echo(f"             and is now    {about['digest']}: runs on it are other rows than before")


def print_hashes(each: Mapping[str, str], whole: str) -> None:
    """Print the claims' hash of each question, and the one over all questions that have claims."""
    for identity, digest in each.items():
        click.echo(f"claims hash  {digest}  {one_line(identity)}")
    click.echo(f"claims hash  {whole}  in all")
