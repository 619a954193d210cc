"""What a board says of a Vertex AI collection: read once, checked together, and written down without what is unused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from ragassay import canon
from ragassay.plugins.stacks.connection import key_env_check
from ragassay.plugins.stacks.parameters import Parameters
from ragassay.plugins.stacks.vertex.client import Place, api
from ragassay.records import JSON

MODES = ("vector", "semantic", "text", "combined")
COMBINATIONS = ("vector+text", "semantic+text", "vector+semantic", "vector+semantic+text")
METRICS = {"cosine": api.DistanceMetric.COSINE_DISTANCE, "dot": api.DistanceMetric.DOT_PRODUCT}
TASKS = tuple(task.name for task in api.EmbeddingTaskType if task)
MATCHES = ("any", "all", "enhanced")
RANKERS = ("rrf", "vertex")
SERVICE = "vectorsearch.googleapis.com"
_RESOURCE = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_PROJECT = re.compile(r"[a-z0-9][-a-z0-9.:]{1,60}[a-z0-9]")
_ENDPOINT = re.compile(r"(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9]([-A-Za-z0-9.]{0,251}[A-Za-z0-9])?)(:[0-9]{1,5})?")


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What a collection holds per chunk beside its text: our vector, the service's, or both."""

    vector: bool
    semantic: bool
    model: str
    dimensions: int
    document_task: str

    def settings(self) -> JSON:
        """Return what makes another collection of it."""
        return {"vector": self.vector, **({"semantic": self.embedding()} if self.semantic else {})}

    def embedding(self) -> JSON:
        """Return how the service embeds."""
        return {"model": self.model, "dimensions": self.dimensions, "document_task": self.document_task}


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """How a question is asked: which searches, over what, and what makes one list of several."""

    searches: tuple[str, ...]
    weights: tuple[str, ...]
    ranker: str | None
    ranker_model: str
    metric: str
    index: str | None
    target_recall: str
    query_task: str
    text_match: str
    window: int
    filter: JSON | None

    @property
    def indexed(self) -> str:
        """The one vector field that an index is over."""
        return "vector" if "vector" in self.searches else "semantic"

    def described(self) -> JSON:
        """Return all of it that can change a result."""
        found: JSON = {"window": self.window}
        if self.ranker is not None:
            found |= {"searches": list(self.searches), "weights": list(self.weights), "ranker": self.ranker}
        if self.ranker == "vertex":
            found["ranker_model"] = self.ranker_model
        if "vector" in self.searches or self.index is not None:
            found["metric"] = self.metric
        if self.searches != ("text",):
            found["index"] = "exact" if self.index is None else self._index()
        if "text" in self.searches:
            found["text_match"] = self.text_match
        if self.filter is not None:
            found["filter"] = canon.without_fractions(self.filter)
        return found

    def _index(self) -> JSON:
        recall = {} if self.target_recall == "0" else {"target_recall": self.target_recall}
        return {"kind": "dense_scann", **recall}


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a board's entry says."""

    mode: str
    place: Place
    shape: Shape
    asking: Asking
    collection: str | None
    batch: int

    @classmethod
    def read(cls, params: Mapping[str, Any]) -> Settings:
        """Return the settings; raises `InputError` with every problem."""
        read = Parameters("vertex", params)
        found = _read(read)
        read.note(*_faults(found))
        read.finish()
        return found


def _read(read: Parameters) -> Settings:
    read.hidden("key_env", key_env_check("access token"))
    mode = read.choice("mode", "vector", MODES)
    combine = read.choice("combine", COMBINATIONS[0], COMBINATIONS)
    searches = tuple(combine.split("+")) if mode == "combined" else (mode,)
    weights = {name: read.decimal(f"{name}_weight", "1", low="0", high="1000") for name in MODES[:3]}
    ranker = read.choice("ranker", RANKERS[0], RANKERS)
    return Settings(
        mode=mode,
        place=Place(
            project=read.hidden("project", _project_fault) or "",
            location=read.text("location") or "us-central1",
            endpoint=read.hidden("api_endpoint", _endpoint_fault) or SERVICE,
            transport=read.choice("transport", "grpc", ("grpc", "rest")),
            timeout_s=read.integer("timeout_s", 30, low=1, high=55),
            wait_s=read.integer("wait_s", 3600, low=1, high=86_400),
        ),
        shape=Shape(
            vector="vector" in searches,
            semantic="semantic" in searches,
            model=read.text("model") or "gemini-embedding-001",
            dimensions=read.integer("dimensions", 768, low=1, high=3072),
            document_task=read.choice("document_task", "RETRIEVAL_DOCUMENT", TASKS),
        ),
        asking=Asking(
            searches=searches,
            weights=tuple(weights[name] for name in searches),
            ranker=ranker if mode == "combined" else None,
            ranker_model=read.text("ranker_model") or "semantic-ranker-fast@latest",
            metric=read.choice("metric", "cosine", tuple(METRICS)),
            index=read.text("index"),
            target_recall=read.decimal("target_recall", "0", low="0", high="1"),
            query_task=read.choice("query_task", "RETRIEVAL_QUERY", TASKS),
            text_match=read.choice("text_match", MATCHES[0], MATCHES),
            window=read.integer("window", 100, low=1, high=1000),
            filter=_plain(read.table("filter")),
        ),
        collection=read.text("collection"),
        batch=read.integer("batch", 200, low=1, high=1000),
    )


def _plain(table: Mapping[str, Any] | None) -> JSON | None:
    return None if table is None else dict(table)


def _faults(found: Settings) -> list[str]:
    """Return what single values cannot show: the form of names, and an index that cannot be."""
    form = "must be 1 to 63 of a-z, 0-9 and -, beginning with a letter and not ending with -"
    named = {"collection": found.collection, "index": found.asking.index, "location": found.place.location}
    faults = [f"{name} = {value!r} {form}" for name, value in named.items() if value and not _RESOURCE.fullmatch(value)]
    if found.asking.index is not None:
        fields = [name for name in found.asking.searches if name != "text"]
        if len(fields) != 1:
            faults.append(
                f"index = {found.asking.index!r} is over one vector field, and the mode searches {len(fields)}"
            )
    elif found.asking.target_recall != "0":
        faults.append("target_recall has a meaning only where `index` names an index")
    return faults


def _endpoint_fault(value: object) -> str | None:
    if value is None or (isinstance(value, str) and _ENDPOINT.fullmatch(value)):
        return None
    return "api_endpoint must be a host, or host:port, without a scheme, user name or path"


def _project_fault(value: object) -> str | None:
    if isinstance(value, str) and _PROJECT.fullmatch(value):
        return None
    return "project must be the id of a Google Cloud project, such as my-project-1"
