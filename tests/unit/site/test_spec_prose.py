"""The specification page: one thing of a board is changed, and its sentence changes with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import panel_factory as panel
import pytest
import site_factory as make
import spec_factory as spec

from ragassay.records import Benchmark, Provenance
from ragassay.site.record import Board, BoardPlan, BoardRow, PlannedRow
from ragassay.site.spec import spec_document


def two_rows(workspace: Path, bench: Benchmark | None = None, **changes: Any) -> str:
    """Return the specification of a control and two rows, the first of which is better on two of twenty questions."""
    bench = bench or make.benchmark(20)
    make.write_row(workspace, "no-retrieval", "none", bench, lambda n, k: "omits", **changes)
    make.write_row(workspace, "bm25", "bm25", bench, make.losing_first(4), **changes)
    make.write_row(workspace, "dense", "dense", bench, make.losing_first(6), **changes)
    return spec.said(workspace)


def provenance(**changes: Any) -> Provenance:
    """Return a full provenance; `changes` replace members."""
    fields = {"author": "Ada", "tool": "draft/2", "created": "2026-05-04", "reviewed_by": "Ben"}
    return Provenance(**{**fields, "derived_from_system": False, **changes})


def questions(*given: Provenance | None, **changes: Any) -> Benchmark:
    """Return a question set with one question for each provenance."""
    return Benchmark(
        name="acme-docs",
        version="1.0.0",
        questions=tuple(make.question(n, provenance=one, **changes) for n, one in enumerate(given, 1)),
    )


def test_authors_tools_and_dates_come_from_the_question_file(tmp_path: Path) -> None:
    """Who wrote how many questions, when, and with what, is counted; what is absent is counted too."""
    bench = questions(
        provenance(), provenance(), provenance(author="Cy", created="2026-05-09"), provenance(author=None, tool=None)
    )
    text = two_rows(tmp_path, bench)
    assert (
        "The 4 questions of acme-docs, version 1.0.0, were written between 2026-05-04 and 2026-05-09 by Ada (2) and "
        "Cy (1); "
        "1 of 4 questions names no author."
    ) in text
    assert "Recorded as tools are draft/2 (3); 1 of 4 questions names no tool." in text


def test_nothing_recorded_of_the_questions_is_said_once(tmp_path: Path) -> None:
    """Without provenance author, tool, date, reviewer and derivation are all 'not recorded', with counts."""
    text = two_rows(tmp_path)
    assert "How they were made is not recorded: 20 of 20 questions name neither author nor tool nor date." in text
    assert "20 of 20 questions name no reviewer." in text
    assert "Whether any was derived from a system under test is not recorded for 20 of 20." in text


@pytest.mark.parametrize(
    ("given", "sentence", "limited"),
    [
        ((provenance(), provenance()), "All 2 questions were reviewed by Ben.", None),
        (
            (provenance(), provenance(reviewed_by=None)),
            "1 of 2 questions was reviewed by Ben (1); 1 of 2 questions names no reviewer.",
            "Not every question names a reviewer.",
        ),
        (
            (provenance(reviewed_by=None), provenance(reviewed_by=None)),
            "2 of 2 questions name no reviewer.",
            "No reviewer is named.",
        ),
    ],
)
def test_a_reviewer_changes_the_sentence(
    tmp_path: Path, given: tuple[Provenance, ...], sentence: str, limited: str | None
) -> None:
    """Reviewed, partly reviewed and unreviewed question sets read differently, and so do the limitations."""
    text = two_rows(tmp_path, questions(*given))
    assert sentence in text
    found = [title for title in ("No reviewer is named.", "Not every question names a reviewer.") if title in text]
    assert found == ([limited] if limited else [])


def test_a_question_reviewed_by_its_author_is_counted(tmp_path: Path) -> None:
    """Reviewing oneself is said."""
    text = two_rows(tmp_path, questions(provenance(reviewed_by="Ada"), provenance()))
    assert "1 of 2 questions was reviewed by its own author." in text


def test_a_question_from_a_system_under_test_is_named(tmp_path: Path) -> None:
    """Derivation is said in the section and among the limitations, with the ids."""
    text = two_rows(tmp_path, questions(provenance(derived_from_system=True), provenance()))
    assert "1 of 2 questions was derived from the output of a system under test (q-001)" in text
    assert spec.line(text, "Questions come from a system under test. 1 of 2 questions does: q-001.")
    clean = two_rows(tmp_path / "clean", questions(provenance(), provenance()))
    assert "For 2 of 2 the file states that they were not derived from any system under test." in clean
    assert "Questions come from a system under test." not in clean


def test_topics_are_counted_in_a_table(tmp_path: Path) -> None:
    """The topics' counts follow the questions; without topics the page says that they cannot be counted."""
    bench = Benchmark(
        name="b", version="1", questions=tuple(make.question(n, topic="cli" if n < 4 else "api") for n in range(1, 6))
    )
    text = two_rows(tmp_path, bench)
    assert "They fall into two topics, of which cli is the largest with 3 of the 5." in text
    assert {"cli | 3 | 3 | 3", "api | 2 | 2 | 2"} <= set(text.splitlines())
    bare = two_rows(tmp_path / "bare", make.benchmark(5, topic=None))
    assert "5 of 5 questions name no topic, so what they cover cannot be counted." in bare
    assert "Topic | Questions" not in bare


