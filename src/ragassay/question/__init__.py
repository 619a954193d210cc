"""Questions: read them, hash them, find their evidence in the corpus, and say which rules they break."""

from ragassay.question.claims import literal_problems
from ragassay.question.evidence import (
    EvidenceFinding,
    EvidenceState,
    Place,
    evidence_chunks,
    evidence_gone,
    match_evidence,
)
from ragassay.question.load import load_benchmark, load_file
from ragassay.question.parse import Form, QuestionFile, parse_benchmark, parse_file, published_form
from ragassay.question.reviews import Reviewed, ReviewLine, load_reviews, reviewed
from ragassay.question.rules import LintFinding, lint
from ragassay.question.waivers import Waiver, load_waivers

__all__ = [
    "EvidenceFinding",
    "EvidenceState",
    "Form",
    "LintFinding",
    "Place",
    "QuestionFile",
    "ReviewLine",
    "Reviewed",
    "Waiver",
    "evidence_chunks",
    "evidence_gone",
    "lint",
    "literal_problems",
    "load_benchmark",
    "load_file",
    "load_reviews",
    "load_waivers",
    "match_evidence",
    "parse_benchmark",
    "parse_file",
    "published_form",
    "reviewed",
]
