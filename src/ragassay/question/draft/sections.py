"""Sections of a site from its page ids, and how many pages of each are picked. Pure, and independent of any order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from ragassay import canon


def rank(seed: int, *what: str) -> str:
    """Return where something stands in the order that `seed` draws: it depends on nothing else that is drawn."""
    return canon.digest([seed, *what])


def sections(pages: Iterable[str]) -> dict[str, list[str]]:
    """Return the page ids by section, both in the order of their names.

    A section is the first folder behind the folders that all pages share; one that would hold more than half of the
    pages is split by its next folder. Pages that stand in no such folder are a section of their own.
    """
    ids = sorted(pages)
    shared = _shared([one.split("/")[:-1] for one in ids])
    found = _split(ids, shared)
    while (large := _largest(found, len(ids))) is not None:
        inner = _split(found[large], large.count("/"))
        if inner.keys() == {large}:
            break
        del found[large]
        found |= inner
    return dict(sorted(found.items()))


def allot(sizes: Mapping[str, int], count: int, seed: int) -> dict[str, int]:
    """Return how many of `count` pages each section gets: its share by largest remainder, at least one where it fits.

    `sizes` holds the pages to pick from; no section gets more than it has. Equal remainders go by the larger section,
    then by the seed's order. Where there are fewer pages than `count`, all are taken.
    """
    held = {name: size for name, size in sizes.items() if size > 0}
    total = sum(held.values())
    if count >= total:
        return {**dict.fromkeys(sizes, 0), **held}
    sure: dict[str, int] = {}
    while count >= len(held) and (small := _below_one(held, count, sure)):
        sure |= dict.fromkeys(small, 1)
    rest = {name: size for name, size in held.items() if name not in sure}
    left = count - len(sure)
    given = {name: int(_quota(size, rest, left)) for name, size in rest.items()}

    def order(name: str) -> tuple[Fraction, int, str]:
        return given[name] - _quota(rest[name], rest, left), -rest[name], rank(seed, "section", name)

    for name in sorted(rest, key=order)[: left - sum(given.values())]:
        given[name] += 1
    return {**dict.fromkeys(sizes, 0), **sure, **given}


def _below_one(held: Mapping[str, int], count: int, sure: Mapping[str, int]) -> list[str]:
    """Return the sections whose share of what is left is less than one."""
    rest = {name: size for name, size in held.items() if name not in sure}
    return [name for name, size in rest.items() if _quota(size, rest, count - len(sure)) < 1]


def _quota(size: int, rest: Mapping[str, int], left: int) -> Fraction:
    return Fraction(size * left, sum(rest.values()))


def _shared(folders: list[list[str]]) -> int:
    if not folders:
        return 0
    first, last = min(folders), max(folders)
    pairs = zip(first, last, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(first), len(last)))


def _split(ids: Iterable[str], depth: int) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in ids:
        folders = one.split("/")[:-1]
        found.setdefault("".join(f"{folder}/" for folder in folders[: depth + 1]), []).append(one)
    return found


def _largest(found: Mapping[str, list[str]], pages: int) -> str | None:
    return next((name for name, ids in found.items() if name and 2 * len(ids) > pages), None)