def test_a_small_lead_names_its_interval_and_the_questions_needed(tmp_path: Path) -> None:
    """The lead, its interval and the needed questions follow the pair; a clear lead has no such paragraph."""
    text = two_rows(tmp_path)
    small = spec.line(text, "The lead is small.")
    (board, _) = spec.built(tmp_path)
    pair = next(p for p in board.tables[0].pairs if p.distinguished is not None)
    assert pair.difference == "0.100000"
    assert "bm25 lies .100 above dense (95 % interval [−.044, .244])" in small
    needed = 20 * (float(pair.detectable or 0) / 0.1) ** 2
    assert "about 75 such questions" in small
    assert 74 < needed <= 75
    clear = tmp_path / "clear"
    bench = make.benchmark(40)
    make.write_row(clear, "bm25", "bm25", bench, make.losing_first(2))
    make.write_row(clear, "dense", "dense", bench, make.losing_first(30))
    assert "The lead is small." not in spec.said(clear)


def test_rows_that_are_level_have_no_lead(tmp_path: Path) -> None:
    """Two rows with the same mean are called level, without a number of questions."""
    bench = make.benchmark(20)
    make.write_row(tmp_path, "bm25", "bm25", bench, make.losing_first(4))
    make.write_row(tmp_path, "dense", "dense", bench, lambda n, k: "omits" if n > 16 else "supports")
    text = spec.said(tmp_path)
    assert "There is no lead. bm25 and dense got the same in the mean over 20 questions." in text
    assert "such questions" not in text


def test_one_question_weighs_by_their_number(tmp_path: Path) -> None:
    """One of twenty questions is .050 of a row; wins, losses and ties stand beside it."""
    text = spec.line(two_rows(tmp_path), "One question is 1/20 of a row.")
    assert "moves by up to .050" in text
    assert "bm25 did better than dense on 2 questions, worse on 0, and the same on 18." in text


def test_the_control_is_read_with_its_counts(tmp_path: Path) -> None:
    """Score, fully right and fully wrong of the control stand in the first section, and what they mean."""
    assert "it scored .000: 0 of 20 questions fully right and 20 fully wrong. So the model knew none" in two_rows(
        tmp_path
    )
    other = tmp_path / "other"
    bench = make.benchmark(20)
    make.write_row(other, "no-retrieval", "none", bench, make.losing_first(15))
    make.write_row(other, "bm25", "bm25", bench, make.losing_first(4))
    text = spec.said(other)
    assert "it scored .250: 5 of 20 questions fully right and 15 fully wrong. That much the model knows" in text
    known = "q-016 1.000, q-017 1.000, q-018 1.000, q-019 1.000 and q-020 1.000"
    assert f"gets .250 or more on 5 of 20 questions ({known})" in text


def test_a_waived_control_says_why(tmp_path: Path) -> None:
    """Without a control the page says so, with the reason of the board file."""
    make.write_row(tmp_path, "bm25", "bm25", make.benchmark(10), make.losing_first(4))
    waived = BoardPlan(name="Acme", rows=(PlannedRow(name="bm25", stack="bm25"),), control_waiver="no key for it")
    assert "There is no control (its makers waived it: no key for it)" in spec.said(tmp_path, waived)
    assert "There is no control: nobody asked" in spec.said(tmp_path)


