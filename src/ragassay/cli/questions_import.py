"""`ragassay questions import`: a question set of another tool becomes a question file, a worksheet and a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

_ONLY = {
    "split": ("beir",),
    "qrels": ("trec",),
    "documents": ("trec",),
    "field": ("beir", "trec"),
    "answer_field": ("beir", "trec"),
    "any_context": ("ragas",),
}
"""The options that not every form has."""


@click.command("import")
@click.argument("form", metavar="beir|trec|ragas", type=click.Choice(["beir", "trec", "ragas"]))
@click.argument("source", metavar="SOURCE", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("questions.json"), show_default=True, help="The file."
)
@click.option("--corpus", type=click.Path(path_type=Path), metavar="DIR", help="Write the documents as pages here.")
@click.option("--split", multiple=True, metavar="NAME", help="beir: read qrels/NAME.tsv; repeatable [default: test].")
@click.option(
    "--qrels", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help="trec: judgements; repeatable."
)
@click.option(
    "--documents", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help="trec: documents; repeatable."
)
@click.option("--field", metavar="NAME", help="beir, trec: the field that is the question, such as description.")
@click.option("--answer-field", metavar="PATH", help="beir, trec: the field with a reference answer: metadata.answer.")
@click.option(
    "--answers",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take answers from a filled worksheet, or from JSONL with id, target and evidence.",
)
@click.option(
    "--max-evidence",
    type=click.IntRange(0, 1_000_000),
    default=256,
    show_default=True,
    metavar="TOKENS",
    help="A whole document is evidence up to this length.",
)
@click.option("--any-context", is_flag=True, help="ragas: take each of several contexts as sufficient evidence.")
@click.option("--skip-faulty", is_flag=True, help="Leave faulty lines out and list them, in place of refusing all.")
@click.option(
    "--encoding",
    type=click.Choice(["utf-8", "latin-1", "cp1252"]),
    default="utf-8",
    show_default=True,
    help="How the files are encoded.",
)
@click.option("--name", metavar="TEXT", help="The name of the set [default: that of SOURCE].")
@click.option("--force", is_flag=True, help="Replace a question file that is there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def import_(**given: Any) -> int:
    """Import a BEIR folder, TREC topics or a ragas set; what it lacks is listed, and never made up.

    Exit code 1 when a query lacks its answer or anything was left out.
    """
    from ragassay.cli.question_sources import print_json
    from ragassay.cli.questions_import_lines import found, lines
    from ragassay.run.question_sets.import_read import ImportOptions
    from ragassay.run.question_sets.import_set import import_set

    as_json = given.pop("as_json")
    options = ImportOptions(**given)
    _check(options)
    report = import_set(options)
    if as_json:
        print_json(found(report))
    else:
        click.echo("\n".join(lines(report, options)))
    return 0 if report.whole else 1


def _check(options: Any) -> None:
    from ragassay.question.written import name_problem

    for name, forms in _ONLY.items():
        if getattr(options, name) and options.form not in forms:
            raise click.UsageError(f"--{name.replace('_', '-')} is for {' and '.join(forms)}, not for {options.form}")
    if options.out.suffix != ".json":
        raise click.UsageError("--out names a .json file")
    if options.name and (problem := name_problem(options.name)):
        raise click.UsageError(f"--name {problem}")
