"""Test sets and evaluation sets of ragas, under its new and its old column names."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ragassay.question.foreign.lines import Source, as_id, objects
from ragassay.question.foreign.ragas_cells import list_of
from ragassay.question.foreign.seen import ForeignQuery
from ragassay.question.foreign.topics import one_answer

MAX_BYTES = 256 * 1024 * 1024
"""The largest JSON or CSV file that is read; JSONL has no such bound."""
INPUTS = ("user_input", "question")
ANSWERS = ("reference", "ground_truth", "ground_truths")
IDS = ("id", "sample_id", "question_id")
CONTEXTS = "reference_contexts"
OLD_CONTEXTS = "contexts"
CONTEXT_IDS = "reference_context_ids"
TOOLS = ("synthesizer_name", "evolution_type")
RESPONSES = ("response", "answer")
"""Where one of these has a value, a system was under test, and `contexts` are what it retrieved."""
_HOP = re.compile(r"\A<[0-9]{1,3}-hop>\s*")
_LISTS = (*ANSWERS[2:], CONTEXTS, OLD_CONTEXTS, CONTEXT_IDS)


def read_ragas(source: Source, suffix: str) -> Iterator[ForeignQuery]:
    """Yield the samples of a JSON, JSONL or CSV file; one without `id` is named by its place, the first `q-001`."""
    rows = {".csv": _csv, ".json": _json}.get(suffix, _jsonl)(source)
    for index, (place, row) in enumerate(rows):
        query = _query(row, place, f"q-{index + 1:03d}", source)
        if query is not None:
            yield query


def _query(row: Mapping[str, Any], place: str, generated: str, source: Source) -> ForeignQuery | None:
    present = {name: value for name, value in row.items() if value not in (None, "", [], {})}
    name = next((name for name in INPUTS if name in present), None)
    id_name = next((name for name in IDS if name in present), None)
    id_ = as_id(present[id_name]) if id_name else generated
    if name is None or not isinstance(present[name], str):
        turns = name is not None and isinstance(present[name], list)
        reason = "is a conversation of several turns" if turns else f"has no question in {' or '.join(INPUTS)}"
        source.seen.leave("query", place, reason, id_=id_, fault=not turns)
        return None
    problems, lists = _lists(present)
    if id_ is None:
        problems.append(f"{id_name} is neither a text nor a whole number")
    answers = [answer for column in ANSWERS for answer in _texts(present, lists, column, problems)]
    if problems or id_ is None:
        source.seen.leave("query", place, "; ".join(problems), id_=id_, fault=True)
        return None
    contexts, lacks = _contexts(present, lists)
    target, several = one_answer(answers)
    tool = next((str(present[column]) for column in TOOLS if isinstance(present.get(column), str)), None)
    _count(present, name, id_name, source)
    return ForeignQuery(
        id=id_,
        input=present[name],
        place=place,
        target=target,
        contexts=contexts,
        context_ids=tuple(lists.get(CONTEXT_IDS, ())) if contexts else (),
        tool=f"ragas: {tool}" if tool else None,
        lacks=(*lacks, *several),
    )


def _lists(present: Mapping[str, Any]) -> tuple[list[str], dict[str, list[str]]]:
    problems: list[str] = []
    found: dict[str, list[str]] = {}
    for column in _LISTS:
        value = present.get(column)
        try:
            if isinstance(value, str):
                found[column] = list_of(value)
            elif value is not None:
                ids = column == CONTEXT_IDS and isinstance(value, list)
                found[column] = [str(one) for one in value] if ids else msgspec.convert(value, list[str])
        except ValueError as error:
            said = "is no list of texts" if isinstance(error, msgspec.ValidationError) else str(error)
            problems.append(f"{column} {said}")
    return problems, found


def _texts(
    present: Mapping[str, Any], lists: Mapping[str, list[str]], column: str, problems: list[str]
) -> Sequence[str]:
    if column in lists:
        return lists[column]
    value = present.get(column)
    if value is None or column in _LISTS:
        return ()
    if isinstance(value, str):
        return [value]
    problems.append(f"{column} is no text")
    return ()


def _contexts(present: Mapping[str, Any], lists: Mapping[str, list[str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the texts that an answer rests on, and why there are none where the source has some."""
    column = CONTEXTS if lists.get(CONTEXTS) else OLD_CONTEXTS
    texts = [text for text in lists.get(column, []) if text.strip()]
    if column == OLD_CONTEXTS and texts and any(name in present for name in RESPONSES):
        return (), ("`contexts` stand beside an answer: a system retrieved them, so they are no reference",)
    if any(_HOP.match(text) for text in texts):
        return (), (f"the answer needs {len(texts)} contexts together (<1-hop>, <2-hop> …); none suffices alone",)
    return tuple(dict.fromkeys(texts)), ()


