"""A whole board: figures, ranks, warnings, its sentence, its JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import site_factory as make

from ragassay.errors import InputError
from ragassay.estimate import seed_from
from ragassay.estimate.signflip import sign_flip
from ragassay.records import Claim
from ragassay.site import build_board, decode_board, encode_board, load_runs
from ragassay.site.record import Board, BoardPlan, BoardRow, PlannedRow
from ragassay.site.text import behind_latencies
from ragassay.site.words import WIRE_FORM_ONLY

NOW = make.START + 9_999


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Board:
    """The board of control, oracle and three rows."""
    workspace = tmp_path_factory.mktemp("board")
    make.small_board(workspace)
    return build_board(load_runs(workspace, now=NOW), now=NOW)


def rows(board: Board) -> dict[str, BoardRow]:
    """Return the main table's rows by name."""
    assert board.main is not None
    return {row.name: row for row in board.main.rows}


def test_rows_are_ranked_and_control_and_oracle_set_apart(board: Board) -> None:
    """Ranked rows come first, best first; oracle and control follow in the table, without ranks."""
    assert board.main is not None
    assert [(r.name, r.rank, r.standing) for r in board.main.rows] == [
        ("hybrid", 1, "ranked"),
        ("bm25", 2, "ranked"),
        ("dense", 3, "ranked"),
        ("oracle", None, "set_apart"),
        ("no-retrieval", None, "set_apart"),
    ]


def test_rank_intervals_and_who_is_not_distinguished(board: Board) -> None:
    """hybrid and bm25 may each be first or second, dense is third; only bm25 is not distinguished from the first."""
    found = rows(board)
    assert {name: found[name].rank_interval for name in ("hybrid", "bm25", "dense")} == {
        "hybrid": (1, 2),
        "bm25": (1, 2),
        "dense": (3, 3),
    }
    assert [found[n].not_distinguished for n in ("hybrid", "bm25", "dense")] == [None, True, False]


def test_pairs_outside_the_family_have_no_adjusted_p(board: Board) -> None:
    """Control and oracle are compared with every row and stay outside Holm's family of three pairs."""
    assert board.main is not None
    inside = [pair for pair in board.main.pairs if pair.p_holm is not None]
    assert (len(board.main.pairs), len(inside)) == (10, 3)
    assert {pair.distinguished for pair in board.main.pairs if pair.p_holm is None} == {None}


def test_the_figures_of_a_row(board: Board) -> None:
    """bm25 reaches 50 of 60, is fully right on 26 and fully wrong on 10, and costs $0.106 per 1,000 questions."""
    bm25 = rows(board)["bm25"]
    assert bm25.reach is not None
    assert (bm25.reach.k, bm25.reach.exact, bm25.reach.folded, bm25.reach.of) == (5, 50, 0, 60)
    assert bm25.reach.mrr == f"{50 * 0.5 / 60:.6f}"
    assert (bm25.fully_right, bm25.fully_wrong, bm25.questions) == (26, 10, 60)
    assert (bm25.input_tokens.known, bm25.output_tokens.known) == (54_000, 2_400)
    assert (bm25.cost_microusd.known, bm25.cost_per_1000_microusd) == (6_360, 106_000)
    assert bm25.retrieval_latency is not None
    assert (bm25.retrieval_latency.p50_ms, bm25.retrieval_latency.p95_ms) == (12, 12)


def test_the_control_has_no_reach_and_no_retrieval_latency(board: Board) -> None:
    """What does not apply to the control is unknown and not zero."""
    control = rows(board)["no-retrieval"]
    assert (control.reach, control.retrieval_latency, control.gap, control.correct_without_reach) == (None,) * 4
    assert control.context_tokens == 0


def test_correct_without_reach_is_counted(board: Board) -> None:
    """hybrid answers questions fully although no pass delivered their evidence."""
    assert rows(board)["hybrid"].correct_without_reach == 2
    assert rows(board)["bm25"].correct_without_reach == 0


