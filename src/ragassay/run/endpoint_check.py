"""Every endpoint that a board names is asked once, cheaply: what it supports, and what to change on the board."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from ragassay.answer import DEFAULT_TEMPLATE
from ragassay.errors import PluginError, RagassayError, legible
from ragassay.plugins.embedders.openai_check import EmbeddingFindings, check_embeddings
from ragassay.plugins.http import HttpClient
from ragassay.plugins.models.openai import OpenAIModel
from ragassay.plugins.models.openai_check import ChatFindings, check_chat
from ragassay.records import JSON, Message
from ragassay.run.board_file import BoardFile, JudgeTable, ModelTable
from ragassay.run.build import Keys, make, make_model, parts_of, stack_model_table, weights_path
from ragassay.run.endpoint_advice import answer_advice, embedder_advice, judge_advice

Role = Literal["answer", "judge", "embedder", "stack"]
QUESTION = Message(role="user", content="Which code word is given here: amber?")


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """One endpoint: where it stands on the board, what was found, and what to change; `usable` as the board is now."""

    place: str
    role: Role
    kind: str
    id: str | None
    base_url: str | None
    usable: bool
    advice: Sequence[str]
    findings: ChatFindings | EmbeddingFindings
    cost_microusd: int | None


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """A model or embedder where the board names it."""

    place: str
    role: Role
    model: ModelTable | None = None
    judge: JudgeTable | None = None
    entry: JSON = {}


def endpoints(board: BoardFile) -> Iterator[Named]:
    """Yield every model and embedder of a board: answering, judge, further judges, those inside its rows' stacks."""
    yield Named(place="answer", role="answer", model=board.answer)
    if board.judge.model is not None:
        yield Named(place="judge", role="judge", model=board.judge.model, judge=board.judge)
    for one in board.panel:
        if one.judge.model is not None:
            yield Named(place=f"panel {one.name!r}", role="judge", model=one.judge.model, judge=one.judge)
    seen: list[JSON] = []
    for row in board.rows:
        for seam, place, entry in parts_of(row.stack):
            if seam == "stacks" or entry in seen:
                continue
            seen.append(entry)
            if seam == "embedders":
                yield Named(place=f"row {row.name!r}, embedder", role="embedder", entry=entry)
            else:
                table = stack_model_table(entry, f"row {row.name!r}, {place}", board.path.parent)
                yield Named(place=f"row {row.name!r}, {place}", role="stack", model=table)


async def check(named: Named, board: BoardFile, keys: Keys, weights_cache: Path) -> Checked:
    """Ask one endpoint; a key that is not in `keys` makes it unusable, and whatever fails is said, not raised."""
    kind = named.model.kind if named.model else str(named.entry.get("kind"))
    key_env = named.model.key_env if named.model else named.entry.get("key_env")
    advice: list[str] = []
    price = named.model.price if named.model else None
    if key_env and key_env not in keys:
        findings: ChatFindings | EmbeddingFindings = ChatFindings(problem=f"the variable {key_env} is not set")
        advice = [f"export {key_env}=… (its value is never written anywhere)"]
    elif kind == "openai":
        findings = await (_chat(named.model, keys) if named.model else _embeddings(named.entry, keys))
        advice = await _without_v1(named, keys, findings)
    else:
        findings = await _local(named, keys, weights_cache)
    wrong, to_change = _advice(named, board, findings)
    used = (findings.input_tokens, findings.output_tokens if isinstance(findings, ChatFindings) else 0)
    return Checked(
        place=named.place,
        role=named.role,
        kind=kind,
        id=named.model.id if named.model else named.entry.get("id"),
        base_url=named.model.base_url if named.model else named.entry.get("base_url"),
        usable=findings.problem is None and not wrong,
        advice=[*advice, *to_change],
        findings=findings,
        cost_microusd=price.cost_microusd(*used) if price and findings.problem is None else None,
    )


def _advice(named: Named, board: BoardFile, findings: ChatFindings | EmbeddingFindings) -> tuple[bool, list[str]]:
    """Return whether the board as it is cannot use the endpoint, and what to change."""
    if findings.problem is not None:
        return True, []
    if isinstance(findings, EmbeddingFindings):
        return embedder_advice(named.entry.get("dimension"), findings)
    assert named.model is not None
    if named.model.kind != "openai" or named.role == "stack":
        return False, []
    if named.judge is not None:
        return judge_advice(named.judge, named.model, findings)
    return answer_advice(board.template or DEFAULT_TEMPLATE, named.model, findings)


async def _chat(table: ModelTable, keys: Keys, *, base_url: str | None = None) -> ChatFindings:
    model = OpenAIModel(
        table.id or "",
        base_url or table.base_url or "",
        key=keys.get(table.key_env) if table.key_env else None,
        params=table.params,
        timeout_s=table.limits.timeout_s,
    )
    try:
        return await check_chat(model, table.params)
    finally:
        await model.close()


async def _embeddings(entry: JSON, keys: Keys, *, base_url: str | None = None) -> EmbeddingFindings:
    key = keys.get(str(entry.get("key_env") or ""))
    try:
        make("embedders", {**entry, "dimension": entry.get("dimension", 1)}, "its table")
        client = HttpClient(str(base_url or entry.get("base_url") or ""), key=key, timeout_s=120)
    except RagassayError as error:
        return EmbeddingFindings(problem=legible(error))
    try:
        return await check_embeddings(client, str(entry.get("id") or ""), entry.get("params") or {})
    finally:
        await client.close()


async def _without_v1(named: Named, keys: Keys, findings: ChatFindings | EmbeddingFindings) -> list[str]:
    """Return the address that is right where /v1 is missing from it: found out, not guessed."""
    base_url = named.model.base_url if named.model else named.entry.get("base_url")
    if findings.problem is None or "HTTP 40" not in findings.problem or not isinstance(base_url, str):
        return []
    longer = base_url.rstrip("/") + "/v1"
    if base_url.rstrip("/").endswith("/v1"):
        return []
    again: Any = await (
        _chat(named.model, keys, base_url=longer) if named.model else _embeddings(named.entry, keys, base_url=longer)
    )
    return [f"write base_url = {longer!r}: there it answers"] if again.problem is None else []


async def _local(named: Named, keys: Keys, weights_cache: Path) -> ChatFindings | EmbeddingFindings:
    """Ask a model in this process, or one of an outside plugin, for one reply."""
    try:
        if named.model is None:
            given = weights_path("embedders", named.entry, weights_cache)
            rows = make("embedders", named.entry, named.place, **given).embed([QUESTION.content], "query")
            return EmbeddingFindings(dimension=int(rows.shape[1]))
        model = make_model(named.model, keys, weights_cache)
        try:
            reply = await model.complete([QUESTION], {})
        finally:
            await model.close()
    except Exception as error:  # noqa: BLE001 - an outside plugin may raise anything; the finding is that it did
        text = legible(error) if isinstance(error, PluginError) else f"{type(error).__name__}: {legible(error)}"
        return ChatFindings(problem=text, calls=1)
    return ChatFindings(
        served=reply.model,
        finish_reason=reply.finish_reason,
        latency_ms=reply.latency_ms,
        calls=1,
        input_tokens=reply.usage.input_tokens,
        output_tokens=reply.usage.output_tokens,
    )
