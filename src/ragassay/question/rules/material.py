"""What the rules look at: the questions, the pages, and what is worked out once of both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import PurePosixPath

from ragassay.question.evidence import EvidenceFinding, match_evidence
from ragassay.question.rules.finding import Similar
from ragassay.question.rules.words import stem
from ragassay.records import Benchmark, Page, Question

_WORD = re.compile(r"\w+")


class Material:
    """A benchmark and, where they are given, the corpus and a measure of similarity."""

    def __init__(
        self,
        benchmark: Benchmark,
        pages: Sequence[Page] | None,
        findings: Sequence[EvidenceFinding] | None,
        similar: Similar | None,
    ) -> None:
        self.benchmark = benchmark
        self.pages = pages
        self.similar = similar
        self._findings = findings

    @property
    def has_corpus(self) -> bool:
        """True when evidence can be looked up."""
        return self.pages is not None or self._findings is not None

    @cached_property
    def findings(self) -> Sequence[EvidenceFinding]:
        """Every evidence text, looked up; none without a corpus."""
        if self._findings is None:
            return () if self.pages is None else match_evidence(self.benchmark, self.pages)
        return self._findings

    @cached_property
    def questions(self) -> dict[str, Question]:
        """The questions by their ids."""
        return {question.id: question for question in self.benchmark.questions}

    @cached_property
    def folded(self) -> dict[str, str]:
        """The text of each page without case, by its id."""
        return {page.id: page.text.casefold() for page in self.pages or ()}

    @cached_property
    def words(self) -> dict[str, frozenset[str]]:
        """The words of each page without case, by its id."""
        return {name: frozenset(_WORD.findall(text)) for name, text in self.folded.items()}

    def pages_with(self, word: str) -> list[str]:
        """Return the ids of the pages that hold a word."""
        return [name for name, words in self.words.items() if word in words]

    def is_verb(self, word: str) -> bool:
        """True when the pages hold the word, or its stem, with an ending of tense too."""
        root = stem(word)
        return any(f"{root}{ending}" in self._vocabulary for ending in ("ed", "ing"))

    @cached_property
    def title_words(self) -> frozenset[str]:
        """Words that are the whole title, or the whole file name without suffix, of a page."""
        names = (PurePosixPath(page.id).stem for page in self.pages or ())
        return frozenset(name.casefold() for name in (*names, *(page.title for page in self.pages or ())))

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        return frozenset().union(*self.words.values())
