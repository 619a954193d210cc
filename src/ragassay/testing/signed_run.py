"""A tiny signed run with everything in it, for tests of whoever reads runs; its key is public and means nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ragassay import canon
from ragassay.manifest import BENCHMARK, CONFIG, MANIFEST, OUTPUTS, TELEMETRY, Signer, build_run, sign_payload
from ragassay.manifest.build import lines_of
from ragassay.manifest.skeleton import VerdictsDigest, figure_leaves, figures_root
from ragassay.manifest.statement import PAYLOAD_TYPE, IntentRef
from ragassay.records import (
    Answer,
    Benchmark,
    Circumstance,
    Claim,
    ClaimVerdict,
    Config,
    Delivered,
    Failure,
    Measure,
    Outcome,
    Profile,
    Question,
    RawVerdict,
    Retrieval,
    Usage,
    Verdict,
    VerdictWord,
    to_json,
)
from ragassay.score import item_hundredths, status_of

RUN_ID = "0123456789abcdef0123456789abcdef"
STARTED = 1_790_000_000
"""When the first answer was there, in Unix seconds."""


def public_signer(name: str = "test-key-never-trust") -> Signer:
    """Return the key of a public seed: whoever reads this can sign with it, so its signatures mean nothing."""
    return Signer.from_seed(hashlib.sha256(f"ragassay public test key: {name}".encode()).digest(), name)


def sample_benchmark(items: int = 3) -> Benchmark:
    """Return `items` questions of two claims each, the first central."""
    return Benchmark(
        name="sample",
        version="1.0.0",
        questions=tuple(
            Question(
                id=f"q-{i:03d}",
                input=f"Which port does service {i} of the sample use, and over which protocol?",
                target=f"Port {8000 + i}, over TCP.",
                claims=(
                    Claim(id=1, text=f"It uses port {8000 + i}.", central=True, must=((str(8000 + i),),)),
                    Claim(id=2, text="It uses TCP.", central=False, must=(("TCP",),)),
                ),
                page=f"services/{i}.md",
                topic="services",
                evidence=(f"Service {i} listens on port {8000 + i} over TCP.",),
            )
            for i in range(1, items + 1)
        ),
        corpus={"digest": canon.sha256(b"sample corpus")},
    )


def sample_config(benchmark: Benchmark, profile: Profile = "factual-consistency/2", row: str = "bm25") -> Config:
    """Return a configuration that names `benchmark` and the literal judge."""
    return Config(
        row=row,
        measure=Measure(
            benchmark={
                "id": benchmark.name,
                "version": benchmark.version,
                "items": len(benchmark.questions),
                "digest": benchmark.digest(),
                "itemSet": benchmark.item_set_digest(),
            },
            corpus={"digest": canon.sha256(b"sample corpus"), "pages": 3, "chunks": 9, "extractor": "sample/1"},
            stack={"kind": "bm25", "entry": {"kind": "bm25"}, "describe": {"k1": "1.5", "b": "0.75"}},
            top_k=5,
            threshold=None,
            answer={"kind": "reader", "id": "reader/1", "template": "chunks-as-system/1", "describe": {}},
            judge={"kind": "literal", "id": "literal/1", "describe": {"folds": ["case", "nfkc"]}},
            scorer=profile,
        ),
        circumstance=Circumstance(
            harness="0.1.0", passes=3, seed=7, limits={"answer": {"concurrency": 8}}, prices={}, key_env={}
        ),
    )


def sample_outcome(question: Question, at: int, words: Sequence[VerdictWord] = ("SUPPORTS", "SUPPORTS")) -> Outcome:
    """Return a scored outcome whose claims have the classes `words`; `at` is its place, from 0."""
    text = question.evidence[0]
    quotes = (question.claims[0].must[0][0], "TCP")
    claims = tuple(
        ClaimVerdict(
            id=claim.id,
            text=claim.text,
            central=claim.central,
            verdict=word,
            quote="" if word == "OMITS" else quote,
            reason="it stands there" if word != "OMITS" else "it is not there",
        )
        for claim, word, quote in zip(question.claims, words, quotes, strict=True)
    )
    verdict = Verdict(claims=claims, central_contradicted=words[0] == "CONTRADICTS", answer_kind="answer")
    retrieval = _retrieval(question)
    return Outcome(
        question=question.id,
        status=status_of(verdict, retrieval.state),
        score=item_hundredths(verdict),
        retrieval=retrieval,
        answer=Answer(text=text, finish_reason="stop", usage=Usage(), latency_ms=1, attempts=1),
        raw_verdicts=(RawVerdict(nonce=f"{at:08x}", text="{}", attempts=0),),
        verdict=verdict,
        answered_at=STARTED + at,
    )


def _retrieval(question: Question) -> Retrieval:
    text = question.evidence[0]
    return Retrieval(
        state="ok",
        delivered=(
            Delivered(
                rank=1,
                chunk=f"{question.page}#0",
                sha256=canon.sha256(text.encode()),
                text=text,
                score="3.25",
                page=question.page,
                start=0,
                end=len(text),
            ),
        ),
        latency_ms=2,
    )


def failed_outcome(question: Question, at: int) -> Outcome:
    """Return an outcome whose retrieval failed: no answer, no verdict, no score."""
    failure = Failure(kind="stack", message="the index is down")
    return Outcome(
        question=question.id, status="retrieval_failed", score=None, failure=failure, answered_at=STARTED + at
    )


def signed_run(
    *,
    items: int = 3,
    failed: Sequence[int] = (),
    profile: Profile = "factual-consistency/2",
    row: str = "bm25",
    run_id: str = RUN_ID,
    pass_k: int = 1,
    signer: Signer | None = None,
    intent: IntentRef | None = None,
) -> dict[str, bytes]:
    """Return the files of a run in which the questions at the places `failed` had no retrieval.

    The scored answers are right, half right (second claim omitted) and wrong (central claim contradicted) in turn.
    """
    benchmark = sample_benchmark(items)
    turns: tuple[tuple[VerdictWord, VerdictWord], ...] = (
        ("SUPPORTS", "SUPPORTS"),
        ("SUPPORTS", "OMITS"),
        ("CONTRADICTS", "SUPPORTS"),
    )
    outcomes = [
        failed_outcome(question, at) if at in failed else sample_outcome(question, at, turns[at % 3])
        for at, question in enumerate(benchmark.questions)
    ]
    if profile == "factual-consistency/1":
        outcomes = [_without_answer_kind(outcome) for outcome in outcomes]
    return build_run(
        run_id=run_id,
        pass_k=pass_k,
        config=sample_config(benchmark, profile, row),
        benchmark=benchmark,
        outcomes=outcomes,
        signer=signer or public_signer(),
        intent=intent,
    )


def _without_answer_kind(outcome: Outcome) -> Outcome:
    if outcome.verdict is None:
        return outcome
    return msgspec.structs.replace(outcome, verdict=msgspec.structs.replace(outcome.verdict, answer_kind=None))


class OpenedRun(msgspec.Struct):
    """A run as plain JSON values that a test may change."""

    statement: dict[str, Any]
    outputs: list[dict[str, Any]]
    telemetry: list[dict[str, Any]]
    config: dict[str, Any]
    benchmark: dict[str, Any]

    @property
    def predicate(self) -> dict[str, Any]:
        """The statement's predicate."""
        predicate: dict[str, Any] = self.statement["predicate"]
        return predicate


