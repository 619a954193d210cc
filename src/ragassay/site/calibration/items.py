"""The stored answers that people can rate, each answer to one question once, and what judges gave it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragassay import canon
from ragassay.manifest.statement import RunDocument
from ragassay.records import Question


class Occurrence(msgspec.Struct, frozen=True, kw_only=True):
    """Where an answer stands: the row and run, and the score of the run's judge in hundredths, None without one."""

    row: str
    """The key of the row."""
    run: str
    score: int | None


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One answer to one question; rows and passes that gave the very same text share it."""

    key: str
    question: Question
    text: str
    answer: str
    prompt: str
    seen: tuple[Occurrence, ...]
    """In the order of the runs given; never empty."""

    @property
    def first_score(self) -> int | None:
        """Return the first score that the runs' judge gave this answer, None where it gave none."""
        return next((one.score for one in self.seen if one.score is not None), None)


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """All rateable answers by key, and how many lines of the runs hold none."""

    items: Mapping[str, Item]
    without_text: int
    """Lines without an answer, or whose answer was withheld."""

    @property
    def unjudged(self) -> int:
        """Return how many answers the runs' judge gave no score anywhere."""
        return sum(item.first_score is None for item in self.items.values())


def prompt_digest(question: Question) -> str:
    """Return the SHA-256 over what a rater is shown beside the answer."""
    claims = [{"id": claim.id, "text": claim.text, "central": claim.central} for claim in question.claims]
    return canon.digest(
        {
            "input": question.input,
            "target": question.target,
            "claims": [] if question.unsplit else claims,
            "evidence": list(question.evidence),
        }
    )


def item_key(question: str, prompt: str, answer: str) -> str:
    """Return the key of an item: the SHA-256 over question id, digest of the prompt and digest of the answer."""
    return canon.digest({"question": question, "prompt": prompt, "answer": answer})


def pool_of(documents: Sequence[RunDocument]) -> Pool:
    """Return the rateable answers of runs of one question set, in the order of runs and of their lines."""
    found: dict[str, Item] = {}
    seen: dict[str, list[Occurrence]] = {}
    without = 0
    prompts: dict[int, dict[str, tuple[Question, str]]] = {}
    for document in documents:
        asked = prompts.setdefault(id(document.benchmark), _asked(document.benchmark.questions))
        for line in document.outputs:
            if line.answer is None or line.id not in asked:
                without += 1
                continue
            question, prompt = asked[line.id]
            answer = canon.sha256(line.answer.encode())
            key = item_key(line.id, prompt, answer)
            p = document.predicate
            seen.setdefault(key, []).append(Occurrence(row=p.row.key, run=p.run_id, score=line.score))
            if key not in found:
                found[key] = Item(
                    key=key, question=question, text=line.answer, answer=answer, prompt=prompt, seen=tuple(seen[key])
                )
    items = {key: msgspec.structs.replace(item, seen=tuple(seen[key])) for key, item in found.items()}
    return Pool(items=items, without_text=without)


def _asked(questions: Iterable[Question]) -> dict[str, tuple[Question, str]]:
    return {question.id: (question, prompt_digest(question)) for question in questions}
