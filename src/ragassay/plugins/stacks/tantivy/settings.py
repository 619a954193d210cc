"""How a tantivy row cuts text into words, and what of it is recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import tantivy

from ragassay.plugins.stacks.parameters import Parameters
from ragassay.records import JSON

K1, B = 1.2, 0.75
"""Tantivy's own, which nobody can change."""
WITHOUT_STOPWORDS = ("arabic", "greek", "romanian", "tamil", "turkish")
"""Languages of which tantivy has stems and no list of stop words."""
LANGUAGES = (
    *("danish", "dutch", "english", "finnish", "french", "german", "hungarian", "italian", "norwegian", "portuguese"),
    *("russian", "spanish", "swedish"),
)
STEMMERS = ("none", *sorted((*LANGUAGES, *WITHOUT_STOPWORDS)))
TOKENIZERS: Mapping[str, Callable[[], Any]] = {
    "simple": tantivy.Tokenizer.simple,
    "words": lambda: tantivy.Tokenizer.regex(r"\w+"),
    "whitespace": tantivy.Tokenizer.whitespace,
}
NGRAM = "ngram"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What shapes the words of chunks and questions; the grams' lengths count for the tokenizer `ngram` alone."""

    tokenizer: str
    min_gram: int
    max_gram: int
    stopwords: str | tuple[str, ...]
    stemmer: str
    ascii_folding: bool
    longest_word: int

    def described(self) -> JSON:
        """Return everything that shapes the words, and tantivy's constants."""
        grams: JSON = {"min_gram": self.min_gram, "max_gram": self.max_gram} if self.tokenizer == NGRAM else {}
        return {
            "k1": str(K1),
            "b": str(B),
            "tokenizer": self.tokenizer,
            **grams,
            "stopwords": self.stopwords if isinstance(self.stopwords, str) else list(self.stopwords),
            "stemmer": self.stemmer,
            "ascii_folding": self.ascii_folding,
            "longest_word": self.longest_word,
        }

    def analyzer(self) -> Any:
        """Return a new analyzer: cut, leave out what is too long, lower-case, leave out stop words, fold, stem."""
        filters = tantivy.Filter
        if self.tokenizer == NGRAM:
            cut = tantivy.Tokenizer.ngram(self.min_gram, self.max_gram)
        else:
            cut = TOKENIZERS[self.tokenizer]()
        # tantivy keeps what is shorter than its limit, counted in bytes of UTF-8.
        chain = tantivy.TextAnalyzerBuilder(cut).filter(filters.remove_long(self.longest_word + 1))
        chain = chain.filter(filters.lowercase())
        if isinstance(self.stopwords, tuple):
            chain = chain.filter(filters.custom_stopword([word.lower() for word in self.stopwords]))
        elif self.stopwords != "none":
            chain = chain.filter(filters.stopword(self.stopwords))
        if self.ascii_folding:
            chain = chain.filter(filters.ascii_fold())
        if self.stemmer != "none":
            chain = chain.filter(filters.stemmer(self.stemmer))
        return chain.build()


def read_settings(read: Parameters) -> Settings:
    """Return the settings; what is wrong is noted in `read`."""
    for name, fixed in (("k1", str(K1)), ("b", str(B))):
        if (given := read.decimal(name, fixed, low="0", high="100")) != fixed:
            read.note(f"{name} = {given}: tantivy has {fixed} and nothing else; leave it out, or take the stack 'bm25'")
    tokenizer = read.choice("tokenizer", "simple", (*TOKENIZERS, NGRAM))
    grams = tokenizer == NGRAM
    settings = Settings(
        tokenizer=tokenizer,
        min_gram=read.integer("min_gram", 2, low=1, high=10),
        max_gram=read.integer("max_gram", 3, low=1, high=10),
        stopwords=read.words("stopwords", "none" if grams else "english", ("none", *LANGUAGES)),
        stemmer=read.choice("stemmer", "none", STEMMERS),
        ascii_folding=read.flag("ascii_folding", False),
        longest_word=read.integer("longest_word", 255, low=1, high=65_000),
    )
    if settings.min_gram > settings.max_gram:
        read.note(f"min_gram = {settings.min_gram} must be at most max_gram = {settings.max_gram}")
    if grams and (settings.stopwords != "none" or settings.stemmer != "none"):
        read.note("tokenizer = 'ngram' has no words: stopwords and stemmer must be 'none' or left out")
    if not grams and (read.gives("min_gram") or read.gives("max_gram")):
        read.note("min_gram and max_gram must be left out where tokenizer is not 'ngram'")
    return settings
