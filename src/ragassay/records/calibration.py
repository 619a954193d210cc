"""How people rated stored answers, which answers they were asked about, and how far a judge agrees with them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ragassay.records.values import Record

FOLDER = "calibration"
"""The folder of a workspace that holds ratings, the sample and the report."""
LEVELS = (0, 25, 50, 75, 100)
"""What a person may give an answer, in hundredths."""
CannotSay: TypeAlias = Literal["reference unclear", "answer unreadable", "not competent", "other"]
"""Why a person gave no level; such a rating is no number."""
CalibrationState: TypeAlias = Literal["calibrated", "provisional", "failed", "too few"]


class Rating(Record, frozen=True):
    """One line of `ratings.jsonl`: a level in hundredths, or why there is none, or an earlier line taken back.

    Exactly one of `level`, `reason` and `undoes` is given. A later line of one rater on one item replaces an earlier.
    """

    id: str
    at: int
    """Unix seconds."""
    rater: str
    item: str
    """The SHA-256 over question id, prompt and answer: what was rated."""
    question: str
    answer: str
    """The SHA-256 of the answer's UTF-8 bytes."""
    prompt: str
    """The SHA-256 over what stood beside the answer: question, reference, claims, evidence."""
    rubric: str
    """The SHA-256 over the rubric by which it was rated."""
    level: int | None = None
    reason: CannotSay | None = None
    undoes: str | None = None
    """The id of the line that is taken back."""

    def __post_init__(self) -> None:
        given = [one for one in (self.level, self.reason, self.undoes) if one is not None]
        if len(given) != 1:
            raise ValueError("a rating has exactly one of level, reason and undoes")
        if self.level is not None and self.level not in LEVELS:
            raise ValueError(f"{self.level} is no level; the levels are {', '.join(map(str, LEVELS))}")
        if not 0 <= self.at < 2**53:
            raise ValueError(f"`at` must be Unix seconds from 0 to 2^53 - 1, not {self.at}")


class CalibrationSample(Record, frozen=True):
    """`sample.json`: which stored answers are to be rated. It names no row and no verdict."""

    size: int
    """How many answers were asked for; `items` may be fewer."""
    seed: str
    benchmark: str
    """The digest of the question set."""
    metric: str
    judge: str | None
    """The digest of the judge over whose levels the sample was drawn."""
    rubric: str
    items: tuple[str, ...]


class RaterLine(Record, frozen=True):
    """One rater: ratings that count, those without a level, and those of another rubric, prompt or answer."""

    name: str
    rated: int
    cannot_say: int
    not_counted: int


class Figures(Record, frozen=True):
    """How two raters agree; decimals are strings, None where a figure is undefined: then `undefined` says why."""

    n: int
    rho: str | None
    lower: str | None
    upper: str | None
    qwk: str | None
    bias: str | None
    """Mean of the first minus the second, -1..1."""
    mae: str | None
    exact: str | None
    """Share on the same level."""
    ac2: str | None
    """With `positive`, only where more than 70 % of all ratings are the one level `common`."""
    positive: str | None
    """Agreement on the levels other than `common`."""
    common: int | None
    table: tuple[tuple[int, ...], ...]
    """Counts, the first rater's level down and the second's across, each score on its nearest level."""
    undefined: dict[str, str]
    """By the name of the figure: why it is None."""


class JudgeCalibration(Record, frozen=True):
    """How far one judge agrees with people; in `figures` the judge is the first rater and people are the second."""

    judge: str
    digest: str | None
    purpose: Literal["published", "panel"]
    unjudged: int
    """Answers with a level by people that this judge gave no score; they are in no figure."""
    state: CalibrationState
    why: str
    unmet: tuple[str, ...]
    cautions: tuple[str, ...]
    figures: Figures


class RaterAgreement(Record, frozen=True):
    """How far the raters agree with each other; `figures` for two of them, `alpha` for three and more."""

    raters: tuple[str, ...]
    items: int
    """Answers with a level by two raters at least."""
    figures: Figures | None
    alpha: str | None
    """Krippendorff's α on interval distances; None for two raters, and where it is undefined."""
    undefined: str | None
    """Why there is no α for three raters or more."""


class CalibrationReport(Record, frozen=True):
    """`report.json`: what people's ratings say of each judge."""

    at: int
    """Unix seconds."""
    harness: str
    rubric: str
    rubric_version: str
    ratings: str
    """The SHA-256 of the bytes of `ratings.jsonl` that this report is about."""
    benchmark: str
    """The digest of the question set."""
    sampled: int
    """Answers of the stored sample; 0 where none was drawn."""
    rated: int
    """Answers with a level by at least one person."""
    not_counted: int
    """Ratings by another rubric, under a prompt that has changed, or of an answer that no run holds."""
    raters: tuple[RaterLine, ...]
    judges: tuple[JudgeCalibration, ...]
    between: RaterAgreement | None
    """None below two raters."""
