"""How far a command is that counts things, such as pages: a bar on a terminal, elsewhere a plain line now and then."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator

import click

from ragassay.seams import Progress

PLAIN_EVERY_S = 5.0


@contextlib.contextmanager
def counting(what: str) -> Iterator[Progress]:
    """Show how many of `what` are done until the block ends; a command of a few seconds prints no line."""
    if not sys.stderr.isatty():
        yield _plain(what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def _plain(what: str) -> Progress:
    last = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal last
        if (now := time.monotonic()) - last >= PLAIN_EVERY_S:
            last = now
            click.echo(f"  {what}: {done:,}/{total:,}", err=True)

    return progress