def open_run(files: Mapping[str, bytes]) -> OpenedRun:
    """Return the JSON values of a run's files."""
    envelope = msgspec.json.decode(files[MANIFEST])
    return OpenedRun(
        statement=msgspec.json.decode(base64.b64decode(envelope["payload"])),
        outputs=[msgspec.json.decode(line) for line in files[OUTPUTS].splitlines()],
        telemetry=[msgspec.json.decode(line) for line in files[TELEMETRY].splitlines()],
        config=msgspec.json.decode(files[CONFIG]),
        benchmark=msgspec.json.decode(files[BENCHMARK]),
    )


def seal_run(run: OpenedRun, signer: Signer, *, claim: Callable[[OpenedRun], None] | None = None) -> dict[str, bytes]:
    """Write and sign a run as its publisher could after changing it: every digest is made to match.

    `claim` changes the statement last, after the digests were put right.
    """
    files = {
        OUTPUTS: b"".join(canon.canonical(row) + b"\n" for row in run.outputs),
        TELEMETRY: b"".join(canon.canonical(row) + b"\n" for row in run.telemetry),
        CONFIG: canon.canonical(run.config),
        BENCHMARK: canon.canonical(run.benchmark),
    }
    content = [{k: v for k, v in row.items() if k not in ("run", "pass")} for row in run.outputs]
    predicate = run.predicate
    run.statement["subject"] = [{"name": OUTPUTS, "digest": {"sha256": canon.sha256(files[OUTPUTS])}}]
    predicate["telemetry"] = {"digest": {"sha256": canon.sha256(files[TELEMETRY])}}
    predicate["config"] = {"digest": {"sha256": canon.sha256(files[CONFIG])}}
    predicate["benchmark"]["digest"] = {"sha256": canon.sha256(files[BENCHMARK])}
    predicate["content"] = {"sha256": canon.sha256(b"".join(canon.canonical(row) + b"\n" for row in content))}
    bind_rows(predicate, run.outputs, files[OUTPUTS])
    bind_figures(predicate, run.telemetry, files[TELEMETRY])
    predicate["signer"] = to_json(signer.ref())
    if claim is not None:
        claim(run)
    return {MANIFEST: sign_payload(canon.canonical(run.statement), signer, PAYLOAD_TYPE), **files}


def bind_rows(predicate: dict[str, Any], rows: Sequence[dict[str, Any]], outputs: bytes) -> None:
    """Put right the digests over verdicts and lines, where the manifest's version has them.

    Rows that have not the form of rows have no digest of their verdicts: what stands there stays.
    """
    if predicate.get("lines") is None:
        return
    predicate["lines"] = to_json(lines_of(outputs))
    digest = VerdictsDigest()
    try:
        for row in rows:
            digest.add(row)
    except (AttributeError, KeyError, TypeError):
        return
    predicate["verdicts"] = {"sha256": digest.hexdigest()}


def bind_figures(predicate: dict[str, Any], rows: Sequence[dict[str, Any]], telemetry: bytes) -> None:
    """Put right the tree over the rows of telemetry, as `bind_rows` does those over the other rows."""
    if predicate.get("figures") is None:
        return
    lines = telemetry.split(b"\n")[:-1]
    try:
        leaves = [leaf for row, line in zip(rows, lines, strict=True) for leaf in figure_leaves(row, line)]
    except (AttributeError, KeyError, TypeError):
        return
    predicate["figures"] = {"sha256": figures_root(leaves)}


def resigned(
    files: Mapping[str, bytes], change: Callable[[OpenedRun], None], *, signer: Signer | None = None
) -> dict[str, bytes]:
    """Return the run after `change`, every digest put right and signed again: what a dishonest publisher can do."""
    run = open_run(files)
    change(run)
    return seal_run(run, signer or public_signer())
