"""The suite for stacks over a server finds every broken promise, and one that keeps all passes all its tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import bad_services
import pytest
from bad_services import Shelf, ShelfServer

from ragassay import plugins
from ragassay.records import JSON
from ragassay.testing.service_contract import ServiceContract
from ragassay.testing.service_gate import Gate


class Gated(Gate):
    """The small server behind a gate."""

    def __init__(self) -> None:
        self.shelves = ShelfServer()
        super().__init__(self.shelves.server_port)

    def close(self) -> None:
        """End both."""
        super().close()
        self.shelves.close()


class Shelved(ServiceContract):
    """What the stacks of the bench have in common."""

    kind = "shelf"
    name_param = "shelf"
    within_s = 5.0
    params: ClassVar[Mapping[str, Any]] = {"timeout_s": 2}

    @contextmanager
    def server(self) -> Iterator[Gated]:
        """Start a server for one test."""
        server = Gated()
        try:
            yield server
        finally:
            server.close()

    def connection(self, server: Gated) -> JSON:
        """Name the gate's port."""
        return {"port": server.port}

    def make_foreign(self, server: Gated, name: str) -> bool:
        """Put a shelf there that has no digest of ours."""
        server.shelves.shelves[name] = {"digest": None, "rows": {0: [0.5, 0.5]}}
        return True

    def drop(self, server: Gated, name: str) -> bool:
        """Take the shelf away."""
        return server.shelves.shelves.pop(name, None) is not None


@pytest.fixture(autouse=True)
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a board name the stack that keeps every promise."""
    monkeypatch.setitem(plugins.BUILT_IN["stacks"], "shelf", "bad_services:Shelf")


class TestShelf(Shelved):
    """The stack that keeps every promise; no test is left out."""


ALL = {name for name in vars(ServiceContract) if name.startswith("test_")}
DOWN = "test_a_server_that_is_down_when_the_stack_is_built"
KILLED = "test_a_server_that_is_killed_after_the_stack_is_built"
PASS = "test_a_server_killed_in_the_middle_of_a_pass"
SLOW = "test_a_slow_server_is_an_error_in_time"
CUT = "test_a_reply_that_is_cut_short_is_an_error"
KEY = "test_a_refused_key_is_an_error_for_good"
TOLD = "test_the_description_is_the_same_after_a_restart_and_holds_no_key"
AGAIN = "test_an_index_is_found_again"
DIMENSION = "test_an_index_of_another_dimension_is_refused"
CORPUS = "test_an_index_of_another_corpus_is_refused"
FOREIGN = "test_somebody_elses_index_is_refused"
GONE = "test_an_index_that_is_gone_is_an_error"

BENCH = {
    "ErrorsAreEmpty": {KILLED, PASS, SLOW, CUT, KEY, GONE},
    "FinalErrors": {DOWN, KILLED, SLOW},
    "WaitsForever": {SLOW},
    "HalfIsWhole": {CUT},
    "AsksAgainWithTheKey": {KEY},
    "SaysTheKey": {KEY},
    "RecordsTheKey": {TOLD, PASS},
    "RecordsTheConnection": {TOLD, PASS},
    "TakesAnyShelf": {DIMENSION, CORPUS, FOREIGN},
    "FillsEachTime": {AGAIN},
    "GoneIsEmpty": {GONE},
}
"""Each stack of the bench and the tests that it fails."""


@pytest.mark.parametrize("name", BENCH)
def test_the_suite_names_each_fault_by_its_tests(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly the tests fail whose promise is broken."""
    monkeypatch.setitem(plugins.BUILT_IN["stacks"], "shelf", f"bad_services:{name}")
    failed = set()
    for test in sorted(ALL):
        if test in (PASS, SLOW) and test not in BENCH[name]:
            continue  # seconds of waiting for each stack, and nothing new
        try:
            getattr(Shelved(), test)()
        except Exception:  # noqa: BLE001 - whatever a test raises, it has failed
            failed.add(test)
    assert failed == BENCH[name]


def test_each_test_of_the_suite_is_failed_by_a_stack() -> None:
    """No test of the suite passes whatever a stack does, and every stack of the bench is tried."""
    assert {test for tests in BENCH.values() for test in tests} == ALL
    stacks = {name for name, one in vars(bad_services).items() if isinstance(one, type) and issubclass(one, Shelf)}
    assert stacks - {"Shelf"} == set(BENCH)
