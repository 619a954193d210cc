"""Questions: read them, hash them, find their evidence in the corpus, and say which rules they break."""

from ragassay.question.evidence import (
    EvidenceFinding,
    EvidenceState,
    Place,
    evidence_chunks,
    evidence_gone,
    match_evidence,
)
from ragassay.question.judgeable import literal_problems
from ragassay.question.load import load_benchmark, load_file
from ragassay.question.parse import Form, QuestionFile, parse_benchmark, parse_file, published_form

__all__ = [
    "EvidenceFinding",
    "EvidenceState",
    "Form",
    "Place",
    "QuestionFile",
    "evidence_chunks",
    "evidence_gone",
    "literal_problems",
    "load_benchmark",
    "load_file",
    "match_evidence",
    "parse_benchmark",
    "parse_file",
    "published_form",
]
