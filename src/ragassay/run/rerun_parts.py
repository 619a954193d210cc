"""From a signed configuration back to the things that it describes: stack, model, judge and corpus, or why not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ragassay import plugins
from ragassay.answer import template_named
from ragassay.corpus import load_corpus, read_corpus, reads_pdf
from ragassay.errors import InputError, PluginError
from ragassay.plugins.weights import default_cache
from ragassay.question import evidence_chunks
from ragassay.records import JSON, Benchmark, Config, Corpus, Measure, to_json
from ragassay.run.board_file import Limits, ModelTable
from ragassay.run.budget import Budget
from ragassay.run.build import StackBuilder, described, make, make_chunker, make_endpoint, split_entry
from ragassay.run.limits import Endpoint
from ragassay.run.plan import differences
from ragassay.seams import PARTS, Judge, Progress, Retriever, Seam

MAX_PARTS = 32
"""The most plugins that the stack of a run may be made of to be built again."""
NAMED = 20
"""Problems that are named."""


class NotPossible(InputError):
    """The run cannot be executed again here; says why and, where something is missing, where it was looked for."""


class Rebuilt(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a run was made with, built again and found to be what is signed."""

    retriever: Retriever
    answering: Endpoint
    judge: Judge
    template: str
    corpus: Corpus


def check_deterministic(measure: Measure) -> None:
    """Raise `NotPossible` naming every part of a run that is not, or is not known to be, deterministic."""
    problems = []
    for seam, kind, inside in _parts(measure):
        if inside and kind in ("none", "oracle"):
            problems.append(f"the stack {kind!r} is a row of its own and cannot stand inside another stack")
        elif (fault := _fault(seam, kind)) is not None:
            problems.append(fault)
    problems = list(dict.fromkeys(problems))
    if len(problems) == 1:
        raise NotPossible(problems[0])
    if problems:
        raise NotPossible(f"{len(problems)} of its parts cannot be executed again", problems[:NAMED])


def _fault(seam: Seam, kind: str) -> str | None:
    what = {"stacks": "stack", "models": "answering model", "judges": "judge"}.get(seam, seam[:-1])
    if seam == "judges" and kind == "llm":
        return "the judge 'llm' asks a language model, which does not answer the same twice"
    try:
        declared = plugins.is_deterministic(seam, kind)
    except InputError as error:
        return f"{error.message}; install the package that brings it"
    except PluginError as error:
        return str(error)
    if not declared:
        return f"the {what} {kind!r} does not declare that it is deterministic"
    if seam == "stacks" and plugins.load(seam, kind).owns_corpus:
        return f"the stack {kind!r} owns its corpus, and what that holds is not signed"
    return None


def _parts(measure: Measure) -> list[tuple[Seam, str, bool]]:
    """Return every plugin that a run was made with, and whether it stands inside a stack; raises `NotPossible`."""
    entry = _table(measure.stack, "entry", "measure.stack.entry")
    found: list[tuple[Seam, str, bool]] = [
        ("models", _text(measure.answer, "kind", "measure.answer.kind"), False),
        ("judges", _text(measure.judge, "kind", "measure.judge.kind"), False),
    ]
    for part in _stack_parts("stacks", entry, "measure.stack.entry", inside=False):
        found.append(part)
        if len(found) > MAX_PARTS:
            raise NotPossible(f"its stack is made of more than {MAX_PARTS} parts")
    return found


def _stack_parts(seam: Seam, entry: JSON, place: str, *, inside: bool) -> Iterator[tuple[Seam, str, bool]]:
    kind = _text(entry, "kind", f"{place}.kind")
    yield seam, kind, inside
    if seam != "stacks" or _fault(seam, kind) is not None:
        return
    for key, value in sorted(split_entry(entry, place)[0].items()):
        for index, part in enumerate(value if isinstance(value, list) else [value]):
            at = f"{place}.{key}" + (f"[{index}]" if isinstance(value, list) else "")
            yield from _stack_parts(PARTS[key], part, at, inside=True)


def _table(value: JSON, name: str, place: str) -> JSON:
    found = value.get(name)
    if not isinstance(found, dict):
        raise NotPossible(f"its configuration says no {place}")
    return found


def _text(value: JSON, name: str, place: str) -> str:
    found = value.get(name)
    if not isinstance(found, str):
        raise NotPossible(f"its configuration says no {place}")
    return found


