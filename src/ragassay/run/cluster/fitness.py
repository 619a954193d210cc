"""Which boards a cluster can run: what lies on one machine alone is named before anything is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from ragassay import plugins
from ragassay.errors import InputError
from ragassay.run.board_file import BoardFile, ModelTable, RowTable
from ragassay.run.build import Part
from ragassay.run.cluster.shipped import parts_within

_FILES = ("path", "ca_certs", "retriever")
"""Parameters that name a file, or code, beside the board."""
_ADDRESSES = ("base_url", "url", "host")


def refuse_unfit(board: BoardFile, rows: Sequence[RowTable]) -> None:
    """Raise `InputError` with every stack, part and model that cannot be built on another machine, and why."""
    problems = [problem for row in rows for problem in _of_row(row)]
    for name, table in _models(board):
        if table.path is not None:
            problems.append(f"{name}: path = {table.path!r} lies on this machine alone")
    if problems:
        raise InputError(
            f"{board.path.name} cannot be run on a cluster; run it without --executor, or change these",
            problems,
        )


def refuse_local_addresses(board: BoardFile, rows: Sequence[RowTable]) -> None:
    """Raise `InputError` with every address that means another machine on each; for workers on several machines."""
    found = [(name, table.base_url) for name, table in _models(board)]
    for row in rows:
        for part in parts_within(row.stack, f"row {row.name!r}"):
            found += [(f"{part.place}.{key}", part.entry.get(key)) for key in _ADDRESSES]
    problems = [f"{name} is {address}" for name, address in found if is_loopback(address)]
    if problems:
        raise InputError(
            f"{board.path.name} names addresses that each machine of the cluster takes for itself; "
            "give those at which all of them reach the service",
            problems,
        )


def is_loopback(address: Any) -> bool:
    """Tell whether an address or a host is that of whoever asks."""
    if not isinstance(address, str):
        return False
    host = urlsplit(address if "//" in address else f"//{address}").hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _models(board: BoardFile) -> Iterator[tuple[str, ModelTable]]:
    yield "answer", board.answer
    if board.judge.model is not None:
        yield "judge.model", board.judge.model


def _of_row(row: RowTable) -> Iterator[str]:
    for part in parts_within(row.stack, f"row {row.name!r}"):
        named = [key for key in _FILES if part.entry.get(key) is not None]
        if part.seam == "stacks" and not _needs_folder(part):
            continue
        if part.seam == "stacks" and part.entry["kind"] not in plugins.BUILT_IN["stacks"]:
            yield f"{part.place}: the stack {part.entry['kind']!r} is built in the board's folder"
        for key in named:
            yield f"{part.place}: {key} = {part.entry[key]!r} lies on this machine alone"


def _needs_folder(part: Part) -> bool:
    return bool(getattr(plugins.load("stacks", part.entry["kind"]), "needs_folder", False))
