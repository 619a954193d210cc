"""What the stand-ins for Elasticsearch and OpenSearch share: all but what is said of vectors, keys and versions.

Paths, parameters and members of requests and replies are those of Elastic's REST specification
(`elastic/elasticsearch-specification`), which is OpenSearch's by descent. They are strict: a parameter, a member or a
script that the documentation does not know is refused.
"""

from __future__ import annotations

import base64
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ragassay.records import JSON
from ragassay.testing.elastic_index import ANALYZERS, GRAPH_SCORES, Refused, StandInIndex, Vectors, ranked
from ragassay.testing.rest_server import Answer, Asked, RestServer

TOKEN = "a-key-of-the-tests"
SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
_OPERATIONS = {
    ("GET", "_mapping"): "mapping",
    ("PUT", "_mapping"): "put_mapping",
    ("POST", "_bulk"): "bulk",
    ("PUT", "_bulk"): "bulk",
    ("POST", "_refresh"): "refresh",
    ("POST", "_forcemerge"): "forcemerge",
    ("GET", "_count"): "count",
    ("POST", "_count"): "count",
    ("GET", "_search"): "search",
    ("POST", "_search"): "search",
    ("GET", "_analyze"): "analyze",
    ("POST", "_analyze"): "analyze",
    ("PUT", ""): "create",
    ("DELETE", ""): "delete",
}
_PARAMETERS = {"search": {"allow_partial_search_results"}, "forcemerge": {"max_num_segments"}}
_INDEX_NAME = re.compile(r"[a-z0-9][^A-Z\\/*?\"<>| ,#:]{0,254}")


class CreateBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `PUT /{index}`."""

    settings: JSON
    mappings: JSON


class Properties(msgspec.Struct, forbid_unknown_fields=True):
    """A mapping's fields, of which only these two are known here."""

    vector: JSON | None = None
    text: JSON | None = None


class TextField(msgspec.Struct, forbid_unknown_fields=True):
    """A field of type `text`."""

    type: str
    analyzer: str = "standard"
    similarity: str = "BM25"


