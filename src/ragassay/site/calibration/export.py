"""Ratings as lines for other programs, beside what each judge gave the same answer. Pure."""

from __future__ import annotations

from ragassay import canon
from ragassay.records import Record, to_json
from ragassay.records.calibration import Rating
from ragassay.site.calibration.material import Material
from ragassay.site.calibration.ratings import Standing


class JudgeScore(Record, frozen=True):
    """What one judge gave an answer: hundredths, None where it gave no score or the answer is not there."""

    judge: str
    digest: str | None
    score: int | None


class ExportedRating(Record, frozen=True):
    """One rating that stands; `not_counted` says why it is in no figure, None where it is."""

    rating: Rating
    not_counted: str | None
    judges: tuple[JudgeScore, ...]


def export_lines(standing: Standing, material: Material) -> list[bytes]:
    """Return one canonical JSON line per rating that stands: those that count, then the others."""
    every = [*((rating, None) for rating in standing.counted), *standing.other]
    return [canon.canonical(to_json(_exported(rating, why, material))) + b"\n" for rating, why in every]


def _exported(rating: Rating, why: str | None, material: Material) -> ExportedRating:
    item = material.pool.items.get(rating.item)
    judges = (material.published, *material.panel)
    scores = tuple(
        JudgeScore(judge=one.judge, digest=one.digest, score=one.of(item) if item else None) for one in judges
    )
    return ExportedRating(rating=rating, not_counted=why, judges=scores)
