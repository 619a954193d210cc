"""Plugins by seam and kind: listing imports nothing, loading one imports its file alone."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, get_args

from ragassay.errors import InputError, PluginError, legible
from ragassay.seams import Seam

BUILT_IN: Mapping[Seam, Mapping[str, str]] = {
    "chunkers": {
        "heading": "ragassay.plugins.chunkers.heading:HeadingChunker",
        "sentences": "ragassay.plugins.chunkers.sentences:SentenceChunker",
        "tokens": "ragassay.plugins.chunkers.tokens:TokenChunker",
    },
    "embedders": {
        "fastembed": "ragassay.plugins.embedders.fastembed:FastEmbedEmbedder",
        "minilm-l6-v2-int8": "ragassay.plugins.embedders.minilm:MiniLM",
        "openai": "ragassay.plugins.embedders.openai:OpenAIEmbedder",
        "sentence-transformers": "ragassay.plugins.embedders.sentence_transformers:SentenceTransformersEmbedder",
        "wordllama": "ragassay.plugins.embedders.wordllama:WordLlamaEmbedder",
    },
    "stacks": {
        "none": "ragassay.plugins.stacks.none:NoRetrieval",
        "oracle": "ragassay.plugins.stacks.oracle:Oracle",
        "bm25": "ragassay.plugins.stacks.bm25:BM25",
        "dense": "ragassay.plugins.stacks.dense:Dense",
        "qdrant": "ragassay.plugins.stacks.qdrant:Qdrant",
        "pgvector": "ragassay.plugins.stacks.pgvector:Pgvector",
        "hybrid": "ragassay.plugins.stacks.hybrid:Hybrid",
        "window": "ragassay.plugins.stacks.window:Window",
        "parent": "ragassay.plugins.stacks.parent:Parent",
        "mmr": "ragassay.plugins.stacks.mmr:MMR",
        "multiquery": "ragassay.plugins.stacks.multiquery:MultiQuery",
        "hyde": "ragassay.plugins.stacks.hyde:HyDE",
        "rerank": "ragassay.plugins.stacks.rerank:Rerank",
        "tree": "ragassay.plugins.stacks.tree:Tree",
        "chroma": "ragassay.plugins.stacks.chroma:Chroma",
        "lancedb": "ragassay.plugins.stacks.lancedb:LanceDB",
        "tantivy": "ragassay.plugins.stacks.tantivy:Tantivy",
        "usearch": "ragassay.plugins.stacks.usearch:USearch",
        "milvus": "ragassay.plugins.stacks.milvus:Milvus",
        "http": "ragassay.plugins.stacks.http:Http",
        "langchain": "ragassay.plugins.stacks.foreign.langchain:LangChain",
        "llamaindex": "ragassay.plugins.stacks.foreign.llamaindex:LlamaIndex",
        "haystack": "ragassay.plugins.stacks.foreign.haystack:Haystack",
        "vectorize": "ragassay.plugins.stacks.vectorize:Vectorize",
        "pinecone": "ragassay.plugins.stacks.pinecone:Pinecone",
        "vertex": "ragassay.plugins.stacks.vertex:Vertex",
        "elasticsearch": "ragassay.plugins.stacks.elastic.elasticsearch:ElasticsearchStack",
        "opensearch": "ragassay.plugins.stacks.elastic.opensearch:OpenSearchStack",
        "weaviate": "ragassay.plugins.stacks.weaviate:Weaviate",
    },
    "models": {
        "openai": "ragassay.plugins.models.openai:OpenAIModel",
        "reader": "ragassay.plugins.models.reader:Reader",
        "llamacpp": "ragassay.plugins.models.llamacpp:LlamaCpp",
    },
    "judges": {
        "literal": "ragassay.plugins.judges.literal:LiteralJudge",
    },
}
"""Built-in plugins as `module:attribute`. The `llm` judge is no plugin: it is `judge/` over any model."""

_EXTRA_OF = {
    "chromadb": "chroma",
    "dotenv": "milvus",
    "elastic_transport": "elasticsearch",
    "elasticsearch": "elasticsearch",
    "fastembed": "fastembed",
    "google": "vertex",
    "haystack": "haystack",
    "huggingface_hub": "sentence-transformers",
    "lancedb": "lancedb",
    "langchain_core": "langchain",
    "langsmith": "langchain",
    "llama_index": "llamaindex",
    "loguru": "fastembed",
    "milvus_lite": "milvus",
    "opensearchpy": "opensearch",
    "pgvector": "pgvector",
    "pinecone": "pinecone",
    "psycopg": "pgvector",
    "pymilvus": "milvus",
    "qdrant_client": "qdrant",
    "safetensors": "wordllama",
    "sentence_transformers": "sentence-transformers",
    "tantivy": "tantivy",
    "torch": "sentence-transformers",
    "transformers": "sentence-transformers",
    "usearch": "usearch",
    "weaviate": "weaviate",
    "wordllama": "wordllama",
    "xllamacpp": "llamacpp",
}
_BROUGHT_ALONG = frozenset({"grpc"})
"""Packages that the clients of several extras bring: they come with the extra that is named as the kind is."""


def names(seam: Seam) -> list[str]:
    """Return the kinds that can be named for `seam`, sorted, without importing any."""
    return sorted({*BUILT_IN[seam], *(point.name for point in _outside(seam))})


def load(seam: Seam, kind: str) -> Any:
    """Return the plugin class of `kind`.

    Raises `InputError` for an unknown kind, `PluginError` for one that cannot be imported (naming the extra).
    """
    if kind in BUILT_IN[seam]:
        module, _, attribute = BUILT_IN[seam][kind].partition(":")
        return getattr(_imported(module, seam, kind), attribute)
    for point in _outside(seam):
        if point.name == kind:
            return getattr(_imported(point.module, seam, kind), point.attr)
    known = names(seam)
    near = difflib.get_close_matches(kind, known, 1, 0.7) or [name for name in known if kind and name.startswith(kind)]
    remedy = f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(known)}"
    raise InputError(f"there is no {seam[:-1]} {kind!r}; {remedy}")


def is_deterministic(seam: Seam, kind: str) -> bool:
    """Tell whether the plugin of `kind` declares that it gives the same on every machine; raises what `load` does."""
    return getattr(load(seam, kind), "deterministic", False) is True


def extra_of(package: str, kind: str) -> str:
    """Return the extra of ragassay that brings a package, given by the name that is imported, for a plugin."""
    return kind if package in _BROUGHT_ALONG else _EXTRA_OF.get(package, "run")


def _outside(seam: Seam) -> list[EntryPoint]:
    assert seam in get_args(Seam)
    return list(entry_points(group=f"ragassay.{seam}"))


def _imported(module: str, seam: Seam, kind: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise PluginError(f"the {seam[:-1]} {kind!r} cannot be imported ({error}); {_remedy(error, kind)}") from error
    except Exception as error:  # an outside module may raise anything
        raise PluginError(
            f"the {seam[:-1]} {kind!r} cannot be imported: it raised {type(error).__name__}: {legible(error)}"
        ) from error


def _remedy(error: ImportError, kind: str) -> str:
    """Say what to install: the extra of a package that is not there, or the system's library that one needs."""
    missing = (error.name or "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and missing:
        return f"if {missing!r} is missing: pip install 'ragassay[{extra_of(missing, kind)}]'"
    return "install the system library that it names (on Debian, libgomp.so.1 comes with: apt-get install libgomp1)"
