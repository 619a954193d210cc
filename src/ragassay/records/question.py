"""Questions with their claims, and the benchmark that is hashed."""

from __future__ import annotations

import re

import msgspec

from ragassay import canon
from ragassay.records.encode import encode_free, encode_record
from ragassay.records.values import JSON, Record, to_json

_VERSION = re.compile(r"(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})")


def version_numbers(version: str) -> tuple[int, int, int] | None:
    """Return MAJOR.MINOR.PATCH, as a frozen question set has it, as numbers; None for anything else and for 0.0.0."""
    found = _VERSION.fullmatch(version)
    read = (int(found[1]), int(found[2]), int(found[3])) if found else (0, 0, 0)
    return read if any(read) else None


class Claim(Record, frozen=True):
    """One atomic statement of the reference; `must` is a list of alternative lists, `must_not` a flat list."""

    id: int
    text: str
    central: bool
    must: tuple[tuple[str, ...], ...] = ()
    must_not: tuple[str, ...] = msgspec.field(default=(), name="must_not")


class Provenance(Record, frozen=True):
    """Who wrote a question, with what, when, and who reviewed it."""

    author: str | None = None
    tool: str | None = None
    created: str | None = None
    reviewed_by: str | None = None
    derived_from_system: bool | None = None


class Question(Record, frozen=True):
    """One question; `evidence` lists verbatim alternatives, each sufficient, the first used by the oracle."""

    id: str
    input: str
    target: str
    claims: tuple[Claim, ...]
    page: str | None = None
    topic: str | None = None
    evidence: tuple[str, ...] = ()
    provenance: Provenance | None = None
    unsplit: bool = False
    """True when the one claim is the target itself, unreviewed."""

    def material(self) -> str:
        """Return the SHA-256 of the canonical bytes of the question, its provenance null: what a reviewer reads."""
        return canon.digest(to_json(msgspec.structs.replace(self, provenance=None)))


class Benchmark(Record, frozen=True):
    """A question set as it is hashed: `digest()` over the full form, `item_set_digest()` over the published one."""

    name: str
    questions: tuple[Question, ...] = msgspec.field(name="samples")
    version: str = "0"
    scorer_key: str = "llm-factual-consistency-vs-reference"
    corpus: JSON = msgspec.field(default_factory=dict)

    def item_set(self) -> JSON:
        """Return the published form: ids, inputs, targets and the scorer key."""
        samples = [{"id": q.id, "input": q.input, "target": q.target} for q in self.questions]
        return {"samples": samples, "scorerKey": self.scorer_key}

    def item_set_digest(self) -> str:
        """Return the SHA-256 of the canonical bytes of the published form."""
        return canon.digest(self.item_set())

    def full_form(self) -> bytes:
        """Return the canonical bytes that are stored as `benchmark.json` in each run."""
        quick = encode_free(self.corpus) == canon.canonical(self.corpus)
        return encode_record(self) if quick else canon.canonical(to_json(self))

    def digest(self) -> str:
        """Return the SHA-256 of `full_form()`."""
        return canon.sha256(self.full_form())
