"""A run as records of Every Eval Ever 0.3.0: one aggregate and one line per scored question. Pure.

Both schemas require a score, so a question without one has no line: it is counted in the aggregate, and never 0.
"""

from __future__ import annotations

import json
import re
from typing import Literal

from ragassay import canon
from ragassay.export.item import ExportedItem
from ragassay.export.source import VerifiedRun
from ragassay.records import JSON, Record, to_json

SCHEMA_VERSION = "0.3.0"
METRIC = "factual consistency"
Relationship = Literal["first_party", "third_party", "collaborative", "other"]
_STUB = re.compile(r"(?:^|[^a-z0-9])stub(?:$|[^a-z0-9])", re.IGNORECASE)
_UNSAFE = re.compile(r'[<>:"\\|?*\x00-\x1f/]')
_RESERVED = re.compile(r"data|(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\..*)?", re.IGNORECASE)


class Publisher(Record, frozen=True):
    """Who evaluated, which no run says; `model` and `developer` name the answering model as the datastore does."""

    organization: str
    relationship: Relationship
    retrieved: int
    """When the records are made, in Unix seconds."""
    model: str | None = None
    developer: str | None = None


class Identity(Record, frozen=True):
    """Under which names a run stands in the datastore."""

    model: str
    developer: str
    evaluation: str
    folder: str
    """`data/<collection>/<developer>/<model>`."""
    uuid: str


def why_not(run: VerifiedRun) -> tuple[str, str] | None:
    """Return the code and the reason for which a run is not exported, None where it is."""
    facts = run.facts
    if stub := next((name for name in _parties(run) if _STUB.search(name)), None):
        return "STUB", f"{stub} is a stub, whose numbers mean nothing"
    if facts.kind != "measured":
        return "REPUBLISHED", "its scores were computed elsewhere; whoever measured them exports them"
    if facts.score is None:
        return "NO_SCORE", "nothing was scored, and no score is not 0"
    return None


def identity(run: VerifiedRun, publisher: Publisher) -> Identity | str:
    """Return the names of a run, or why it has none."""
    facts = run.facts
    answer: JSON = run.config.measure.answer if run.config else {}
    model = publisher.model or facts.model or ""
    if not publisher.model and answer.get("kind") == "reader":
        model = f"ragassay/{model.replace('/', '-')}"
    developer, _, name = model.partition("/")
    if not name:
        developer, name = publisher.developer or "", model
    if not developer or not name:
        return f"its model {model!r} names no developer; give --developer, or --model-id DEVELOPER/NAME"
    folder = "/".join(["data", *map(_component, (facts.benchmark, developer, name))])
    digits = facts.run
    uuid = (
        f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{'89ab'[int(digits[16], 16) % 4]}{digits[17:20]}-{digits[20:]}"
    )
    evaluation = f"{facts.benchmark}/{model}/{facts.run}"
    return Identity(model=model, developer=developer, evaluation=evaluation, folder=folder, uuid=uuid)


def aggregate(run: VerifiedRun, names: Identity, publisher: Publisher, samples: JSON | None) -> JSON:
    """Return the aggregate record; `samples` says where the lines are, None where there is none."""
    facts = run.facts
    assert facts.score is not None
    record: JSON = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": names.evaluation,
        "retrieved_timestamp": str(publisher.retrieved),
        "source_metadata": {
            "source_name": "ragassay",
            "source_type": "evaluation_run",
            "source_organization_name": publisher.organization,
            "evaluator_relationship": publisher.relationship,
            "additional_details": {
                "run": facts.run,
                "signer": facts.signer,
                "row": facts.row,
                "row_key": facts.row_key,
            },
        },
        "eval_library": {"name": "ragassay", "version": facts.harness},
        "model_info": {
            "name": facts.model or names.model,
            "id": names.model,
            "developer": names.developer,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [_result(run)],
    }
    if facts.started is not None:
        record["evaluation_timestamp"] = str(facts.started)
    if samples is not None:
        record["detailed_evaluation_results"] = samples
    return record


