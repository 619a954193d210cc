"""`board.toml` becomes one checked value; unknown keys are errors and all problems are listed at once."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import msgspec

from ragassay.errors import InputError
from ragassay.records import JSON, Profile
from ragassay.run.table import Table

DEFAULT_CHUNKER: JSON = {"kind": "heading", "max_tokens": 256, "overlap": 32}
DEFAULT_MAX_TOKENS = 16_384
DEFAULT_TEMPLATE = "chunks-as-system/1"
EXPOSURES = ("none", "designed-on", "tuned-on")


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one endpoint allows: simultaneous calls, calls per minute (None: no limit), seconds per call."""

    concurrency: int
    requests_per_minute: int | None = None
    timeout_s: int = 300


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """USD per million tokens, which is micro-USD per token."""

    input_usd_per_mtok: str
    output_usd_per_mtok: str

    def cost_microusd(self, input_tokens: int | None, output_tokens: int | None) -> int | None:
        """Return the cost of one call, half-up, or None where the server did not count tokens."""
        if input_tokens is None or output_tokens is None:
            return None
        cost = Decimal(self.input_usd_per_mtok) * input_tokens + Decimal(self.output_usd_per_mtok) * output_tokens
        return int(cost + Decimal("0.5"))


class ModelTable(msgspec.Struct, frozen=True, kw_only=True):
    """One model as the board names it; `params` go to the endpoint with each call."""

    kind: str
    id: str | None
    base_url: str | None
    key_env: str | None
    path: str | None
    params: JSON
    limits: Limits
    price: Price | None


class JudgeTable(msgspec.Struct, frozen=True, kw_only=True):
    """The judge: `literal`, `llm` over a model, or an outside plugin with its parameters."""

    kind: str
    model: ModelTable | None
    params: JSON


class RowTable(msgspec.Struct, frozen=True, kw_only=True):
    """One row: a name, a stack entry, how much it delivers, and whether it was shaped on these questions."""

    name: str
    stack: JSON
    top_k: int
    threshold: str | None
    exposure: str | None


class BoardFile(msgspec.Struct, frozen=True, kw_only=True):
    """A checked board; paths are absolute."""

    path: Path
    name: str
    passes: int
    seed: int
    corpus: Path
    chunker: JSON
    benchmark: Path
    scorer: Profile
    answer: ModelTable
    template: str
    judge: JudgeTable
    max_microusd: int | None
    rows: tuple[RowTable, ...]
    control_waiver: str | None


def load_board(path: Path) -> BoardFile:
    """Read and check a board file; raises `InputError` with every problem and its place."""
    try:
        data = tomllib.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; `ragassay init` writes one") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} cannot be read as TOML: {error}") from error
    problems: list[str] = []
    board = _board(Table(data, "", problems), path)
    if problems:
        raise InputError(f"{path} has {len(problems)} problem{'s' if len(problems) > 1 else ''}", problems)
    return board


def _board(top: Table, path: Path) -> BoardFile:
    corpus = top.table("corpus", required=True) or Table({}, "corpus", [])
    benchmark = top.table("benchmark", required=True) or Table({}, "benchmark", [])
    answer = top.table("answer", required=True)
    judge = top.table("judge", required=True)
    budget = top.table("budget")
    if top.take("panel", list):
        top.problem("panel", "further judges cannot be run yet; remove it (the board needs one judge)")
    if corpus.take("crawl", str):
        corpus.problem("crawl", "crawling cannot be done yet; give `path`")
    chunker = corpus.take("chunker", dict, DEFAULT_CHUNKER)
    if "kind" not in chunker:
        corpus.problem("chunker", "needs a `kind`, for example { kind = 'heading' }")
    board = BoardFile(
        path=path.resolve(),
        name=top.text("name", required=True) or "",
        passes=top.count("passes", 3, high=100),
        seed=top.count("seed", 0, low=0, high=2**53 - 1),
        corpus=path.parent.resolve() / (corpus.text("path", required=True) or "."),
        chunker=chunker,
        benchmark=path.parent.resolve() / (benchmark.text("file", required=True) or "."),
        scorer=benchmark.choice("scorer", get_args(Profile), "factual-consistency/2"),  # type: ignore[arg-type]
        template=answer.text("template", DEFAULT_TEMPLATE) if answer else DEFAULT_TEMPLATE,
        answer=_model(answer or Table({"kind": "reader"}, "answer", []), path.parent.resolve()),
        judge=_judge(judge or Table({"kind": "literal"}, "judge", []), path.parent.resolve()),
        max_microusd=_budget(budget) if budget else None,
        rows=_rows(top),
        control_waiver=top.text("control_waiver"),
    )
    _control(top, board)
    for table in (top, corpus, benchmark):
        table.rest_must_be_empty()
    return board


