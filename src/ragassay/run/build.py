"""Board tables become plugins: chunker, embedders, stacks with their parts, models and the judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ragassay import canon, plugins
from ragassay.answer import check_reply
from ragassay.errors import InputError, PluginError, RagassayError, StackError, legible
from ragassay.judge import LLMJudge
from ragassay.plugins.address import NO_VARIABLE, VARIABLE
from ragassay.plugins.stacks.inner import OwnTexts, own_corpus_refused, owns_texts
from ragassay.plugins.weights import require
from ragassay.records import JSON, Chunk, Profile, Reply, Secret
from ragassay.run.board_file import LOCAL_MODELS, JudgeTable, ModelTable, model_table
from ragassay.run.budget import Budget
from ragassay.run.embedding_gate import EmbeddingGate, embedding_gate
from ragassay.run.embeddings import CachedEmbedder
from ragassay.run.limits import Endpoint
from ragassay.run.stack_model import StackModel
from ragassay.run.table import Table
from ragassay.seams import PARTS, Chunker, Embedder, Judge, Model, Progress, Retriever, Seam

Keys = Mapping[str, Secret]
"""Secrets by the name of the environment variable that the board names."""

INDEXES = "indexes"
"""The folder inside a workspace's cache where stacks keep indexes that can be built anew, a folder for each kind."""

Report = Callable[[str], Progress]
"""Given what is being built, returns where its progress goes."""


class Limited(Protocol):
    """Puts the models and embedders inside stacks behind limits that are kept elsewhere: one limit for many processes.

    `name` says which model or embedder of the board it is, alike in every process.
    """

    def model(self, name: str, endpoint: Endpoint, table: ModelTable) -> None:
        """Put a model's endpoint, which has not been called yet, behind them."""
        ...

    def embedder(self, name: str) -> Callable[..., EmbeddingGate]:
        """Return what makes the gate of an embedder over an endpoint, as `embedding_gate` does for one process."""
        ...


def make(seam: Seam, entry: JSON, place: str, **given: Any) -> Any:
    """Construct the plugin that `entry` names with its other keys; a parameter it does not know is an `InputError`."""
    plugin = plugins.load(seam, entry["kind"])
    try:
        return plugin(**{key: value for key, value in entry.items() if key != "kind"}, **given)
    except RagassayError:
        raise
    except TypeError as error:
        raise InputError(
            f"{place}: the {seam[:-1]} {entry['kind']!r} does not take these parameters: {error}"
        ) from error
    except Exception as error:  # an outside plugin may raise anything
        raise PluginError(
            f"{place}: the {seam[:-1]} {entry['kind']!r} raised {type(error).__name__}: {legible(error)}"
        ) from error


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Put the place before the message of a `PluginError` that does not name it."""
    try:
        yield
    except PluginError as error:
        if place not in str(error):
            error.args = (f"{place}: {error}",)
        raise


def check_stack(entry: JSON, place: str) -> None:
    """Construct a stack without building it, and its parts: raises `InputError` for what none of them knows."""
    parts, params = split_entry(entry, place)
    for key, part in parts.items():
        for index, one in enumerate(part if isinstance(part, list) else [part]):
            at = f"{place}.{key}" + (f"[{index}]" if isinstance(part, list) else "")
            if _seam_of(key, at) == "stacks":
                check_stack(one, at)
                _check_wrapped(entry["kind"], one["kind"], at)
            elif _seam_of(key, at) == "models":
                stack_model_table(one, at)
            else:
                _check_embedder(one, at)
    _check_lacking(entry, place)
    try:
        make("stacks", params, place)
    except InputError as error:
        raise InputError(f"{place}: {error.message.removeprefix(f'{place}: ')}", error.problems) from error


def _load(seam: Seam, kind: str, place: str) -> Any:
    """Return the plugin class of `kind`; an unknown one is told with its place."""
    try:
        return plugins.load(seam, kind)
    except InputError as error:
        raise InputError(f"{place}: {error.message}", error.problems) from error


def _check_embedder(entry: JSON, place: str) -> None:
    """Refuse parameters that one of our embedders does not take: its constructor only looks at them."""
    _load("embedders", entry["kind"], place)
    _check_variable(entry, place)
    if entry["kind"] not in plugins.BUILT_IN["embedders"]:
        return
    try:
        make("embedders", entry, place)
    except InputError as error:
        raise InputError(f"{place}: {error.message.removeprefix(f'{place}: ')}", error.problems) from error


def _check_lacking(entry: JSON, place: str) -> None:
    """Raise `InputError` where the class says, before anything is built, that its entry lacks a part."""
    lacking = getattr(plugins.load("stacks", entry["kind"]), "lacking", None)
    if lacking is not None and (problem := lacking(entry)):
        raise InputError(f"{place}: {problem}")


def _check_variable(entry: JSON, place: str) -> None:
    """Refuse a `key_env` that names no variable, and do not repeat it: it might be the key."""
    name = entry.get("key_env")
    if name and not (isinstance(name, str) and VARIABLE.fullmatch(name)):
        raise InputError(f"{place}: key_env {NO_VARIABLE}")


def _check_wrapped(kind: str, of: str, place: str) -> None:
    """Refuse a stack with a corpus of its own inside one that works on the board's; one that says so may hold it."""
    outer = plugins.load("stacks", kind)
    takes = getattr(outer, "takes_own_texts", False) or outer.owns_corpus
    if plugins.load("stacks", of).owns_corpus and not takes:
        raise InputError(f"{place}: {own_corpus_refused(kind, of)}")


