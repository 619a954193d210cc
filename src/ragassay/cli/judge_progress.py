"""How judging is going: a bar per judge on a terminal, elsewhere a plain line now and then."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

import click

from ragassay.run.judge_making import Judges
from ragassay.run.status import RunStatus

DRAW_EVERY_S = 0.2
PLAIN_EVERY_S = 10.0


@contextlib.contextmanager
def shown(status: RunStatus, judges: Judges) -> Iterator[None]:
    """Show rate, time to go, money and failures by kind until the block ends."""
    done = threading.Event()
    draw = _bars if sys.stderr.isatty() else _lines
    thread = threading.Thread(target=draw, args=(status, judges, done), name="progress", daemon=True)
    thread.start()
    status.begin()
    try:
        yield
    finally:
        done.set()
        thread.join()


def line(status: RunStatus, judges: Judges) -> str:
    """Return rate, time to go, money and retries in one line."""
    eta = status.eta_s
    parts = [f"{status.rate_per_s:.1f} items/s", "ETA " + ("?" if eta is None else f"{eta:.0f} s")]
    if judges.endpoints:
        parts.append(f"{judges.budget.spent_microusd / 1e6:.4f} USD")
    retries: dict[str, int] = {}
    for endpoint in judges.endpoints:
        for kind, count in list(endpoint.retries.items()):
            retries[kind] = retries.get(kind, 0) + count
    if retries:
        parts.append("retried: " + ", ".join(f"{kind} {count}" for kind, count in sorted(retries.items())))
    return " · ".join(parts)


def _judge_line(status: RunStatus, name: str) -> str:
    row = status.rows[name]
    missing = ", ".join(f"{kind} {count}" for kind, count in sorted(row.missing.items()) if count)
    return f"{row.done}/{row.asked}" + (f" · {missing}" if missing else "")


def _lines(status: RunStatus, judges: Judges, done: threading.Event) -> None:
    while not done.wait(PLAIN_EVERY_S):
        rows = "; ".join(f"{name} {_judge_line(status, name)}" for name in list(status.rows))
        click.echo(f"  {status.phase}: {rows} · {line(status, judges)}", err=True)


def _bars(status: RunStatus, judges: Judges, done: threading.Event) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True) as bars:
        tasks: dict[str, TaskID] = {}
        summary = bars.add_task("", total=None, note="")
        while True:
            finished = done.wait(DRAW_EVERY_S)
            for name in list(status.rows):
                row = status.rows[name]
                if name not in tasks:
                    tasks[name] = bars.add_task(name, total=row.asked, note="")
                bars.update(tasks[name], completed=row.done, total=row.asked, note=_judge_line(status, name))
            bars.update(summary, note=line(status, judges))
            bars.refresh()
            if finished:
                return
