"""What a change of the documentation does to each question."""

from __future__ import annotations

import pytest

from ragassay import canon
from ragassay.question.nearest import ChangedWords, Passages
from ragassay.question.rot import Rot, counts, rot
from ragassay.records import Benchmark, Page, Question

FACT = "The cache holds at most 16 entries."
FILLER = "Other things are told here, about paths, ports and pages, and none of them matters to the reader of this."


def pages(texts: dict[str, str]) -> list[Page]:
    """Return pages, id → text."""
    return [
        Page(id=id_, title=id_, text=text, format="text", sha256=canon.sha256(text.encode()), source_sha256="0" * 64)
        for id_, text in texts.items()
    ]


def one(old: dict[str, str], new: dict[str, str], *evidence: str, page: str | None = "a") -> Rot:
    """Return what becomes of one question."""
    question = Question(id="q", input="?", target="t", claims=(), page=page, evidence=evidence)
    return rot(Benchmark(name="b", questions=(question,)), pages(old), pages(new))[0]


@pytest.mark.parametrize(
    ("old", "new", "state"),
    [
        ({"a": FACT}, {"a": FACT + " More."}, "stands"),
        ({"a": FACT}, {"a": FACT.replace(" ", "\u00a0")}, "folded"),
        ({"a": FACT}, {"b": FACT}, "moved"),
        ({"a": FACT}, {"a": "Elsewhere.", "b": FACT}, "moved"),
        ({"a": FACT}, {"a": FACT, "b": FACT}, "doubled"),
        ({"a": FACT}, {"a": f"{FACT} {FACT}"}, "doubled"),
        ({"a": FACT, "b": FACT}, {"a": FACT, "b": FACT}, "stands"),
        ({"a": FACT, "b": FACT}, {"a": FACT}, "stands"),
        ({"a": FACT, "b": FACT}, {"a": "x", "b": FACT}, "moved"),
        ({"a": FACT}, {"a": FACT.replace("16", "17")}, "gone"),
        ({"a": FACT}, {"a": FACT.replace("16", "160")}, "gone"),
        ({"a": FACT}, {"b": "x"}, "page lost"),
        ({"a": "x"}, {"a": FACT}, "mended"),
        ({"a": "x"}, {"a": "y"}, "missing before"),
    ],
)
def test_states(old: dict[str, str], new: dict[str, str], state: str) -> None:
    """Each way in which evidence stands, or does not, has its name."""
    found = one(old, new, FACT)
    assert found.state == state
    assert found.rotten is (state in ("moved", "doubled", "gone", "page lost"))


def test_without_evidence_only_the_page_can_be_lost() -> None:
    """A question without evidence, with its page and without."""
    assert one({"a": "x"}, {"a": "y"}).state == "none"
    assert one({"a": "x"}, {"b": "y"}).state == "page lost"
    assert one({"a": "x"}, {"b": "y"}, page=None).state == "none"


def test_any_alternative_is_enough() -> None:
    """Where the first is gone and the second stands, the question stands by the second."""
    found = one({"a": f"{FACT} Second."}, {"a": "Second."}, FACT, "Second.")
    assert (found.state, found.alternative, found.evidence) == ("stands", 1, "Second.")


def test_what_is_gone_has_its_nearest_passage_and_the_changed_words() -> None:
    """The passage, its place in the new page and each change, so that an author can mend the text."""
    new = f"{FILLER} The  cache holds at most 32 small entries.\n\n{FILLER}"
    nearest = one({"a": FACT}, {"a": new, "b": FILLER}, FACT).nearest
    assert nearest is not None
    assert (nearest.page, nearest.text) == ("a", "The  cache holds at most 32 small entries.")
    assert new[nearest.start : nearest.end] == nearest.text
    assert nearest.changes == (ChangedWords(was="16", now="32 small"),)


def test_the_nearest_passage_may_be_on_another_page() -> None:
    """Where the page is lost, or says nothing like it, the others are looked at; alike is said of nothing else."""
    found = one({"a": FACT}, {"b": FILLER, "c": f"{FILLER} Our cache holds at most 16 entries."}, FACT)
    assert found.nearest is not None
    assert (found.nearest.page, found.nearest.changes) == ("c", (ChangedWords(was="The", now="Our"),))
    assert one({"a": FACT}, {"a": FILLER}, FACT).nearest is None


def test_the_own_page_gives_way_only_to_what_is_much_more_alike() -> None:
    """Another setting's default is worded as the old text was, yet the new default stands on the own page."""
    old, new = "The default value is four megabytes (4MB).", "The default value is eight megabytes (8MB)."
    other = "The default is four megabytes (4MB)."
    found = one({"a": old}, {"a": new, "b": other}, old).nearest
    assert found is not None
    assert (found.page, [change.now for change in found.changes]) == ("a", ["eight", "8MB"])
    poor = "The default value is off, says (this page), in megabytes."
    found = one({"a": old}, {"a": poor, "b": other}, old).nearest
    assert found is not None
    assert found.page == "b"


def test_the_own_page_wins_among_equals() -> None:
    """The page that holds the question, or the one that it moved to, stands before others."""
    changed = FACT.replace("16", "32")
    found = one({"z": FACT}, {"a": changed, "z": changed}, FACT, page="z").nearest
    assert found is not None
    assert found.page == "z"
    question = Question(id="q", input="?", target="t", claims=(), page="y", evidence=(FACT,))
    moved = rot(
        Benchmark(name="b", questions=(question,)), pages({"y": FACT}), pages({"a": changed, "m": changed}), {"y": "m"}
    )
    assert moved[0].nearest is not None
    assert moved[0].nearest.page == "m"


@pytest.mark.parametrize("text", ["", " \n", "…", "\u00ad", "x" * 5000, "a " * 3000])
def test_odd_texts_have_a_nearest_passage_or_none(text: str) -> None:
    """Nothing that evidence may hold breaks the search."""
    from ragassay.occurrence import Searched

    found = Passages({"a": Searched(FILLER), "b": Searched(""), "c": Searched(text)}).nearest(text)
    assert found is None or found.page == "c"


def test_counts_name_every_state() -> None:
    """States that no question is in count 0."""
    found = counts([one({"a": FACT}, {"a": FACT}, FACT), one({"a": FACT}, {"a": "x"}, FACT)])
    assert (found["stands"], found["gone"], found["moved"], sum(found.values())) == (1, 1, 0, 2)