@pytest.mark.parametrize(("exposure", "word"), [("designed-on", "designed"), ("tuned-on", "tuned")])
def test_an_exposed_row_is_a_limitation(tmp_path: Path, exposure: str, word: str) -> None:
    """A row that was shaped on the questions says so in its table and among the limitations."""
    bench = make.benchmark(10)
    make.write_row(tmp_path, "bm25", "bm25", bench, make.losing_first(2), circumstance_exposure=exposure)
    make.write_row(tmp_path, "dense", "dense", bench, make.losing_first(4), circumstance_exposure="none")
    text = spec.said(tmp_path)
    assert f"A row knew the questions. bm25 was {word} on these questions, so its score is likely too high." in text
    assert f"up to 5 chunks | none | {word} on | " in text
    assert "was designed or tuned on these questions is not recorded" not in text
    silent = two_rows(tmp_path / "silent")
    assert "Whether any of the two stacks was designed or tuned on these questions is not recorded." in silent
    assert "A row knew the questions." not in silent


def test_a_threshold_stands_in_the_rows_table(tmp_path: Path) -> None:
    """A recorded threshold is printed as it is recorded."""
    assert "bm25 | bm25 | up to 5 chunks | 0.25 | " in two_rows(tmp_path, threshold="0.25")


def test_missing_items_are_counted_by_class_and_row(tmp_path: Path) -> None:
    """Items without a score are a limitation with the row and the class, and 0 of the rest are missing."""
    bench = make.benchmark(60)
    make.write_row(tmp_path, "bm25", "bm25", bench, lambda n, k: "judge_failed" if (n, k) == (7, 2) else "supports")
    make.write_row(tmp_path, "dense", "dense", bench, make.losing_first(9))
    text = spec.said(tmp_path)
    assert "Items are missing. bm25: 1 unjudged of 180." in text
    assert "In the windows of this board 1 of 360 items is missing" in text
    assert "In the windows of this board 0 of 180 items are missing." in two_rows(tmp_path / "whole")


def test_a_fill_is_a_limitation(tmp_path: Path) -> None:
    """Filled items of a window are counted; without any nothing is said."""
    text = two_rows(tmp_path)
    assert "Items were filled." not in text
    board, runs = spec.built(tmp_path)
    filled = _with_rows(board, lambda row: _filled(row) if row.name == "bm25" else row)
    text = spec.plain(spec_document(filled, runs))
    assert "Items were filled. 3 of 60 items were taken over from another pass, as the run declares: bm25 (3)." in text
    assert "no answer is taken from an earlier one, but for the items that the limitations below name" in text


def _filled(row: BoardRow) -> BoardRow:
    return msgspec.structs.replace(row, runs=(msgspec.structs.replace(row.runs[0], filled=3), *row.runs[1:]))


def _with_rows(board: Board, change: Callable[[BoardRow], BoardRow]) -> Board:
    table = board.tables[0]
    changed = msgspec.structs.replace(table, rows=tuple(change(row) for row in table.rows))
    return msgspec.structs.replace(board, tables=(changed, *board.tables[1:]))


def test_a_second_judge_has_its_table_and_agreement(tmp_path: Path) -> None:
    """Without a further judge the page says so; with one every row stands under it, and how far the two agree."""
    alone = two_rows(tmp_path)
    assert "judge-1 was neither run over the cases whose right verdicts are known, nor given null rows" in alone
    for run in sorted((tmp_path / "runs").iterdir()):
        panel.judge_run(tmp_path, run.name, lambda n: "supports" if n < 9 else "omits")
    text = spec.said(tmp_path)
    assert "The same stored answers were also judged by judge-2; the published scores are judge-1's alone." in text
    assert "bm25 | .800 | .400" in text
    assert "Row | judge-1 (published) | judge-2" in text
    assert "Judge | Answers | ρ | weighted κ | exact" in text
    assert spec.line(text, "judge-2 | 20 | ")
    assert "Under judge-2 the order of the rows changes." in text
    assert "The order depends on the judge. Under judge-2" in text


def test_a_null_row_above_zero_is_a_limitation(tmp_path: Path) -> None:
    """Points for a text that answers nothing are said in the judge's section and among the limitations."""
    two_rows(tmp_path)
    run = sorted((tmp_path / "runs").iterdir())[0].name
    panel.null_row(tmp_path, run, "constant", "See the docs.", lambda n: "supports" if n < 4 else "omits", 1)
    text = spec.said(tmp_path)
    assert (
        "Given one constant sentence in place of every answer, it scored 3 of 20 questions above 0, up to 1.00." in text
    )
    assert "The judge gives points away." in text
    assert "constant (3 of 20 questions)" in text