def test_share_of_the_gap(board: Board) -> None:
    """The share is (row − control)/(oracle − control) of the means, with an interval."""
    found = rows(board)
    mean = {name: float(row.mean or "nan") for name, row in found.items()}
    gap = found["bm25"].gap
    assert gap is not None
    assert gap.share is not None
    assert gap.interval is not None
    expected = (mean["bm25"] - mean["no-retrieval"]) / (mean["oracle"] - mean["no-retrieval"])
    assert float(gap.share) == pytest.approx(expected, abs=1e-4)
    assert gap.interval.low < gap.share < gap.interval.high


def test_the_sentence(board: Board) -> None:
    """One sentence names who is not distinguished, who is lower by how much, and where control and oracle are."""
    assert board.sentence == (
        "hybrid and bm25 are not distinguished; dense is lower than hybrid by .46 [.34, .59]; "
        "the control is at .05, the oracle at .91."
    )


def test_warnings_of_the_table(board: Board) -> None:
    """The table says which questions the control answers and that the judge's noise is not recorded."""
    assert board.main is not None
    said = "\n".join(board.main.warnings)
    assert "judge noise not recorded: no answer was judged twice" in said
    assert "the control answers 3 of 60 questions" in said
    assert "q-020 (1.000), q-040 (1.000), q-060 (1.000)" in said


def test_verifier_warnings_are_said_once_each(board: Board) -> None:
    """NO_INTENT stands once for all 15 runs, not once per run."""
    assert [w.partition(":")[0] for w in board.warnings if w.startswith("NO_INTENT")] == ["NO_INTENT in 15 of 15 runs"]


def test_causes(board: Board) -> None:
    """A lost answer is 'not retrieved' without the evidence, else 'contradicted' or 'retrieved, not used'."""
    assert board.main is not None
    found = rows(board)
    cells = {line.id: {c.row: c.cause for c in line.cells} for line in board.main.questions}
    assert cells["q-006"][found["bm25"].key] == "not_retrieved"
    assert cells["q-006"][found["dense"].key] == "contradicted"
    assert cells["q-012"][found["dense"].key] == "not_retrieved"
    assert cells["q-013"][found["oracle"].key] == "not_used"
    assert cells["q-001"][found["no-retrieval"].key] == "not_retrieved"


def test_an_oracle_whose_evidence_was_split_has_retrieved_it(tmp_path: Path) -> None:
    """The oracle's lost answers are 'retrieved, not used' even where no one text holds the whole evidence."""
    bench = make.benchmark(6)
    for name, kind in (("oracle", "oracle"), ("bm25", "bm25")):
        make.write_row(tmp_path, name, kind, bench, make.losing_first(6), reached=lambda _: False)
    found = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    assert found.main is not None
    causes = {c.row: c.cause for line in found.main.questions for c in line.cells}
    assert causes == {rows(found)["oracle"].key: "not_used", rows(found)["bm25"].key: "not_retrieved"}


def test_questions_that_separate_the_rows_come_first(board: Board) -> None:
    """Questions are ordered by the spread of their means over the rows, control and oracle aside."""
    assert board.main is not None
    spreads = [float(line.spread or 0) for line in board.main.questions]
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[0] == 1.0


def test_json_round_trip_without_fractions(board: Board) -> None:
    """board.json reads back to the same board and holds no fractional number."""
    data = encode_board(board)
    assert decode_board(data) == board

    def refuse(text: str) -> Any:
        raise AssertionError(f"fractional number {text}")

    assert json.loads(data, parse_float=refuse)["schema"] == "ragassay.board/3"


@pytest.mark.parametrize("data", [b"", b"[]", b'{"schema":"other/1"}', b'{"schema":"ragassay.board/1"}', b"{\xff}"])
def test_what_is_no_board_is_refused(data: bytes) -> None:
    """A file that is no board of this schema is an input error that says to build it again."""
    with pytest.raises(InputError, match="build it again"):
        decode_board(data)


def test_a_waived_control_is_printed(tmp_path: Path) -> None:
    """CASES 22: a board without a control carries the reason of the waiver, and no share of the gap."""
    make.write_row(tmp_path, "bm25", "bm25", make.benchmark(10), make.losing(make.every(3)))
    plan = BoardPlan(name="x", rows=(PlannedRow(name="bm25", stack="bm25"),), control_waiver="the model is too dear")
    found = build_board(load_runs(tmp_path, now=NOW), plan=plan, now=NOW)
    assert found.main is not None
    assert found.control_waiver == "the model is too dear"
    assert any("waived: the model is too dear" in warning for warning in found.main.warnings)
    assert rows(found)["bm25"].gap is not None
    assert rows(found)["bm25"].gap.note == "gap not established: no control and oracle with a number"  # type: ignore[union-attr]


