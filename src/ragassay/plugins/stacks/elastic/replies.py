"""The documented replies of both services, and what in them says that something is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from ragassay.errors import StackError
from ragassay.records import JSON

T = TypeVar("T")


class Shards(msgspec.Struct):
    """Of how many shards how many answered."""

    total: int
    successful: int
    failed: int
    failures: list[JSON] = []


class Version(msgspec.Struct):
    """What a server says of its software; `distribution` is OpenSearch's, `build_flavor` Elasticsearch's."""

    number: str
    lucene_version: str
    build_flavor: str | None = None
    distribution: str | None = None


class Info(msgspec.Struct):
    """The root of a server."""

    version: Version


class Acknowledged(msgspec.Struct):
    """The answer to a change of the cluster's state."""

    acknowledged: bool
    shards_acknowledged: bool = True


class Written(msgspec.Struct, rename={"id": "_id"}):
    """What became of one document."""

    id: str
    status: int
    error: JSON | None = None


class Item(msgspec.Struct):
    """One operation of a bulk request."""

    index: Written


class Bulk(msgspec.Struct):
    """What became of a bulk request; its own status is 200 however many operations failed."""

    errors: bool
    items: list[Item]


class Counted(msgspec.Struct, rename={"shards": "_shards"}):
    """How many documents there are."""

    count: int
    shards: Shards


class Refreshed(msgspec.Struct, rename={"shards": "_shards"}):
    """The answer to a refresh or a merge."""

    shards: Shards


class Document(msgspec.Struct, rename={"id": "_id", "index": "_index", "score": "_score"}):
    """One hit."""

    id: str
    index: str
    score: float


class Total(msgspec.Struct):
    """How many documents matched; `eq` where that is their exact number."""

    value: int
    relation: str


class Hits(msgspec.Struct):
    """What was found, and of how many."""

    total: Total
    hits: list[Document]


class Found(msgspec.Struct, rename={"shards": "_shards"}):
    """The answer to a search."""

    timed_out: bool
    shards: Shards
    hits: Hits
    terminated_early: bool = False


class Kept(msgspec.Struct, rename={"id": "_id", "source": "_source"}):
    """One document with what was asked for of it: under `fields` each value is in a list, in `_source` it is not."""

    id: str
    fields: JSON = {}
    source: JSON = {}


class KeptHits(msgspec.Struct):
    """The documents that were read."""

    hits: list[Kept]


class ReadBack(msgspec.Struct, rename={"shards": "_shards"}):
    """The answer to a search that reads documents by their ids."""

    timed_out: bool
    shards: Shards
    hits: KeptHits
    terminated_early: bool = False


class Token(msgspec.Struct):
    """One token of a text."""

    token: str


class Tokens(msgspec.Struct):
    """What an analyzer makes of a text."""

    tokens: list[Token]


class Mapped(msgspec.Struct):
    """The mapping of one index."""

    mappings: JSON


def read(kind: str, reply: Any, form: type[T], doing: str) -> T:
    """Return a reply in its documented form; raises `StackError` for another."""
    try:
        return msgspec.convert(reply, form)
    except msgspec.ValidationError as error:
        raise StackError(
            f"{kind} could not {doing}: its reply is not in the documented form: {error}; check url"
        ) from None


def whole(kind: str, shards: Shards, doing: str, *, timed_out: bool = False) -> None:
    """Raise `StackError` unless every shard answered, and in time."""
    if shards.failed or shards.successful < shards.total:
        said = reason({"error": shards.failures[0].get("reason")}) if shards.failures else ""
        missing = max(shards.failed, shards.total - shards.successful)
        raise StackError(
            f"{kind} could not {doing}: {missing} of {shards.total} shards did not answer{': ' if said else ''}{said}; "
            "a partial result is not used",
            retryable=True,
        )
    if timed_out:
        raise StackError(
            f"{kind} could not {doing}: it stopped at its own time limit, and a partial result is not used",
            retryable=True,
        )


def reason(body: object) -> str:
    """Return type and reason of the error in a body, root causes and what caused it included; "" where none is."""
    error = body.get("error") if isinstance(body, Mapping) else body
    if isinstance(error, str):
        return error
    if not isinstance(error, Mapping):
        return ""
    causes = [error, *_causes(error.get("root_cause")), *_causes([error.get("caused_by")])]
    said = [f"{one.get('type', 'error')}: {one.get('reason') or 'no reason given'}" for one in causes]
    return "; ".join(dict.fromkeys(said))


def _causes(found: object) -> Sequence[Mapping[str, Any]]:
    return [one for one in found if isinstance(one, Mapping)][:2] if isinstance(found, list) else []
