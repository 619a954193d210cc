"""`ragassay export trec`: what runs retrieved as TREC run files, with the qrels that go with them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import click

from ragassay.cli.exported import chosen_runs, code_of, left_out_lines, run_options
from ragassay.export.about import left_out_json
from ragassay.export.out import new_folder
from ragassay.export.source import RunSource
from ragassay.export.trec import Scores, TrecRun, write_trec
from ragassay.records import to_json
from ragassay.site.numbers import plural
from ragassay.site.safe import one_line


@click.command("trec")
@run_options
@click.option("--out", type=click.Path(path_type=Path), default=Path("trec"), show_default=True, help="The new folder.")
@click.option(
    "--scores",
    type=click.Choice(["stack", "rank"]),
    default="stack",
    show_default=True,
    help="The stack's own scores, made to fall strictly, or the rank alone.",
)
@click.option("--force", is_flag=True, help="Replace an earlier export.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def trec(
    ctx: click.Context,
    runs: tuple[str, ...],
    workspace: Path,
    rows: tuple[str, ...],
    voided: bool,
    out: Path,
    scores: str,
    force: bool,
    as_json: bool,
) -> None:
    """Write what runs retrieved as TREC run files, each with qrels on which other tools get the board's measures.

    RUN is a run id or its first characters, or whatever `ragassay verify` takes; default: every run of the workspace.
    """
    source = chosen_runs(runs, workspace, rows=rows, voided=voided)
    with new_folder(out, force=force) as folder:
        written = write_trec(source, folder, scores=cast("Scores", scores))
    if as_json:
        found = {"path": str(out), "runs": [to_json(one) for one in written]}
        click.echo(json.dumps({**found, "leftOut": left_out_json(source.left_out)}, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(_lines(out, written, source)))
    ctx.exit(code_of(source))


def _lines(out: Path, written: Sequence[TrecRun], source: RunSource) -> list[str]:
    lines = [f"wrote {one_line(str(out))}: {plural(len(written), 'run')}"]
    for one in written:
        lines.append(f"  {one_line(one.row)}, pass {one.pass_k}: {one.lines:,} lines, {_said(one)}")
        lines.extend(f"    {note}" for note in _notes(one))
    return [*lines, *left_out_lines(source.left_out)]


def _said(one: TrecRun) -> str:
    m = one.measures
    if m is None:
        return "no question with evidence that is known"
    measured = f"reach@{m.k} {m.reach:.4f}, MRR {m.mrr:.4f}, nDCG@{m.k} {m.ndcg:.4f}"
    return f"{plural(m.questions, 'question')} in the qrels: {measured}"


def _notes(one: TrecRun) -> list[str]:
    nothing = "returned nothing: no line in the run file (trec_eval -c counts 0 for it)"
    counted = (
        (one.returned_nothing, "question", nothing),
        (one.retrieval_failed, "question", "whose retrieval failed: in neither file, and no 0"),
        (one.without_evidence, "question", "without evidence: not in the qrels"),
        (one.text_withheld, "question", "with a withheld text: not in the qrels"),
        (one.scores_lowered, "score", "tied or out of order: lowered to the next float below"),
        (one.questions_by_rank, "question", "without scores that can fall: scored by rank"),
    )
    return [f"{plural(count, what)} {why}" for count, what, why in counted if count]
