"""How `ragassay models check` shows what it found: one block per endpoint, then what to change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragassay.plugins.embedders.openai_check import EmbeddingFindings
from ragassay.plugins.models.openai_check import ChatFindings
from ragassay.run.endpoint_check import Checked
from ragassay.site.safe import one_line


def lines(checked: Sequence[Checked]) -> Iterator[str]:
    """Yield the lines for a terminal."""
    for one in checked:
        what = " ".join([one.kind, *([one.id] if one.id else []), *([f"at {one.base_url}"] if one.base_url else [])])
        yield one_line(f"{one.place}: {what}: {'usable' if one.usable else 'NOT usable as the board is'}")
        if one.findings.problem is not None:
            yield f"  problem          {one_line(one.findings.problem)}"
        else:
            yield from (f"  {name:<16} {one_line(words)}" for name, words in facts(one))
        yield from (f"  to do            {one_line(advice)}" for advice in one.advice)
    bad = sum(not one.usable for one in checked)
    known = sum(one.cost_microusd or 0 for one in checked)
    unknown = sum(one.cost_microusd is None and one.kind == "openai" and not one.findings.problem for one in checked)
    beside = f"; {unknown} have no price on the board, or count no tokens" if unknown else ""
    yield f"{len(checked) - bad} of {len(checked)} usable; the check cost {known / 1e6:.6f} USD{beside}"


def facts(one: Checked) -> Iterator[tuple[str, str]]:
    """Yield name and words of everything found out about an endpoint that answers."""
    found = one.findings
    yield "served as", found.served or "not told"
    if isinstance(found, EmbeddingFindings):
        length = {True: ", of length 1", False: ", not of length 1", None: ""}[found.unit_length]
        yield "dimension", f"{found.dimension}{length}"
    elif one.kind == "openai":
        yield from _chat(found)
    if found.latency_ms is not None:
        yield "latency", f"{found.latency_ms} ms"
    yield "limits", "; ".join(f"{name}: {value}" for name, value in found.limits.items()) or "no header says any"
    cost = "" if one.cost_microusd is None else f", {one.cost_microusd / 1e6:.6f} USD"
    yield "calls", _calls(found) + cost


def _chat(found: ChatFindings) -> Iterator[tuple[str, str]]:
    yield "system messages", found.systems
    ignored = " (json_schema is taken and ignored)" if found.schema_ignored else ""
    yield "response format", found.format + ignored
    yield "temperature 0", "taken" if found.temperature_0 else "refused"
    yield "output limit", found.tokens_name or "none was sent"
    if found.streamed:
        yield "stream", "it answers in a stream only; the pieces are joined"


def _calls(found: ChatFindings | EmbeddingFindings) -> str:
    output = found.output_tokens if isinstance(found, ChatFindings) else 0
    if found.input_tokens is None or output is None:
        return f"{found.calls}; usage is not given"
    return f"{found.calls}, with {found.input_tokens} tokens in and {output} out"
