"""What a board says of its judges: further judges, the judge's own noise, null rows, conformance, people."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from ragassay.records import NullRow, Record
from ragassay.records.calibration import Figures
from ragassay.site.exact import Ratio

NoiseState: TypeAlias = Literal["measured", "deterministic", "not_asked", "undefined"]
ConformanceState: TypeAlias = Literal["measured", "stale", "not_measured"]
CalibrationStanding: TypeAlias = Literal["calibrated", "provisional", "not_calibrated", "stale", "none"]


class JudgedRow(Record, frozen=True):
    """One row under one judge, by its judgements of exactly the runs of the row's window.

    Where a run has none, or a question has no score, there is no score and `why` says so.
    """

    row: str
    runs: int
    """Runs of the window."""
    judged_runs: int
    """Those of them that this judge judged."""
    score: Ratio | None = None
    """The lower median of the window under this judge."""
    mean: str | None = None
    bounds: tuple[str, str] | None = None
    """The mean with every missing item at 0 and at 1; None where nothing is missing or a run is not judged."""
    rank: int | None = None
    """Among the ranked rows that this judge scored."""
    rank_published: int | None = None
    """Among the same rows under the published judge."""
    asked: int = 0
    """Items of the runs judged."""
    unjudged: int = 0
    """Items on which this judge failed."""
    not_judged: dict[str, int] = msgspec.field(default_factory=dict)
    """Items that it was not asked about, by the reason."""
    why: str | None = None
    agreement: Figures | None = None
    """With the published judge on distinct answers of the row; this judge is the first rater."""

    @property
    def moved(self) -> bool:
        """Tell whether the row has another rank under this judge."""
        return self.rank != self.rank_published


class NullRowLine(Record, frozen=True):
    """What a judge gave one text in place of every answer, which must be 0 on every question."""

    null_row: NullRow
    runs: int
    judged: int
    unjudged: int
    above: int
    """Questions that got more than 0."""
    highest: int | None
    """The highest item score in hundredths; None where nothing was judged."""
    score: Ratio | None


class KindLine(Record, frozen=True):
    """Conformance on the cases of one kind: those with the right score, of those judged, of all."""

    kind: str
    right: int
    judged: int
    cases: int


class ConformanceLine(Record, frozen=True):
    """How a judge did on the cases whose right verdicts are known; `stale` where that was another judge than this."""

    state: ConformanceState
    why: str | None = None
    right: int = 0
    judged: int = 0
    cases: int = 0
    unjudged: int = 0
    settled: int = 0
    not_asked: int = 0
    created: int = 0
    """Unix seconds."""
    prompt: str | None = None
    """Digest of the prompt's template; None for a judge without one."""
    judge: str | None = None
    """Digest of the judge that was measured."""
    kinds: tuple[KindLine, ...] = ()
    """Least right first."""
    notes: tuple[str, ...] = ()


class CalibrationLine(Record, frozen=True):
    """How far a judge agrees with people; in `figures` the judge is the first rater."""

    state: CalibrationStanding
    why: str | None = None
    cautions: tuple[str, ...] = ()
    figures: Figures | None = None
    raters: int = 0
    unjudged: int = 0
    at: int = 0
    """Unix seconds."""


class JudgeLine(Record, frozen=True):
    """One judge of a table; the published one is that whose scores the runs themselves hold."""

    id: str
    name: str
    """The id, made distinct where two judges share it."""
    digest: str | None
    published: bool
    rows: tuple[JudgedRow, ...]
    order_changed: bool | None
    """Whether a ranked row has another rank under this judge; None for the published one, and below two rows."""
    agreement: Figures | None = None
    """With the published judge, pooled over the distinct answers of all rows, control and oracle too."""
    null_rows: tuple[NullRowLine, ...] = ()
    conformance: ConformanceLine = ConformanceLine(state="not_measured")
    calibration: CalibrationLine = CalibrationLine(state="none")


class NoiseLine(Record, frozen=True):
    """What asking the published judge again changed in one row; scores in 0..1 as decimal strings of six places."""

    row: str
    state: NoiseState
    runs: int
    runs_again: int
    """Runs of the window of which items were asked again."""
    n: int = 0
    """Items with a score both times."""
    lost: int = 0
    """Items asked again with no score from one of the two times; they are in no number."""
    whole: bool = False
    """Whether every judged item of every run of the window was asked again."""
    score_changed: int = 0
    verdict_changed: int = 0
    score_share: str | None = None
    mean_absolute: str | None = None
    mean_change: str | None = None
    sd: str | None = None
    effect: str | None = None
    """What the noise adds to the standard error of the row's mean."""
    note: str | None = None


class ComponentLine(Record, frozen=True):
    """One component of variance; `negative` marks a 0 that was a negative estimate."""

    facets: tuple[str, ...]
    variance: str
    share: str | None
    negative: bool


class ComponentsLine(Record, frozen=True):
    """Where the variance of item scores comes from; `undefined` says why there is none."""

    undefined: str | None = None
    questions: int = 0
    rows: int = 0
    passes: int = 0
    judges: int = 0
    dropped: tuple[str, ...] = ()
    not_separated: tuple[str, ...] = ()
    components: tuple[ComponentLine, ...] = ()
    standard_error: str | None = None
    """Of a difference of two rows under this design with one judge."""
    from_questions: str | None = None
    """The share of that variance which endless questions would take away; likewise the next two."""
    from_passes: str | None = None
    from_judges: str | None = None
    advice: str | None = None
    note: str | None = None


class RefusedJudgement(Record, frozen=True):
    """A judgement that is used for nothing, and why."""

    run: str
    id: str
    """The name of its folder."""
    code: str
    reason: str


class UnderJudge(Record, frozen=True):
    """The difference of two rows under a further judge; None where it did not score both."""

    judge: str
    difference: str | None


class Judging(Record, frozen=True):
    """All that a table says of its judges, the published one first."""

    judges: tuple[JudgeLine, ...]
    noise: tuple[NoiseLine, ...]
    components: ComponentsLine | None = None
    """None below two judges, or where nothing was passed or asked twice."""
    refused: tuple[RefusedJudgement, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def panel(self) -> tuple[JudgeLine, ...]:
        """Return the further judges."""
        return self.judges[1:]
