"""What a board's entry for a retriever of another library may name, how it is made, and what is recorded of it.

What is the same for LangChain, LlamaIndex and Haystack stands here once.
"""

from __future__ import annotations

import inspect
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any, ClassVar

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.foreign.named import Named, raised_by_their_code
from ragassay.plugins.stacks.foreign.retriever import Asked, ForeignRetriever
from ragassay.plugins.stacks.foreign.settings import Settings
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.records import JSON, Chunk
from ragassay.seams import Progress

_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


class ForeignStack(ABC):
    """Takes `retriever` (module:attribute), `corpus` (board or own), `concurrent`, and `scores` where there are any."""

    kind: ClassVar[str]
    noun: ClassVar[str]
    package: ClassVar[str]
    """The library's package, whose version is recorded beside those of the classes that it met."""
    owns_corpus: ClassVar[bool] = False
    """With `corpus = "own"` the retriever that is built says otherwise."""
    default_parts: ClassVar[Mapping[str, JSON]] = {}
    needs_folder: ClassVar[bool] = True
    """The runner gives the board's folder as the part `folder`."""
    scores: ClassVar[tuple[str, ...]] = ("own", "rank")

    def __init__(self, **params: Any) -> None:
        read = Parameters(self.kind, params)
        path = read.text("retriever")
        self._own = read.choice("corpus", "board", ("board", "own")) == "own"
        self._concurrent = read.flag("concurrent", True)
        self._scores = read.choice("scores", self.scores[0], self.scores) if len(self.scores) > 1 else self.scores[0]
        self._read_more(read)
        problems: tuple[str, ...] = ()
        try:
            read.finish()
        except InputError as error:
            problems = error.problems
        if path is None or not _PATH.fullmatch(path):
            problems = (*problems, 'retriever must be module:attribute, such as "my_retriever:make_retriever"')
        if problems:
            raise InputError(f"the parameters of {self.kind!r} cannot be used", dict.fromkeys(problems))
        self._path = str(path)

    @classmethod
    def searches_own(cls, entry: JSON) -> bool:
        """Tell whether a board entry's retriever searches a corpus of its own."""
        return entry.get("corpus") == "own"

    @classmethod
    def unsearched(cls, _entry: JSON, _chunks: Sequence[Chunk]) -> None:
        """Say that only the built retriever knows what it was given to index."""
        return

    def _read_more(self, read: Parameters) -> None:  # noqa: B027 - most libraries have none
        """Read the parameters that this library alone has."""

    @abstractmethod
    def documents(self, chunks: Sequence[Chunk]) -> list[Any]:
        """Return the chunks as the library's own documents, in order, with the metadata of `metadata_of`."""

    @abstractmethod
    def is_retriever(self, found: Any) -> bool:
        """Tell whether an object can be asked."""

    @abstractmethod
    def asked(self, retriever: Any) -> Asked:
        """Return how the retriever is asked; `InputError` where it cannot be asked with a question alone."""

    def settings(self, retriever: Any, read: Settings) -> JSON:
        """Return what the retriever is set to."""
        return read.of(retriever)

    @abstractmethod
    def reader(self) -> Settings:
        """Return what reads settings of the library's objects."""

    @abstractmethod
    def quiet(self) -> AbstractContextManager[Any]:
        """Keep the library from sending anything anywhere on its own while their code runs."""

    def advice(self, found: Any) -> str:
        """Say what to do about an object of the library that is no retriever."""
        return ""

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> ForeignRetriever:
        """Import what is named; call it where it is a factory, with the chunks where it takes them.

        Raises `InputError` for a path that names no retriever and `StackError` for what their code raises.
        """
        named, read = Named(self._path, Path(parts.get("folder") or ".")), self.reader()
        try:
            with named.importable(), self.quiet():
                with raised_by_their_code(named, "could not be imported"):
                    found = named.load()
                retriever, given = self._made(named, found, chunks, progress)
                asked = self.asked(retriever)
        except StackError as error:
            raise StackError(read.scrub(str(error)), retryable=error.retryable) from None
        settings = self.settings(retriever, read)
        return ForeignRetriever(
            self.quiet,
            named,
            asked.ask,
            known=None if self._own else {chunk.id: chunk.text for chunk in chunks},
            scores=self._scores,
            lock=None if self._concurrent else threading.Lock(),
            read=read,
            close=getattr(retriever, "close", None) if retriever is not found else None,
            about={
                "kind": self.kind,
                "retriever": self._path,
                "sources": dict(named.sources),
                "corpus": "own" if self._own else "board",
                "given": given,
                "k": asked.k,
                "scores": self._scores,
                "concurrent": self._concurrent,
                "settings": settings,
                "packages": packages_of(self.package, read),
            },
        )

    def _made(self, named: Named, found: Any, chunks: Sequence[Chunk], progress: Progress) -> tuple[Any, str]:
        """Return the retriever, and what its factory was given: `nothing` or `chunks`."""
        if self.is_retriever(found):
            return found, "nothing"
        if not callable(found):
            raise InputError(
                f"retriever = {named.path!r} is {_a(found)}; it must name a {self.noun} or a function that returns one"
                f"{self.advice(found)}"
            )
        if inspect.iscoroutinefunction(found):
            raise InputError(f"retriever = {named.path!r} is an async function; make it a plain one")
        takes = takes_chunks(named, found, own=self._own)
        if takes:
            progress(0, len(chunks))
        with raised_by_their_code(named, "could not make its retriever"):
            made = found(self.documents(chunks)) if takes else found()
        if not self.is_retriever(made):
            raise InputError(
                f"retriever = {named.path!r} returned {_a(made)} where a {self.noun} is wanted{self.advice(made)}"
            )
        if takes:
            progress(len(chunks), len(chunks))
        return made, "chunks" if takes else "nothing"