def _control(top: Table, board: BoardFile) -> None:
    has_control = any(row.stack.get("kind") == "none" for row in board.rows)
    if not has_control and board.control_waiver is None:
        top.problem(
            "rows",
            "there is no control row (stack = { kind = 'none' }); add one, "
            "or say why not in `control_waiver`, which is printed on the board",
        )
    if has_control and board.control_waiver is not None:
        top.problem("control_waiver", "the board has a control row, so there is nothing to waive")


def _rows(top: Table) -> tuple[RowTable, ...]:
    rows = []
    for table in top.tables("rows"):
        stack = table.take("stack", dict, {}, required=True)
        if "stack" in table.data and not isinstance(stack.get("kind"), str):
            table.problem("stack", "needs a `kind`, for example { kind = 'bm25' }")
        rows.append(
            RowTable(
                name=table.text("name", required=True) or "",
                stack=stack,
                top_k=table.count("top_k", 5, high=1000),
                threshold=_decimal(table, "threshold"),
                exposure=table.choice("exposure", EXPOSURES, "none") if "exposure" in table.data else None,
            )
        )
        table.rest_must_be_empty()
    if not rows:
        top.problem("rows", "there is none; a board needs at least a control and one stack")
    for name in {row.name for row in rows if sum(other.name == row.name for other in rows) > 1}:
        top.problem("rows", f"the name {name!r} stands more than once")
    return tuple(rows)


def _model(table: Table, folder: Path) -> ModelTable:
    kind = table.text("kind", required=True) or "reader"
    params = dict(table.take("params", dict, {}))
    if kind == "openai":
        params.setdefault("max_tokens", DEFAULT_MAX_TOKENS)
        for key in ("id", "base_url"):
            table.text(key, required=True)
    base_url = table.text("base_url")
    if base_url and (urlsplit(base_url).scheme not in ("http", "https") or "@" in urlsplit(base_url).netloc):
        table.problem("base_url", "must be an http(s) address without user name or key; name the key in `key_env`")
    path = table.text("path")
    limits = table.table("limits") or Table({}, f"{table.place}.limits", table.problems)
    rate = limits.count("requests_per_minute", 1) if "requests_per_minute" in limits.data else None
    model = ModelTable(
        kind=kind,
        id=table.text("id"),
        base_url=base_url,
        key_env=table.text("key_env"),
        path=None if path is None else str(folder / path),
        params=params,
        limits=Limits(
            concurrency=limits.count("concurrency", 8, high=10_000),
            requests_per_minute=rate,
            timeout_s=limits.count("timeout_s", 300, high=86_400),
        ),
        price=_price(table),
    )
    limits.rest_must_be_empty()
    table.take("template", str)
    table.rest_must_be_empty()
    return model


def _price(table: Table) -> Price | None:
    price = table.table("price")
    if price is None:
        return None
    found = {key: _decimal(price, key, required=True) for key in ("input_usd_per_mtok", "output_usd_per_mtok")}
    price.rest_must_be_empty()
    return Price(**{key: value or "0" for key, value in found.items()})


def _judge(table: Table, folder: Path) -> JudgeTable:
    kind = table.text("kind", required=True) or "literal"
    reask = table.take("reask", str, "0%")
    if reask.strip(" %") not in ("0", ""):
        table.problem("reask", "asking the judge twice cannot be done yet; set it to '0%' or remove it")
    model = table.table("model", required=kind == "llm")
    judge = JudgeTable(kind=kind, model=_model(model, folder) if model else None, params=table.take("params", dict, {}))
    table.rest_must_be_empty()
    return judge


def _budget(table: Table) -> int | None:
    text = _decimal(table, "max_usd", required=True)
    table.rest_must_be_empty()
    return None if text is None else int(Decimal(text) * 1_000_000)


def _decimal(table: Table, key: str, *, required: bool = False) -> str | None:
    text: str | None = table.text(key, required=required)
    if text is None:
        return None
    try:
        finite = Decimal(text).is_finite()
    except InvalidOperation:
        finite = False
    if not finite:
        table.problem(key, f"must be a decimal number in quotes, such as '0.2', not {text!r}")
        return None
    return text


def model_entry(model: ModelTable) -> Mapping[str, Any]:
    """Return the parts of a model's table that can change an answer, as they are recorded."""
    return {"kind": model.kind, "id": model.id, "base_url": model.base_url, "params": model.params}
