"""Judges behind servers that fail in every way that providers do: no fault ends as a score."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "unit" / "run"))

from run_lab import Lab

from ragassay.manifest import decode_run, read_run
from ragassay.records import JSON
from ragassay.run.prepared import Options
from ragassay.testing.chat_replies import judge
from ragassay.testing.provider_imitations import completion, openai_error
from ragassay.testing.provider_servers import Asked, Imitation, ProviderServer, Said, streamed

Fault = Callable[[JSON, str], Said]
"""Makes a response from the request's body and the verdict that a sound judge would give."""


def whole(body: JSON, text: str | None, *, finish: str = "stop", **message: Any) -> JSON:
    """Return a completion with a finish reason and further members of its message."""
    made = completion(body, text, **message)
    made["choices"][0]["finish_reason"] = finish
    return made


def deltas(text: str, *, finish: str | None = "stop") -> list[JSON]:
    """Return a verdict in two chunks, and a last one with the finish reason."""
    half = len(text) // 2
    parts = [{"choices": [{"index": 0, "delta": {"content": part}}]} for part in (text[:half], text[half:])]
    return [*parts, {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}]


def raw(body: JSON, text: str, old: str, new: str) -> Said:
    """Return a completion whose bytes are changed."""
    data = json.dumps(whole(body, text))
    assert old in data
    return Said(raw=data.replace(old, new, 1).encode())


FAULTS: Mapping[str, Fault] = {
    "answers in prose": lambda body, v: Said(body=whole(body, "I think that the answer is right.")),
    "spends its budget on thoughts": lambda body, v: Said(body=whole(body, None, finish="length", reasoning_content=v)),
    "puts the verdict into its thoughts": lambda body, v: Said(body=whole(body, None, reasoning_content=v)),
    "is filtered after a whole verdict": lambda body, v: Said(body=whole(body, v, finish="content_filter")),
    "is filtered in Google's words": lambda body, v: Said(body=whole(body, v, finish="SAFETY")),
    "sends an error beside a verdict": lambda body, v: Said(
        body={**whole(body, v), "error": {"message": "rate limited"}}
    ),
    "sends an error inside its choice": lambda body, v: Said(
        body={"choices": [{"message": {"content": v}, "error": {"message": "upstream"}}]}
    ),
    "sends no choices": lambda body, v: Said(body={**whole(body, v), "choices": []}),
    "calls a tool": lambda body, v: Said(
        body=whole(body, None, tool_calls=[{"type": "function", "function": {"name": "grade", "arguments": v}}])
    ),
    "tears its stream in the middle": lambda body, v: streamed(deltas(v)[:1], done=False),
    "ends its stream without a reason": lambda body, v: streamed(deltas(v, finish=None)),
    "breaks off inside the body": lambda body, v: Said(body=whole(body, v), cut=True),
    "sends an HTML page": lambda body, v: Said(raw=f"<html><body>{v}</body></html>".encode()),
    "says its content twice": lambda body, v: raw(body, v, '"content": ', '"content": "other", "content": '),
    "is over its limit": lambda body, v: openai_error("busy", status=429, **{"Retry-After": "0"}),
    "is down": lambda body, v: Said(status=503, raw=b"<html>unavailable</html>"),
    "refuses the request": lambda body, v: openai_error("this item is too long"),
    "repeats an old nonce": lambda body, v: Said(body=whole(body, v.replace('"nonce": "', '"nonce": "0'))),
    "gives two verdicts": lambda body, v: Said(body=whole(body, v + "\n" + v)),
    "names a claim twice": lambda body, v: Said(body=whole(body, v.replace('{"id": 1', '{"id": 1, "id": 1'))),
    "says nothing": lambda body, v: Said(body=whole(body, "")),
}
"""What a judge's server does in place of giving a verdict, by name."""


def failing_for(part: str, fault: Fault) -> Imitation:
    """Return a judge that grades every answer but those to the questions about `part`, where it fails."""

    def imitate(asked: Asked) -> Said:
        verdict = judge(asked.body)
        if part in json.dumps(asked.body):
            return fault(asked.body, verdict)
        return Said(body=completion(asked.body, verdict))

    return imitate


def test_no_fault_of_a_judge_is_a_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty-one judge servers with different faults: each failed item is unjudged, the others keep their score."""
    monkeypatch.setattr("ragassay.run.limits.FIRST_WAIT_S", 0.001)
    monkeypatch.setattr("ragassay.run.limiter.FIRST_COOL_S", 0.001)
    monkeypatch.setattr("ragassay.run.limiter.LONGEST_COOL_S", 0.01)
    for at, (name, fault) in enumerate(FAULTS.items()):
        folder = tmp_path / str(at)
        folder.mkdir()
        lab = Lab(folder, 3)
        with ProviderServer(failing_for("part 1 weigh?", fault)) as server:
            model = f'{{ kind = "openai", id = "j", base_url = "{server.base_url}" }}'
            lab.write(judge=f'kind = "llm"\nmodel = {model}')
            end = lab.run(Options(seal=True))["row", 1]
        rows = lab.outputs(end)
        lost, kept = rows["q-001"], [rows["q-000"], rows["q-002"]]
        assert (lost.status, lost.score, lost.claims, lost.verdict) == ("judge_failed", None, (), None), name
        assert lost.failure is not None, name
        assert lost.answer, name
        assert [(row.status, row.score) for row in kept] == [("ok", 100)] * 2, name
        counts = decode_run(read_run(lab.space.runs / end.run_id).files).predicate.counts
        assert (counts.asked, counts.scored, counts.unjudged) == (3, 2, 1), name
        assert lab.telemetry(end)["q-001"].judge_attempts >= 1, name


def test_a_judge_that_takes_no_schema_says_so_with_each_reply(tmp_path: Path) -> None:
    """Where the endpoint refuses a schema: JSON mode is asked, scores stand, and telemetry and notes say it."""

    def no_schema(asked: Asked) -> Said:
        if asked.body.get("response_format", {}).get("type") == "json_schema":
            return openai_error("Invalid parameter: 'response_format' of type 'json_schema' is not supported.")
        return Said(body=completion(asked.body, judge(asked.body)))

    lab = Lab(tmp_path, 6)
    with ProviderServer(no_schema) as server:
        limits = "limits = { concurrency = 2 }"
        model = f'{{ kind = "openai", id = "j", base_url = "{server.base_url}", {limits} }}'
        lab.write(judge=f'kind = "llm"\nmodel = {model}')
        end = lab.run()["row", 1]
        refused = sum(asked.body["response_format"]["type"] == "json_schema" for asked in server.asked)
        assert (refused, len(server.asked)) == (1, 13)
    assert end.held is None
    assert {row.score for row in lab.outputs(end).values()} == {100}
    said = {fold for row in lab.telemetry(end).values() for fold in row.folds}
    assert said == {"reply 1 was asked for with response_format json_object: the endpoint refused json_schema"}
    assert all(row.folds for row in lab.telemetry(end).values())
    notes = [note for note in lab.status.notes if "JSON mode" in note]
    assert len(notes) == 1
    assert "models check" in notes[0]
    config = decode_run(read_run(lab.space.runs / end.run_id).files).config
    assert config is not None
    assert config.measure.judge["describe"]["fallback"] == ["json_object", "none"]
