"""The board as one value: what `board.json` holds. No fractional numbers: ratios of integers or decimal strings."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, TypeAlias

from ragassay.records import Record
from ragassay.site.exact import Interval as Interval
from ragassay.site.exact import Ratio as Ratio
from ragassay.site.frozenrecord import FrozenLine
from ragassay.site.judgerecord import Judging, UnderJudge
from ragassay.site.questionrecord import ClosedBook, ExposureLine, RowFairness
from ragassay.site.standrecord import Attestation, Change, Published, PublishedBoard, Review, TakenBack, VoidedRun

SCHEMA = "ragassay.board/3"
READABLE = ("ragassay.board/1", "ragassay.board/2", SCHEMA)
"""Schemas that are read; an earlier one says nothing of what a later version added."""
PREVIEW = "local preview, not published"
NO_RUNS = "No runs yet"
"""What a board without a board file and without a run is called."""

Role: TypeAlias = Literal["row", "control", "oracle"]
Standing: TypeAlias = Literal["ranked", "set_apart", "unranked", "superseded", "not_run", "voided"]
"""`set_apart`: control and oracle, measured like any row and outside the ranking; `voided`: every run is taken back."""
Rung: TypeAlias = Literal["republished", "measured", "re-executed"]
"""How far a run is believed; `re-executed` is what this workspace saw and nobody signed."""
Cause: TypeAlias = Literal["correct", "not_retrieved", "not_used", "contradicted", "unjudged", "unexplained"]
"""`not_used`: retrieved, not used; `unexplained`: lost, and there is no evidence to say where."""


class PlannedRow(Record, frozen=True):
    """One row of a board file.

    `key` is its row key where the stack was built, `left_out` why it was not run, `held` which of its passes were
    begun and are not signed, and why.
    """

    name: str
    stack: str
    key: str | None = None
    left_out: str | None = None
    held: str | None = None
    exposure: str | None = None


class BoardPlan(Record, frozen=True):
    """What a board file asks for; `benchmark` is the digest of the current question set, `benchmark_id` its name."""

    name: str
    rows: tuple[PlannedRow, ...] = ()
    control_waiver: str | None = None
    benchmark: str | None = None
    benchmark_id: str | None = None


class Gap(Record, frozen=True):
    """(row − control) ÷ (oracle − control) with its bootstrap interval, or the reason why there is none."""

    share: str | None
    interval: Interval | None
    note: str | None = None
    seed: str | None = None
    """The seed of the bootstrap as a decimal string: 8 bytes of a SHA-256 do not fit a JSON integer."""


class Reach(Record, frozen=True):
    """Evidence in what the shown run delivered: questions reached within k of those that have evidence."""

    k: int
    exact: int
    folded: int
    """Reached only after a declared fold; `exact + folded` were reached."""
    of: int
    mrr: str
    ndcg: str
    folds: tuple[str, ...] = ()


class Missing(Record, frozen=True):
    """Questions of the window's passes without a score, by class; `asked` is passes × questions."""

    asked: int
    unjudged: int = 0
    answer_failed: int = 0
    retrieval_failed: int = 0
    harness_failed: int = 0

    @property
    def total(self) -> int:
        """Return how many have no score."""
        return self.unjudged + self.answer_failed + self.retrieval_failed + self.harness_failed


class Latency(Record, frozen=True):
    """Milliseconds at the 50th and 95th percentile over all calls of the window."""

    p50_ms: int
    p95_ms: int | None
    """None below 59 calls."""
    calls: int | None = None
    """How many calls are behind them; None in a board that was written before they were counted."""


class Amount(Record, frozen=True):
    """A sum over items whose value is known; `unknown` items said nothing; None where no item said anything."""

    known: int | None
    unknown: int = 0


class RunLine(Record, frozen=True):
    """One run of a row; `shown` marks the lower median, `why_not` says why it is not eligible."""

    id: str
    pass_k: int
    ended: int
    score: Ratio | None
    in_window: bool
    shown: bool
    why_not: str | None = None
    rung: Rung = "measured"
    attested: Attestation | None = None
    filled: int = 0
    """Items that were taken over from another pass."""
    published: Published | None = None
    """None in a local board."""
    taken_back: TakenBack | None = None
    """There for a run that is void; it counts nowhere."""


