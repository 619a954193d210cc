"""What `export ragas` and `export ragchecker` print: the files of each run, and the questions without a row."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from ragassay.cli.exported import code_of, left_out_lines
from ragassay.export.about import left_out_json
from ragassay.export.answered import AnsweredRun
from ragassay.export.source import RunSource
from ragassay.records import to_json
from ragassay.site.safe import one_line


def print_answered(out: Path, written: Sequence[AnsweredRun], source: RunSource, *, as_json: bool) -> int:
    """Print what was written, and return the exit code."""
    if as_json:
        found = {"path": str(out), "runs": [to_json(one) for one in written]}
        click.echo(json.dumps({**found, "leftOut": left_out_json(source.left_out)}, indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(_lines(out, written, source)))
    return code_of(source)


def _lines(out: Path, written: Sequence[AnsweredRun], source: RunSource) -> Iterator[str]:
    yield f"wrote {one_line(str(out))}: {len(written)} {'run' if len(written) == 1 else 'runs'}"
    for one in written:
        yield f"  {one_line(one.row)}, pass {one.pass_k}: {one.rows:,} of {one.questions:,} questions"
        yield from (f"    {count:,} without a row: {one_line(reason)}" for reason, count in one.left_out.items())
    yield from left_out_lines(source.left_out)
