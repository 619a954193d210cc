"""What a row measures, written down: its `measure`, and what is around it."""

from __future__ import annotations

from typing import Any

import msgspec

from ragassay import __version__, canon, plugins
from ragassay.records import JSON, Benchmark, Circumstance, Config, Corpus, Fairness, Measure, to_json
from ragassay.run.board_file import BoardFile, ModelTable, RowTable, reask_share
from ragassay.run.build import Part, described, parts_of
from ragassay.seams import PARTS, Judge, Model, Retriever, Seam


def row_config(
    board: BoardFile,
    row: RowTable,
    *,
    benchmark: Benchmark,
    corpus: Corpus,
    retriever: Retriever,
    owns_corpus: bool,
    answering: Model,
    judge: Judge,
    template: JSON,
    fairness: Fairness | None = None,
    item_manifest: str | None = None,
) -> Config:
    """Return the recorded configuration of one row: everything that can change its number, and what surrounds it."""
    measure = Measure(
        benchmark={
            "id": benchmark.name,
            "version": benchmark.version,
            "items": len(benchmark.questions),
            "digest": benchmark.digest(),
            "itemSet": benchmark.item_set_digest(),
        },
        corpus={
            "digest": None if owns_corpus else corpus.digest(),
            "pages": None if owns_corpus else len(corpus.pages),
            "chunks": None if owns_corpus else len(corpus.chunks),
            "chunker": corpus.chunker,
            "extractor": corpus.extractor,
        },
        stack={
            "kind": row.stack["kind"],
            "entry": canon.without_fractions(measured_entry(row.stack)),
            "describe": described(retriever, f"row {row.name!r}"),
        },
        top_k=row.top_k,
        threshold=row.threshold,
        answer={
            "kind": board.answer.kind,
            "id": answering.describe().get("id") or board.answer.id,
            "template": template,
            "describe": answering.describe(),
        },
        judge={"kind": board.judge.kind, "id": judge.id, "describe": judge.describe()},
        scorer=board.scorer,
    )
    around = msgspec.structs.replace(_circumstance(board, row, judge, fairness), item_manifest=item_manifest)
    return Config(row=row.name, measure=measure, circumstance=around)


def _circumstance(board: BoardFile, row: RowTable, judge: Judge, fairness: Fairness | None) -> Circumstance:
    tables: dict[str, ModelTable] = {"answer": board.answer}
    if board.judge.model:
        tables["judge"] = board.judge.model
    parts = list(parts_of(row.stack))
    around = {".".join(filter(None, ["stack", part.place])): _around(part) for part in parts}
    return Circumstance(
        harness=__version__,
        passes=board.passes,
        seed=board.seed,
        limits={
            **{name: to_json(table.limits) for name, table in tables.items()},
            **{name: limits for name, part in around.items() if (limits := _without(part, "key_env", "price"))},
        },
        prices={
            **{name: to_json(table.price) for name, table in tables.items()},
            **{name: part["price"] for name, part in around.items() if "price" in part},
        },
        key_env={
            **{name: table.key_env for name, table in tables.items()},
            **{name: part["key_env"] for name, part in around.items() if "key_env" in part},
        },
        exposure=row.exposure,
        reask=reask_share(board.judge, judge),
        wire_form_only=any(_is_wire_form_only(part) for part in parts),
        fairness=fairness,
    )


_AROUND_STACK = ("concurrency", "key_env", "price", "timeout_s")
_AROUND_PART = (*_AROUND_STACK, "batch", "limits", "requests_per_minute", "tokens_per_minute")


def measured_entry(entry: JSON, seam: Seam = "stacks") -> JSON:
    """Return a stack's board entry without what is around a measurement: the names of its keys, limits and prices."""
    around = _AROUND_STACK if seam == "stacks" else _AROUND_PART
    return {
        key: _measured(PARTS[key], value) if key in PARTS else value
        for key, value in entry.items()
        if key not in around
    }


def _measured(seam: Seam, value: Any) -> Any:
    if isinstance(value, list):
        return [_measured(seam, one) for one in value]
    return measured_entry(value, seam) if isinstance(value, dict) else value


def _around(part: Part) -> JSON:
    """Return the members of a part's entry that `measured_entry` leaves out."""
    names = _AROUND_STACK if part.seam == "stacks" else _AROUND_PART
    found: JSON = canon.without_fractions({name: part.entry[name] for name in names if name in part.entry})
    return found


def _is_wire_form_only(part: Part) -> bool:
    """Tell whether a stack was tested with a stand-in only: always, or where the parameter that it names is given."""
    if part.seam != "stacks":
        return False
    declared = getattr(plugins.load("stacks", part.entry["kind"]), "wire_form_only", False)
    return declared is True or (isinstance(declared, str) and declared in part.entry)


def _without(part: JSON, *names: str) -> JSON:
    return {name: value for name, value in part.items() if name not in names}
