"""Which of many texts hold accepted evidence of which of many questions, by the one rule of `score.evidence`. Pure.

Each text is folded once and looked through once: evidence of three words or more is only sought where its longest inner
word stands, and a word between two others stands in every text that holds the evidence, whatever was folded.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragassay.occurrence import Searched, said
from ragassay.records import Question


class Holding:
    """The evidence of questions, ready to be sought in one text after the other."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._everywhere: list[tuple[int, str]] = []
        self._by_word: dict[str, list[tuple[int, str]]] = {}
        for at, question in enumerate(questions):
            for wanted in question.evidence:
                if not wanted.strip():
                    continue
                inner = said(wanted).split(" ")[1:-1]
                place = self._by_word.setdefault(max(inner, key=len), []) if inner else self._everywhere
                place.append((at, wanted))

    def of(self, text: str) -> list[int]:
        """Return the places of the questions of which `text` holds accepted evidence, rising."""
        searched = Searched(text)
        sought = list(self._everywhere)
        for word in set(searched.said.split(" ")) & self._by_word.keys():
            sought.extend(self._by_word[word])
        found: set[int] = set()
        for at, wanted in sought:
            if at not in found and searched.find(wanted).first is not None:
                found.add(at)
        return sorted(found)
