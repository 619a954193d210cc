"""Canonical bytes of the lines and files of a run, quickly: msgspec where it writes what RFC 8785 asks for.

A record whose keys are fixed ASCII names and which holds no free-form JSON is written by msgspec in sorted order to
exactly the bytes of RFC 8785 (a property test holds them equal); that is some twenty times faster. Everything with
free-form JSON goes through `canon`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from ragassay import canon
from ragassay.records import Benchmark, OutputRow, Record, to_json

R = TypeVar("R", bound=Record)

_ENCODER = msgspec.json.Encoder(order="sorted")
_WIDE_INTEGER = re.compile(rb"[:\[,]-?[0-9]{16}")


def encode_record(record: Record) -> bytes:
    """Return the canonical bytes of a record without free-form JSON; raises `NotCanonical` (lone surrogate, width)."""
    try:
        data = _ENCODER.encode(record)
    except UnicodeEncodeError as error:
        raise canon.NotCanonical(f"cannot be written as canonical JSON: {error}") from error
    if _WIDE_INTEGER.search(data):
        return canon.canonical(to_json(record))
    return data


def encode_rows(rows: Iterable[Record]) -> bytes:
    """Return one canonical JSON line per row, each ended by a line feed."""
    return b"".join(encode_record(row) + b"\n" for row in rows)


def content_digest(rows: Iterable[OutputRow]) -> str:
    """Return the SHA-256 over the canonical lines of `rows` without their members `run` and `pass`.

    Two runs of the same content have the same digest whoever ran them, whenever, and as whichever pass.
    """
    digest = hashlib.sha256()
    for row in rows:
        members = msgspec.to_builtins(row)
        del members["run"], members["pass"]
        digest.update(_ENCODER.encode(members) + b"\n")
    return digest.hexdigest()


def line_decoder(kind: type[R]) -> Callable[[bytes], R]:
    """Return a function that reads one canonical line as `kind` and raises `NotCanonical` on anything else."""
    decoder = msgspec.json.Decoder(kind)

    def decode(line: bytes) -> R:
        try:
            record: R = decoder.decode(line)
            written = encode_record(record)
        except canon.NotCanonical:
            raise
        except (ValueError, RecursionError) as error:
            raise canon.NotCanonical(str(error)) from error
        if written != line:
            raise canon.NotCanonical("valid JSON but not in canonical form (RFC 8785)")
        return record

    return decode


def encode_benchmark(benchmark: Benchmark) -> bytes:
    """Return `benchmark.full_form()`, the quick way where its free-form part allows it."""
    try:
        quick = _ENCODER.encode(benchmark.corpus) == canon.canonical(benchmark.corpus)
        return encode_record(benchmark) if quick else benchmark.full_form()
    except (UnicodeEncodeError, RecursionError) as error:
        raise canon.NotCanonical(f"cannot be written as canonical JSON: {error}") from error


def item_set_digest(benchmark: Benchmark) -> str:
    """Return `benchmark.item_set_digest()`; its keys are fixed ASCII names, so msgspec writes it."""
    return canon.sha256(_ENCODER.encode(benchmark.item_set()))


def split_lines(data: bytes, *, max_rows: int) -> Sequence[bytes]:
    """Return the lines of a JSON Lines file whose every line ends in a line feed; raises `NotCanonical`."""
    if not data:
        return ()
    if not data.endswith(b"\n"):
        raise canon.NotCanonical("the last line does not end in a line feed: the file is torn or was cut")
    if data.count(b"\n") > max_rows:
        raise canon.NotCanonical(f"more than the {max_rows} lines allowed")
    return data[:-1].split(b"\n")
