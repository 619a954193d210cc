"""Every chunker keeps the promises of the shipped contract suite, at its defaults and at its limits."""

from __future__ import annotations

from functools import partial

from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.plugins.chunkers.sentences import SentenceChunker
from ragassay.plugins.chunkers.tokens import TokenChunker
from ragassay.testing.chunker_contract import ChunkerContract


class TestHeading(ChunkerContract):
    """The default chunker."""

    chunker = HeadingChunker


class TestHeadingSmall(ChunkerContract):
    """A cap of seven tokens, of which six are repeated."""

    chunker = partial(HeadingChunker, max_tokens=7, overlap=6, min_tokens=0)


class TestHeadingOne(ChunkerContract):
    """One token per chunk."""

    chunker = partial(HeadingChunker, max_tokens=1, overlap=0)


class TestSentences(ChunkerContract):
    """Five sentences, one repeated."""

    chunker = SentenceChunker


class TestSentencesSmall(ChunkerContract):
    """A cap smaller than most sentences, all but one of them repeated."""

    chunker = partial(SentenceChunker, sentences=4, overlap=3, max_tokens=5)


class TestTokens(ChunkerContract):
    """Fixed windows."""

    chunker = TokenChunker


class TestTokensOne(ChunkerContract):
    """One token per chunk."""

    chunker = partial(TokenChunker, max_tokens=1, overlap=0)
