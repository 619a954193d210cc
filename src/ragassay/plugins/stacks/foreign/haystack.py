"""Haystack: any component or pipeline, named by import path and filled with the board's chunks or by its owner."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, ClassVar

from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.foreign.retriever import Asked, Found, found, metadata_of
from ragassay.plugins.stacks.foreign.settings import Settings
from ragassay.plugins.stacks.foreign.stack import ForeignStack
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.records import JSON, Chunk

_TELEMETRY = "HAYSTACK_TELEMETRY_ENABLED"


@contextmanager
def _without_telemetry() -> Iterator[None]:
    """Let Haystack be imported without telemetry: it reads this variable then and at no other time."""
    before = os.environ.get(_TELEMETRY)
    os.environ[_TELEMETRY] = "false"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_TELEMETRY]
        else:
            os.environ[_TELEMETRY] = before


with _without_telemetry():
    from haystack import Document, Pipeline
    from haystack.telemetry import _telemetry

_QUESTION = ("query", "text", "question")
"""What a component may call the question."""


class Haystack(ForeignStack):
    """Takes `retriever` (module:attribute), `corpus`, `scores` (own, rank), `concurrent`, in a pipeline `component`."""

    kind: ClassVar[str] = "haystack"
    noun: ClassVar[str] = "Haystack component or pipeline"
    package: ClassVar[str] = "haystack-ai"

    def _read_more(self, read: Parameters) -> None:
        self._component = read.text("component")

    def documents(self, chunks: Sequence[Chunk]) -> list[Any]:
        """Return Haystack documents, `id` and metadata of the chunks."""
        return [Document(id=one.id, content=one.text, meta=metadata_of(one)) for one in chunks]

    def is_retriever(self, found: Any) -> bool:
        """Tell whether it is a pipeline or the instance of a component."""
        return isinstance(found, Pipeline) or (hasattr(found, "__haystack_input__") and not isinstance(found, type))

    def asked(self, retriever: Any) -> Asked:
        """Give k as `top_k` to the component whose documents are taken, where it takes it, else cut."""
        if isinstance(retriever, Pipeline):
            return self._pipeline(retriever)
        if self._component is not None:
            raise InputError(f"component = {self._component!r} is for a pipeline, and this is one component")
        sockets = retriever.__haystack_input__._sockets_dict
        needed = [name for name, one in sockets.items() if one.is_mandatory]
        given = _question_of(f"{type(retriever).__name__} needs", needed)
        warm_up = getattr(retriever, "warm_up", None)
        if callable(warm_up):
            warm_up()

        def ask(text: str, k: int) -> list[Found]:
            more = {"top_k": k} if "top_k" in sockets else {}
            return _documents(retriever.run(**dict.fromkeys(given, text), **more))

        return Asked(ask, "top_k" if "top_k" in sockets else "cut")

    def _pipeline(self, pipeline: Any) -> Asked:
        inputs = pipeline.inputs()
        questions = {
            name: _question_of(
                f"the pipeline's component {name!r} needs", [key for key, one in sockets.items() if one["is_mandatory"]]
            )
            for name, sockets in inputs.items()
            if any(one["is_mandatory"] for one in sockets.values())
        }
        last = self._last(pipeline)
        told = "top_k" in inputs.get(last, {})
        pipeline.warm_up()

        def ask(text: str, k: int) -> list[Found]:
            data: dict[str, dict[str, Any]] = {name: dict.fromkeys(keys, text) for name, keys in questions.items()}
            if told:
                data.setdefault(last, {})["top_k"] = k
            return _documents(pipeline.run(data, include_outputs_from={last}).get(last))

        return Asked(ask, f"top_k of {last}" if told else "cut")

    def _last(self, pipeline: Any) -> str:
        """Return the component whose documents are the hits."""
        ends = [name for name, sockets in pipeline.outputs().items() if "documents" in sockets]
        every = pipeline.outputs(include_components_with_connected_outputs=True)
        if self._component is not None:
            if "documents" not in every.get(self._component, {}):
                raise InputError(f"component = {self._component!r} is no component of the pipeline with documents")
            return self._component
        if len(ends) != 1:
            some = ", ".join(name for name, sockets in every.items() if "documents" in sockets) or "none"
            raise InputError(
                f"{len(ends)} components end the pipeline with documents; name the one whose documents are the hits "
                f"with component = … (those with documents: {some})"
            )
        return str(ends[0])

    def settings(self, retriever: Any, read: Settings) -> JSON:
        """Return what Haystack would write out of it; where it cannot, what the constructors were given."""
        told: JSON = read.of(retriever)
        if isinstance(retriever, Pipeline):
            for _, component in retriever.walk():
                read.of(component)
        with suppress(Exception):  # a component may be none that can be written out, or hold a secret
            told |= read.plain(retriever.to_dict())
        told.pop("type", None)
        return told

    def reader(self) -> Settings:
        """Read components and stores through their constructors."""
        return Settings((_Component,), (Document,))

    def quiet(self) -> AbstractContextManager[Any]:
        """Switch telemetry off where Haystack was imported with it before."""
        _telemetry.telemetry = None
        return nullcontext()


class _Taken(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return hasattr(instance, "__haystack_input__") or hasattr(instance, "write_documents")


class _Component(metaclass=_Taken):
    """A component, or a document store: neither has a class in common."""


def _question_of(whose: str, needed: Sequence[str]) -> list[str]:
    """Return the inputs that take the question; `InputError` where something else is needed too, or nothing."""
    if not needed or any(name not in _QUESTION for name in needed):
        raise InputError(
            f"{whose} {', '.join(needed) or 'nothing'}; a row gives the question alone (as {', '.join(_QUESTION)}): "
            "put an embedding retriever behind a text embedder, in a pipeline"
        )
    return list(needed)


def _documents(returned: Any) -> list[Found]:
    documents = returned.get("documents") if isinstance(returned, Mapping) else None
    if not isinstance(documents, list | tuple):
        raise StackError("the retriever returned no list under 'documents'")
    for one in documents:
        if not isinstance(one, Document):
            raise StackError(f"the retriever returned {type(one).__name__} among its documents")
    return [found(one.id, one.meta, one.content, one.score) for one in documents]
