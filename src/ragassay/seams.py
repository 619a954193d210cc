"""The protocols between the runner and everything that can be plugged in.

Listing plugins imports nothing; each built-in is one file under `plugins/`, outside packages use entry points
(`ragassay.chunkers`, `ragassay.embedders`, `ragassay.stacks`, `ragassay.models`, `ragassay.judges`).
Every `describe()` returns JSON without fractional numbers (decimal strings instead): it is recorded and hashed.

A class of any seam may declare `deterministic: ClassVar[bool] = True`: what it returns follows from what it describes
and what it is given, to the last bit, on every machine. Whoever declares nothing is not. A run of which every part
declares it can be re-executed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

from ragassay.records import JSON, Chunk, Hit, JudgeItem, Message, Page, RawVerdict, Reply

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Seam = Literal["chunkers", "embedders", "stacks", "models", "judges"]

PARTS: Mapping[str, Seam] = {
    "embedder": "embedders",
    "stack": "stacks",
    "of": "stacks",
    "model": "models",
}
"""Which seam a table with `kind` belongs to, by the parameter at which it stands inside a stack's entry."""

Progress = Callable[[int, int], None]
"""Called with (done, total) while something long is built; may raise to stop it."""


@runtime_checkable
class Chunker(Protocol):
    """Splits a page; spans cover the page in order: the first starts at 0, none leaves a gap, the last ends it."""

    def split(self, page: Page) -> Sequence[Chunk]:
        """Return the page's chunks in order, each `text == page.text[start:end]`; an empty page has none."""
        ...

    def describe(self) -> JSON:
        """Return kind, version and every parameter."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit-length (or declared otherwise) float32 rows."""

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> NDArray[np.float32]:
        """Return a matrix of shape (len(texts), dimension)."""
        ...

    def describe(self) -> JSON:
        """Return kind, model id, weights digest, dimension, normalisation, prefixes, token limit."""
        ...


@runtime_checkable
class Retriever(Protocol):
    """A built stack. `search` is called from threads."""

    def search(self, text: str, k: int) -> Sequence[Hit]:
        """Return at most k hits for the question's text, best first (higher score is better).

        Raises `StackError` (or anything) when it is down; an empty list means that it looked and found nothing.
        """
        ...

    def describe(self) -> JSON:
        """Return everything that can change a result: parameters, client and server version, index."""
        ...

    def close(self) -> None:
        """Release what it holds; may be called twice."""
        ...


class Stack(Protocol):
    """One retrieval configuration. Constructing it does no work and checks its parameters (`InputError`).

    A class may also have, and is asked for by name:

    - `parts_for(entry) -> Mapping[str, JSON]`, a class method: the `default_parts` of one board entry;
    - `lacking(entry) -> str | None`, a class method: which part a board entry lacks, asked before anything is built;
    - `takes_own_texts: ClassVar[bool]`: a wrapper that delivers the hits of a stack that owns its corpus with their
      texts; any other is refused one;
    - `needs_folder: ClassVar[bool]`: `build` is given the board's folder, a `Path`, as the part `folder`;
    - `needs_cache: ClassVar[bool]`: `build` is given, as the part `cache`, the `Path` of a folder in the workspace's
      cache that belongs to its kind alone and may have to be made: what lies there can be built anew at any time;
    - `removal: ClassVar[str]`: what a person types to remove an index that stays on a server or in a folder, with
      `{name}` and the row's parameters in it;
    - `wire_form_only: ClassVar[bool | str]`: it was tested against a stand-in that speaks the service's wire form, not
      yet against the service; a name: where that parameter is given;
    - `searches_own(entry) -> bool`, a class method: whether a board entry's hits will carry their own text, where a
      parameter decides it;
    - `unsearched(entry, chunks) -> frozenset[str] | None`, a class method: the ids of the chunks that no search of a
      board entry sees (a filter), None where only the built stack knows.

    A built retriever may have `owns_corpus`, where a parameter decides it, `count()`, how many passages the engine
    holds, `stored` (`name`, `reused`, `others`), the index that stays, and `left_out`, the ids of the chunks that no
    search of it sees, None where it does not know what it indexed. Whoever has no `left_out` searches every chunk.
    """

    owns_corpus: ClassVar[bool]
    """True when its hits carry their own text; otherwise ids are looked up in the corpus."""
    default_parts: ClassVar[Mapping[str, JSON]]
    """Parts that the runner builds when the board entry does not name them, as board tables."""

    def __init__(self, **params: Any) -> None: ...

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Retriever:
        """Index `chunks`; `parts` holds embedders, built stacks (`Retriever`) and models (`BlockingModel`).

        A part that stands in a list (`of = [...]`) arrives as a list.
        """
        ...


@runtime_checkable
class Model(Protocol):
    """One attempt at one chat completion; retries, limits and budget live in the runner."""

    async def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Return the reply, or raise `ModelError` with its kind. `params` are added to the configured ones."""
        ...

    def describe(self) -> JSON:
        """Return kind, id, base URL without userinfo, parameters, and what else can change an answer."""
        ...

    async def close(self) -> None:
        """Release connections or weights; may be called twice."""
        ...


@runtime_checkable
class BlockingModel(Protocol):
    """A model as a stack gets it in its part `model`: behind limits, retries and budget; called from threads.

    What its calls take is counted with the search that they are made in.
    """

    def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Return a reply with a text; raises `StackError` where there is none. `params` are added to the configured."""
        ...

    def describe(self) -> JSON:
        """Return what the model says of itself."""
        ...


@runtime_checkable
class Judge(Protocol):
    """Classifies the reference's claims in one answer; returns no number and sees no row name."""

    id: str
    """What stands in the metric's name, e.g. `literal/1` or the model's id."""
    attempts: int
    """How often an invalid reply may be asked for in total (1 for a deterministic judge)."""
    needs_literals: bool
    """True when every claim must carry a non-empty `must`."""

    async def grade(self, item: JudgeItem) -> RawVerdict:
        """Return one raw reply under a fresh nonce, unparsed; raises `ModelError` when there is none."""
        ...

    def describe(self) -> JSON:
        """Return kind, id, model, parameters, prompt and schema digests."""
        ...
