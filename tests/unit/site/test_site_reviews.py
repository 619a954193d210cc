"""Who reviewed the questions, from their provenance: in data, terminal, page and specification."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pages_factory as rich
import site_factory as make
import spec_factory as spec

from ragassay.records import Benchmark, Provenance
from ragassay.site import build_board, load_runs, site_files
from ragassay.site.reviewed import review_facts, review_of, review_words
from ragassay.site.text import render_text

NOW = make.START + 10_000


def _asked(*given: Provenance | None) -> Benchmark:
    bench = make.benchmark(len(given))
    pairs = zip(bench.questions, given, strict=True)
    return msgspec.structs.replace(
        bench, questions=tuple(msgspec.structs.replace(question, provenance=one) for question, one in pairs)
    )


def _by(reviewer: str | None, author: str | None = "A. Writer") -> Provenance:
    return Provenance(author=author, reviewed_by=reviewer, derived_from_system=False)


def test_reviewers_authors_and_gaps_are_counted() -> None:
    """Every question is reviewed, unreviewed or not recorded; reviewers are counted, and who reviewed themselves."""
    found = review_of(_asked(_by("B. Reader"), _by("B. Reader"), _by("A. Writer"), _by(None), None))
    assert (found.reviewed, found.unreviewed, found.not_recorded, found.by_author) == (3, 1, 1, 1)
    assert [(one.reviewer, one.questions) for one in found.reviewers] == [("B. Reader", 2), ("A. Writer", 1)]
    assert review_facts(found) == ["reviewed: 3 of 5 questions, by B. Reader (2) and A. Writer (1)"]
    assert review_words(found) == [
        "unreviewed: 1 of 5 questions",
        "review not recorded: 1 of 5 questions",
        "reviewed by its own author: 1 of 5 questions",
    ]
    assert review_facts(review_of(_asked(_by("B. Reader")))) == ["reviewed: 1 of 1 question, by B. Reader"]
    assert review_facts(review_of(_asked(None, _by(None)))) == []


def test_a_reviewer_without_an_author_is_not_the_author() -> None:
    """Two names that are both unknown are not equal."""
    assert review_of(_asked(_by(None, None), _by("B. Reader", None))).by_author == 0


def test_many_reviewers_are_counted_and_some_named() -> None:
    """The first four by their questions; the rest as a number."""
    found = review_of(_asked(*(_by(f"Reader {n}") for n in range(6))))
    assert review_facts(found)[0].endswith("and 2 more")


def test_it_is_printed_wherever_a_board_is(tmp_path: Path) -> None:
    """Terminal, page and specification say who reviewed and what nobody did; names steer no terminal."""
    bench = _asked(_by("B. Reader\x1b[31m"), _by("A. Writer"), _by(None))
    make.write_row(tmp_path, "bm25", "bm25", bench, make.losing_first(1))
    runs = load_runs(tmp_path, now=NOW)
    board = build_board(runs, now=NOW)
    printed = " ".join(render_text(board).split())
    page = rich.words(site_files(board, runs)["index.html"])
    for said in (printed, page):
        assert "eviewed: 2 of 3 questions, by B. Reader" in said
        assert "A. Writer (1)" in said
        assert "unreviewed: 1 of 3 questions" in said
        assert "reviewed by its own author: 1 of 3 questions" in said
        assert "\x1b" not in said
    text = spec.said(tmp_path)
    assert "2 of 3 questions were reviewed by" in text
    assert "1 of 3 questions names no reviewer." in text
    assert "1 of 3 questions was reviewed by its own author." in text