class AnalyzeBody(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `/{index}/_analyze`."""

    field: str
    text: str


class SearchBody(msgspec.Struct, forbid_unknown_fields=True, rename={"source": "_source"}):
    """The body of `/{index}/_search`, as far as it is used."""

    size: int
    source: bool | list[str]
    track_total_hits: bool
    fields: list[str] | None = None
    query: JSON | None = None
    knn: JSON | None = None


class ElasticServer(RestServer, ABC):
    """What both have: indexes under their names, and every request but what is said of vectors."""

    version: JSON
    authorization: str | None = None
    """What the header of that name must be; None where everybody is let in."""

    def __init__(self) -> None:
        super().__init__()
        self.indexes: dict[str, StandInIndex] = {}
        self.aliases: dict[str, str] = {}

    def operation(self, asked: Asked) -> str:
        """Return the operation of a method and a path, "unknown" for any other."""
        if asked.path == "/":
            return "info" if asked.method == "GET" else "unknown"
        _, _, rest = asked.path[1:].partition("/")
        return _OPERATIONS.get((asked.method, rest), "unknown")

    def answered(self, operation: str, asked: Asked) -> Answer:
        """Return the documented reply, or a refusal."""
        try:
            self.let_in(asked)
            unknown = sorted(set(asked.query) - _PARAMETERS.get(operation, set()))
            if unknown:
                raise Refused(400, "illegal_argument_exception", f"contains unrecognized parameter: [{unknown[0]}]")
            return Answer(body=self._reply(operation, asked), headers=self.headers())
        except Refused as refused:
            return Answer(status=refused.status, body=refused.answer.body, headers=self.headers())

    def headers(self) -> Mapping[str, str]:
        """Return the headers of every reply."""
        return {}

    def let_in(self, asked: Asked) -> None:
        """Raise `Refused` for a request without the right key."""
        if self.authorization is not None and asked.headers.get("authorization") != self.authorization:
            raise Refused(401, "security_exception", "unable to authenticate for REST request [/]")

    @abstractmethod
    def vectors(self, field: JSON, settings: JSON) -> Vectors:
        """Return what a mapping says of the vectors; raises `Refused`."""

    @abstractmethod
    def near(self, index: StandInIndex, body: SearchBody) -> list[tuple[str, float]]:
        """Return what a query by vectors finds, scored as documented; raises `Refused`."""

    @abstractmethod
    def values(self, document: JSON, body: SearchBody) -> JSON:
        """Return the values of a document that a search asks for, where this service says them."""

    def _reply(self, operation: str, asked: Asked) -> Any:
        if operation == "info":
            return {"name": "node", "cluster_name": "test", "cluster_uuid": "u", "version": self.version, "tagline": ""}
        if operation == "unknown":
            raise Refused(405, "illegal_argument_exception", f"Incorrect HTTP method for uri [{asked.path}]")
        name = asked.path[1:].partition("/")[0]
        if operation == "create":
            return self._create(name, read(asked, CreateBody))
        if operation == "mapping" and "*" in name:
            matched = re.compile(re.escape(name).replace(r"\*", ".*"))
            return {one: {"mappings": self.indexes[one].mappings} for one in self.indexes if matched.fullmatch(one)}
        index = self.indexes.get(self.aliases.get(name, name))
        if index is None:
            raise Refused(404, "index_not_found_exception", f"no such index [{name}]")
        return self._of_index(operation, asked, index)

    def _of_index(self, operation: str, asked: Asked, index: StandInIndex) -> Any:
        if operation == "mapping":
            return {index.name: {"mappings": index.mappings}}
        if operation == "put_mapping":
            index.mappings.update(read(asked, dict[str, Any]))
            return {"acknowledged": True}
        if operation == "delete":
            del self.indexes[index.name]
            return {"acknowledged": True}
        if operation == "bulk":
            return _bulk(index, asked)
        if operation == "count":
            return {"count": len(index.searchable), "_shards": SHARDS}
        if operation == "analyze":
            tokens = index.tokens(read(asked, AnalyzeBody).text)
            return {"tokens": [{"token": token, "position": at} for at, token in enumerate(tokens)]}
        if operation == "search":
            return self._search(index, read(asked, SearchBody))
        if operation == "refresh":
            index.refresh()
        else:
            index.segments = int(asked.query["max_num_segments"])
        return {"_shards": SHARDS}

    def _create(self, name: str, body: CreateBody) -> JSON:
        if not _INDEX_NAME.fullmatch(name):
            raise Refused(400, "invalid_index_name_exception", f"Invalid index name [{name}]")
        if name in self.indexes or name in self.aliases:
            raise Refused(400, "resource_already_exists_exception", f"index [{name}] already exists")
        settings = body.settings["index"]
        if (settings.pop("number_of_shards"), settings.pop("number_of_replicas")) != (1, 0):
            raise Refused(400, "illegal_argument_exception", "this stand-in has one shard and no replica")
        similarities = settings.pop("similarity", {})
        if set(body.mappings) - {"dynamic", "_meta", "properties"}:
            raise Refused(400, "mapper_parsing_exception", "Root mapping definition has unsupported parameters")
        fields = convert(body.mappings["properties"], Properties)
        vectors = None if fields.vector is None else self.vectors(dict(fields.vector), settings)
        words = None if fields.text is None else _words(convert(fields.text, TextField), similarities)
        if settings:
            raise Refused(400, "illegal_argument_exception", f"unknown setting [index.{min(settings)}]")
        self.indexes[name] = StandInIndex(name, body.settings, body.mappings, vectors, words)
        return {"acknowledged": True, "shards_acknowledged": True, "index": name}

    def _search(self, index: StandInIndex, body: SearchBody) -> JSON:
        if not 0 <= body.size <= 10_000:
            raise Refused(400, "illegal_argument_exception", "Result window is too large")
        if body.query is not None and set(body.query) == {"ids"}:
            return self._read_back(index, body, body.query["ids"]["values"])
        weights = None if body.query is None else _weights(index, body.query)
        found = ranked(self.near(index, body) if weights is None else index.matching(weights))
        hits = [{"_index": index.name, "_id": id, "_score": score} for id, score in found[: body.size]]
        best = found[0][1] if found else None
        total = {"value": len(found), "relation": "eq"}
        return {
            "took": 1,
            "timed_out": False,
            "_shards": SHARDS,
            "hits": {"total": total, "max_score": best, "hits": hits},
        }

    def _read_back(self, index: StandInIndex, body: SearchBody, ids: list[str]) -> JSON:
        """Return documents by their ids, with what is said of their values."""
        hits = [
            {"_index": index.name, "_id": id, "_score": 1.0, **self.values(index.searchable[id], body)}
            for id in ids
            if id in index.searchable
        ]
        total = {"value": len(hits), "relation": "eq"}
        found = {"total": total, "max_score": 1.0, "hits": hits[: body.size]}
        return {"took": 1, "timed_out": False, "_shards": SHARDS, "hits": found}


def by_graph(index: StandInIndex, vector: list[float], k: int) -> list[tuple[str, float]]:
    """Return the k nearest, scored as documented for the similarity of the field."""
    assert index.vectors is not None
    assert index.vectors.similarity is not None
    how, score = GRAPH_SCORES[index.vectors.similarity]
    return ranked([(id, score(value)) for id, value in index.compared(how, vector)])[:k]


def scored_by_script(
    index: StandInIndex, query: JSON | None, name: str, functions: Mapping[str, str], call: re.Pattern[str]
) -> list[tuple[str, float]]:
    """Return every document with a vector, scored by a script of one call of a vector function and some arithmetic."""
    scoring = (query or {}).get("script_score")
    if not isinstance(scoring, dict) or scoring.get("query") != {"exists": {"field": "vector"}}:
        raise Refused(400, "parsing_exception", f"unknown query {sorted(query or {})}")
    script = scoring["script"]
    found = call.search(script["source"])
    rest = call.sub("X", script["source"])
    if set(script) - {"lang", "source", "params"} or found is None or rest not in ARITHMETIC:
        raise Refused(400, "script_exception", "compile error")
    if found[1] not in functions:
        raise Refused(400, "script_exception", f"Unknown call [{found[1]}]")
    compared = index.compared(functions[found[1]], script["params"][name])
    return [(id, ARITHMETIC[rest](value)) for id, value in compared]


def read(asked: Asked, form: Any) -> Any:
    """Return a request's body; raises `Refused` for what is not documented."""
    if "json" not in asked.headers.get("content-type", ""):
        raise Refused(406, "media_type_header_exception", "Content-Type header is not supported")
    try:
        return msgspec.json.decode(asked.raw, type=form)
    except msgspec.DecodeError as error:
        raise Refused(400, "parsing_exception", str(error)) from error


def convert(given: Any, form: Any) -> Any:
    """Return a part of a body; raises `Refused` for what is not documented."""
    try:
        return msgspec.convert(given, form)
    except msgspec.ValidationError as error:
        raise Refused(400, "mapper_parsing_exception", str(error)) from error


def authorization(user: tuple[str, str]) -> str:
    """Return the header of a user with a password."""

    return "Basic " + base64.b64encode(":".join(user).encode()).decode()


def _bulk(index: StandInIndex, asked: Asked) -> JSON:
    if "json" not in asked.headers.get("content-type", "") or not asked.raw.endswith(b"\n"):
        raise Refused(400, "illegal_argument_exception", "The bulk request must be terminated by a newline [\\n]")
    lines = [msgspec.json.decode(line) for line in asked.raw.split(b"\n") if line]
    items: list[JSON] = []
    for action, document in zip(lines[::2], lines[1::2], strict=True):
        id = action["index"]["_id"]
        done: JSON = {"_index": index.name, "_id": id}
        try:
            there = index.write(id, document)
            done |= {"status": 200 if there else 201, "result": "updated" if there else "created", "_shards": SHARDS}
        except Refused as refused:
            done |= {"status": refused.status, "error": refused.error}
        items.append({"index": done})
    return {"took": 1, "errors": any("error" in item["index"] for item in items), "items": items}


def _words(field: TextField, similarities: JSON) -> JSON:
    if field.type != "text" or field.analyzer not in ANALYZERS:
        raise Refused(
            400, "mapper_parsing_exception", f"analyzer [{field.analyzer}] has not been configured in mappings"
        )
    bm25 = similarities.get(field.similarity)
    if bm25 is None or bm25.get("type") != "BM25":
        raise Refused(400, "mapper_parsing_exception", f"Unknown Similarity type [{field.similarity}]")
    return {"analyzer": field.analyzer, "k1": bm25["k1"], "b": bm25["b"]}


def _weights(index: StandInIndex, query: JSON) -> Mapping[str, float] | None:
    """Return the words of a query by words with their weights, None for another query."""
    if set(query) == {"match"}:
        tokens = index.tokens(query["match"]["text"]["query"])
        if len(tokens) > 1024:
            raise Refused(400, "search_phase_execution_exception", "too_many_clauses: maxClauseCount is set to 1024")
        return Counter(tokens)
    if set(query) == {"bool"} and set(query["bool"]) == {"should"}:
        terms = [one["term"]["text"] for one in query["bool"]["should"]]
        return {term["value"]: term["boost"] for term in terms}
    return None


ARITHMETIC: Mapping[str, Callable[[float], float]] = {
    "X + 1.0": lambda value: value + 1,
    "1.0 + X": lambda value: value + 1,
    "1 / (1 + X)": lambda value: 1 / (1 + value),
    "1.0 / (1.0 + X)": lambda value: 1 / (1 + value),
    "double d = X; return d < 0 ? 1 / (1 - d) : d + 1;": lambda value: 1 / (1 - value) if value < 0 else value + 1,
}
"""What a script may do with the value of its one call, which stands as X."""