def find_corpus(measure: Measure, given: Path | None, workspace: Path | None) -> Corpus:
    """Return the corpus that a run was made over; raises `NotPossible` where it is not in the places to look.

    `given` is a stored corpus, a folder of such, or the documents themselves, which are then chunked as recorded;
    without it the corpora of `workspace` (a `.ragassay` folder) are looked through.
    """
    digest = _text(measure.corpus, "digest", "measure.corpus.digest")
    if given is None and workspace is None:
        raise NotPossible(f"the corpus {digest} is not there: the run lies in no workspace; name it with --corpus")
    places = [given, given / digest] if given is not None else []
    if given is None and workspace is not None:
        places = [workspace / "corpus" / digest]
    stored = next((place for place in places if (place / "corpus.json").is_file()), None)
    try:
        if stored is not None:
            corpus = load_corpus(stored)
        elif given is not None and given.exists():
            chunker = _chunker(_table(measure.corpus, "chunker", "measure.corpus.chunker"))
            corpus = read_corpus(given, chunker, pdf=reads_pdf(measure.corpus.get("extractor")))
        else:
            looked = given or places[0]
            raise NotPossible(f"the corpus {digest} is not there: {looked} does not exist; name it with --corpus")
    except NotPossible:
        raise
    except InputError as error:
        raise NotPossible(f"the corpus {digest} is not there: {error.message}", error.problems) from error
    except PluginError as error:
        raise NotPossible(f"the corpus {digest} is not there: {error}") from error
    if corpus.digest() != digest:
        raise NotPossible(f"{stored or given} holds the corpus {corpus.digest()}; the run was made over {digest}")
    return corpus


def _chunker(recorded: JSON) -> Any:
    chunker = make_chunker(_entry("chunkers", recorded, "measure.corpus.chunker"))
    if changed := list(differences("measure.corpus.chunker", recorded, chunker.describe())):
        raise NotPossible("cannot be re-executed by this version of ragassay", changed[:NAMED])
    return chunker


def _entry(seam: Seam, recorded: JSON, place: str) -> JSON:
    """Return the table that makes a plugin of that description: what a plugin without parameters would not say."""
    kind = _text(recorded, "kind", f"{place}.kind")
    plain: JSON = make(seam, {"kind": kind}, place).describe()
    return {"kind": kind, **{key: value for key, value in recorded.items() if plain.get(key) != value}}


def rebuild(config: Config, benchmark: Benchmark, corpus: Corpus, scratch: Path) -> Rebuilt:
    """Build everything that a run was made with; raises `NotPossible` naming each field that is now another.

    The run is one that `check_deterministic` let through. `scratch` is a folder that may be written to.
    """
    measure = config.measure
    answer = make_endpoint(_model_table(measure.answer), {}, Budget(None), default_cache())
    judge: Judge = make("judges", _entry("judges", _judge_description(measure), "measure.judge"), "measure.judge")
    template = _text(_table(measure.answer, "template", "measure.answer.template"), "name", "measure.answer.template")
    entry = _table(measure.stack, "entry", "measure.stack.entry")
    evidence = evidence_chunks(benchmark, corpus) if entry["kind"] == "oracle" else {}
    builder = StackBuilder(
        corpus.chunks,
        evidence={q.input: evidence[q.id] for q in benchmark.questions if q.id in evidence},
        cache=scratch,
        weights_cache=default_cache(),
        report=_silent,
    )
    rebuilt = Rebuilt(
        retriever=builder.build(entry, "measure.stack.entry"),
        answering=answer,
        judge=judge,
        template=template,
        corpus=corpus,
    )
    changed = list(differences("measure", to_json(measure), to_json(_measure(measure, benchmark, rebuilt))))
    if changed:
        raise NotPossible("cannot be re-executed by this version of ragassay or of its parts", changed[:NAMED])
    return rebuilt


def _silent(_what: str) -> Progress:
    return lambda _done, _total: None


def _model_table(answer: JSON) -> ModelTable:
    described = answer.get("describe")
    params = described.get("params") if isinstance(described, dict) else None
    return ModelTable(
        kind=_text(answer, "kind", "measure.answer.kind"),
        id=None,
        base_url=None,
        key_env=None,
        path=None,
        params=params if isinstance(params, dict) else {},
        limits=Limits(concurrency=1),
        price=None,
    )


def _judge_description(measure: Measure) -> JSON:
    return {**_table(measure.judge, "describe", "measure.judge.describe"), "kind": measure.judge["kind"]}


def _measure(signed: Measure, benchmark: Benchmark, rebuilt: Rebuilt) -> Measure:
    """Return what would now be recorded of what was rebuilt."""
    corpus, model, judge = rebuilt.corpus, rebuilt.answering.describe(), rebuilt.judge
    template = {"name": rebuilt.template, "digest": template_named(rebuilt.template).digest()}
    return msgspec.structs.replace(
        signed,
        benchmark={
            "id": benchmark.name,
            "version": benchmark.version,
            "items": len(benchmark.questions),
            "digest": benchmark.digest(),
            "itemSet": benchmark.item_set_digest(),
        },
        corpus={
            "digest": corpus.digest(),
            "pages": len(corpus.pages),
            "chunks": len(corpus.chunks),
            "chunker": corpus.chunker,
            "extractor": corpus.extractor,
        },
        stack={
            "kind": signed.stack["entry"]["kind"],
            "entry": signed.stack["entry"],
            "describe": described(rebuilt.retriever, "measure.stack"),
        },
        answer={
            "kind": signed.answer["kind"],
            "id": model.get("id") or signed.answer.get("id"),
            "template": template,
            "describe": model,
        },
        judge={"kind": signed.judge["kind"], "id": judge.id, "describe": judge.describe()},
    )
