"""Every row's index, built ahead of a run: what a run would wait for is done, kept, and said row by row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Literal

import msgspec

from ragassay import canon, plugins
from ragassay.corpus import read_corpus
from ragassay.errors import InputError, PluginError, RagassayError, legible
from ragassay.records import JSON, Chunk
from ragassay.run.board_file import BoardFile, RowTable
from ragassay.run.budget import Budget
from ragassay.run.build import Keys, Report, StackBuilder, check_stack, make_chunker, split_entry
from ragassay.run.embeddings import STORES, CachedEmbedder, missing
from ragassay.run.gathered import Gathered
from ragassay.run.workspace import Workspace
from ragassay.seams import PARTS, Retriever

State = Literal["ready", "incomplete", "failed", "wrong input"]


class Vectors(msgspec.Struct, frozen=True, kw_only=True):
    """The chunks' vectors of one embedder of a row: how many different texts need one, and what became of them."""

    embedder: JSON
    """What the embedder says of itself."""
    store: str
    """The name of its store in the workspace's folder `cache/embeddings`: the digest of `embedder`."""
    needed: int
    embedded: int
    """How many were made for this row just now."""
    missing: int
    """How many are not in the store."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """An index of a row, or of a stack inside it, that stays on a server."""

    kind: str
    name: str
    reused: bool
    """True where it was whole already."""
    others: tuple[str, ...]
    """Further indexes of ragassay on the same server."""
    removal: str | None
    """What to type to remove one, with `{name}` for its name; None where the stack does not say."""


class RowIndexed(msgspec.Struct, kw_only=True):
    """What became of one row's index."""

    row: str
    kind: str
    state: State = "ready"
    problem: str | None = None
    retryable: bool = False
    """True where the stack says that building again may help."""
    build_ms: int | None = None
    """None where nothing was built."""
    vectors: list[Vectors] = msgspec.field(default_factory=list)
    stored: list[Kept] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)


class BoardIndexed(msgspec.Struct, frozen=True, kw_only=True):
    """All rows that were built or looked at, and the corpus that they are over."""

    corpus: str
    """The corpus's digest."""
    pages: int
    chunks: int
    built: bool
    """False where it was only looked at what is there."""
    rows: Sequence[RowIndexed]

    @property
    def exit_code(self) -> int:
        """3 where a service or plugin failed, else 2 where a stack refused its input, 1 where vectors lack, else 0."""
        states = {one.state for one in self.rows}
        return 3 if "failed" in states else 2 if "wrong input" in states else 1 if "incomplete" in states else 0


class RowBuilder(StackBuilder):
    """Builds stacks as a run does, and notes every index among them that stays on a server."""

    def __init__(
        self, board: BoardFile, chunks: Sequence[Chunk], *, cache: Path, weights_cache: Path, report: Report, keys: Keys
    ):
        super().__init__(
            chunks,
            evidence={},
            cache=cache,
            weights_cache=weights_cache,
            report=report,
            keys=keys,
            budget=Budget(board.max_microusd, max_tokens=board.max_tokens),
            folder=board.path.parent,
        )
        self.texts = [chunk.text for chunk in chunks]
        self.stores = cache / STORES
        self.stored: list[Kept] = []

    def build(self, entry: JSON, place: str) -> Retriever:
        """Return the built stack, its parts first."""
        retriever = super().build(entry, place)
        stored = getattr(retriever, "stored", None)
        if stored is not None:
            removal = getattr(plugins.load("stacks", entry["kind"]), "removal", None)
            self.stored.append(
                Kept(
                    kind=entry["kind"],
                    name=stored.name,
                    reused=stored.reused,
                    others=tuple(stored.others),
                    removal=_filled(removal, entry) if isinstance(removal, str) else None,
                )
            )
        return retriever

    def embedders_of(self, entry: JSON, place: str) -> list[CachedEmbedder]:
        """Return the embedders of a stack's entry and of the stacks inside it, made and not asked; each once."""
        found = {id(one): one for one in (self.embedder(part, at) for part, at in embedder_entries(entry, place))}
        return list(found.values())

    def vectors(self, embedder: CachedEmbedder, embedded: int) -> Vectors:
        """Return how far the store of an embedder holds the chunks' vectors."""
        about = embedder.describe()
        store = canon.digest(about)
        lacking = missing(self.stores, store, self.texts)
        return Vectors(embedder=about, store=store, needed=len(set(self.texts)), embedded=embedded, missing=lacking)


def embedder_entries(entry: JSON, place: str) -> Iterator[tuple[JSON, str]]:
    """Yield the table and the place of every embedder of a stack's entry, those that its classes bring included."""
    for key, value in split_entry(entry, place)[0].items():
        for part in value if isinstance(value, list) else [value]:
            if PARTS[key] == "embedders":
                yield part, f"{place}.{key}"
            elif PARTS[key] == "stacks":
                yield from embedder_entries(part, f"{place}.{key}")