def test_deterministic_rows_say_so(tmp_path: Path) -> None:
    """Reader and literal judge with equal content: identical passes, an extractive reader, literals and not meaning."""
    fixed: dict[str, Any] = {
        "answer": {"kind": "reader", "id": "reader/1", "describe": {}},
        "judge": {"kind": "literal", "id": "literal/1", "describe": {}},
    }
    steady = lambda n, _: "omits" if n % 3 == 0 else "supports"  # noqa: E731 (one line of grades)
    make.write_row(tmp_path, "bm25", "bm25", make.benchmark(10), steady, **fixed)
    one = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    assert rows(one)["bm25"].warnings == ("deterministic: identical passes",)
    make.write_row(tmp_path, "no-retrieval", "none", make.benchmark(10), lambda *_: "omits", **fixed)
    both = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    assert both.main is not None
    assert any(w.startswith("deterministic: identical passes in every row") for w in both.main.warnings)
    assert any("its control is 0 by construction" in w for w in both.main.warnings)
    assert "literal judge: reads literals and not meaning" in both.main.warnings
    pair = both.main.pairs[0]
    assert pair.repeat_note == "deterministic: identical passes (bm25 and no-retrieval)"


def test_profile_1_counts_questions_whose_claims_differed(tmp_path: Path) -> None:
    """In profile 1 the judge makes the claims; the row says for how many questions their number differed."""
    bench = make.benchmark(5)
    two = (Claim(id=1, text="one", central=True), Claim(id=2, text="two", central=False))
    for k in (1, 2):
        outcomes = []
        for n, question in enumerate(bench.questions, 1):
            asked = make.question(n, claims=two) if k == 2 and n < 3 else question
            outcomes.append(make.outcome(asked, "supports", at=make.START + k, answer_kind=None))
        settings = make.config("bm25", "bm25", bench, scorer=make.PROFILE_1, circumstance_passes=2)
        make.write_run(tmp_path / "runs", settings, bench, outcomes, k=k)
    found = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    said = rows(found)["bm25"].warnings
    assert "the judge's number of claims differed between passes for 2 of 5 questions" in said


def test_questions_without_evidence_or_split_claims_are_named(tmp_path: Path) -> None:
    """Without evidence reach is unknown, causes are unexplained, and the table says both."""
    bench = make.benchmark(6, evidence=(), unsplit=True)
    make.write_row(tmp_path, "bm25", "bm25", bench, make.losing(make.every(3)))
    found = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    assert found.main is not None
    assert rows(found)["bm25"].reach is None
    assert any(w.startswith("unknown: no evidence for 6 of 6 questions") for w in found.main.warnings)
    assert any(w.startswith("6 of 6 questions are unsplit, unreviewed") for w in found.main.warnings)
    assert {c.cause for line in found.main.questions for c in line.cells} == {"correct", "unexplained"}


def test_unknown_tokens_and_costs_are_not_zero(tmp_path: Path) -> None:
    """A failed item leaves its tokens unknown: the sum is kept with the number of items that said nothing."""
    bench = make.benchmark(60)
    make.write_row(tmp_path, "a", "bm25", bench, lambda n, k: "answer_failed" if n == k == 1 else "supports")
    found = rows(build_board(load_runs(tmp_path, now=NOW), now=NOW))["a"]
    assert found.input_tokens.known in (54_000, 53_100)
    shown = next(run for run in found.runs if run.shown)
    assert found.input_tokens.unknown == (1 if shown.pass_k == 1 else 0)


