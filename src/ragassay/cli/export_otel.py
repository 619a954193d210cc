"""`ragassay export otel`: scores and failures as OpenTelemetry events, into a file or to an endpoint."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from urllib.parse import unquote

import click

from ragassay.cli.exported import chosen_runs, code_of, left_out_lines
from ragassay.cli.exported_file import file_options, finish_file
from ragassay.cli.fetch import shown
from ragassay.errors import InputError
from ragassay.export.about import left_out_json
from ragassay.export.otel_out import Events, logs_address, send_events, write_events
from ragassay.export.out import new_file
from ragassay.export.source import RunSource
from ragassay.records import to_json
from ragassay.site.numbers import plural

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@click.command("otel")
@file_options("events.jsonl")
@click.option("--endpoint", metavar="URL", help="Send to this OTLP/HTTP endpoint in place of writing a file.")
@click.option(
    "--headers-env",
    metavar="NAME",
    default="OTEL_EXPORTER_OTLP_HEADERS",
    show_default=True,
    help="The variable with the headers for the endpoint: name=value,name=value.",
)
@click.pass_context
def otel(
    ctx: click.Context,
    runs: tuple[str, ...],
    workspace: Path,
    rows: tuple[str, ...],
    voided: bool,
    out: Path,
    force: bool,
    as_json: bool,
    endpoint: str | None,
    headers_env: str,
) -> None:
    """Write an event `gen_ai.evaluation.result` per question of each run, in the JSON of OTLP.

    RUN is a run id or its first characters, or whatever `ragassay verify` takes; default: every run of the workspace.
    """
    source = chosen_runs(runs, workspace, rows=rows, voided=voided)
    if endpoint is not None:
        sent = send_events(source, endpoint, _headers(headers_env))
        _say_sent(endpoint, source, sent, as_json=as_json)
        ctx.exit(code_of(source))
    with new_file(out, force=force) as file:
        written = write_events(source, file)
    finish_file(ctx, out, source, to_json(written), _words(written), as_json=as_json)


def _say_sent(endpoint: str, source: RunSource, sent: Events, *, as_json: bool) -> None:
    address = shown(logs_address(endpoint))
    if as_json:
        found = {"endpoint": address, "runs": source.exported, **to_json(sent)}
        click.echo(json.dumps({**found, "leftOut": left_out_json(source.left_out)}, indent=2, ensure_ascii=False))
        return
    click.echo(f"sent to {address}: {plural(source.exported, 'run')}, {_words(sent)}")
    for line in left_out_lines(source.left_out):
        click.echo(line)


def _words(events: Events) -> str:
    return f"{events.events:,} events: {events.scored:,} with a score, {events.errors:,} with an error"


def _headers(variable: str) -> dict[str, str]:
    """Return the headers in a variable, as OpenTelemetry writes them; raises `InputError` that holds no value."""
    found: dict[str, str] = {}
    for at, part in enumerate(os.environ.get(variable, "").split(","), 1):
        name, sign, value = (word.strip() for word in part.partition("="))
        value = unquote(value)
        if not name and not sign:
            continue
        if not sign or _NAME.fullmatch(name) is None or not value.isascii() or not value.isprintable():
            raise InputError(f"part {at} of the variable {variable} is no header; write name=value,name=value")
        found[name] = value
    return found
