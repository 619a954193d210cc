"""What Vectorize answers with: of each documented form, the members that are read. What is needed must be there."""

from __future__ import annotations

import msgspec


class Config(msgspec.Struct, frozen=True):
    """How an index compares vectors."""

    dimensions: int
    metric: str


class Index(msgspec.Struct, frozen=True):
    """An index as the service lists it."""

    name: str
    config: Config | None = None
    description: str | None = None


class Info(msgspec.Struct, frozen=True, rename="camel"):
    """What an index holds by now: vectors, and the last mutation that went into it."""

    dimensions: int
    vector_count: int
    processed_up_to_mutation: str | None = None


class Mutation(msgspec.Struct, frozen=True, rename="camel"):
    """The identifier of a change that the service has accepted and not yet made."""

    mutation_id: str


class MetadataIndex(msgspec.Struct, frozen=True, rename="camel"):
    """A property of the metadata that filters can name."""

    property_name: str
    index_type: str


class MetadataIndexes(msgspec.Struct, frozen=True, rename="camel"):
    """All such properties of an index."""

    metadata_indexes: list[MetadataIndex] = []


class Match(msgspec.Struct, frozen=True):
    """One vector that was found."""

    id: str
    score: float


class Matches(msgspec.Struct, frozen=True):
    """The answer to one query."""

    count: int
    matches: list[Match]
