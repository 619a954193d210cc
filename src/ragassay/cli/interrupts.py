"""Ctrl-C and SIGTERM while calls are under way: the first stops after them, the second at once."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator

import click

from ragassay.run.status import RunStatus


@contextlib.contextmanager
def interruptible(status: RunStatus) -> Iterator[None]:
    """Let the signals stop the task that runs the block; raises `Abort` where it was cut short."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def interrupt() -> None:
        if status.stop:
            task.cancel()
        status.stop = True
        status.phase = "stopping after the calls under way (Ctrl-C again: at once)"

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    except asyncio.CancelledError:
        raise click.exceptions.Abort from None
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