def takes_chunks(named: Named, factory: Callable[..., Any], *, own: bool) -> bool:
    """Tell whether a factory takes the list of documents; `InputError` where it needs anything else."""
    try:
        every = _parameters(factory)
    except (TypeError, ValueError):
        return not own
    places = [one for one in every if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    named_only = [one for one in every if one.kind is one.KEYWORD_ONLY]
    takes = bool(places) and not own
    needed = [one.name for one in (*places[takes:], *named_only) if one.default is one.empty]
    if needed:
        given = 'nothing, because corpus = "own"' if own else "one list of documents" if takes else "nothing"
        raise InputError(f"retriever = {named.path!r} needs {', '.join(needed)} besides: it is called with {given}")
    return takes


def _parameters(factory: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return what a call takes; of a class what its constructor does, which a metaclass may hide."""
    if isinstance(factory, type):
        return list(inspect.signature(factory.__init__).parameters.values())[1:]  # type: ignore[misc]
    return list(inspect.signature(factory).parameters.values())


def packages_of(library: str, read: Settings) -> JSON:
    """Return the versions of the installed packages that the retriever's classes come from."""
    known = _installed()
    told: JSON = {library: version(library)}
    for module in {of.__module__ for of in read.classes}:
        for name in _distributions(module, known.get(module.partition(".")[0], [])):
            told[name] = version(name)
    return told


@cache
def _installed() -> Mapping[str, Sequence[str]]:
    """Return the packages behind every top-level module; reading them all takes a fifth of a second."""
    return packages_distributions()


def _distributions(module: str, names: Sequence[str]) -> Sequence[str]:
    """Return the packages that may hold a module: of several that share a namespace, those named like it."""
    like = [name for name in names if module.replace(".", "_").startswith(re.sub(r"[-.]", "_", name))]
    return sorted(set(like if len(set(names)) > 1 and like else names))


def _a(found: Any) -> str:
    return f"the class {found.__qualname__}" if isinstance(found, type) else f"an object of {type(found).__qualname__}"
