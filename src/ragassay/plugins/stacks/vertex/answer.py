"""What Vertex AI Vector Search answers: which chunks, and how its distances become scores of which a higher is better.

The service calls every number a distance. For a dot product its documentation shows the product itself; for a cosine it
shows nothing. So the meaning is found out, by asking for a chunk whose similarities are known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragassay.errors import StackError

SCORES: dict[str, Callable[[float], float]] = {
    "distance": lambda distance: distance,
    "1 - distance": lambda distance: 1 - distance,
    "-distance": lambda distance: -distance,
}
BY_RANK = "1 / rank"
TOLERANCE = 0.02
"""How far, relative to similarities above 1, a distance may be from the similarity that it stands for."""
_OBJECT = re.compile(r"c(0|[1-9][0-9]{0,9})")


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One answer: positions best first, with their distances where the service gave them."""

    positions: tuple[int, ...] = ()
    distances: tuple[float, ...] | None = ()


def id_of(position: int) -> str:
    """Return the id of the data object that holds the chunk at a position."""
    return f"c{position}"


def answer_of(results: Iterable[Any], path: str) -> Answer:
    """Return the chunks of the collection `path` that these results name, each once."""
    positions, distances = [], []
    for result in results:
        folder, _, id = result.data_object.name.rpartition("/")
        found = _OBJECT.fullmatch(id)
        if found is None or folder != f"{path}/dataObjects":
            raise StackError(f"vertex returned {result.data_object.name!r}, which is no chunk of this corpus")
        positions.append(int(found[1]))
        distances.append(result.distance if "distance" in result else None)
    if len(set(positions)) < len(positions):
        raise StackError("vertex returned one chunk twice in an answer")
    known = [one for one in distances if one is not None]
    if known and len(known) < len(distances):
        raise StackError("vertex gave some hits a distance and others none")
    return Answer(positions=tuple(positions), distances=tuple(known) if known or not positions else None)


def meaning_of(answer: Answer, similarities: Sequence[float] | None) -> str:
    """Return how a distance becomes a score: by the similarities where they are known, else by the order."""
    if answer.distances is None:
        return BY_RANK
    if similarities is None:
        rises = len(answer.distances) > 1 and answer.distances[0] < answer.distances[-1]
        return "-distance" if rises else "distance"
    wanted = [similarities[at] if at < len(similarities) else math.nan for at in answer.positions]
    pairs = list(zip(answer.distances, wanted, strict=True))
    off = {how: max((abs(of(one) - two) for one, two in pairs), default=0.0) for how, of in SCORES.items()}
    best = min(off, key=lambda how: off[how])
    if not off[best] <= TOLERANCE * max(1.0, *map(abs, wanted)):
        raise StackError(
            f"vertex gave the distances {answer.distances[:3]} where the similarities are {tuple(wanted[:3])}: what "
            "they mean is unknown, so no score can be made of them"
        )
    return best


def scored(answer: Answer, how: str) -> list[tuple[int, float]]:
    """Return positions and scores; the service's order and its distances must agree."""
    if answer.positions and (answer.distances is None) != (how == BY_RANK):
        raise StackError("vertex gave distances for one question and none for another; build the index again")
    if answer.distances is None:
        return [(at, 1 / rank) for rank, at in enumerate(answer.positions, 1)]
    scores = [SCORES[how](one) for one in answer.distances] if answer.positions else []
    if not all(map(math.isfinite, scores)):
        raise StackError("vertex gave a distance that is no finite number")
    if any(two > one + 1e-5 * max(1.0, abs(one)) for one, two in pairwise(scores)):
        raise StackError(f"vertex returned hits of which {how} rises; hits come best first")
    return list(zip(answer.positions, scores, strict=True))


def counted(answer: Any) -> int:
    """Return the one number of an aggregation; none where nothing was counted."""
    numbers = [value for result in answer.aggregate_results for value in dict(result).values()]
    if not answer.aggregate_results:
        return 0
    if len(numbers) != 1 or not isinstance(numbers[0], int | float):
        raise StackError(f"vertex: a count holds {len(numbers)} values, and one number is wanted")
    return int(numbers[0])


def similar(matrix: NDArray[np.float32], at: int, metric: str) -> list[float]:
    """Return the similarity of every row to the row `at`."""
    rows = matrix.astype(np.float64)
    if metric == "cosine":
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(norms == 0, 1, norms)
    found: list[float] = (rows @ rows[at]).tolist()
    return found