def test_asking_again_replaces_the_unknown_noise(tmp_path: Path) -> None:
    """Before any second asking the noise is unknown; after it the changed answers are counted."""
    assert "The judge's own noise is unknown." in two_rows(tmp_path)
    run = next(path.name for path in sorted((tmp_path / "runs").iterdir()))
    panel.judge_run(tmp_path, run, lambda n: "supports", judge=panel.JUDGE_1, purpose="reask")
    text = spec.said(tmp_path)
    assert "Asked again about 20 answers, it gave another score to " in text
    assert "The judge's own noise is unknown." not in text


def test_a_product_that_calls_itself_beta_is_named(tmp_path: Path) -> None:
    """`maturity` in a stack's description, or in that of a part, is a limitation."""
    part = {"kind": "vertex", "maturity": "beta", "metric": "dot"}
    stack = {"kind": "hybrid", "entry": {"kind": "hybrid"}, "describe": {"kind": "hybrid", "of": [part]}}
    bench = make.benchmark(10)
    make.write_row(tmp_path, "hybrid", "hybrid", bench, make.losing_first(2), stack=stack)
    text = spec.said(tmp_path)
    assert (
        "Not every product is finished. By its own description something is not yet released in hybrid (vertex, beta);"
        in text
    )
    assert "Not every product is finished." not in two_rows(tmp_path / "done")


def test_parameters_without_a_value_are_named_by_row(tmp_path: Path) -> None:
    """A parameter that is recorded as null, or as unknown, is unrecorded; so is a stack that says nothing."""
    stack = {
        "kind": "x",
        "entry": {"kind": "x", "boost": "2"},
        "describe": {"kind": "x", "hnsw": None, "version": "unknown"},
    }
    bench = make.benchmark(10)
    make.write_row(tmp_path, "x", "x", bench, make.losing_first(2), stack=stack)
    make.write_row(tmp_path, "y", "y", bench, make.losing_first(3), stack={"kind": "y", "entry": {}, "describe": {}})
    text = spec.said(tmp_path)
    assert "Two parameters are recorded without a value: hnsw and version of x;" in text
    assert "y says nothing of itself." in text
    assert "The board file also asks for boost 2, of which the stack says nothing under that name." in text


def test_a_corpus_of_the_service_is_a_limitation(tmp_path: Path) -> None:
    """A row whose stack owns its corpus does not share the corpus of the others, and the page says so."""
    own: dict[str, Any] = {"digest": None, "pages": None, "chunks": None, "chunker": {}, "extractor": "1"}
    bench = make.benchmark(10)
    make.write_row(tmp_path, "bm25", "bm25", bench, make.losing_first(2))
    make.write_row(tmp_path, "hosted", "http", bench, make.losing_first(3), corpus=own, at=make.START + 500)
    text = spec.said(tmp_path)
    assert (
        "The rows do not share one corpus. bm25 retrieves from the corpus cccccccccccc and hosted retrieves from one"
        in text
    )
    assert "its pages, its chunks and their digest are not recorded" in text


def test_passes_that_do_not_compare_well_are_said(tmp_path: Path) -> None:
    """One, two and unequal passes each have their sentence; three equal ones have none."""
    bench = make.benchmark(10)
    titles = ("Each row has one pass.", "Each row has 2 passes.", "The rows have unequal numbers of passes.")
    for number, (first, second) in enumerate(((1, 1), (2, 2), (1, 3), (3, 3))):
        space = tmp_path / str(number)
        make.write_row(space, "bm25", "bm25", bench, make.losing_first(2), passes=first)
        make.write_row(space, "dense", "dense", bench, make.losing_first(3), passes=second)
        text = spec.said(space)
        assert [title in text for title in titles] == [number == place for place in range(3)]


