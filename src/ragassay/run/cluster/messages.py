"""What the process that runs a board and its workers say to each other, as bytes. Pure.

An error travels as what it says, never as a pickled object: what a worker raises is raised again as its own kind.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ragassay.errors import InputError, ModelError, PluginError, RagassayError, RunStopped, StackError, legible
from ragassay.records import Status
from ragassay.run.journal import Entry
from ragassay.run.state import ItemState


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One question of one pass to be asked, with what is journaled of it."""

    row: str
    k: int
    run_id: str
    q: str
    state: ItemState | None = None


class Kept(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One record for the journal of a pass."""

    run_id: str
    entry: Entry


class Ended(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One question that was walked to its end; all its records came before."""

    run_id: str
    q: str
    status: Status
    score: int | None


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """An error as it travels."""

    kind: str
    message: str
    problems: tuple[str, ...] = ()
    model_kind: Any = None
    retryable: bool = False
    retry_after_s: float | None = None


class Batch(msgspec.Struct, kw_only=True):
    """What a worker hands over at once, in order; it keeps it until the next is asked for.

    `calls` and `retries` are sums since it was built, by endpoint.
    """

    number: int = 0
    kept: list[Kept] = msgspec.field(default_factory=list)
    ended: list[Ended] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    fault: Fault | None = None
    calls: dict[str, int] = msgspec.field(default_factory=dict)
    retries: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)


class Hello(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker says of itself when it has started.

    Workers of one machine and one cache folder share what is sent there; keys are sealed for `seal_key`.
    """

    version: str
    machine: str
    node: str
    pid: int
    cache: str
    seal_key: bytes


encode = msgspec.msgpack.Encoder().encode
read_tasks = msgspec.msgpack.Decoder(list[Task]).decode
read_batch = msgspec.msgpack.Decoder(Batch).decode
read_batches = msgspec.msgpack.Decoder(list[Batch]).decode
read_hello = msgspec.msgpack.Decoder(Hello).decode
read_fault = msgspec.msgpack.Decoder(Fault | None).decode


def fault_of(error: BaseException) -> Fault:
    """Return an error as it travels."""
    if isinstance(error, InputError):
        kind = "RunStopped" if isinstance(error, RunStopped) else "InputError"
        return Fault(kind=kind, message=error.message, problems=error.problems)
    if isinstance(error, ModelError):
        return Fault(
            kind="ModelError",
            message=legible(error),
            model_kind=error.kind,
            retryable=error.retryable,
            retry_after_s=error.retry_after_s,
        )
    if isinstance(error, PluginError):
        kind = "StackError" if isinstance(error, StackError) else "PluginError"
        return Fault(kind=kind, message=legible(error), retryable=error.retryable)
    return Fault(kind=type(error).__name__, message=legible(error))


def error_of(fault: Fault, place: str = "") -> RagassayError:
    """Return the error that travelled; `place` says where it was met, where that is not plain."""
    said = f"{place}: {fault.message}" if place else fault.message
    if fault.kind in ("InputError", "RunStopped"):
        return (RunStopped if fault.kind == "RunStopped" else InputError)(said, fault.problems)
    if fault.kind == "ModelError":
        return ModelError(said, kind=fault.model_kind, retryable=fault.retryable, retry_after_s=fault.retry_after_s)
    if fault.kind in ("PluginError", "StackError"):
        return (StackError if fault.kind == "StackError" else PluginError)(said, retryable=fault.retryable)
    return RagassayError(f"{place or 'a worker'}: {fault.kind}: {fault.message}")