class BoardRow(Record, frozen=True):
    """One line of the board; every figure is None where it is unknown or does not apply."""

    name: str
    key: str
    measure: str
    role: Role
    stack: str
    standing: Standing
    reason: str | None = None
    upstream: str | None = None
    """Where republished scores come from, as their importer says."""
    rank: int | None = None
    rank_interval: tuple[int, int] | None = None
    not_distinguished: bool | None = None
    """True when the row is not distinguished from the first."""
    leads: bool | None = None
    """Of the first row where it lies above every other after Holm and further judges scored rows: whether each of them
    sees it above too."""
    score: Ratio | None = None
    range: tuple[Ratio, Ratio] | None = None
    mean: str | None = None
    interval: Interval | None = None
    bounds: tuple[str, str] | None = None
    """The mean with every missing item at 0 and at 1; None where nothing is missing."""
    gap: Gap | None = None
    reach: Reach | None = None
    fully_right: int | None = None
    fully_wrong: int | None = None
    correct_without_reach: int | None = None
    questions: int = 0
    missing: Missing = Missing(asked=0)
    insufficient: int = 0
    abstained: int = 0
    refused: int = 0
    retrieval_empty: int = 0
    retrieval_latency: Latency | None = None
    answer_latency: Latency | None = None
    input_tokens: Amount = Amount(known=None)
    """Of the shown run, answering only."""
    output_tokens: Amount = Amount(known=None)
    cost_microusd: Amount = Amount(known=None)
    """Of the shown run: searching, answering and judging."""
    cost_per_1000_microusd: int | None = None
    search_cost_per_1000_microusd: int | None = None
    """Of the shown run: what 1,000 searches cost that ask a service of their own; None where none does, or unknown."""
    """Answering 1,000 questions."""
    context_tokens: int | None = None
    """Mean per question over the shown run; a token is a match of \\w+|[^\\w\\s]."""
    top_k: int = 0
    threshold: str | None = None
    exposure: str | None = None
    fairness: RowFairness | None = None
    """Whether the questions' evidence is in the row's texts; None where it is not recorded, or not believed."""
    fairness_fault: str | None = None
    """Why what is recorded of it is not believed."""
    passes: int = 0
    """Runs in the window."""
    runs: tuple[RunLine, ...] = ()
    rung: Rung | None = None
    """The rung that every run of the window, and every one that came out different, has reached; None without runs."""
    attested: Attestation | None = None
    """How far the log shows every run of the window; None where that is not known."""
    changes: tuple[Change, ...] = ()
    """Of a superseded row: what the row that stands in its place measures otherwise."""
    warnings: tuple[str, ...] = ()


class Pair(Record, frozen=True):
    """Two rows on the questions that both have; `difference` is a − b of the question means."""

    a: str
    b: str
    questions: int
    difference: str | None
    interval: Interval | None
    """Better on such questions: paired t."""
    repeat_interval: Interval | None
    """Repeatable on these questions: pass noise only."""
    repeat_note: str | None
    p: str | None
    p_holm: str | None
    """None where the pair is outside the family (control, oracle, unranked)."""
    distinguished: bool | None
    detectable: str | None
    """The smallest difference that this design shows with 80 % power."""
    wins: int
    ties: int
    losses: int
    deciding: tuple[str, ...]
    """Questions on which the rows differ, largest difference first."""
    differences: dict[str, str]
    """Question to its difference, for every common question."""
    bounds: tuple[str, str] | None = None
    notes: tuple[str, ...] = ()
    seed: str | None = None
    """The seed of the sign flips as a decimal string; None where every sign pattern was counted."""
    under: tuple[UnderJudge, ...] = ()
    """The same difference under each further judge."""

    @property
    def against(self) -> tuple[str, ...]:
        """Return the further judges that see the other sign, or no difference at all."""
        side = Decimal(self.difference or 0)
        seen = [(one.judge, Decimal(one.difference)) for one in self.under if one.difference is not None]
        return tuple(judge for judge, difference in seen if side and difference * side <= 0)


class Cell(Record, frozen=True):
    """One question on one row: the mean over the window's scored passes, and the cause in the shown run."""

    row: str
    mean: str | None
    scored: int
    cause: Cause


class QuestionLine(Record, frozen=True):
    """One question over all rows; `spread` is max − min of the rows' means, control and oracle aside."""

    id: str
    topic: str | None
    spread: str | None
    flags: tuple[str, ...]
    cells: tuple[Cell, ...]


class BenchmarkLine(Record, frozen=True):
    """The question set of a table."""

    id: str
    version: str
    items: int
    digest: str
    item_set: str


class Table(Record, frozen=True):
    """Rows that may be ranked against each other: one question set, judge, scorer, answering model and corpus."""

    id: str
    main: bool
    why_apart: str | None
    benchmark: BenchmarkLine
    scorer: str
    judge: str
    judge_kind: str
    answer: str
    answer_kind: str
    corpus: str | None
    metric: str
    sentence: str
    rows: tuple[BoardRow, ...]
    pairs: tuple[Pair, ...]
    questions: tuple[QuestionLine, ...]
    warnings: tuple[str, ...]
    judging: Judging | None = None
    """What is known of the judges; None where nothing but the runs themselves is."""
    review: Review | None = None
    """Who reviewed the questions; None in a board of an earlier schema."""
    facts: tuple[str, ...] = ()
    """What is known of the questions and speaks against nothing, in sentences."""
    exposure: tuple[ExposureLine, ...] = ()
    """What each row declares of its exposure to the questions, and what its runs show."""
    frozen: FrozenLine | None = None
    """The item manifest of the question set; None where no run names one."""
    closed_book: ClosedBook | None = None
    """What the control answers without retrieval; None where no control was measured here."""


class RefusedRun(Record, frozen=True):
    """A run that is neither drawn nor ranked, and why."""

    id: str
    codes: tuple[str, ...]
    reason: str


class Board(Record, frozen=True):
    """Everything that the board says; `generated` in Unix seconds."""

    schema: str
    name: str
    scope: Literal["local", "public"]
    generated: int
    harness: str
    sentence: str
    tables: tuple[Table, ...]
    refused: tuple[RefusedRun, ...]
    warnings: tuple[str, ...]
    control_waiver: str | None = None
    attested: str | None = None
    """How many runs were announced before their first answer and seen by witnesses, where any was."""
    voided: tuple[VoidedRun, ...] = ()
    """Every run that is void, also where its row has others."""
    published: PublishedBoard | None = None
    """Of a public board."""

    @property
    def main(self) -> Table | None:
        """Return the table of the current question set, or None where there is no verified run."""
        return self.tables[0] if self.tables else None