def split_entry(entry: JSON, place: str) -> tuple[JSON, JSON]:
    """Return the parts of a stack's entry, the plugin's default ones included, and its parameters with the kind."""
    plugin = _load("stacks", entry["kind"], place)
    parts_for = getattr(plugin, "parts_for", None)
    entry = {**(plugin.default_parts if parts_for is None else parts_for(entry)), **entry}
    parts = {key: value for key, value in entry.items() if _is_part(value)}
    for key in parts:
        _seam_of(key, f"{place}.{key}")
    return parts, {key: value for key, value in entry.items() if key not in parts}


def _is_part(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, dict) and "kind" in one for one in value)
    return isinstance(value, dict) and "kind" in value


def _seam_of(key: str, place: str) -> Seam:
    seam = PARTS.get(key)
    if seam is None:
        known = ", ".join(sorted(PARTS))
        raise InputError(f"{place}: a stack cannot hold a part named {key!r}; known are {known}")
    return seam


def stack_model_table(entry: JSON, place: str, folder: Path = Path()) -> ModelTable:
    """Return the model that a stack's entry names; raises `InputError` with all its problems. Paths are in `folder`."""
    problems: list[str] = []
    table = model_table(Table(entry, place, problems), folder)
    if problems:
        raise InputError(f"{place}: the model cannot be used", problems)
    plugins.load("models", table.kind)
    return table


def make_chunker(entry: JSON) -> Chunker:
    """Return the chunker that a board names."""
    chunker: Chunker = make("chunkers", entry, "corpus.chunker")
    return chunker


def described(retriever: Retriever, place: str) -> JSON:
    """Return what a built stack says of itself; `PluginError` where it cannot be recorded."""
    try:
        found: JSON = retriever.describe()
        if not isinstance(found, dict):
            raise TypeError(f"describe() returned {type(found).__name__}, not a table")
        canon.canonical(found)
    except RagassayError:
        raise
    except Exception as error:  # an outside plugin may raise anything
        raise PluginError(f"{place}: the stack cannot be recorded: {type(error).__name__}: {legible(error)}") from error
    return found


def owns_corpus(kind: str, retriever: Retriever) -> bool:
    """Tell whether hits carry their own text: as the retriever says, where its class can be either, else the class."""
    return bool(getattr(retriever, "owns_corpus", plugins.load("stacks", kind).owns_corpus))