def test_a_score_outside_its_interval_says_so(tmp_path: Path) -> None:
    """One bad pass of three moves the mean and its interval away from the lower median that is shown."""
    bench = make.benchmark(60)
    make.write_row(tmp_path, "wobbly", "bm25", bench, lambda n, k: "omits" if k == 2 or n == 1 else "supports")
    make.write_row(tmp_path, "steady", "bm25", bench, make.losing_first(20))
    found = rows(build_board(load_runs(tmp_path, now=NOW), now=NOW))
    said = "its score, the lower median, lies outside the interval, which is that of the mean (.656)"
    assert said in found["wobbly"].warnings
    assert found["wobbly"].score is not None
    assert found["wobbly"].score.decimal == "0.9833"
    assert not any("lies outside" in warning for warning in found["steady"].warnings)


def test_the_oracle_is_never_right_without_its_evidence(tmp_path: Path) -> None:
    """Where chunking split the evidence no one text holds it; that is no second passage that answers."""
    bench = make.benchmark(12)
    make.write_row(tmp_path, "oracle", "oracle", bench, make.losing_first(0), reached=lambda n: n > 4, passes=1)
    make.write_row(tmp_path, "bm25", "bm25", bench, make.losing_first(0), reached=lambda n: n > 4, passes=1)
    found = rows(build_board(load_runs(tmp_path, now=NOW), now=NOW))
    assert (found["oracle"].correct_without_reach, found["bm25"].correct_without_reach) == (None, 4)


def test_a_reader_whose_control_scores_is_not_called_zero_by_construction(tmp_path: Path) -> None:
    """The sentence on the extractive reader says nothing that the control's own score denies."""
    answer = {"kind": "reader", "id": "reader/1", "describe": {}}
    make.write_row(tmp_path, "control", "none", make.benchmark(12), make.losing_first(6), answer=answer)
    table = build_board(load_runs(tmp_path, now=NOW), now=NOW).main
    assert table is not None
    assert "extractive reader: no language model wrote these answers" in table.warnings


def test_the_seeds_are_those_of_the_draws(tmp_path: Path) -> None:
    """Who draws again with the recorded seed gets the recorded p and the recorded bounds of the gap."""
    bench = make.benchmark(60)
    make.small_board(tmp_path, bench)
    board = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    assert board.main is not None
    by_name = {row.key: row.name for row in board.main.rows}
    pair = next(p for p in board.main.pairs if {by_name[p.a], by_name[p.b]} == {"bm25", "dense"})
    assert pair.seed == str(seed_from(bench.digest(), (pair.a, pair.b), "compare"))
    values = np.array([float(pair.differences[q]) for q in sorted(pair.differences)])
    assert pair.p == f"{sign_flip(values, seed=int(pair.seed)).p:.6f}"
    exact = [p for p in board.main.pairs if p.wins + p.losses <= 14]
    assert exact
    assert all(p.seed is None for p in exact)
    assert all(row.gap is not None and row.gap.seed for row in board.main.rows if row.role == "row")


def test_the_calls_behind_each_latency_are_counted(board: Board) -> None:
    """Three passes over 60 questions are 180 searches, and the terminal says so."""
    found = rows(board)["bm25"]
    assert found.retrieval_latency is not None
    assert found.retrieval_latency.calls == 180
    assert board.main is not None
    assert behind_latencies(board.main.rows).startswith("Latency of retrieval: over 180 searches a row")


def test_what_searches_cost_is_said_where_they_ask_a_service(board: Board) -> None:
    """A row whose searches cost nothing is not named."""
    bm25 = rows(board)["bm25"]
    dear = msgspec.structs.replace(bm25, name="reranked", search_cost_per_1000_microusd=2_500)
    assert behind_latencies([bm25, dear]).endswith("1,000 searches cost: reranked $0.0025.")
    assert bm25.search_cost_per_1000_microusd is None


def test_an_unproven_stack_and_an_unfinished_product_are_marked(tmp_path: Path) -> None:
    """A row says that its stack was tested against the wire form alone, and that a product calls itself a preview."""
    bench = make.benchmark(4)
    describe = {"kind": "vertex", "of": [{"kind": "vertex", "maturity": "preview"}]}
    stack = {"kind": "vertex", "entry": {"kind": "vertex"}, "describe": describe}
    make.write_row(
        tmp_path, "cloud", "vertex", bench, make.losing_first(1), circumstance_wire_form_only=True, stack=stack
    )
    built = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    warnings = rows(built)["cloud"].warnings
    assert WIRE_FORM_ONLY in warnings
    assert "its stack says of itself: preview" in warnings
