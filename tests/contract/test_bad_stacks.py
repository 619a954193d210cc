"""The contract suite finds every broken promise: stacks that break exactly one each, and the tests that must say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from bad_stacks import (
    BuildsDiffer,
    ClosesOnce,
    CountsNothing,
    ErrorIsEmpty,
    FailsOnBlanks,
    FailsOnNothing,
    Generates,
    Good,
    HalfDiffers,
    Hangs,
    KeepsTheInterrupt,
    Learns,
    LongerListIsAnother,
    OneTooMany,
    RecordsAFraction,
    RecordsTheKey,
    RecordsTheTime,
    Repeats,
    ScoresNaN,
    ScoresRise,
    SharesState,
    Shuffles,
    StaleTexts,
    TakesAnyParameter,
    TakesTheChunks,
    UnknownIds,
)

from ragassay.records import Secret
from ragassay.retrieve import search
from ragassay.seams import Retriever
from ragassay.testing.stack_contract import StackContract, corpus, ignore_progress

ALL = [name for name in vars(StackContract) if name.startswith("test_")]
KEY = "a-key-of-the-tests"

SEARCHING = {
    "test_a_reply_is_a_sequence_of_hits",
    "test_k_is_respected",
    "test_every_hit_is_of_the_corpus",
    "test_no_hit_stands_twice",
    "test_scores_are_finite_and_best_first",
    "test_building_twice_gives_the_same_hits",
    "test_asking_twice_gives_the_same_hits",
    "test_a_smaller_k_is_a_prefix",
    "test_an_empty_corpus_is_searched_and_gives_nothing",
    "test_a_corpus_of_blank_chunks_breaks_no_promise",
    "test_concurrent_searches_agree",
    "test_a_failing_part_is_never_fewer_hits",
    "test_the_chunks_are_left_as_they_were",
    "test_description_is_canonical_and_stable",
}
"""The tests that search: a stack that hangs fails all of them, each in its time."""

BENCH: Mapping[type[Good], set[str]] = {
    Good: set(),
    TakesAnyParameter: {"test_an_unknown_parameter_is_refused"},
    Generates: {"test_a_reply_is_a_sequence_of_hits"},
    OneTooMany: {"test_k_is_respected"},
    UnknownIds: {"test_every_hit_is_of_the_corpus"},
    StaleTexts: {"test_every_hit_is_of_the_corpus"},
    Repeats: {"test_no_hit_stands_twice"},
    ScoresNaN: {"test_scores_are_finite_and_best_first"},
    ScoresRise: {"test_scores_are_finite_and_best_first"},
    BuildsDiffer: {"test_building_twice_gives_the_same_hits"},
    Learns: {"test_asking_twice_gives_the_same_hits"},
    Shuffles: {
        "test_building_twice_gives_the_same_hits",
        "test_asking_twice_gives_the_same_hits",
        "test_a_smaller_k_is_a_prefix",
        "test_concurrent_searches_agree",
    },
    LongerListIsAnother: {"test_a_smaller_k_is_a_prefix"},
    FailsOnNothing: {"test_an_empty_corpus_is_searched_and_gives_nothing"},
    FailsOnBlanks: {"test_a_corpus_of_blank_chunks_breaks_no_promise"},
    SharesState: {"test_concurrent_searches_agree"},
    ErrorIsEmpty: {"test_a_failing_part_is_never_fewer_hits"},
    TakesTheChunks: {"test_the_chunks_are_left_as_they_were"},
    RecordsAFraction: {"test_description_is_canonical_and_stable"},
    RecordsTheTime: {"test_description_is_canonical_and_stable"},
    RecordsTheKey: {"test_description_holds_no_secret"},
    CountsNothing: {"test_a_count_is_a_number_of_passages"},
    ClosesOnce: {"test_closing_twice_is_harmless"},
    KeepsTheInterrupt: {"test_progress_may_stop_the_build"},
    Hangs: SEARCHING,
}


def failing_tests(stack: type[Good], **declared: Any) -> set[str]:
    """Return the names of the suite's tests that a stack fails."""
    given = {"stack": stack, "params": {"key": Secret(KEY)}, **declared}
    suite = type("Suite", (StackContract,), given)()
    failed = set()
    for name in ALL:
        try:
            getattr(suite, name)()
        except Exception:  # noqa: BLE001 - whatever a test raises, it has failed
            failed.add(name)
    return failed


@pytest.mark.parametrize("stack", BENCH, ids=lambda stack: stack.__name__)
def test_the_suite_names_each_fault_by_its_test(stack: type[Good]) -> None:
    """Exactly the tests fail whose promise is broken."""
    if stack is Hangs:
        try:
            assert failing_tests(stack, within_s=0.05) == BENCH[stack]
        finally:
            Hangs.over.set()
    else:
        assert failing_tests(stack) == BENCH[stack]


def test_each_test_of_the_suite_is_failed_by_a_stack() -> None:
    """No test of the suite passes whatever a stack does."""
    assert {name for stack, names in BENCH.items() if stack is not Hangs for name in names} == set(ALL)


REFUSED_AT_THE_DOOR = (Generates, OneTooMany, UnknownIds, StaleTexts, ScoresRise)


@pytest.mark.parametrize("stack", REFUSED_AT_THE_DOOR)
def test_the_runner_refuses_them_too(stack: type[Good]) -> None:
    """What a run would not take, the suite has a test for."""
    chunks = corpus()
    built: Retriever = stack().build(chunks, StackContract().parts(chunks), ignore_progress)
    with pytest.raises(Exception, match=r"stack returned|score rises"):
        search(
            built,
            "retries and rivers",
            chunks={chunk.id: chunk for chunk in chunks},
            owns_corpus=False,
            top_k=3,
            threshold=None,
        )


@pytest.mark.parametrize(
    ("least", "passes"), [("0.05", True), ("0.4", True), ("0.99", False), ("0", False), ("1.01", False)]
)
def test_a_declared_band_is_measured(least: str, passes: bool) -> None:
    """A stack of which two builds differ passes where they agree by as much as it declares, and says so in numbers."""
    failed = failing_tests(HalfDiffers, repeatable=False, stability=least)
    assert failed == (set() if passes else {"test_building_twice_gives_the_same_hits"})


def test_a_deterministic_stack_has_no_band() -> None:
    """Who declares to give the same on every machine may not declare that two builds differ."""
    declared = type("Declared", (HalfDiffers,), {"deterministic": True})
    assert failing_tests(declared, repeatable=False, stability="0.1") == {"test_building_twice_gives_the_same_hits"}
