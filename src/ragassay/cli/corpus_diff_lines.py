"""What `ragassay corpus diff` prints: what became of the pages, then each question that an author has to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragassay.corpus.diff import ChangedPage, CorpusDiff, MovedPage
from ragassay.question.nearest import Passage
from ragassay.question.report import span
from ragassay.question.rot import Rot, counts
from ragassay.site.numbers import plural
from ragassay.site.safe import one_line, shortened

SHOWN = 20
"""How many pages of a kind are listed; all of them stand in the JSON."""
LONGEST = 200
"""Characters of a text that are printed."""
MAX_CHANGES = 8
_SAID = {
    "stands": "stand",
    "folded": "stand folded",
    "mended": "mended",
    "none": "without evidence",
    "moved": "on another page",
    "doubled": "in more places than before",
    "gone": "gone",
    "page lost": "gone with their page",
    "missing before": "were missing before, and are",
}


def diff_lines(
    found: CorpusDiff, extractors: tuple[str, str] | None, unreadable: tuple[int, int] = (0, 0)
) -> Iterator[str]:
    """Yield the counts of pages, each kind with its first pages."""
    yield f"pages     {found.old:,} before, {found.new:,} now: {found.same:,} the same"
    if extractors:
        yield f"          read by {extractors[0]} before and {extractors[1]} now; texts may differ by that alone"
    if any(unreadable):
        yield f"          crawled pages that cannot be read, left out: {unreadable[0]:,} before, {unreadable[1]:,} now"
    yield from _listed("changed", [f"{_name(one.page)}: {_amounts(one)}" for one in found.changed])
    yield from _listed("moved", [f"{_name(one.old)} -> {_name(one.new)}: {_amounts(one)}" for one in found.moved])
    yield from _listed("lost", [_name(page) for page in found.lost])
    yield from _listed("gained", [_name(page) for page in found.gained])


def rot_lines(rots: Sequence[Rot]) -> Iterator[str]:
    """Yield the counts of questions by what became of their evidence, and those that rot with what would mend them."""
    if not rots:
        return
    yield f"questions {len(rots):,}: " + ", ".join(
        f"{count} {_SAID[state]}" for state, count in counts(rots).items() if count
    )
    for one in rots:
        if one.rotten or one.state == "missing before":
            yield f"  {one.state}  {_name(one.question)}" + (f"  ({_name(one.page)})" if one.page else "")
            yield from _about(one)
    rotten = sum(one.rotten for one in rots)
    yield f"{rotten:,} of {len(rots):,} rot" + ("" if rotten else ": each stands where it stood")


def _about(one: Rot) -> Iterator[str]:
    if one.places:
        yield from (f"      now at {span(place)}" for place in one.places[:SHOWN])
        if one.repeats:
            yield f"      and {one.repeats} more on {_name(one.places[0].page)}"
    elif one.evidence is not None:
        yield f"      was    {shortened(one.evidence, LONGEST)}"
        yield from _nearest(one.nearest)


def _nearest(passage: Passage | None) -> Iterator[str]:
    if passage is None:
        yield "      now    nothing like it"
        return
    yield f"      now    {shortened(passage.text, LONGEST)}"
    yield f"             {_name(passage.page)} [{passage.start}, {passage.end}), {passage.same_percent} % the same"
    for change in passage.changes[:MAX_CHANGES]:
        yield f"             {_words(change.was)} -> {_words(change.now)}"
    if len(passage.changes) > MAX_CHANGES:
        yield f"             and {len(passage.changes) - MAX_CHANGES} more changes"


def _listed(word: str, entries: Sequence[str]) -> Iterator[str]:
    yield f"{word:<9} {len(entries):,}"
    yield from (f"  {entry}" for entry in entries[:SHOWN])
    if len(entries) > SHOWN:
        yield f"  ... and {len(entries) - SHOWN:,} more, all listed with --json"


def _amounts(one: ChangedPage | MovedPage) -> str:
    if not one.added and not one.removed:
        return "the same text" if one.same_percent == 100 and isinstance(one, MovedPage) else "the same words"
    words = f"{plural(one.added, 'word')} added, {one.removed:,} removed"
    return f"{words}, {one.same_percent} % the same"


def _words(words: str) -> str:
    return f'"{shortened(words, LONGEST)}"' if words else "nothing"


def _name(text: str) -> str:
    return one_line(text)
