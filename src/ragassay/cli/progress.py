"""Progress on a terminal as bars, elsewhere as plain lines; drawn from counters, at most five times a second."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import click

from ragassay.run.budget import Budget
from ragassay.run.limits import Endpoint
from ragassay.run.status import RunStatus
from ragassay.seams import Progress

DRAW_EVERY_S = 0.2
PLAIN_EVERY_S = 10.0


class Building:
    """Reports long preparations: one line each when it starts to take time, and its end."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, what: str) -> Progress:
        """Return where the progress of `what` goes."""
        began = time.monotonic()

        def progress(done: int, total: int) -> None:
            now = time.monotonic()
            if now - began < 1 or (now - self._last < 1 and done < total):
                return
            self._last = now
            end = "\n" if done >= total or not sys.stderr.isatty() else " " * 10 + "\r"
            click.echo(f"  {what}: {done}/{total} in {now - began:.0f} s{end}", nl=False, err=True)

        return progress


Summary: TypeAlias = Callable[[RunStatus], str]
"""Says in one line how fast it goes, how long it still takes, what it cost and what was retried."""


@contextlib.contextmanager
def shown(status: RunStatus, summary: Summary) -> Iterator[None]:
    """Show how far each row or judge is, and the summary, until the block ends."""
    done = threading.Event()
    draw = _bars if sys.stderr.isatty() else _lines
    thread = threading.Thread(target=draw, args=(status, summary, done), name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def summary_of(endpoints: Sequence[Endpoint], budget: Budget | None, *, unit: str) -> Summary:
    """Return what sums up the work of these endpoints; without a budget no money is named."""

    def summary(status: RunStatus) -> str:
        eta = status.eta_s
        parts = [f"{status.rate_per_s:.1f} {unit}/s", "ETA " + ("?" if eta is None else f"{eta:.0f} s")]
        if budget is not None:
            parts.append(f"{budget.spent_microusd / 1e6:.4f} USD")
        retries: dict[str, int] = {}
        for endpoint in endpoints:
            for kind, count in list(endpoint.retries.items()):
                retries[kind] = retries.get(kind, 0) + count
        if retries:
            parts.append("retried: " + ", ".join(f"{kind} {count}" for kind, count in sorted(retries.items())))
        return " · ".join(parts)

    return summary


def _row_line(status: RunStatus, name: str) -> str:
    row = status.rows[name]
    missing = ", ".join(f"{kind} {count}" for kind, count in sorted(row.missing.items()) if count)
    return f"{row.done}/{row.asked}" + (f" · {missing}" if missing else "")


def _lines(status: RunStatus, summary: Summary, done: threading.Event) -> None:
    while not done.wait(PLAIN_EVERY_S):
        rows = "; ".join(f"{name} {_row_line(status, name)}" for name in list(status.rows))
        click.echo(f"  {status.phase}: {rows} · {summary(status)}", err=True)


def _bars(status: RunStatus, summary: Summary, done: threading.Event) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True) as bars:
        tasks: dict[str, TaskID] = {}
        total = bars.add_task("", total=None, note="")
        while True:
            finished = done.wait(DRAW_EVERY_S)
            for name in list(status.rows):
                row = status.rows[name]
                if name not in tasks:
                    tasks[name] = bars.add_task(name, total=row.asked, note="")
                bars.update(tasks[name], completed=row.done, total=row.asked, note=_row_line(status, name))
            bars.update(total, note=summary(status))
            bars.refresh()
            if finished:
                return