def line(item: ExportedItem, names: Identity) -> JSON:
    """Return the record of one scored item whose answer is there whole."""
    assert item.score is not None
    assert item.answer is not None
    question = item.question
    record: JSON = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": names.evaluation,
        "model_id": names.model,
        "evaluation_name": METRIC,
        "evaluation_result_id": f"{item.run}#score",
        "sample_id": question.id,
        "sample_hash": canon.sha256((question.input + question.target).encode()),
        "interaction_type": "single_turn",
        "input": {"raw": question.input, "reference": [question.target]},
        "output": {"raw": [item.answer]},
        "messages": None,
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": item.answer,
                "extraction_method": "whole",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": item.score, "is_correct": item.hundredths == 100},
        "metadata": {
            "status": item.status,
            "retrieval": item.retrieval,
            "retrieved_chunks": json.dumps([chunk.id for chunk in item.chunks]),
        },
    }
    if item.took is not None:
        record.update(_spent(item))
    return record


def _parties(run: VerifiedRun) -> list[str]:
    """Return the ids and kinds of the answering model and of the judge with its model."""
    measure = run.config.measure if run.config else None
    tables = [measure.answer, measure.judge, measure.judge.get("describe", {}).get("model", {})] if measure else []
    named = [run.facts.model, run.facts.judge, *(table.get(key) for table in tables for key in ("id", "kind"))]
    return [name for name in named if isinstance(name, str)]


def _result(run: VerifiedRun) -> JSON:
    facts = run.facts
    assert facts.score is not None
    measure = run.config.measure if run.config else None
    judge = {"judge": facts.judge, "metric": facts.metric}
    if measure is not None and isinstance(prompt := measure.judge.get("describe", {}).get("prompt"), str):
        judge["judge_prompt_sha256"] = prompt
    return {
        "evaluation_result_id": f"{facts.run}#score",
        "evaluation_name": METRIC,
        "source_data": {
            "dataset_name": facts.benchmark,
            "source_type": "other",
            "additional_details": {"version": facts.benchmark_version, "sha256": facts.benchmark_digest},
        },
        "metric_config": {
            "evaluation_description": "The share of the reference's claims that the answer supports, as judged.",
            "metric_id": f"ragassay.{measure.scorer if measure else facts.metric}",
            "metric_name": METRIC,
            "metric_kind": "factual_consistency",
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
            "additional_details": judge,
        },
        "score_details": {
            "score": facts.score.num / facts.score.den,
            "details": {name: str(value) for name, value in to_json(facts.counts).items()},
            "uncertainty": {"num_samples": facts.counts.scored},
        },
        "generation_config": _generation(run),
    }


def _generation(run: VerifiedRun) -> JSON:
    facts, measure = run.facts, run.config.measure if run.config else None
    told = {"stack": facts.stack, "top_k": facts.top_k, "pass": facts.pass_k, "corpus_sha256": facts.corpus}
    if measure is None:
        return {"additional_details": _texts(told)}
    params = measure.answer.get("params") or {}
    args: JSON = {name: float(params[name]) for name in ("temperature", "top_p") if _is_number(params.get(name))}
    if isinstance(params.get("max_tokens"), int) and params["max_tokens"] > 0:
        args["max_tokens"] = params["max_tokens"]
    retrieval = {"stack_entry": json.dumps(measure.stack.get("entry", {})), "threshold": measure.threshold}
    more = {"prompt_template": measure.answer.get("template")}
    return {"generation_args": args, "additional_details": _texts({**told, **retrieval, **more})}


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and re.fullmatch(r"-?\d{1,15}(\.\d{1,30})?", str(value)) is not None


def _texts(values: JSON) -> JSON:
    return {name: str(value) for name, value in values.items() if value is not None}


def _spent(item: ExportedItem) -> JSON:
    assert item.took is not None
    found: JSON = {}
    usage = item.took.answer_usage
    if usage.input_tokens is not None and usage.output_tokens is not None:
        total = usage.input_tokens + usage.output_tokens
        found["token_usage"] = {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "total_tokens": total,
        }
    if item.took.answer_ms is not None:
        found["performance"] = {"latency_ms": item.took.answer_ms}
    return found


def _component(name: str) -> str:
    """Return a name as one component of a path that every file system takes."""
    plain = _UNSAFE.sub("_", name).rstrip(". ").strip() or "_"
    if plain.startswith(".") or _RESERVED.fullmatch(plain):
        plain = f"_{plain}"
    return plain[:120].rstrip(". ")
