"""What an import came to: counts that add up, and a record that names every query, lack and thing left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragassay.question.foreign.joined import Joined
from ragassay.question.foreign.seen import Seen
from ragassay.records import to_json
from ragassay.run.question_sets.import_read import ReadSource

_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|\S+:\d+|\d[\d,]*")
"""The names and numbers in a reason."""


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What an import came to; the counts of each kind add up to what was seen."""

    queries: dict[str, int]
    documents: dict[str, int]
    judgements: dict[str, int]
    left_out: dict[str, int]
    """How often each reason was given, without what differs from case to case."""
    lacks: dict[str, int]
    not_taken: dict[str, int]
    splits_not_read: tuple[str, ...]
    questions: Path | None
    worksheet: Path | None
    record: Path
    corpus: Path | None
    kept: tuple[Path, ...] = ()
    """What was there already and is left as it is: a worksheet that is filled in, a corpus folder of the same pages."""

    def files(self) -> dict[Path, bool]:
        """Return the files and folders of this import, and whether each was written by it."""
        paths = (self.questions, self.worksheet, self.corpus, self.record)
        return {path: path not in self.kept for path in paths if path is not None}

    @property
    def whole(self) -> bool:
        """Whether every query has become a question and nothing was left out."""
        return not self.queries["worksheet"] and not self.left_out


def record_bytes(made: Sequence[Joined], seen: Seen, read: ReadSource) -> bytes:
    """Return one line per query that came in, per thing left out, and per page that is not named as its document."""
    encode = msgspec.json.encode
    lines = []
    for one in made:
        lacks = [{"what": lack.what, "why": lack.why, "next": lack.next} for lack in one.lacks]
        state = "worksheet" if one.question is None else "question"
        lines.append(encode({"query": one.id, "place": one.place, "is": state, "lacks": lacks}))
    lines += [encode({"leftOut": to_json(left)}) for left in seen.left_out]
    lines += [encode({"document": id_, "page": name}) for id_, name in read.pages.renamed.items()]
    return b"".join(line + b"\n" for line in lines)


def imported(
    made: Sequence[Joined],
    seen: Seen,
    read: ReadSource,
    *,
    questions: Path | None,
    worksheet: Path | None,
    record: Path,
    corpus: Path | None,
    kept: tuple[Path, ...],
) -> Imported:
    """Return the counts of an import, and where its files are."""
    whole = sum(one.question is not None for one in made)
    lacks: Counter[str] = Counter(lack.what for one in made for lack in one.lacks)
    return Imported(
        queries={
            "seen": seen.counts["query"],
            "questions": whole,
            "worksheet": len(made) - whole,
            "leftOut": seen.left("query"),
        },
        documents={"seen": seen.counts["document"], "pages": read.pages.count, "leftOut": seen.left("document")},
        judgements={
            "seen": seen.counts["judgement"],
            "relevant": read.relevant,
            "notRelevant": read.not_relevant,
            "leftOut": seen.left("judgement"),
        },
        left_out=dict(Counter(f"{one.kind}: {_VARYING.sub('…', one.reason)}" for one in seen.left_out).most_common()),
        lacks=dict(lacks),
        not_taken=dict(seen.not_taken.most_common()),
        splits_not_read=read.others,
        questions=questions,
        worksheet=worksheet if len(made) > whole else None,
        record=record,
        corpus=corpus,
        kept=kept,
    )
