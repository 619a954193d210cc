"""The bytes of a question file become a benchmark, or one error that lists every problem with its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from ragassay import canon
from ragassay.errors import InputError, first_of
from ragassay.question import table, tree
from ragassay.question.printable import plural, printable
from ragassay.question.sample import read_sample
from ragassay.question.written import WrittenFile, fields, name_problem
from ragassay.records import Benchmark, Question

Form = Literal["full", "published", "csv", "jsonl"]
"""How a file is written: our form, the published form, or a table with input and target."""

SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv")
MAX_PROBLEMS = 1000
"""How many problems of one file are written out; the rest is counted."""


class QuestionFile(msgspec.Struct, frozen=True, kw_only=True):
    """A read file: its benchmark, the form it was written in, and whether its bytes are the canonical ones."""

    benchmark: Benchmark
    form: Form
    canonical: bool


def parse_benchmark(data: bytes, *, name: str, suffix: str) -> Benchmark:
    """Return the benchmark in `data`; `name` is used where the file has none, `suffix` says how it is written.

    Raises `InputError` with every problem found: place (line, or index and id of the sample), and what is wrong.
    """
    return parse_file(data, name=name, suffix=suffix).benchmark


def parse_file(data: bytes, *, name: str, suffix: str) -> QuestionFile:
    """Like `parse_benchmark`, and say in which form the file is written."""
    if suffix.lower() not in SUFFIXES:
        raise InputError(f"a question file ends in {', '.join(SUFFIXES)}, not {suffix or 'in no suffix'!r}")
    problems: list[str] = []
    try:
        text = tree.decode(data)
        head, rows, form = _read(text, suffix.lower(), problems)
    except ValueError as error:
        raise InputError("the question file cannot be read", [str(error)]) from error
    head.setdefault("name", name)
    if head["name"] is None:
        head["name"] = name
    if problem := name_problem(head["name"]):
        problems.append(f"name: {problem}")
    if not rows and not problems:
        problems.append("samples: there is no question")
    questions = _questions(rows, problems)
    if problems:
        raise _refused(problems)
    benchmark = Benchmark(questions=tuple(questions), **head)
    own = benchmark.full_form() if form == "full" else published_form(benchmark)
    return QuestionFile(benchmark=benchmark, form=form, canonical=data == own)


def published_form(benchmark: Benchmark) -> bytes:
    """Return the canonical bytes of the published form, whose SHA-256 is the item set's digest."""
    return canon.canonical(benchmark.item_set())


def _read(text: str, suffix: str, problems: list[str]) -> tuple[dict[str, Any], list[tuple[str, object]], Form]:
    if suffix == ".csv":
        return {}, table.read_csv(text, problems), "csv"
    if suffix != ".json":
        return {}, table.read_jsonl(text, problems), "jsonl"
    value = tree.parse(text, "", problems)
    if isinstance(value, list):
        problems.append("the file: is a list; a question file is an object with `samples`, or a .jsonl file")
        return {}, [], "full"
    head = fields(value, WrittenFile, "", problems) or {}
    rows = [(f"samples[{index}]", sample) for index, sample in enumerate(head.pop("samples", []))]
    if head.get("corpus", {}) is None:
        head["corpus"] = {}
    if "version" in head and (problem := name_problem(head["version"])):
        problems.append(f"version: {problem}")
    if "scorer_key" in head and (problem := name_problem(head["scorer_key"])):
        problems.append(f"scorerKey: {problem}")
    return head, rows, "published" if _is_published(value) else "full"


def _is_published(value: Any) -> bool:
    if not isinstance(value, dict) or set(value) != {"samples", "scorerKey"} or not isinstance(value["samples"], list):
        return False
    return all(isinstance(sample, dict) and set(sample) == {"id", "input", "target"} for sample in value["samples"])


def _questions(rows: Sequence[tuple[str, object]], problems: list[str]) -> list[Question]:
    width = max(3, len(str(len(rows))))
    found: list[Question] = []
    ids: dict[str, str] = {}
    inputs: dict[str, str] = {}
    for index, (place, row) in enumerate(rows):
        own: list[str] = []
        generated = f"q-{index + 1:0{width}d}"
        question = read_sample(row, place, generated, own)
        identity, text = _keys(row, generated)
        where = place.rstrip(" ,")
        if identity is not None and (first := ids.setdefault(identity, where)) != where:
            own.append(f"{tree.join(place, 'id')}: the id {identity!r} stands already at {first}")
        if text and (first := inputs.setdefault(text, where)) != where:
            own.append(f"{tree.join(place, 'input')}: the same question stands already at {first}")
        label = f' (question "{identity}")' if identity and name_problem(identity) is None else ""
        problems.extend(f"{problem}{label}" for problem in own)
        if question is not None:
            found.append(question)
    return found


def _keys(row: object, generated: str) -> tuple[str | None, str | None]:
    if not isinstance(row, dict):
        return None, None
    identity = row.get("id")
    text = row.get("input")
    return (
        generated if identity is None else identity if isinstance(identity, str) else None,
        text.strip() if isinstance(text, str) else None,
    )


def _refused(problems: list[str]) -> InputError:
    shown = map(printable, first_of(problems, MAX_PROBLEMS, "problems"))
    return InputError(f"the question file has {plural(len(problems), 'problem')}; nothing was taken from it", shown)
