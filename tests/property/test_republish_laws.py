"""Laws of importing scores: exact hundredths, half-up rounding, and no bytes that raise another error."""

from __future__ import annotations

import json
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from ragassay.errors import InputError
from ragassay.manifest.foreign import ForeignSet, Unreadable, foreign_benchmark, read_foreign
from ragassay.manifest.scores import read_scores
from ragassay.testing.republished_run import PUBLISHED, items_of, lines_of, published_bytes, republished_files, written
from ragassay.testing.signed_run import public_signer
from ragassay.verify import PinnedKey, verify

QUESTIONS = items_of(published_bytes()).benchmark.questions
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(
    lambda text: bool(text.strip())
)
PARTS = st.sampled_from(
    [
        *[b'{"id":', b'"a"', b'"input"', b'"samples":[', b",", b":", b"}", b"]", b"1.5"],
        *[b"\n", b"\r", b'"', b"\\", b"id,input\n"],
    ]
)
BYTES = st.one_of(st.binary(max_size=200), st.lists(PARTS, max_size=30).map(b"".join))


def read(score: str, rounding: bool) -> int | None:
    """Return the hundredths of one score that is written as a decimal text."""
    return read_scores(written(lines_of([score, *["0"] * 4])), QUESTIONS, rounding=rounding).scores[0].score


@given(st.integers(0, 100), st.integers(0, 6))
def test_hundredths_are_exact(hundredths: int, zeros: int) -> None:
    """Every number of hundredths is read back as itself, however many zeros follow."""
    assert read(f"{hundredths // 100}.{hundredths % 100:02d}{'0' * zeros}", rounding=False) == hundredths


@given(st.integers(0, 10**6 - 1))
def test_rounding_is_half_up(millionths: int) -> None:
    """A rounded score is the nearest whole hundredth, and of two equally near the higher."""
    found = read(f"0.{millionths:06d}", rounding=True)
    assert found is not None
    assert -Fraction(1, 2) < found - Fraction(millionths, 10**4) <= Fraction(1, 2)


@given(BYTES)
def test_no_bytes_raise_another_error_as_scores(data: bytes) -> None:
    """Whatever the bytes are, they are scores of this set or an input error."""
    try:
        found = read_scores(data, QUESTIONS, judge="j", rounding=True)
    except InputError:
        return
    assert [score.id for score in found.scores] == [question.id for question in QUESTIONS]


@given(BYTES)
def test_no_bytes_raise_another_error_as_item_set(data: bytes) -> None:
    """Whatever the bytes are, they are an item set with distinct ids or unreadable."""
    try:
        found: ForeignSet = read_foreign(data)
    except Unreadable:
        return
    assert len({item.id for item in found.items}) == len(found.items) > 0


@given(st.binary(max_size=120))
def test_a_run_over_any_item_set_gives_a_report(data: bytes) -> None:
    """Other bytes in the place of the item set are refused, and never break the verifier."""
    report = verify({**republished_files(), "benchmark.foreign": data}, policy=PinnedKey(public_signer().public), now=0)
    assert "BENCHMARK_DIGEST" in report.codes


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=6, unique_by=lambda item: item[0]))
def test_the_forms_say_the_same(rows: list[tuple[str, str, str]]) -> None:
    """One set written as the published form and as JSON Lines is one set of questions."""
    samples = [dict(zip(("id", "input", "target"), row, strict=True)) for row in rows]
    whole = json.dumps({"samples": samples, "scorerKey": PUBLISHED["scorerKey"]}).encode()
    lines = "".join(json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples).encode()
    assert read_foreign(whole).items == read_foreign(lines).items
    assert [q.id for q in foreign_benchmark(lines, name="n", version="0").questions] == [row[0] for row in rows]
