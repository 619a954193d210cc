"""What the verbs share that export runs into one file: options, and what is said afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ragassay.cli.exported import code_of, left_out_lines, run_options
from ragassay.export.about import left_out_json
from ragassay.export.source import RunSource
from ragassay.site.numbers import plural
from ragassay.site.safe import one_line

F = TypeVar("F", bound=Callable[..., Any])


def file_options(name: str) -> Callable[[F], F]:
    """Give a command the options of one written file, which is called `name` unless --out says otherwise."""

    def with_options(command: F) -> F:
        for option in (
            click.option("--json", "as_json", is_flag=True, help="Print JSON."),
            click.option("--force", is_flag=True, help="Replace a file that is there."),
            click.option(
                "--out", type=click.Path(path_type=Path), default=Path(name), show_default=True, help="Where it goes."
            ),
        ):
            command = option(command)
        return run_options(command)

    return with_options


def finish_file(
    ctx: click.Context, out: Path, source: RunSource, counts: dict[str, int], said: str, *, as_json: bool
) -> None:
    """Say what was written and what was left out, and end with the code that follows."""
    if as_json:
        found: dict[str, object] = {"path": str(out), "bytes": out.stat().st_size, "runs": source.exported, **counts}
        click.echo(json.dumps({**found, "leftOut": left_out_json(source.left_out)}, indent=2, ensure_ascii=False))
    else:
        click.echo(
            f"wrote {one_line(str(out))}, {out.stat().st_size:,} bytes: {plural(source.exported, 'run')}, {said}"
        )
        for line in left_out_lines(source.left_out):
            click.echo(line)
    ctx.exit(code_of(source))