def index_board(
    board: BoardFile,
    workspace: Workspace,
    *,
    rows: Sequence[str] = (),
    keys: Keys,
    weights_cache: Path,
    report: Report,
    build: bool = True,
    on_row: Callable[[RowIndexed], None] = lambda _row: None,
) -> BoardIndexed:
    """Build each row's index over the board's corpus; a failing row stops no other.

    Vectors are kept in the workspace block by block, and indexes on servers are continued: what an interrupted build
    has done is not done again. `rows` names those to build, all where it is empty. Without `build` nothing is built,
    asked or written: it is looked at which vectors are there. `on_row` is called as soon as a row has ended.
    Raises `InputError` with every problem of board and stacks at once, before anything is built.
    """
    chosen, refused = _checked_rows(board, rows)
    corpus = read_corpus(board.corpus, make_chunker(board.chunker), progress=report("corpus"), pdf=board.pdf)
    if build:
        workspace.prepare()
    builder = RowBuilder(
        board, corpus.chunks, cache=workspace.cache, weights_cache=weights_cache, report=report, keys=keys
    )
    done = []
    for row in chosen:
        one = RowIndexed(row=row.name, kind=row.stack["kind"])
        if row.name in refused:
            _failed(one, refused[row.name])
        elif one.kind in ("none", "oracle"):
            one.notes.append("it has no index")
        else:
            _index(one, row, builder, build=build)
        done.append(one)
        on_row(one)
    return BoardIndexed(
        corpus=corpus.digest(), pages=len(corpus.pages), chunks=len(corpus.chunks), built=build, rows=done
    )


def _checked_rows(board: BoardFile, names: Sequence[str]) -> tuple[list[RowTable], dict[str, PluginError]]:
    """Return the rows to build, and those whose plugin cannot be imported or is no stack."""
    problems = Gathered()
    if unknown := [name for name in names if name not in {row.name for row in board.rows}]:
        problems.of(lambda: _no_row(board, unknown))
    problems.of(lambda: make_chunker(board.chunker))
    chosen = [row for row in board.rows if not names or row.name in names]
    refused: dict[str, PluginError] = {}
    for row in chosen:
        try:
            problems.of(lambda row=row: check_stack(row.stack, f"row {row.name!r}"))  # type: ignore[misc]
        except PluginError as error:
            refused[row.name] = error
        except AttributeError as error:
            refused[row.name] = PluginError(f"the class of the stack {row.stack['kind']!r} is no stack: {error}")
    problems.raise_all(f"the indexes of {board.path.name} cannot be built")
    return chosen, refused


def _no_row(board: BoardFile, unknown: Sequence[str]) -> None:
    raise InputError(f"{board.path.name} has no row {', '.join(map(repr, unknown))}")


def _index(one: RowIndexed, row: RowTable, builder: RowBuilder, *, build: bool) -> None:
    place = f"row {row.name!r}"
    try:
        embedders = builder.embedders_of(row.stack, place)
        before = [embedder.embedded for embedder in embedders]
        builder.stored.clear()
        if build:
            _build(one, row, builder, place)
        made = [embedder.embedded - count for embedder, count in zip(embedders, before, strict=True)]
        one.vectors = [builder.vectors(embedder, count) for embedder, count in zip(embedders, made, strict=True)]
    except RagassayError as error:
        _failed(one, error)
    except Exception as error:  # noqa: BLE001 - an outside embedder may raise anything when it is described
        _failed(one, PluginError(f"{place}: {type(error).__name__}: {legible(error)}"))
    one.stored = list(builder.stored)
    if one.state == "ready" and not build and any(vectors.missing for vectors in one.vectors):
        one.state = "incomplete"


def _build(one: RowIndexed, row: RowTable, builder: RowBuilder, place: str) -> None:
    """Build and close a row's stack; its failure is noted, so that what was embedded before it is still told."""
    began = perf_counter()
    try:
        retriever = builder.build(row.stack, place)
    except RagassayError as error:
        _failed(one, error)
        return
    one.build_ms = round((perf_counter() - began) * 1000)
    try:
        retriever.close()
    except Exception as error:  # noqa: BLE001 - it is built: an outside stack's end is only told
        one.notes.append(f"the stack could not be closed: {type(error).__name__}: {legible(error)}")


def _failed(one: RowIndexed, error: RagassayError) -> None:
    one.state = "wrong input" if isinstance(error, InputError) else "failed"
    one.problem = legible(error)
    one.retryable = isinstance(error, PluginError) and error.retryable


def _filled(removal: str, entry: JSON) -> str | None:
    """Return what to type, `{name}` left open and the row's own parameters in the places that name them.

    None where it names a parameter that the row leaves out.
    """
    filled = removal.replace("{name}", "\0")
    for name, value in entry.items():
        if isinstance(value, str | int):
            filled = filled.replace(f"{{{name}}}", str(value))
    return None if re.search(r"\{\w+\}", filled) else filled.replace("\0", "{name}")
