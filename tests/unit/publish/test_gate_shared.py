"""Runs that were copied from one another are seen by the replies that they share; a declared fill accounts for some."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

import msgspec
from gate_lab import codes, loaded, told, verdict
from hypothesis import given, settings
from hypothesis import strategies as st

from ragassay.manifest import decode_run
from ragassay.manifest.fill import filled_run
from ragassay.manifest.statement import RunDocument
from ragassay.publish.shared_rows import Shared, shared_replies
from ragassay.testing.logged_run import Story, planned_id, tell
from ragassay.testing.signed_run import OpenedRun, open_run, public_signer, seal_run, signed_run

Files = Mapping[str, bytes]


def with_replies(run_id: str, nonces: tuple[str, ...], requests: tuple[str | None, ...] = (None, None, None)) -> Files:
    """Return a signed run whose three rows have these nonces of their judge's replies, and ids of their requests."""
    run = open_run(signed_run(run_id=run_id))
    for row, nonce, request in zip(run.telemetry, nonces, requests, strict=True):
        row["judgeReplies"][0]["nonce"] = nonce
        row["requestId"] = request
    return seal_run(run, public_signer())


def fresh(seed: str) -> tuple[str, str, str]:
    """Return three nonces as a judge that asks a model draws them."""
    return tuple(f"{seed}{at}".encode().hex().rjust(32, "0")[:32] for at in range(3))  # type: ignore[return-value]


def shared(*runs: Files) -> list[Shared]:
    """Return what runs share."""
    return shared_replies([(decode_run(files), files) for files in runs])


ONE, TWO = "1" * 32, "2" * 32


def test_two_runs_of_their_own_share_nothing() -> None:
    """Replies that were drawn for each run are each run's own."""
    assert shared(with_replies(ONE, fresh("a")), with_replies(TWO, fresh("b"))) == []


def test_a_copied_row_is_seen_by_its_nonce() -> None:
    """The same reply of the judge in two runs, declared in neither: both are named, with the question."""
    a, b = fresh("a"), fresh("b")
    found = shared(with_replies(ONE, a), with_replies(TWO, (b[0], a[1], b[2])))
    assert found == [Shared(run=ONE, other=TWO, items=("q-002",)), Shared(run=TWO, other=ONE, items=("q-002",))]


def test_a_copied_answer_is_seen_by_the_providers_request() -> None:
    """The same id of a provider's request in two runs is one answer, whatever the judge said of it later."""
    request = "chatcmpl-9f8e7d6c5b4a39281706"
    one = with_replies(ONE, fresh("a"), (None, request, None))
    two = with_replies(TWO, fresh("b"), (None, None, request))
    assert [(each.run, each.items) for each in shared(one, two)] == [(ONE, ("q-002",)), (TWO, ("q-003",))]


def test_a_judge_that_asks_nobody_gives_nothing_away() -> None:
    """The fixed nonce of the literal judge stands in every run and says nothing."""
    same = ("literal", "literal", "literal")
    assert shared(with_replies(ONE, same), with_replies(TWO, same)) == []


def test_short_ids_and_ids_that_repeat_identify_nothing() -> None:
    """Some servers number their replies, or draw from a thousand: such ids are shared by chance."""
    short = ("chatcmpl-17", "chatcmpl-18", "chatcmpl-19")
    always = ("x" * 40,) * 3
    for ids in (short, always):
        assert shared(with_replies(ONE, fresh("a"), ids), with_replies(TWO, fresh("b"), ids)) == []


def test_the_gate_refuses_an_undeclared_fill_with_the_questions() -> None:
    """A run with a row of another run of the workspace is refused; that the other is private does not matter."""
    a, b = fresh("a"), fresh("b")
    one, two = loaded(with_replies(ONE, a)), loaded(with_replies(TWO, (a[0], b[1], b[2])))
    assert codes(verdict(two, one))["FILL_UNDECLARED"] == ("q-001",)


def announced(nonces: tuple[str, ...], k: int, *, failed: bool = False) -> Files:
    """Return pass k of one announced row with these nonces; its second question failed where it is said."""

    def change(run: OpenedRun) -> None:
        for row, nonce in zip(run.telemetry, nonces, strict=True):
            for reply in row["judgeReplies"]:
                reply["nonce"] = nonce

    base = signed_run(run_id=planned_id(k), pass_k=k, failed=[1] if failed else [])
    return tell(Story(change=change), base).files


def filled() -> tuple[Files, Files, Files]:
    """Return a run, the pass that it is filled from, and the filled run."""
    original, source = announced(fresh("a"), 1, failed=True), announced(fresh("b"), 2)
    return original, source, filled_run(original, [source], signer=public_signer()).files


def test_a_declared_fill_accounts_for_what_it_shares() -> None:
    """A filled run shares all rows with the run that it fills and one with its source, and declares both."""
    assert shared(*filled()) == []


def test_two_fills_from_one_source_account_for_what_they_share() -> None:
    """Two passes that were filled from a third share its row by declaration."""
    _, source, first = filled()
    third = announced(fresh("c"), 3, failed=True)
    assert shared(source, first, third, filled_run(third, [source], signer=public_signer()).files) == []


def _undeclared(files: Files) -> Files:
    """Return a filled run that names no source: rows, counts and digests put right, and signed again."""
    run = open_run(files)
    for row in run.outputs:
        row["fill"] = None
    run.predicate["counts"]["filled"] = 0
    beside = {name: data for name, data in files.items() if name.startswith("intent.")}
    return {**seal_run(run, public_signer()), **beside}


def test_a_fill_that_hides_its_source_is_seen() -> None:
    """Without the declaration every row that it copied is named, against the run and against the source."""
    original, source, fill = filled()
    found = {(one.run, one.other): one.items for one in shared(original, source, _undeclared(fill))}
    run_id = json.loads(base64.b64decode(json.loads(fill["run.dsse.json"])["payload"]))["predicate"]["runId"]
    assert found[run_id, planned_id(1)] == ("q-001", "q-003")
    assert found[run_id, planned_id(2)] == ("q-002",)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=4))
def test_sharing_is_mutual_and_never_with_oneself(drawn: list[tuple[int, int, int]]) -> None:
    """Whatever nonces runs have: what one shares with another that one shares with it, and none with itself."""
    runs: list[tuple[RunDocument, Files]] = []
    document = told().document
    assert document is not None
    for place, numbers in enumerate(drawn):
        telemetry = tuple(
            msgspec.structs.replace(
                row, judge_replies=tuple(msgspec.structs.replace(r, nonce=f"{n:032x}") for r in row.judge_replies)
            )
            for row, n in zip(document.telemetry, numbers, strict=True)
        )
        predicate = msgspec.structs.replace(document.predicate, run_id=f"{place:032x}")
        runs.append((msgspec.structs.replace(document, predicate=predicate, telemetry=telemetry), {}))
    pairs = {(one.run, one.other) for one in shared_replies(runs)}
    assert pairs == {(other, run) for run, other in pairs}
    assert all(run != other for run, other in pairs)
