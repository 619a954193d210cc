"""Does each question's evidence stand in the texts that a row searches: exactly, under folds, or not? Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from ragassay.occurrence import Searched
from ragassay.question.evidence import EvidenceFinding, match_evidence
from ragassay.records import Benchmark, Chunk, Corpus, Fairness, Page, Question, Record

OWN_TEXTS = Fairness(own_texts=True)
"""Of a row that searches a corpus of its own nothing can be looked up."""

_RANK = {"none": 0, "missing": 1, "folded": 2, "exact": 3}


class SearchedChunks(Record, frozen=True):
    """Which chunks of the corpus a row's searches see: all but `left_out`; `unsure`: perhaps those too."""

    left_out: frozenset[str] = frozenset()
    unsure: bool = False


EVERY_CHUNK = SearchedChunks()


def searched_by(chunks: Sequence[Chunk], stacks: Sequence[frozenset[str] | None]) -> SearchedChunks:
    """Return what several stacks see together, given what each leaves out; None where a stack cannot say.

    A chunk that one of them sees is seen.
    """
    known = [left_out for left_out in stacks if left_out is not None]
    left_out = frozenset.intersection(*known) if known else frozenset(chunk.id for chunk in chunks)
    return SearchedChunks(left_out=left_out, unsure=len(known) < len(stacks))


def fairness_of(
    benchmark: Benchmark,
    corpus: Corpus,
    findings: Sequence[EvidenceFinding],
    *,
    searched: SearchedChunks = EVERY_CHUNK,
    reads: Callable[[str], bool] | None = None,
) -> Fairness:
    """Return where the evidence of each question stands for a row that searches chunks of `corpus`.

    One alternative that is there suffices. `findings` are those over all pages. Evidence that crosses the edge of a
    chunk is there, for its pages are covered without a gap, and is `split`. `reads` tells whether the row's embedders
    read a text to its end; None where it has none, or where they cannot say.
    """
    whole = _best(findings)
    seen = _best(match_evidence(benchmark, _pieces(corpus, searched.left_out))) if searched.left_out else whole
    looked = _Chunks(corpus, searched.left_out, findings)
    folded: list[str] = []
    absent: list[str] = []
    unknowable: list[str] = []
    split: list[str] = []
    unread: list[str] = []
    for question in benchmark.questions:
        state = seen.get(question.id, "none")
        if state == "none" or (state == "missing" and searched.unsure and whole[question.id] != "missing"):
            unknowable.append(question.id)
        elif state == "missing":
            absent.append(question.id)
        else:
            if state == "folded":
                folded.append(question.id)
            held = list(looked.reaching_the_end_of(question))
            if not held:
                split.append(question.id)
            elif reads is not None and not any(reads(text) for text in held):
                unread.append(question.id)
    return Fairness(
        folded=tuple(folded),
        absent=tuple(absent),
        unknowable=tuple(unknowable),
        split=tuple(split),
        unread=None if reads is None else tuple(unread),
    )


def _best(findings: Sequence[EvidenceFinding]) -> Mapping[str, str]:
    """Return the best state of each question over its alternatives."""
    best: dict[str, str] = {}
    for finding in findings:
        if _RANK[finding.state] >= _RANK[best.get(finding.question, "none")]:
            best[finding.question] = finding.state
    return best


def _pieces(corpus: Corpus, left_out: frozenset[str]) -> list[Page]:
    """Return the unbroken stretches of every page that chunks which are searched cover."""
    pages = {page.id: page for page in corpus.pages}
    spans: dict[str, list[tuple[int, int]]] = {}
    for chunk in sorted(corpus.chunks, key=lambda chunk: (chunk.page, chunk.start, chunk.end)):
        if chunk.id in left_out:
            continue
        own = spans.setdefault(chunk.page, [])
        if own and chunk.start <= own[-1][1]:
            own[-1] = (own[-1][0], max(own[-1][1], chunk.end))
        else:
            own.append((chunk.start, chunk.end))
    return [
        msgspec.structs.replace(pages[page], id=f"{page}[{start}:{end}]", text=pages[page].text[start:end])
        for page, own in spans.items()
        for start, end in own
    ]


class _Chunks:
    """The chunks that are searched on the pages where evidence was found."""

    def __init__(self, corpus: Corpus, left_out: frozenset[str], findings: Sequence[EvidenceFinding]) -> None:
        self._pages: dict[str, set[str]] = {}
        for finding in findings:
            found = [finding.page, *(place.page for place in finding.others)]
            self._pages.setdefault(finding.question, set()).update(page for page in found if page is not None)
        wanted = {page for pages in self._pages.values() for page in pages}
        self._by_page: dict[str, list[Searched]] = {}
        for chunk in corpus.chunks:
            if chunk.page in wanted and chunk.id not in left_out:
                self._by_page.setdefault(chunk.page, []).append(Searched(chunk.text))

    def reaching_the_end_of(self, question: Question) -> Iterator[str]:
        """Yield, for each chunk that holds evidence of a question whole, its text up to where that ends."""
        for page in sorted(self._pages.get(question.id, ())):
            for searched in self._by_page.get(page, ()):
                for wanted in question.evidence:
                    if (match := searched.find(wanted).first) is not None:
                        yield searched.text[: match.end]