def test_an_insufficient_reference_is_explained_by_profile(tmp_path: Path) -> None:
    """Profile 1 says when an item is half right for want of a reference, profile 2 that none is."""
    bench = make.benchmark(20)
    settings = make.config("bm25", "bm25", bench, scorer=make.PROFILE_1)
    graded = [make.outcome(q, "supports", answer_kind=None) for q in bench.questions]
    make.write_run(tmp_path / "1" / "runs", settings, bench, graded)
    first = spec.said(tmp_path / "1")
    assert "An item also gets .50 when a valid reply says that the reference does not hold what is asked" in first
    assert "0 of 20 items were scored so." in first
    assert "No item gets .50 for want of a good reference" in two_rows(tmp_path / "2")


def test_the_worked_example_is_an_item_of_the_board(tmp_path: Path) -> None:
    """The arithmetic is shown on the first answer that is half right, with its real numbers."""
    bench = make.benchmark(10)
    make.write_row(tmp_path, "bm25", "bm25", bench, lambda n, k: "hedges" if n == 3 else "supports")
    text = spec.said(tmp_path)
    assert (
        "bm25's answer to q-003, for example, has 0 of 1 claim supported and 1 hedged: (100 · (2·0 + 1) + 1) div 2 = 50"
        in text
    )
    make.write_row(tmp_path / "none", "bm25", "bm25", bench, make.losing_first(2))
    assert "for example" not in spec.said(tmp_path / "none")


def test_the_model_is_described_without_secrets(tmp_path: Path) -> None:
    """Address, limit and temperature come from the record; user, password and query of an address are left out."""
    describe = {"kind": "openai", "id": "acme-7b", "base_url": "https://me:s3cret@api.example.org:8443/v1?key=s3cret"}
    answer = {"kind": "openai", "id": "acme-7b", "template": {"name": "chunks-as-system/1"}}
    given = {**answer, "describe": {**describe, "params": {"max_tokens": 700, "temperature": "0.2"}}}
    text = two_rows(tmp_path, answer=given)
    assert "The answers come from acme-7b, asked at https://api.example.org:8443/v1." in text
    assert "An answer may take up to 700 tokens. The temperature is 0.2." in text
    assert "s3cret" not in text
    bare = {**answer, "describe": {**describe, "params": {"max_tokens": 700}}}
    assert "No temperature is sent" in two_rows(tmp_path / "bare", answer=bare)


def test_the_template_of_the_messages_is_described(tmp_path: Path) -> None:
    """Each shipped template has its own sentence; an unknown one is not described as if it were known."""
    answer = {"kind": "openai", "id": "m", "describe": {}}
    texts = {
        name: two_rows(tmp_path / str(n), answer={**answer, "template": {"name": name}})
        for n, name in enumerate(("chunks-as-system/1", "single-system/1", "user-context/1", "own/9"))
    }
    assert "Each retrieved chunk is its own system message" in texts["chunks-as-system/1"]
    assert "numbered in one system message" in texts["single-system/1"]
    assert "Everything goes into one user message" in texts["user-context/1"]
    assert "It is none of those that this program ships" in texts["own/9"]


def test_the_seed_and_the_passes_are_the_configured_ones(tmp_path: Path) -> None:
    """Another seed and another number of passes stand in the text."""
    text = two_rows(tmp_path, circumstance_seed=4711)
    assert "in an order that the seed 4711 fixes" in text
    assert "For each row three passes over all questions were planned" in text


def test_a_row_that_was_not_run_is_named_with_its_reason(tmp_path: Path) -> None:
    """A row of the board file without a run is among the limitations."""
    make.write_row(tmp_path, "bm25", "bm25", make.benchmark(10), make.losing_first(4))
    rows = (PlannedRow(name="bm25", stack="bm25"), PlannedRow(name="dense", stack="dense", left_out="no weights"))
    assert "Rows are not ranked. dense (no weights)." in spec.said(tmp_path, BoardPlan(name="Acme", rows=rows))


def test_a_refused_run_is_counted_and_named(tmp_path: Path) -> None:
    """A damaged run stands in the table of refused ones with its code, and among the limitations."""
    two_rows(tmp_path)
    damaged = sorted((tmp_path / "runs").iterdir())[0]
    file = damaged / "telemetry.jsonl"
    file.write_bytes(file.read_bytes().replace(b"640", b"641", 1))
    text = spec.said(tmp_path)
    assert "8 of 9 runs are valid, and 1 is not: that one stands in no table." in text
    assert "Runs were refused. 1 run could not be verified (TELEMETRY_DIGEST (1)" in text
    assert spec.line(text, f"{damaged.name} | TELEMETRY_DIGEST")
