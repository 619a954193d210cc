"""`board.toml` becomes one checked value; unknown keys are errors and all problems are listed at once."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import get_args

import msgspec

from ragassay.corpus.crawl.address import normal
from ragassay.corpus.crawled import crawl_folder
from ragassay.errors import InputError
from ragassay.plugins.address import NO_VARIABLE, VARIABLE, checked_base_url
from ragassay.plugins.price import Price
from ragassay.records import JSON, Profile
from ragassay.run.table import Table
from ragassay.seams import PARTS

DEFAULT_CHUNKER: JSON = {"kind": "heading", "max_tokens": 256, "overlap": 32}
DEFAULT_MAX_TOKENS = 16_384
WORKSPACE = ".ragassay"
"""The folder beside a board in which its crawls lie, whatever workspace its runs are kept in."""
MAX_BYTES = 4 * 1024 * 1024
MAX_USD = "1000000"
"""The most that a budget, or a million tokens, may cost: money stays an exact integer of micro-USD."""
MOST_TOKENS = 10**12
LOCAL_MODELS = ("reader", "llamacpp")
"""Models that run in this process: they cost nothing, and no budget counts them."""
STACK_TIMEOUT_S = 60
"""How long a search may take where a row says nothing."""
DEFAULT_TEMPLATE = "chunks-as-system/1"
OWN_JUDGE = "[judge]"
"""What the board's own judge is called beside those of the panel: the table that describes it."""
OWN_IN_CONFORMANCE = "judge"
"""What it is called where judge conformance is measured, and on the command line there."""
EXPOSURES = ("none", "designed-on", "tuned-on")
_SHARE = re.compile(r"(0|[1-9][0-9]?|100)%")


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one endpoint allows: simultaneous calls, calls and tokens per minute (None: no limit), seconds per call."""

    concurrency: int
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    timeout_s: int = 300


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
    """A judge: `literal`, `llm` over a model, or an outside plugin with its parameters."""

    kind: str
    model: ModelTable | None
    params: JSON
    reask: str | None = None
    """The share of judged answers that it is asked about again, such as "20%"; None where the board says nothing."""


class PanelTable(msgspec.Struct, frozen=True, kw_only=True):
    """A further judge of the stored answers, by the name that the board gives it."""

    name: str
    judge: JudgeTable


class RowTable(msgspec.Struct, frozen=True, kw_only=True):
    """One row: a name, a stack entry, how much it delivers, and whether it was shaped on these questions."""

    name: str
    stack: JSON
    top_k: int
    threshold: str | None
    exposure: str | None
    timeout_s: int = STACK_TIMEOUT_S
    """How long one search may take."""


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
    max_tokens: int | None
    rows: tuple[RowTable, ...]
    control_waiver: str | None
    panel: tuple[PanelTable, ...] = ()
    crawl: str | None = None
    """The address of the site whose crawl folder `corpus` is; None where the board names a path."""
    pdf: bool = False
    """Whether PDF files are pages."""
    concurrency: int | None = None
    """The most questions under way at once, over all rows."""


DEFAULT_REASK = "20%"


def reask_share(table: JudgeTable, judge: object) -> str:
    """Return the share of judged answers that the board's own judge is asked about again.

    Where the board says nothing that is a fifth, and none for a judge that declares itself deterministic.
    """
    return table.reask or ("0%" if getattr(judge, "deterministic", False) else DEFAULT_REASK)


def load_board(path: Path) -> BoardFile:
    """Read and check a board file; raises `InputError` with every problem and its place."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise InputError(f"{path} has more than the {MAX_BYTES} bytes that a board may have")
        data = tomllib.loads(raw.decode("utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; `ragassay init` writes one") from None
    except (OSError, ValueError) as error:  # a number of thousands of digits is a plain ValueError
        raise InputError(f"{path} cannot be read as TOML: {error}") from error
    except RecursionError as error:
        raise InputError(f"{path} cannot be read as TOML: it is nested too deeply") from error
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
    max_microusd, max_tokens = _budget(budget) if budget else (None, None)
    source, crawl = _corpus_source(corpus, path.parent.resolve())
    chunker = corpus.free("chunker", DEFAULT_CHUNKER)
    if not isinstance(chunker.get("kind"), str):
        corpus.problem("chunker", "needs a `kind`, for example { kind = 'heading' }")
    board = BoardFile(
        path=path.resolve(),
        name=top.name("name", required=True) or "",
        passes=top.count("passes", 3, high=100),
        seed=top.count("seed", 0, low=0, high=2**53 - 1),
        concurrency=_optional(top, "concurrency"),
        corpus=source,
        crawl=crawl,
        pdf=corpus.take("pdf", bool, False),
        chunker=chunker,
        benchmark=path.parent.resolve() / (benchmark.path("file", required=True) or "."),
        scorer=benchmark.choice("scorer", get_args(Profile), "factual-consistency/2"),  # type: ignore[arg-type]
        template=(answer.text("template") if answer else None) or DEFAULT_TEMPLATE,
        answer=model_table(answer or Table({"kind": "reader"}, "answer", []), path.parent.resolve()),
        judge=_judge(judge or Table({"kind": "literal"}, "judge", []), path.parent.resolve()),
        max_microusd=max_microusd,
        max_tokens=max_tokens,
        rows=_rows(top),
        control_waiver=top.name("control_waiver"),
        panel=_panel(top, path.parent.resolve()),
    )
    _control(top, board)
    for one in board.panel:
        if one.judge.kind == "literal" and board.scorer != "factual-consistency/2":
            top.problem("panel", f"{one.name!r} reads frozen claims; it needs scorer = 'factual-consistency/2'")
    for table in (top, corpus, benchmark):
        table.rest_must_be_empty()
    return board


def _corpus_source(corpus: Table, folder: Path) -> tuple[Path, str | None]:
    """Return where the documentation lies, and the address that it was crawled from where the board names one."""
    named = [key for key in ("path", "crawl") if key in corpus.data]
    path, url = corpus.path("path"), corpus.text("crawl")
    if len(named) != 1:
        problem = "is missing, and so is `crawl`; give one of them" if not named else "stands beside `crawl`; give one"
        corpus.problem("path", problem)
    if url is None:
        return folder / (path or "."), None
    try:
        return crawl_folder(url, folder / WORKSPACE), normal(url)
    except InputError as error:
        corpus.problem("crawl", error.message)
        return folder, None


def _control(top: Table, board: BoardFile) -> None:
    has_control = any(row.stack.get("kind") == "none" for row in board.rows)
    if not has_control and "control_waiver" not in top.data:
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
        stack = table.free("stack", required=True)
        if "stack" in table.data:
            _check_stack(table, "stack", stack)
        rows.append(
            RowTable(
                name=table.name("name", required=True) or "",
                stack=stack,
                top_k=table.count("top_k", 5, high=1000),
                threshold=table.decimal("threshold"),
                timeout_s=table.count("timeout_s", STACK_TIMEOUT_S, high=86_400),
                exposure=table.choice("exposure", EXPOSURES, "none") if "exposure" in table.data else None,
            )
        )
        table.rest_must_be_empty()
    if not rows:
        top.problem("rows", "there is none; a board needs at least a control and one stack")
    for name in sorted({row.name for row in rows if row.name and sum(other.name == row.name for other in rows) > 1}):
        top.problem("rows", f"the name {name!r} stands more than once")
    return tuple(rows)


def _check_stack(table: Table, place: str, stack: JSON, *, example: str = "bm25", inside: bool = False) -> None:
    """Record a part without a kind, a key, and control or oracle inside another stack: it would pass for retrieval."""
    kind = stack.get("kind")
    if not isinstance(kind, str):
        table.problem(place, f"needs a `kind`, for example {{ kind = '{example}' }}")
    elif inside and kind in ("none", "oracle"):
        table.problem(place, f"{kind!r} is a row of its own and cannot stand inside another stack")
    if "key" in stack:
        table.problem(f"{place}.key", "a key never stands in a board; name the variable that holds it in `key_env`")
    for key in PARTS.keys() & stack.keys():
        found = stack[key] if isinstance(stack[key], list) else [stack[key]]
        for index, part in enumerate(found):
            at = f"{place}.{key}" + (f"[{index}]" if isinstance(stack[key], list) else "")
            example = {"embedders": "minilm-l6-v2-int8", "models": "openai"}.get(PARTS[key], "bm25")
            _check_stack(table, at, part if isinstance(part, dict) else {}, example=example, inside=True)


def _base_url(table: Table) -> str | None:
    base_url: str | None = table.text("base_url")
    if base_url:
        try:
            checked_base_url(base_url)
        except InputError as error:
            table.problem("base_url", error.message.removeprefix("base_url "))
    return base_url


def _key_env(table: Table) -> str | None:
    name: str | None = table.text("key_env")
    if name and not VARIABLE.fullmatch(name):
        table.problem("key_env", NO_VARIABLE)
        return None
    return name


def model_table(table: Table, folder: Path) -> ModelTable:
    """Return the model that a table configures; its problems are kept in the table, and paths lie under `folder`."""
    kind = table.text("kind", required=True) or "reader"
    params = dict(table.free("params"))
    if kind == "openai":
        if "max_completion_tokens" not in params:
            params.setdefault("max_tokens", DEFAULT_MAX_TOKENS)
        for key in ("id", "base_url"):
            table.text(key, required=True)
    path = table.path("path")
    limits = table.table("limits") or Table({}, f"{table.place}.limits", table.problems)
    model = ModelTable(
        kind=kind,
        id=table.text("id"),
        base_url=_base_url(table),
        key_env=_key_env(table),
        path=None if path is None else str(folder / path),
        params=params,
        limits=Limits(
            concurrency=limits.count("concurrency", 8, high=10_000),
            requests_per_minute=_optional(limits, "requests_per_minute"),
            tokens_per_minute=_optional(limits, "tokens_per_minute"),
            timeout_s=limits.count("timeout_s", 300, high=86_400),
        ),
        price=_price(table),
    )
    limits.rest_must_be_empty()
    table.rest_must_be_empty()
    return model


def _optional(table: Table, key: str, high: int = 10**9) -> int | None:
    return table.count(key, 1, high=high) if key in table.data else table.take(key, int)


def _price(table: Table) -> Price | None:
    price = table.table("price")
    if price is None:
        return None
    keys = ("input_usd_per_mtok", "output_usd_per_mtok")
    found = {key: price.decimal(key, low="0", high=MAX_USD, required=True) for key in keys}
    price.rest_must_be_empty()
    return Price(**{key: value or "0" for key, value in found.items()})


def _judge(table: Table, folder: Path) -> JudgeTable:
    kind = table.text("kind", required=True) or "literal"
    reask = table.text("reask")
    if reask and not _SHARE.fullmatch(reask):
        table.problem("reask", f"must be a whole share from '0%' to '100%', not {ascii(reask)[:80]}")
    model = table.table("model", required=kind == "llm")
    if kind == "literal" and model:
        table.problem("model", "the literal judge asks no model; remove it, or set kind = 'llm'")
    judge = JudgeTable(
        kind=kind,
        model=model_table(model, folder) if model else None,
        params=_judge_params(table, kind),
        reask=reask or None,
    )
    table.rest_must_be_empty()
    return judge


def _panel(top: Table, folder: Path) -> tuple[PanelTable, ...]:
    found = []
    for table in top.tables("panel"):
        if "reask" in table.data:
            table.problem("reask", "is for the board's own [judge]; a judge of the panel is asked once")
        name = table.name("name", required=True) or ""
        found.append(PanelTable(name=name, judge=_judge(table, folder)))
    names = [one.name for one in found]
    for name in sorted({name for name in names if name and names.count(name) > 1}):
        top.problem("panel", f"the name {name!r} stands more than once")
    for name in sorted({OWN_JUDGE, OWN_IN_CONFORMANCE} & set(names)):
        top.problem("panel", f"{name!r} is what the board's own judge is called; give another name")
    return tuple(found)


def _judge_params(table: Table, kind: str) -> JSON:
    """Return a judge's parameters; those under `omit` are None, which keeps them out of its calls."""
    omitted = table.take("omit", list, [])
    if not all(isinstance(name, str) and name for name in omitted):
        table.problem("omit", "must be an array of parameter names, such as ['temperature']")
        omitted = []
    if omitted and kind != "llm":
        table.problem("omit", "is for a judge of kind 'llm'; remove it")
    return {**table.free("params"), **dict.fromkeys(omitted)}


def _budget(table: Table) -> tuple[int | None, int | None]:
    """Return the most micro-USD and the most tokens that a run may take; None: no cap."""
    text = table.decimal("max_usd", low="0", high=MAX_USD)
    max_tokens = _optional(table, "max_tokens", MOST_TOKENS)
    if not {"max_usd", "max_tokens"} & table.data.keys():
        table.problem("", "caps nothing; give `max_usd` in quotes, `max_tokens`, or both")
    table.rest_must_be_empty()
    return None if text is None else int(Decimal(text) * 1_000_000), max_tokens
