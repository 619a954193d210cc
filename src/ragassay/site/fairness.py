"""Is the evidence of the questions in a row's texts: as its runs record it, checked, and in words. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ragassay.manifest.statement import RunDocument
from ragassay.records import Fairness
from ragassay.site.evidence import delivered_ranks
from ragassay.site.group import stack_kind
from ragassay.site.numbers import listed, plural
from ragassay.site.questionrecord import RowFairness
from ragassay.site.record import BoardRow
from ragassay.site.window import RowRuns

ANOTHER = "searches another corpus"
NOT_BELIEVED = "what is recorded of the fairness of the questions is not believed"
NOT_RECORDED = "not recorded"
SEARCHES_NOTHING = "it searches nothing"
MOST_NAMED = 8


def recorded(document: RunDocument) -> Fairness | None:
    """Return what a run records; None for one from before it was recorded, and for one without a configuration."""
    return document.config.circumstance.fairness if document.config is not None else None


def fault(document: RunDocument) -> str | None:
    """Return what in a run contradicts its record of fairness; None where nothing does, or nothing is recorded."""
    found = recorded(document)
    if found is None:
        return None
    return next(_faults(document, found), None)


def _faults(document: RunDocument, found: Fairness) -> Iterator[str]:
    assert document.config is not None
    states = (*found.folded, *found.absent, *found.unknowable)
    beside = (*found.split, *(found.unread or ()))
    known = {question.id for question in document.benchmark.questions}
    if strange := [one for one in (*states, *beside) if one not in known]:
        yield f"it names {_named(strange)}, which is no question of the set"
    lists = (states, found.split, found.unread or ())
    if twice := [one for ids in lists for one, count in Counter(ids).items() if count > 1]:
        yield f"it names {_named(twice)} twice"
    if lost := [one for one in beside if one in {*found.absent, *found.unknowable}]:
        yield f"it says of {_named(lost)} that the evidence is there, and that it is not"
    if stack_kind(document) in ("none", "oracle"):
        yield "its row searches nothing"
    owns = document.config.measure.corpus.get("digest", "") is None
    if found.own_texts != owns:
        yield "it says otherwise than the configuration whether the row searches a corpus of its own"
    if found.own_texts:
        if states or beside:
            yield "it says where evidence stands in a corpus that nobody looked into"
        return
    unknowable = set(found.unknowable)
    if bare := [q.id for q in document.benchmark.questions if not q.evidence and q.id not in unknowable]:
        yield f"it says where the evidence of {_named(bare)} stands, which has none"
    if held := [one for one in found.absent if one in _delivered([document])[0]]:
        yield f"it says that the evidence of {_named(held)} is absent, and the run delivered it"


def _delivered(documents: Iterable[RunDocument]) -> tuple[set[str], set[str]]:
    """Return the questions whose evidence runs delivered, and those of which that can be seen."""
    seen: set[str] = set()
    known: set[str] = set()
    for document in documents:
        for row, question in zip(document.outputs, document.benchmark.questions, strict=True):
            state = delivered_ranks(row, question.evidence).state if question.evidence else "none"
            known |= {question.id} if state != "none" else set()
            seen |= {question.id} if state in ("exact", "folded") else set()
    return seen, known


def row_fairness(row: RowRuns) -> tuple[RowFairness | None, str | None]:
    """Return what the runs of a row's window record, or why it is not believed; neither where nothing is recorded.

    All runs of a row search the same texts, so two that record otherwise contradict each other.
    """
    runs = [document for document in row.window if recorded(document) is not None]
    if row.shown is None or not runs:
        return None, None
    for document in runs:
        if (why := fault(document)) is not None:
            return None, why
    first = runs[-1]
    found = recorded(row.shown) or recorded(first)
    assert found is not None
    if len({_states(recorded(document)) for document in runs}) > 1:
        return None, "the runs of the row record otherwise of the same texts"
    return _counted(found, row.shown, row.window), None


def _states(found: Fairness | None) -> tuple[object, ...]:
    assert found is not None
    return (*(frozenset(ids) for ids in (found.folded, found.absent, found.unknowable)), found.own_texts)


def _counted(found: Fairness, shown: RunDocument, window: Sequence[RunDocument]) -> RowFairness:
    every = tuple(question.id for question in shown.benchmark.questions)
    unknowable = every if found.own_texts else found.unknowable
    looked = bool(set(unknowable) & {q.id for q in shown.benchmark.questions if q.evidence})
    seen, known = _delivered(window) if looked else (set[str](), set[str]())
    asked = set(unknowable)
    return RowFairness(
        questions=len(every),
        present=len(every) - len(found.folded) - len(found.absent) - len(unknowable),
        folded=found.folded,
        absent=found.absent,
        unknowable=unknowable,
        own_texts=found.own_texts,
        split=found.split,
        unread=found.unread,
        seen=len(seen & asked) if known & asked else None,
        seen_of=len(known & asked) if known & asked else None,
    )


def fairness_warnings(line: BoardRow) -> list[str]:
    """Return what must be said beside a row: evidence that it could not find, or of which that cannot be known."""
    if line.fairness_fault is not None:
        return [f"{NOT_BELIEVED}: {line.fairness_fault}"]
    found = line.fairness
    if found is None:
        return []
    said = []
    if found.absent:
        said.append(
            f"{ANOTHER}: evidence of {len(found.absent)} of {plural(found.questions, 'question')} is not in its texts "
            f"({_named(found.absent)})"
        )
    if found.seen_of is not None:
        whose = "its corpus" if found.own_texts else "its texts"
        said.append(
            f"whether the evidence is in {whose} is unknowable for {plural(len(found.unknowable), 'question')}; it was "
            f"seen in what the row delivered for {found.seen} of {found.seen_of}"
        )
    elif found.own_texts:
        said.append("whether the evidence of the questions is in its corpus is unknowable")
    if found.unread:
        said.append(
            f"evidence of {len(found.unread)} of {plural(found.questions, 'question')} ends behind what its embedder "
            f"reads of a chunk ({_named(found.unread)})"
        )
    return said


def fairness_words(line: BoardRow) -> str:
    """Say in a few words what is known of one row."""
    if line.fairness_fault is not None:
        return f"recorded, and not believed: {line.fairness_fault}"
    if line.fairness is None:
        return NOT_RECORDED if line.role == "row" else SEARCHES_NOTHING
    return said_of(line.fairness)


def run_words(document: RunDocument) -> str:
    """Say in a few words what one run records by itself."""
    if (why := fault(document)) is not None:
        return f"recorded, and not believed: {why}"
    found = recorded(document)
    if found is None:
        return SEARCHES_NOTHING if stack_kind(document) in ("none", "oracle") else NOT_RECORDED
    return said_of(_counted(found, document, [document]))


def said_of(found: RowFairness) -> str:
    """Say where the evidence of the questions stands for a row."""
    n = found.questions
    if found.own_texts:
        seen = f"; seen in what it delivered for {found.seen} of {found.seen_of}" if found.seen_of is not None else ""
        return f"unknowable, as it searches a corpus of its own{seen}"
    there = found.present + len(found.folded)
    parts = [f"evidence of {there} of {plural(n, 'question')} is in its texts"]
    parts += [f"{len(found.folded)} of them under folds"] if found.folded else []
    parts += [f"{len(found.split)} over the edge of a chunk"] if found.split else []
    parts += [f"absent: {_named(found.absent)}"] if found.absent else []
    parts += [f"unknowable: {len(found.unknowable)}"] if found.unknowable else []
    return "; ".join(parts)


def searching(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """Return the rows that stand and search something."""
    return [row for row in rows if row.role == "row" and row.passes and row.standing not in ("superseded", "voided")]


def fairness_facts(rows: Sequence[BoardRow]) -> list[str]:
    """Say in one sentence in whose texts the evidence stands; nothing where it is recorded of no row."""
    rows = [row for row in searching(rows) if row.fairness is not None]
    if not rows:
        return []
    lacking = [row.name for row in rows if row.fairness and row.fairness.absent]
    unknown = [row.name for row in rows if (row.fairness and row.fairness.seen_of is not None) or _owns(row)]
    there = [row for row in rows if row.name not in (*lacking, *unknown)]
    parts = []
    if there:
        every = len(there) == len(searching(rows)) > 1
        parts.append(f"in the texts of {'every row' if every else listed([row.name for row in there])}{_how(there)}")
    parts += [f"not all in those of {listed(lacking)}"] if lacking else []
    parts += [f"unknowable for {listed(unknown)}"] if unknown else []
    return [f"evidence of the questions: {'; '.join(parts)}"]


def _owns(row: BoardRow) -> bool:
    return row.fairness is not None and row.fairness.own_texts


def _how(rows: Sequence[BoardRow]) -> str:
    """Say how much of it is folded or split, where that is the same for all rows."""
    found = {(len(row.fairness.folded), len(row.fairness.split)) for row in rows if row.fairness is not None}
    if len(found) != 1:
        return ""
    folded, split = found.pop()
    parts = [f"{folded} under folds"] if folded else []
    parts += [f"{split} over the edge of a chunk"] if split else []
    return f" ({', '.join(parts)})" if parts else ""


def fairness_unrecorded(rows: Sequence[BoardRow]) -> list[str]:
    """Say of which rows nothing is recorded."""
    rows = searching(rows)
    silent = [row.name for row in rows if row.fairness is None and row.fairness_fault is None]
    if len(silent) == len(rows):
        return ["fairness of the questions to the rows: not recorded"]
    return [f"fairness of the questions to the rows: not recorded of {listed(silent)}"] if silent else []


def _named(ids: Sequence[str]) -> str:
    ids = list(dict.fromkeys(ids))
    more = [f"{len(ids) - MOST_NAMED} more"] if len(ids) > MOST_NAMED else []
    return listed([*ids[:MOST_NAMED], *more])
