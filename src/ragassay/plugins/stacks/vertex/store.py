"""One collection of Vertex AI Vector Search as an index that stays: made, filled, counted, and told from others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragassay.errors import StackError
from ragassay.plugins.stacks.stored_index import Held
from ragassay.plugins.stacks.vertex.answer import counted, id_of
from ragassay.plugins.stacks.vertex.client import Service, api, exceptions
from ragassay.plugins.stacks.vertex.settings import METRICS, Asking, Shape
from ragassay.records import Chunk

PREFIX = "ragassay-"
LABEL = "ragassay"
FIELD = "text"
SETTLE_S = 60
"""How long the service may take until it counts, and finds, what it has accepted."""
_PAGE = 1000


class CollectionStore:
    """The collection `name`: one data object per chunk, named by its position, with its text and its vectors."""

    def __init__(self, service: Service, name: str, shape: Shape, asking: Asking, chunks: Sequence[Chunk]) -> None:
        self._service = service
        self._shape = shape
        self._asking = asking
        self._chunks = chunks
        self._id = name
        self._there: set[str] | None = None
        self.path = f"{service.place.parent}/collections/{name}"

    def held(self) -> Held | None:
        """Return how many data objects there are and the digest in the collection's label."""
        found = self._found(f"read the collection {self._id!r}", self._service.collections.get_collection, self.path)
        return None if found is None else Held(count=self.count(), digest=dict(found.labels).get(LABEL))

    def create(self, dimension: int, digest: str) -> None:
        """Make the collection with the schema of its texts and vectors, and wait for it."""
        doing = f"make the collection {self._id!r}"
        fields = {}
        if self._shape.vector:
            fields["vector"] = api.VectorField(dense_vector=api.DenseVectorField(dimensions=dimension))
        if self._shape.semantic:
            fields["semantic"] = api.VectorField(dense_vector=self._embedded())
        properties = {name: {"type": "string"} for name in ("chunk", "page", FIELD)}
        request = api.CreateCollectionRequest(
            parent=self._service.place.parent,
            collection_id=self._id,
            collection=api.Collection(
                description="Chunks of a corpus, put here by ragassay",
                labels={LABEL: digest},
                data_schema={"type": "object", "properties": properties},
                vector_schema=fields,
            ),
        )
        self._service.finished(doing, self._service.call(doing, self._service.collections.create_collection, request))

    def put(self, first: int, rows: NDArray[np.float32]) -> None:
        """Write data objects; those that are there already are written over."""
        if self._there is None:
            self._there = self._ids()
        wanted = {id_of(at): self._object(at, row) for at, row in enumerate(rows, first)}
        try:
            self._create({id: one for id, one in wanted.items() if id not in self._there})
        except exceptions.Conflict:  # another fill has made some of them since
            self._there = self._ids()
            self._create({id: one for id, one in wanted.items() if id not in self._there}, untold=())
        self._update([one for id, one in wanted.items() if id in self._there])

    def finish(self) -> None:
        """Wait until everything is counted, then make the index that the board names where it is not there."""
        deadline = time.monotonic() + min(SETTLE_S, self._service.place.wait_s)
        while self.count() < len(self._chunks) and time.monotonic() < deadline:
            time.sleep(0.5)
        if self._asking.index is not None:
            self._bring_up_index(self._asking.index)

    def count(self) -> int:
        """Return how many data objects the service counts."""
        request = {"parent": self.path, "aggregate": api.AggregationMethod.COUNT}
        return counted(self._service.call("count", self._service.searches.aggregate_data_objects, request))

    def others(self) -> tuple[str, ...]:
        """Return the names of this library's other collections in the same project and location, sorted."""
        found = set()
        service = self._service
        for page in service.pages(
            "list collections", service.collections.list_collections, {"parent": service.place.parent}
        ):
            if page.raw_page.unreachable:
                raise StackError("vertex: not all collections could be listed; try again later", retryable=True)
            for one in page.collections:
                name = one.name.rpartition("/")[2]
                if name.startswith(PREFIX) or LABEL in one.labels:
                    found.add(name)
        return tuple(sorted(found - {self._id}))

    def _embedded(self) -> Any:
        config = api.VertexEmbeddingConfig(
            model_id=self._shape.model, text_template=f"{{{FIELD}}}", task_type=self._shape.document_task
        )
        return api.DenseVectorField(dimensions=self._shape.dimensions, vertex_embedding_config=config)

    def _object(self, at: int, row: NDArray[np.float32]) -> Any:
        chunk, vectors = self._chunks[at], {}
        if self._shape.vector:
            vectors["vector"] = api.Vector(dense=api.DenseVector(values=row.tolist()))
        data = {"chunk": chunk.id, "page": chunk.page, FIELD: chunk.text}
        return api.DataObject(name=f"{self.path}/dataObjects/{id_of(at)}", data=data, vectors=vectors)

    def _create(self, objects: dict[str, Any], untold: tuple[type[Exception], ...] = (exceptions.Conflict,)) -> None:
        if objects:
            requests = [
                api.CreateDataObjectRequest(parent=self.path, data_object_id=id, data_object=one)
                for id, one in objects.items()
            ]
            request = api.BatchCreateDataObjectsRequest(parent=self.path, requests=requests)
            self._written(self._service.objects.batch_create_data_objects, request, untold=untold)

    def _update(self, objects: Sequence[Any]) -> None:
        if objects:
            requests = [api.UpdateDataObjectRequest(data_object=one) for one in objects]
            request = api.BatchUpdateDataObjectsRequest(parent=self.path, requests=requests)
            self._written(self._service.objects.batch_update_data_objects, request)

    def _written(self, method: Any, request: Any, *, untold: tuple[type[Exception], ...] = ()) -> None:
        """Write a block; a quota that is used up is waited for, with longer and longer pauses, at most `wait_s`."""
        doing = f"write {len(request.requests)} data objects"
        deadline, pause = time.monotonic() + self._service.place.wait_s, 1.0
        while time.monotonic() + pause < deadline:
            try:
                self._service.call(doing, method, request, untold=(*untold, exceptions.TooManyRequests))
            except exceptions.TooManyRequests:
                time.sleep(pause)
                pause = min(pause * 2, 30)
            else:
                return
        self._service.call(doing, method, request, untold=untold)

    def _found(self, doing: str, method: Any, name: str) -> Any:
        """Return a resource, None where there is none of that name."""
        try:
            return self._service.call(doing, method, {"name": name}, untold=(exceptions.NotFound,))
        except exceptions.NotFound:
            return None

    def _ids(self) -> set[str]:
        """Return the ids of all data objects that are there."""
        found: set[str] = set()
        request = {"parent": self.path, "page_size": _PAGE, "output_fields": {"data_fields": ["chunk"]}}
        for page in self._service.pages("list data objects", self._service.searches.query_data_objects, request):
            found.update(one.name.rpartition("/")[2] for one in page.data_objects)
        return found

    def _bring_up_index(self, name: str) -> None:
        collections, path = self._service.collections, f"{self.path}/indexes/{name}"
        doing = f"build the index {name!r}"
        found = self._found(f"read the index {name!r}", collections.get_index, path)
        field, metric = self._asking.indexed, METRICS[self._asking.metric]
        if found is None:
            index = api.Index(
                index_field=field, distance_metric=metric, filter_fields=["page"], dense_scann=api.DenseScannIndex()
            )
            request = api.CreateIndexRequest(parent=self.path, index_id=name, index=index)
            self._service.finished(doing, self._service.call(doing, collections.create_index, request))
        elif (found.index_field, found.distance_metric) != (field, metric):
            raise StackError(
                f"vertex: the index {name!r} is over {found.index_field!r} by {found.distance_metric.name}, and the "
                f"board asks for {field!r} by {metric.name}; name another index, or remove it by hand"
            )
