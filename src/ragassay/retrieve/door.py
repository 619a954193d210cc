"""Asking a stack: the question's text goes in and nothing else; what comes out is checked or is a `StackError`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from time import perf_counter

from ragassay.errors import InputError, PluginError, RunStopped, StackError
from ragassay.records import Chunk, Retrieval
from ragassay.retrieve.check import checked
from ragassay.seams import Retriever


def search(
    retriever: Retriever,
    text: str,
    *,
    chunks: Mapping[str, Chunk],
    owns_corpus: bool,
    top_k: int | None,
    threshold: str | None,
    control: bool = False,
) -> Retrieval:
    """Return what `retriever` delivers for the question `text`, checked; safe to call from several threads.

    `chunks` maps chunk id to chunk. `top_k` None does not cut (the oracle). `threshold` is a decimal string; hits
    with a lower score are dropped and counted. `control` means that retrieval is switched off: nothing is asked.
    `latency_ms` is the time of the search alone.

    Raises `StackError` for everything that goes wrong in or with the stack (`retryable` where asking again may
    help), `InputError` for a `top_k` below 1 or a threshold that is no number, `RunStopped` where the stack's own model
    may not be asked any more.
    """
    cut = _threshold(threshold)
    if top_k is not None and top_k < 1:
        raise InputError(f"top_k = {top_k} must be at least 1")
    if control:
        return Retrieval(state="off", delivered=(), latency_ms=0)
    started = perf_counter()
    hits = _ask(retriever, text, top_k if top_k is not None else max(1, len(chunks)))
    latency_ms = round((perf_counter() - started) * 1000)
    return checked(
        hits, chunks=chunks, owns_corpus=owns_corpus, top_k=top_k, threshold=cut, latency_ms=max(0, latency_ms)
    )


def _ask(retriever: Retriever, text: str, k: int) -> object:
    try:
        found: object = retriever.search(text, k)
        # A lazy sequence may fail only when it is read; that is the stack's failure too.
        return list(found) if isinstance(found, Sequence) and not isinstance(found, str | bytes) else found
    except (StackError, RunStopped):
        raise
    except PluginError as error:
        raise StackError(str(error), retryable=error.retryable) from error
    except Exception as error:  # a stack may raise anything when it is down
        temporary = isinstance(error, TimeoutError | ConnectionError)
        raise StackError(f"the stack raised {type(error).__name__}: {error}", retryable=temporary) from error


def _threshold(given: str | None) -> Decimal | None:
    if given is None:
        return None
    try:
        number = Decimal(given)
    except (InvalidOperation, TypeError, ValueError) as error:
        raise InputError(f"threshold = {given!r} must be a decimal number in quotes") from error
    if not number.is_finite():
        raise InputError(f"threshold = {given!r} must be a finite number")
    return number