def _count(present: Mapping[str, Any], name: str, id_name: str | None, source: Source) -> None:
    taken = {name, id_name, *ANSWERS, CONTEXTS, CONTEXT_IDS, *TOOLS}
    if not any(column in present for column in RESPONSES):
        taken.add(OLD_CONTEXTS)
    source.seen.not_taken.update(f"query.{column}" for column in present if column not in taken)


def _jsonl(source: Source) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, value in objects(source, "query"):
        yield source.place(number), value


def _csv(source: Source) -> Iterator[tuple[str, Mapping[str, Any]]]:
    text = _whole(source)
    if text is None:
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    line = 1
    try:
        for cells in reader:
            at, line = line, reader.line_num + 1
            if header is None:
                header = [cell.strip() for cell in cells]
                if twice := sorted({name for name in header if name and header.count(name) > 1}):
                    _fault(source, at, f"the column {twice[0]!r} stands twice")
                    return
            elif len(cells) == len(header):
                source.seen.saw("query")
                yield source.place(at), {name: cell for name, cell in zip(header, cells, strict=True) if name}
            elif any(cell.strip() for cell in cells):
                _fault(source, at, f"has {len(cells)} cells, the header has {len(header)}")
    except csv.Error as error:
        _fault(source, line, f"not CSV: {error}; from here on nothing was read")


def _json(source: Source) -> Iterator[tuple[str, Mapping[str, Any]]]:
    text = _whole(source)
    if text is None:
        return
    try:
        value = msgspec.json.decode(text)
    except (ValueError, RecursionError) as error:
        _fault(source, 1, f"is no JSON: {error}")
        return
    rows = _rows(value)
    if rows is None:
        _fault(source, 1, "is neither a list of samples, nor {samples: […]}, nor an object of columns of one length")
        return
    for index, row in enumerate(rows):
        place = f"{source.name}[{index}]"
        source.seen.saw("query")
        if isinstance(row, dict):
            yield place, row
        else:
            source.seen.leave("query", place, "is no object", fault=True)


def _rows(value: Any) -> list[Any] | None:
    if isinstance(value, dict) and isinstance(value.get("samples"), list):
        return list(value["samples"])
    if isinstance(value, list):
        return value
    if not isinstance(value, dict) or not value:
        return None
    columns = {name: _column(cells) for name, cells in value.items()}
    lengths = {-1 if cells is None else len(cells) for cells in columns.values()}
    if len(lengths) != 1 or -1 in lengths:
        return None
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*filter(None, columns.values()), strict=True)]


def _column(cells: Any) -> list[Any] | None:
    """Return a column: a list, or pandas' object of places; None for anything else."""
    if isinstance(cells, dict):
        return list(cells.values()) if list(cells) == [str(at) for at in range(len(cells))] else None
    return cells if isinstance(cells, list) else None


def _whole(source: Source) -> str | None:
    data = source.stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        _fault(source, 1, f"the file has more than the {MAX_BYTES:,} bytes allowed; save it as JSONL")
        return None
    try:
        return data.decode("utf-8-sig" if source.encoding == "utf-8" else source.encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        _fault(source, line, f"the byte 0x{data[error.start]:02x} is not {source.encoding.upper()}; save it as UTF-8")
        return None


def _fault(source: Source, number: int, reason: str) -> None:
    source.seen.saw("query")
    source.seen.leave("query", source.place(number), reason, fault=True)
