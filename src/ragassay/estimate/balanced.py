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

MOST_TRIALS = 10_000_000
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
    if _affordable(present):
        return _tried(present), True
    kept = _thinned(present)
    part = present[np.ix_(*kept)]
    if part.all():
        return tuple(map(tuple, kept)), False
    inner = _tried(part)
    return tuple(tuple(levels[index] for index in chosen) for levels, chosen in zip(kept, inner, strict=True)), False


def _tried(present: Present) -> Block:
    """Return the best block over every choice of rows, passes and judges, with each question that is complete there."""
    masks = _masks(present)
    kinds = Counter(masks)
    best: tuple[tuple[int, int], Block] = ((0, 0), ((), (), (), ()))
    for kept in _choices(present.shape[1:]):
        if _rank(len(masks), kept) <= best[0]:
            continue
        needed = _bits(kept, present.shape)
        questions = sum(count for mask, count in kinds.items() if mask & needed == needed)
        if questions and _rank(questions, kept) > best[0]:
            complete = tuple(index for index, mask in enumerate(masks) if mask & needed == needed)
            best = (_rank(questions, kept), (complete, *kept))
    return best[1]


def _rank(questions: int, kept: Block) -> tuple[int, int]:
    """Return the facets with two levels, and the cells: the larger the better."""
    sizes = (questions, *map(len, kept))
    return sum(size > 1 for size in sizes), math.prod(sizes)


def _choices(shape: Sequence[int]) -> Iterator[Block]:
    """Yield every choice of rows, passes and judges, most levels first."""
    return product(*(_subsets(size) for size in shape))


def _bits(kept: Block, shape: Sequence[int]) -> int:
    """Return the bits of the cells of one question in a choice of rows, passes and judges."""
    _, _, passes, judges = shape
    return sum(1 << ((r * passes + p) * judges + j) for r, p, j in product(*kept))


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
    """Return what stays when the level that misses most of its cells is left out, again and again, until none does.

    No facet falls below two levels; where that stops it, gaps remain, in at most two levels of each facet.
    """
    gaps = ~present
    alive = [np.ones(size, dtype=np.bool_) for size in present.shape]
    counts = [gaps.sum(axis=_others(facet)) for facet in range(4)]
    while counts[0].any() and max(int(levels.sum()) for levels in alive) > 2:
        facet, index = _emptiest(counts, [int(levels.sum()) for levels in alive])
        alive[facet][index] = False
        chosen = (slice(None),) * facet + (index,)
        lost = np.expand_dims(gaps[chosen].copy(), facet)
        gaps[chosen] = False
        for other in range(4):
            if other == facet:
                counts[other][index] = 0
            else:
                counts[other] = counts[other] - lost.sum(axis=_others(other))
    return [[int(index) for index in np.flatnonzero(levels)] for levels in alive]


def _others(facet: int) -> tuple[int, ...]:
    return tuple(axis for axis in range(4) if axis != facet)


def _emptiest(counts: Sequence[npt.NDArray[np.int64]], sizes: Sequence[int]) -> tuple[int, int]:
    """Return the facet and level with the largest share of missing cells, of the facets with more than two levels."""
    shares = {facet: counts[facet] * sizes[facet] for facet in range(4) if sizes[facet] > 2}
    facet = max(shares, key=lambda one: (int(shares[one].max()), -one))
    return facet, int(shares[facet].argmax())
