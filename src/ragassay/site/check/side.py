"""One side of a comparison: a row's scores question by question, from runs or from a `board.json`. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal, InvalidOperation

import msgspec

from ragassay.errors import InputError
from ragassay.manifest.statement import RunDocument
from ragassay.records import Measure
from ragassay.site.record import BoardRow, Table
from ragassay.site.window import RowRuns


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of `asked` passes: for each question the sum of hundredths and how many passes have a score."""

    sums: Mapping[str, tuple[int, int]]
    asked: int
    runs: tuple[str, ...]
    passes: Mapping[str, tuple[int | None, ...]] | None
    """Each pass in hundredths; None where they are not told apart."""
    measure: Measure | None
    harness: str | None

    @property
    def missing(self) -> int:
        """Return how many (question, pass) items have no score."""
        return sum(self.asked - scored for _, scored in self.sums.values())

    def means(self, fill: int | None = None) -> dict[str, float]:
        """Return the mean (0..1) of each question, with missing items as `fill` hundredths, or left out where None."""
        if fill is not None:
            return {q: (s + fill * (self.asked - k)) / (100 * self.asked) for q, (s, k) in self.sums.items()}
        return {question: total / (100 * scored) for question, (total, scored) in self.sums.items() if scored}


def eligible(row: RowRuns) -> list[RunDocument]:
    """Return the runs of a row's window that are eligible, oldest first."""
    return [document for document in row.window if document.predicate.run_id not in row.why_not]


def side_of_runs(row: RowRuns, without: Collection[str] = ()) -> Side:
    """Return the scores of a row's eligible runs but those named in `without`."""
    documents = [d for d in eligible(row) if d.predicate.run_id not in without]
    scores = [{output.id: output.score for output in d.outputs} for d in documents]
    questions = sorted({question for one in scores for question in one})
    passes = {question: tuple(one.get(question) for one in scores) for question in questions}
    latest = row.runs[-1].config
    return Side(
        sums={q: (sum(s for s in row if s is not None), sum(s is not None for s in row)) for q, row in passes.items()},
        asked=len(documents),
        runs=tuple(d.predicate.run_id for d in documents),
        passes=passes,
        measure=latest.measure if latest else None,
        harness=latest.circumstance.harness if latest else None,
    )


def side_of_board(table: Table, row: BoardRow, source: str) -> Side:
    """Return the scores that a `board.json` gives a row; raises `InputError` for one that cannot be a score."""
    problems: list[str] = []
    sums: dict[str, tuple[int, int]] = {}
    for line in table.questions:
        cell = next((cell for cell in line.cells if cell.row == row.key), None)
        if cell is None or not 0 <= cell.scored <= row.passes or (cell.mean is None) != (cell.scored == 0):
            problems.append(f"question {line.id!r}: no readable cell")
            continue
        total = _total(cell.mean, cell.scored)
        if total is None or line.id in sums:
            problems.append(f"question {line.id!r}: {cell.mean!r} is no mean of {cell.scored} scores, or stands twice")
        else:
            sums[line.id] = (total, cell.scored)
    if problems:
        raise InputError(f"{source} cannot be compared with: row {row.name!r} is damaged; write it again", problems)
    runs = tuple(run.id for run in row.runs if run.in_window)
    return Side(sums=sums, asked=row.passes, runs=runs, passes=None, measure=None, harness=None)


def _total(mean: str | None, scored: int) -> int | None:
    """Return the sum of hundredths behind a mean of six places; None where there is none."""
    if mean is None:
        return 0
    try:
        exact = Decimal(mean) * 100 * scored
    except InvalidOperation:
        return None
    if not exact.is_finite() or not 0 <= exact <= 100 * scored:
        return None
    total = round(exact)
    return total if abs(exact - total) <= Decimal("0.0001") * scored else None


def worst_first(differences: Mapping[str, float]) -> Sequence[str]:
    """Return the questions whose difference is below 0, the largest drop first, equal ones by id."""
    fallen = [(round(value, 9), question) for question, value in differences.items() if value < 0]
    return [question for _, question in sorted(fallen)]
