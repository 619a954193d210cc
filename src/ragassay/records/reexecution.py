"""What this workspace saw when it executed a signed run again."""

from __future__ import annotations

from typing import Literal

from ragassay.records.values import Record

FOLDER = "reexecutions"
"""The folder of a workspace that holds one record per run, under the run's id with the suffix `.json`."""


class Reexecution(Record, frozen=True):
    """One re-execution as it is kept beside the runs: an observation of whoever made it, signed by nobody."""

    run: str
    manifest: str
    """The SHA-256 over the bytes of the `run.dsse.json` that was executed again."""
    outcome: Literal["equal", "different"]
    rows: int
    differing: int
    """How many rows came out different."""
    content: str
    """The digest over the rows that came out, without run and pass; a filled or withheld part as the run has it."""
    harness: str
    """The version of ragassay that executed it again."""
    at: int
    """Unix seconds."""
