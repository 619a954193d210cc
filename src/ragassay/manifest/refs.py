"""What a manifest says of the things that its configuration describes; made and checked by the same function. Pure."""

from __future__ import annotations

from ragassay import canon
from ragassay.manifest.statement import CorpusRef, Digest, JudgeRef, Metric, ModelRef, StackRef
from ragassay.records import JSON, Config, Record


class ConfigRefs(Record, frozen=True):
    """The members of a predicate that follow from `config.json` alone."""

    corpus: CorpusRef
    stack: StackRef
    model: ModelRef
    judge: JudgeRef
    metric: Metric


def config_refs(config: Config) -> ConfigRefs:
    """Return the references that follow from `config`; raises `ValueError` where it lacks what they need."""
    measure = config.measure
    judge_id = _text(measure.judge, "id", "kind")
    stack = {"stack": measure.stack, "threshold": measure.threshold, "topK": measure.top_k}
    return ConfigRefs(
        corpus=_corpus(measure.corpus),
        stack=StackRef(name=_text(measure.stack, "kind"), digest=_digest(stack)),
        model=ModelRef(id=_text(measure.answer, "id", "kind"), digest=_digest(measure.answer)),
        judge=JudgeRef(id=judge_id, digest=_digest(measure.judge)),
        metric=Metric(id=f"{measure.scorer}-judged-by-{judge_id}"),
    )


def _corpus(corpus: JSON) -> CorpusRef:
    digest = corpus.get("digest")
    if not isinstance(digest, str | None):
        raise ValueError("measure.corpus.digest must be a string or null")  # noqa: TRY004
    counts = [corpus.get(name) for name in ("pages", "chunks")]
    if any(value is not None and (not isinstance(value, int) or isinstance(value, bool)) for value in counts):
        raise ValueError("measure.corpus.pages and .chunks must be integers or null")
    if any(isinstance(value, int) and value < 0 for value in counts):
        raise ValueError("measure.corpus.pages and .chunks cannot be less than 0")
    return CorpusRef(
        pages=counts[0],
        chunks=counts[1],
        digest=None if digest is None else Digest(sha256=digest),
    )


def _text(table: JSON, *names: str) -> str:
    for name in names:
        value = table.get(name)
        if isinstance(value, str) and value:
            return value
    raise ValueError(f"the configuration names no {' or '.join(names)} where one is needed")


def _digest(value: JSON) -> Digest:
    return Digest(sha256=canon.digest(value))