class StackBuilder:
    """Builds retrievers over one corpus; equal embedders are made once and keep their rows on disk."""

    def __init__(
        self,
        chunks: Sequence[Chunk],
        *,
        evidence: Mapping[str, Sequence[str]],
        cache: Path,
        weights_cache: Path,
        report: Report,
        keys: Keys | None = None,
        budget: Budget | None = None,
        folder: Path = Path(),
        limited: Limited | None = None,
    ) -> None:
        """Models inside stacks draw on `budget`; paths of models and embedders, and code of stacks, lie in `folder`."""
        self._limited = limited
        self._weights_cache = weights_cache
        self._keys = keys or {}
        self._chunks = chunks
        self._evidence = evidence
        self._cache = cache
        self._report = report
        self._embedders: dict[str, CachedEmbedder] = {}
        self._models: dict[str, StackModel] = {}
        self.leaves: list[Retriever] = []
        """Every stack without a stack in it that was built, in order."""
        self.used: list[CachedEmbedder] = []
        """The embedder of each of them that has one, in order."""
        self._budget = budget or Budget()
        self._folder = folder

    @property
    def embedders(self) -> Sequence[CachedEmbedder]:
        """The embedders made so far."""
        return tuple(self._embedders.values())

    def build(self, entry: JSON, place: str) -> Retriever:
        """Return the built stack that `entry` names, its parts first."""
        found, params = split_entry(entry, place)
        parts: dict[str, Any] = {"evidence": self._evidence} if entry["kind"] == "oracle" else {}
        plugin = plugins.load("stacks", entry["kind"])
        if getattr(plugin, "needs_folder", False):
            parts["folder"] = self._folder
        if getattr(plugin, "needs_cache", False):
            parts["cache"] = self._cache / INDEXES / entry["kind"]
        for key, value in found.items():
            if isinstance(value, list):
                parts[key] = [self._part(key, part, f"{place}.{key}[{i}]") for i, part in enumerate(value)]
            else:
                parts[key] = self._part(key, value, f"{place}.{key}")
        given = {"key": self._keys.get(str(params["key_env"]))} if params.get("key_env") else {}
        stack = make("stacks", params, place, **given)
        try:
            retriever: Retriever = stack.build(self._chunks, parts, self._report(place))
        except InputError as error:
            raise InputError(f"{place}: {error.message}", error.problems) from error
        except RagassayError:
            raise
        except Exception as error:  # whatever a stack meets while it indexes, it is that row's stack that is down
            raise StackError(
                f"{place}: the stack could not be built: {type(error).__name__}: {legible(error)}"
            ) from error
        if not any(PARTS[key] == "stacks" for key in found):
            self.leaves.append(retriever)
            self.used += [part for part in parts.values() if isinstance(part, CachedEmbedder)]
        return retriever

    def _part(self, key: str, entry: JSON, place: str) -> Embedder | Retriever | StackModel:
        seam = _seam_of(key, place)
        if seam == "embedders":
            return self.embedder(entry, place)
        if seam == "models":
            return self._model(entry, place)
        built = self.build(entry, place)
        return OwnTexts(built) if owns_corpus(entry["kind"], built) and not owns_texts(built) else built

    def _model(self, entry: JSON, place: str) -> StackModel:
        name = canon.digest(canon.without_fractions(entry))
        if name not in self._models:
            table = stack_model_table(entry, place, self._folder)
            endpoint = make_endpoint(table, self._keys, self._budget, self._weights_cache)
            if self._limited is not None:
                self._limited.model(name, endpoint, table)
            self._models[name] = StackModel(endpoint)
        return self._models[name]

    def embedder(self, entry: JSON, place: str) -> CachedEmbedder:
        """Return the embedder that a table names, one for all that are alike."""
        name = canon.digest(canon.without_fractions(entry))
        if name not in self._embedders:
            given: dict[str, Any] = {**weights_path("embedders", entry, self._weights_cache)}
            if entry["kind"] == "openai":
                gate = embedding_gate if self._limited is None else self._limited.embedder(name)
                given |= {"key": self._keys.get(str(entry.get("key_env") or "")), "gate": gate}
            if isinstance(entry.get("path"), str) and entry["path"]:
                given["path"] = str(self._folder / entry["path"])
            try:
                embedder = make("embedders", {**entry, **given}, place)
            except InputError as error:
                raise InputError(f"{place}: {error.message.removeprefix(f'{place}: ')}", error.problems) from error
            self._embedders[name] = CachedEmbedder(embedder, self._cache / "embeddings")
        return self._embedders[name]


