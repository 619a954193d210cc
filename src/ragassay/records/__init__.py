"""The values that travel through the pipeline: frozen, keyword-only, each made by exactly one stage.

JSON names are camelCase. No record holds a fractional JSON number: scores are integer hundredths, retrieval scores
decimal strings, times integer milliseconds (`_ms`) or seconds (`_s`), money integer micro-USD (`_microusd`), and
what is unknown is None, never 0.
"""

from ragassay.records.answering import Answer, Delivered, Hit, Message, Reply, Retrieval, RetrievalState, Usage
from ragassay.records.calibration import (
    CalibrationReport,
    CalibrationSample,
    Figures,
    JudgeCalibration,
    RaterAgreement,
    RaterLine,
    Rating,
)
from ragassay.records.corpus import Chunk, Corpus, Page
from ragassay.records.judgement import (
    JudgementCounts,
    JudgementReplies,
    JudgementRow,
    JudgementStatus,
    NullRow,
    Purpose,
)
from ragassay.records.judging import (
    MISSING,
    SCORED,
    AnswerKind,
    ClaimVerdict,
    Failure,
    JudgeItem,
    Outcome,
    Profile,
    RawVerdict,
    Status,
    Verdict,
    VerdictWord,
)
from ragassay.records.question import Benchmark, Claim, Provenance, Question
from ragassay.records.reexecution import Reexecution
from ragassay.records.run import (
    Circumstance,
    Config,
    Counts,
    JudgeReply,
    Measure,
    OutputChunk,
    OutputRow,
    OutputVerdict,
    Score,
    Source,
    TelemetryRow,
)
from ragassay.records.values import JSON, Record, Secret, to_json

__all__ = [
    "JSON",
    "MISSING",
    "SCORED",
    "Answer",
    "AnswerKind",
    "Benchmark",
    "CalibrationReport",
    "CalibrationSample",
    "Chunk",
    "Circumstance",
    "Claim",
    "ClaimVerdict",
    "Config",
    "Corpus",
    "Counts",
    "Delivered",
    "Failure",
    "Figures",
    "Hit",
    "JudgeCalibration",
    "JudgeItem",
    "JudgeReply",
    "JudgementCounts",
    "JudgementReplies",
    "JudgementRow",
    "JudgementStatus",
    "Measure",
    "Message",
    "NullRow",
    "Outcome",
    "OutputChunk",
    "OutputRow",
    "OutputVerdict",
    "Page",
    "Profile",
    "Provenance",
    "Purpose",
    "Question",
    "RaterAgreement",
    "RaterLine",
    "Rating",
    "RawVerdict",
    "Record",
    "Reexecution",
    "Reply",
    "Retrieval",
    "RetrievalState",
    "Score",
    "Secret",
    "Source",
    "Status",
    "TelemetryRow",
    "Usage",
    "Verdict",
    "VerdictWord",
    "to_json",
]
