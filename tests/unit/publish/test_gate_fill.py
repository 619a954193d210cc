"""A run is filled from another pass of its announcement: a new run that says so, and everything that is refused."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ragassay.errors import InputError
from ragassay.manifest import decode_run
from ragassay.manifest.fill import Filled, filled_run
from ragassay.manifest.redaction import Withholding, build_redaction, salts_from
from ragassay.manifest.statement import RunDocument
from ragassay.records import Source
from ragassay.site.window import filled_by
from ragassay.testing.logged_run import NOW, OTHER, Story, planned_id, tell
from ragassay.testing.republished_run import republished_files
from ragassay.testing.signed_run import public_signer, signed_run
from ragassay.verify import Unpinned, verify

Files = Mapping[str, bytes]


def one_pass(k: int, *failed: int, **changes: object) -> Files:
    """Return pass k of an announced row in which the questions at these places failed."""
    base = signed_run(run_id=planned_id(k), pass_k=k, failed=failed, items=4, **changes)  # type: ignore[arg-type]
    return tell(Story(), base).files


def fill(original: Files, *sources: Files) -> Filled:
    """Fill a run under the public test key."""
    return filled_run(original, sources, signer=public_signer())


def document(files: Files) -> RunDocument:
    """Return a run's values."""
    return decode_run(files)


def test_what_has_no_score_is_taken_over_and_says_from_where() -> None:
    """Pass 1 lost two questions, pass 2 has them: the new run names run and pass of each, and counts them."""
    found = fill(one_pass(1, 1, 3), one_pass(2))
    run = document(found.files)
    source = Source(run=planned_id(2), pass_=2)
    assert found.taken == {"q-002": source, "q-004": source}
    assert [row.fill for row in run.outputs] == [None, source, None, source]
    assert run.predicate.counts.filled == 2
    assert run.predicate.counts.scored == 4
    assert (run.predicate.pass_.k, run.predicate.run_id) == (1, found.run_id)


def test_what_had_a_score_stays_as_it_was() -> None:
    """Scores that were there are not replaced, whatever the other pass has; text by text the rows are the old ones."""
    original = one_pass(1, 1)
    before, after = document(original).outputs, document(fill(original, one_pass(2)).files).outputs
    kept = [(row.answer, row.claims, row.score, row.chunks) for row in before if row.id != "q-002"]
    assert [(row.answer, row.claims, row.score, row.chunks) for row in after if row.id != "q-002"] == kept


@pytest.mark.parametrize("at", [0, 1])
def test_a_copy_with_texts_withheld_is_neither_filled_nor_taken_from(at: int) -> None:
    """Its words `[withheld]` would be signed as what the stack or the judge had said."""
    given = [one_pass(1, 1), one_pass(2)]
    withhold = [Withholding(id="q-001", field="claims/1/reason", reason="a name")]
    salts = salts_from(b"s", planned_id(1))
    given[at] = build_redaction(given[at], withhold, salts=salts, signer=public_signer(), created=NOW)
    with pytest.raises(InputError, match="cannot be filled so") as refused:
        fill(*given)
    assert "are withheld in this copy; take the run as it was signed" in str(refused.value)


def test_plain_passes_with_the_warning_and_strict_fails() -> None:
    """Everything is computed anew: nothing fails but FILLED, which is a warning and under strict a failure."""
    report = verify(fill(one_pass(1, 1), one_pass(2)).files, policy=Unpinned(), now=NOW)
    assert report.ok()
    assert "FILLED" in report.codes
    assert not report.ok(strict=True)


def test_the_same_fill_is_the_same_run() -> None:
    """Its id follows from what it is made of, and so do all bytes: a fill that is repeated adds nothing to the log."""
    assert fill(one_pass(1, 1), one_pass(2)) == fill(one_pass(1, 1), one_pass(2))
    assert fill(one_pass(1, 1), one_pass(3)).run_id != fill(one_pass(1, 1), one_pass(2)).run_id


def test_sources_are_asked_in_their_order() -> None:
    """The first named pass that has a question gives it; the next one gives what is left."""
    found = fill(one_pass(1, 0, 1), one_pass(2, 1), one_pass(3))
    assert found.taken == {"q-001": Source(run=planned_id(2), pass_=2), "q-002": Source(run=planned_id(3), pass_=3)}


def test_questions_that_no_source_has_are_named() -> None:
    """What is left without a score refuses the fill, by the questions' ids."""
    with pytest.raises(InputError, match="1 of the 2 questions") as refused:
        fill(one_pass(1, 0, 1), one_pass(2, 1))
    assert refused.value.problems == ("q-002",)


def _unlike(files: Files) -> str:
    with pytest.raises(InputError) as refused:
        fill(one_pass(1, 0), files)
    return str(refused.value)


def test_another_row_gives_nothing() -> None:
    """A run of another row differs in row and configuration, and both are named."""
    said = _unlike(one_pass(2, row="dense"))
    assert "another row, config, announcement" in said


def test_another_question_set_gives_nothing() -> None:
    """A run over other questions differs in them."""
    other = tell(Story(), signed_run(run_id=planned_id(2), pass_k=2, items=5)).files
    assert "benchmark" in _unlike(other)


def test_another_judge_gives_nothing() -> None:
    """A run under another profile has another metric."""
    assert "metric" in _unlike(one_pass(2, profile="factual-consistency/1"))


def test_another_announcement_gives_nothing() -> None:
    """The same row announced by another key is another announcement, of which nothing is taken."""
    other = tell(Story(signer=OTHER), signed_run(run_id=planned_id(2), pass_k=2, items=4)).files
    assert "another announcement" in _unlike(other)


def test_a_run_gives_itself_nothing() -> None:
    """A run is no source for itself."""
    assert "is the run itself" in _unlike(one_pass(1, 0))


def test_a_fill_of_a_fill_is_refused() -> None:
    """Neither is a filled run filled again, nor does it give what it was given."""
    filled = fill(one_pass(1, 1), one_pass(2)).files
    with pytest.raises(InputError, match="a fill is not filled again"):
        fill(filled, one_pass(3))
    with pytest.raises(InputError, match="was itself filled"):
        fill(one_pass(3, 2), filled)


def test_a_run_that_was_not_announced_is_not_filled() -> None:
    """Without an announcement there is no plan that a fill could belong to."""
    with pytest.raises(InputError, match="never announced"):
        fill(signed_run(failed=[0]), one_pass(2))


def test_a_republished_run_is_not_filled() -> None:
    """Scores from elsewhere hold no answers that could be filled."""
    with pytest.raises(InputError, match="holds no answers"):
        fill(republished_files(), one_pass(2))


def test_a_run_with_every_score_is_not_filled() -> None:
    """Nothing is replaced that is there."""
    with pytest.raises(InputError, match="nothing to fill"):
        fill(one_pass(1), one_pass(2))


def test_a_filled_run_stands_for_its_pass() -> None:
    """The run that was filled is told by which; no other pass is touched."""
    original, source = one_pass(1, 1), one_pass(2)
    filled = fill(original, source)
    found = filled_by([document(original), document(source), document(filled.files)])
    assert found == {planned_id(1): filled.run_id}
