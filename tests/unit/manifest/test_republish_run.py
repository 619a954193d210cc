"""The files of a republished run: what it claims, what it leaves open, and that the same scores are the same run."""

from __future__ import annotations

import pytest

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest import decode_run
from ragassay.manifest.republish import NOT_SCORED, Claimed, foreign_items, own_items, republished_run
from ragassay.manifest.scores import PublishedScore, PublishedScores, read_scores
from ragassay.manifest.statement import RunPredicate
from ragassay.testing.republished_run import (
    JUDGE,
    SCORES,
    items_of,
    lines_of,
    published_bytes,
    republished_files,
    written,
)
from ragassay.testing.signed_run import public_signer, sample_benchmark


def predicate_of(files: dict[str, bytes]) -> RunPredicate:
    """Return what a run claims."""
    return decode_run(files).predicate


def test_a_run_of_three_files() -> None:
    """Manifest, rows and the item set byte for byte, and nothing that was not there."""
    files = republished_files()
    assert sorted(files) == ["benchmark.foreign", "outputs.jsonl", "run.dsse.json"]
    assert files["benchmark.foreign"] == published_bytes()


def test_what_it_says_of_itself() -> None:
    """It says republished, no model invoked, whose tool, which source; all that nobody knows is null."""
    p = predicate_of(republished_files())
    said = p.provenance
    assert (said.source_kind, said.model_invoked) == ("republished", False)
    assert (said.evaluator.name, said.evaluator.version) == ("scorer", "unknown")
    assert said.upstream_ref == "https://example.org/ports"
    assert (p.intent, p.config, p.telemetry, p.corpus, p.stack, p.model, p.window) == (None,) * 7
    assert (p.judge.id, p.judge.digest) == (JUDGE, None)
    assert (p.pass_.k, p.pass_.of) == (1, 1)
    assert p.metric.id == f"llm-factual-consistency-vs-reference-judged-by-{JUDGE}"


def test_the_numbers_follow_from_the_scores() -> None:
    """100 + 50 + 25 + 0 + 83 of 500."""
    p = predicate_of(republished_files())
    assert p.score is not None
    assert (p.score.num, p.score.den, p.score.decimal) == (258, 500, "0.5160")
    assert (p.counts.asked, p.counts.scored, p.counts.missing) == (5, 5, 0)


def test_a_missing_score_is_unjudged_and_never_zero() -> None:
    """Null enters neither sum; its row says why and has no score."""
    document = decode_run(republished_files(scores=["1", None, "0.25", "0", "0.83"]))
    p = document.predicate
    assert p.score is not None
    assert (p.score.num, p.score.den, p.counts.unjudged, p.counts.scored) == (208, 400, 1, 4)
    row = document.outputs[1]
    assert (row.score, row.status, row.failure) == (None, "judge_failed", NOT_SCORED)


def test_nothing_scored_has_no_score() -> None:
    """A file of nulls is a run without a score, not one of 0."""
    assert predicate_of(republished_files(scores=[None] * 5)).score is None


def test_rows_carry_a_score_and_no_verdict() -> None:
    """No claim, no verdict, no chunk: only what was published."""
    for row in decode_run(republished_files()).outputs:
        assert (row.claims, row.verdict, row.chunks, row.judge, row.retrieval) == ((), None, (), None, "off")


def test_both_digests_of_a_foreign_set_are_those_of_its_bytes() -> None:
    """The manifest names the raw bytes twice, whatever form they are in."""
    data = b"id,input\r\n" + b"".join(b"%s,%s\r\n" % (q["id"].encode(), q["question"].encode()) for q in lines_of())
    for raw in (data, published_bytes()):
        ref = predicate_of(republished_files(raw)).benchmark
        assert ref.digest.sha256 == ref.item_set.sha256 == canon.sha256(raw)
        assert (ref.id, ref.version, ref.items) == ("ports", "1.0", 5)


def test_our_own_form_is_kept_as_with_measured_runs() -> None:
    """A question file of ours becomes benchmark.json with the digests of its full and its published form."""
    benchmark = sample_benchmark(2)
    lines = [
        {"id": q.id, "question": q.input, "answer": None, "score": "0.5", "judge": "j"} for q in benchmark.questions
    ]
    items = own_items(benchmark)
    files = republished_run(read_scores(written(lines), benchmark.questions), items, Claimed(row="r"), public_signer())
    assert files["benchmark.json"] == benchmark.full_form()
    ref = predicate_of(files).benchmark
    assert (ref.digest.sha256, ref.item_set.sha256) == (benchmark.digest(), benchmark.item_set_digest())
    assert (ref.id, ref.version) == ("sample", "1.0.0")


def test_the_same_scores_are_the_same_run() -> None:
    """The run's id follows from its content, so that a second import is no second pass."""
    assert republished_files() == republished_files()


@pytest.mark.parametrize(
    "claimed",
    [
        Claimed(row="other", evaluator="scorer", source="https://example.org/ports"),
        Claimed(row="ports-board", evaluator="other", source="https://example.org/ports"),
        Claimed(row="ports-board", evaluator="scorer", source="https://example.org/other"),
        Claimed(row="ports-board", evaluator="scorer", evaluator_version="2", source="https://example.org/ports"),
    ],
)
def test_other_claims_are_another_row(claimed: Claimed) -> None:
    """Name, evaluator and source are part of the row's key, and the key of the run's id."""
    items = items_of(published_bytes())
    read = read_scores(written(lines_of()), items.benchmark.questions)
    ours, other = (
        predicate_of(republished_files()),
        predicate_of(republished_run(read, items, claimed, public_signer())),
    )
    assert ours.row.key != other.row.key
    assert ours.run_id != other.run_id


def test_rounding_stands_in_the_metric() -> None:
    """A run whose scores were rounded on the way in is of another metric and another row."""
    rounded = predicate_of(republished_files(scores=["0.735", *SCORES[1:]], rounding=True))
    assert rounded.metric.id == f"llm-factual-consistency-vs-reference-rounded-to-hundredths-judged-by-{JUDGE}"
    assert predicate_of(republished_files(rounding=True)) == predicate_of(republished_files())


@pytest.mark.parametrize(
    ("field", "text"),
    [
        *[("row", ""), ("row", " x"), ("row", "a\x1b[31m"), ("row", "y" * 201)],
        *[("evaluator", "a\u202eb"), ("source", "x" * 1001)],
    ],
)
def test_names_that_cannot_stand_in_a_manifest(field: str, text: str) -> None:
    """Empty, too long, or with characters that steer a terminal: refused by name."""
    items = items_of(published_bytes())
    read = read_scores(written(lines_of()), items.benchmark.questions)
    claimed = Claimed(**{"row": "r", field: text})
    with pytest.raises(InputError) as caught:
        republished_run(read, items, claimed, public_signer())
    assert caught.value.problems[0].startswith(f"{field}: ")


def test_a_judge_that_cannot_be_named() -> None:
    """The judge's name comes from the file and is held to the same."""
    scores = PublishedScores(
        scores=tuple(
            PublishedScore(id=line["id"], question=line["question"], answer=None, score=1) for line in lines_of()
        ),
        judge="a\nb",
        rounded=0,
    )
    with pytest.raises(InputError, match="cannot stand in a manifest"):
        republished_run(scores, items_of(published_bytes()), Claimed(row="r"), public_signer())


def test_an_item_set_that_cannot_be_read_is_refused() -> None:
    """Without ids and questions no score can be held against it."""
    with pytest.raises(InputError, match="cannot be read"):
        foreign_items(b"PK\x03\x04", name="x", version="0")