def weights_path(seam: Seam, entry: JSON, cache: Path) -> dict[str, Path]:
    """Return the folder of a plugin's packaged weights, for one that has such and names no `path` of its own."""
    name = getattr(plugins.load(seam, entry["kind"]), "weights", None)
    return {"path": require(name, cache).parent} if name and "path" not in entry else {}


def make_model(table: ModelTable, keys: Keys, weights_cache: Path) -> Model:
    """Return the model that a board names.

    Its key comes from the variable that the board names; packaged weights that it names come from `weights_cache`.
    """
    given: dict[str, Any] = {"params": table.params}
    for name in ("id", "base_url", "path"):
        if getattr(table, name) is not None:
            given[name] = getattr(table, name)
    if table.kind == "openai":
        given |= {"concurrency": table.limits.concurrency, "timeout_s": table.limits.timeout_s}
        given["key"] = keys.get(table.key_env) if table.key_env else None
    if table.kind == "llamacpp":
        given["cache"] = weights_cache
    model: Model = make("models", {"kind": table.kind}, "the model's table", **given)
    return model


def make_endpoint(table: ModelTable, keys: Keys, budget: Budget, weights_cache: Path) -> Endpoint:
    """Return the model behind its limits."""
    model = make_model(table, keys, weights_cache)
    return Endpoint(
        model,
        table.limits,
        price=table.price,
        budget=budget,
        check=_usable,
        params=table.params,
        counted=table.kind not in LOCAL_MODELS,
    )


def _usable(reply: Reply) -> object:
    return check_reply(reply)


def make_judge(
    table: JudgeTable, profile: Profile, keys: Keys, budget: Budget, weights_cache: Path
) -> tuple[Judge, Endpoint | None]:
    """Return the judge and, where it asks a model, that model's endpoint."""
    if table.kind == "llm":
        assert table.model is not None
        endpoint = make_endpoint(table.model, keys, budget, weights_cache)
        return LLMJudge(endpoint, profile, table.params), endpoint
    judge: Judge = make("judges", {"kind": table.kind, **table.params}, "judge")
    return judge, None


def needed_keys(tables: Sequence[ModelTable | None], stacks: Sequence[JSON] = ()) -> list[str]:
    """Return the environment variables that the keys of these models, of these stacks and of their parts are in.

    What cannot be the name of one is left out: it might be a key, and whoever checks the stack refuses it.
    """
    models = {table.key_env for table in tables if table and table.key_env}
    named = {part.entry.get("key_env") for stack in stacks for part in parts_of(stack)}
    return sorted(models | {name for name in named if isinstance(name, str) and VARIABLE.fullmatch(name)})


class Part(NamedTuple):
    """One plugin of a stack: its seam, where it stands in the entry (`""`: the stack itself), and its table."""

    seam: Seam
    place: str
    entry: JSON


def parts_of(entry: JSON, place: str = "") -> Iterator[Part]:
    """Yield a stack and every part of it, at any depth: `of[0].embedder` is the embedder of the first stack inside."""
    yield Part("stacks", place, entry)
    for key, value in entry.items():
        for index, part in enumerate(value if isinstance(value, list) else [value]):
            if key not in PARTS or not isinstance(part, dict):
                continue
            at = ".".join(filter(None, [place, f"{key}[{index}]" if isinstance(value, list) else key]))
            if PARTS[key] == "stacks":
                yield from parts_of(part, at)
            else:
                yield Part(PARTS[key], at, part)
