"""Where evidence stands in what a run delivered, found once per text and not once per pass. Pure."""

from __future__ import annotations

from functools import lru_cache

from ragassay.manifest.statement import RunDocument
from ragassay.occurrence import Searched
from ragassay.records import OutputRow
from ragassay.score import EvidenceRanks, evidence_ranks, ndcg_at_k, reach_at_k, reciprocal_rank
from ragassay.site.numbers import decimal6
from ragassay.site.record import Reach

UNKNOWN = EvidenceRanks(state="none")


@lru_cache(maxsize=20_000)
def _ranks(evidence: tuple[str, ...], texts: tuple[str, ...]) -> EvidenceRanks:
    return evidence_ranks(evidence, texts)


@lru_cache(maxsize=50_000)
def marks(evidence: tuple[str, ...], text: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of `text` that hold accepted evidence, merged, in order; offsets into the original text."""
    searched = Searched(text)
    found = [match for wanted in evidence if wanted.strip() and (match := searched.find(wanted).first)]
    return merged([(match.start, match.end) for match in found])


def merged(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return overlapping half-open spans joined, in order."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def delivered_ranks(row: OutputRow, evidence: tuple[str, ...]) -> EvidenceRanks:
    """Return where the evidence of a question stands in what was delivered; unknown where a text is withheld."""
    texts = tuple(chunk.text for chunk in row.chunks if chunk.text is not None)
    if len(texts) != len(row.chunks) or row.retrieval in ("off", "failed"):
        return UNKNOWN
    return _ranks(evidence, texts)


def reach(document: RunDocument, k: int) -> Reach | None:
    """Return reach@k, MRR and nDCG of one run over the questions that have evidence; None where nothing is known.

    A search that found nothing counts as 0; a failed one is not counted at all.
    """
    found = [
        delivered_ranks(row, question.evidence)
        for row, question in zip(document.outputs, document.benchmark.questions, strict=True)
    ]
    known = [ranks for ranks in found if ranks.state != "none"]
    if not known:
        return None
    within = [ranks for ranks in known if reach_at_k(ranks, k)]
    folds = sorted({fold for ranks in within for fold in ranks.folds})
    return Reach(
        k=k,
        exact=sum(ranks.state == "exact" for ranks in within),
        folded=sum(ranks.state == "folded" for ranks in within),
        of=len(known),
        mrr=decimal6(sum(reciprocal_rank(ranks) or 0.0 for ranks in known) / len(known)),
        ndcg=decimal6(sum(ndcg_at_k(ranks, k) or 0.0 for ranks in known) / len(known)),
        folds=tuple(folds),
    )
