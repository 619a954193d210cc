"""The largest fully crossed part of question × row × pass × judge."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

Cell: TypeAlias = tuple[str, str, int, str]
"""Question, row, pass, judge."""
Cells: TypeAlias = Mapping[Cell, int | None]
"""The item score of each cell in hundredths, None where there is none."""
Present: TypeAlias = npt.NDArray[np.bool_]
"""Which cells have a score, [question, row, pass, judge]."""
Block: TypeAlias = tuple[tuple[int, ...], ...]
"""The levels that are kept of each of the four facets, as indices."""

MOST_TRIALS = 4_000_000
"""Choices of rows, passes and judges, times the kinds of gaps that questions have, up to which all are tried."""


class Grid(msgspec.Struct, frozen=True, kw_only=True):
    """The levels of the four facets, sorted, and which cells have a score."""

    levels: tuple[tuple[str | int, ...], ...]
    present: Present


def grid(scores: Cells) -> Grid:
    """Return the full crossing of every level that has at least one score."""
    cells = [cell for cell, score in scores.items() if score is not None]
    levels = tuple(tuple(sorted({cell[facet] for cell in cells})) for facet in range(4))
    at = [{level: index for index, level in enumerate(one)} for one in levels]
    present = np.zeros([len(one) for one in levels], dtype=np.bool_)
    for cell in cells:
        present[tuple(at[facet][cell[facet]] for facet in range(4))] = True
    return Grid(levels=levels, present=present)


def largest_balanced(present: Present) -> tuple[Block, bool]:
    """Return the largest part without a missing cell, and whether it is certainly the largest.

    A part that keeps more facets with two levels goes before one with more cells: otherwise a second judge of half of
    the questions would be left out, and with it all that was to be learned of judges. Among equals the part with
    earlier levels. Where there are too many choices to try, the emptiest levels are left out first.
    """
    if present.all():
        return tuple(tuple(range(size)) for size in present.shape), True
    kept = _thinned(present)
    inner = _tried(present[np.ix_(*kept)])
    block = tuple(tuple(levels[index] for index in chosen) for levels, chosen in zip(kept, inner, strict=True))
    return block, [len(levels) for levels in kept] == list(present.shape)


def _tried(present: Present) -> Block:
    """Return the best block over every choice of rows, passes and judges, with each question that is complete there."""
    masks = _masks(present)
    kinds = Counter(masks)
    best: tuple[tuple[int, int], Block, int] | None = None
    for kept, needed in _choices(present.shape[1:]):
        questions = sum(count for mask, count in kinds.items() if mask & needed == needed)
        size = questions * needed.bit_count()
        rank = (sum(n > 1 for n in (questions, *map(len, kept))), size) if questions else (0, 0)
        if best is None or rank > best[0]:
            best = (rank, kept, needed)
    if best is None:
        return ((), (), (), ())
    complete = tuple(index for index, mask in enumerate(masks) if mask & best[2] == best[2])
    return (complete, *best[1])


def _choices(shape: Sequence[int]) -> Iterator[tuple[Block, int]]:
    """Yield every choice of rows, passes and judges, most levels first, with the bits of its cells."""
    _, passes, judges = shape
    for some_rows, some_passes, some_judges in product(*(_subsets(size) for size in shape)):
        one_row = sum(1 << (p * judges + j) for p in some_passes for j in some_judges)
        yield (
            (some_rows, some_passes, some_judges),
            sum(one_row << (row * passes * judges) for row in some_rows),
        )


def _subsets(size: int) -> list[tuple[int, ...]]:
    return [chosen for count in range(size, 0, -1) for chosen in combinations(range(size), count)]


def _masks(present: Present) -> list[int]:
    """Return per question a bit for each cell that it has."""
    flat = np.packbits(present.reshape(present.shape[0], -1), axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in flat]


def _affordable(present: Present) -> bool:
    choices: int = math.prod((1 << size) - 1 for size in present.shape[1:])
    return choices * len(set(_masks(present))) <= MOST_TRIALS


def _thinned(present: Present) -> list[list[int]]:
    """Return the levels that stay once the emptiest are left out, one after another, until all choices can be tried."""
    kept = [list(range(size)) for size in present.shape]
    while not _affordable(part := present[np.ix_(*kept)]):
        worst = [
            (float(share), -facet, -index)
            for facet in range(4)
            if len(kept[facet]) > 2
            for index, share in enumerate((~part).mean(axis=tuple(axis for axis in range(4) if axis != facet)))
        ]
        _, facet, index = max(worst)
        del kept[-facet][-index]
    return kept
