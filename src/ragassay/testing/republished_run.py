"""Published scores over a small item set, and the republished run they make; for tests of whoever reads runs."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragassay import canon
from ragassay.manifest import sign_payload
from ragassay.manifest.republish import Claimed, ItemSet, foreign_items, republished_run
from ragassay.manifest.scores import read_scores
from ragassay.testing.signed_run import bind_rows, public_signer

SCORES = ("1", "0.5", "0.25", "0", "0.83")
JUDGE = "gpt-4o-mini"
PUBLISHED: dict[str, Any] = {
    "samples": [
        {"id": f"a{i}", "input": f"Which port does service {i} use?", "target": f"Port {8000 + i}."}
        for i in range(1, 6)
    ],
    "scorerKey": "llm-factual-consistency-vs-reference",
}


def published_bytes() -> bytes:
    """Return the item set in the published form."""
    return canon.canonical(PUBLISHED)


def items_of(data: bytes) -> ItemSet:
    """Return a foreign item set called `ports 1.0`."""
    return foreign_items(data, name="ports", version="1.0")


def lines_of(scores: Sequence[str | None] = SCORES, judge: str | None = JUDGE) -> list[dict[str, Any]]:
    """Return one line per item of `PUBLISHED`; a score is written as a decimal text."""
    return [
        {"id": s["id"], "question": s["input"], "answer": s["target"], "score": score, "judge": judge}
        for s, score in zip(PUBLISHED["samples"], scores, strict=True)
    ]


def written(lines: Sequence[dict[str, Any]]) -> bytes:
    """Return lines as JSON Lines."""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def republished_files(
    data: bytes | None = None, scores: Sequence[str | None] = SCORES, *, rounding: bool = False
) -> dict[str, bytes]:
    """Return a republished run over `data` (the published form by default), signed by the public test key."""
    items = items_of(published_bytes() if data is None else data)
    read = read_scores(written(lines_of(scores)), items.benchmark.questions, rounding=rounding)
    claimed = Claimed(row="ports-board", evaluator="scorer", source="https://example.org/ports")
    return republished_run(read, items, claimed, public_signer())


def resealed(
    files: Mapping[str, bytes],
    *,
    claim: Callable[[dict[str, Any]], None] | None = None,
    rows: Callable[[list[dict[str, Any]]], object] | None = None,
    **replaced: bytes | None,
) -> dict[str, bytes]:
    """Return a run after changes, signed again with every digest put right; `benchmark_foreign=` replaces that file."""
    changed = dict(files)
    for name, data in replaced.items():
        changed[name.replace("_", ".")] = data or b""
    statement = json.loads(base64.b64decode(json.loads(files["run.dsse.json"])["payload"]))
    lines = [json.loads(line) for line in files["outputs.jsonl"].splitlines()]
    if rows is not None:
        rows(lines)
    changed["outputs.jsonl"] = b"".join(canon.canonical(line) + b"\n" for line in lines)
    content = [{name: value for name, value in line.items() if name not in ("run", "pass")} for line in lines]
    statement["subject"][0]["digest"]["sha256"] = canon.sha256(changed["outputs.jsonl"])
    predicate = statement["predicate"]
    predicate["content"]["sha256"] = canon.sha256(b"".join(canon.canonical(line) + b"\n" for line in content))
    bind_rows(predicate, lines, changed["outputs.jsonl"])
    if "benchmark_foreign" in replaced:
        digest = {"sha256": canon.sha256(changed["benchmark.foreign"])}
        predicate["benchmark"].update(digest=digest, itemSet=digest)
    if claim is not None:
        claim(predicate)
    changed["run.dsse.json"] = sign_payload(canon.canonical(statement), public_signer())
    return changed
