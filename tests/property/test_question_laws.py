"""Laws of reading questions and of finding evidence, on generated input."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ragassay import canon, fold
from ragassay.errors import InputError
from ragassay.occurrence import Searched, said
from ragassay.question import match_evidence, parse_benchmark
from ragassay.records import Benchmark, Claim, Page, Provenance, Question

MARKED = "aAé e\u0301 \u00a0\n\t’‘'\"“”-–—\u00ad\u200b\ufeffﬁﬃ0123²\u2009가\u1100\u1161שא😀"
texts = st.text(st.sampled_from(MARKED) | st.characters(exclude_categories=["Cs"]), max_size=60)
words = st.text("abcdefghij0123456789éü", min_size=1, max_size=8)
sentences = st.lists(words, min_size=3, max_size=12).map(" ".join)


def page(text: str) -> Page:
    """Return a page of that text."""
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Page(id="p", title="p", text=text, format="text", sha256=sha256, source_sha256=sha256)


def ask(evidence: str) -> Benchmark:
    """Return a set of one question with that evidence."""
    claims = (Claim(id=1, text="t", central=True),)
    return Benchmark(
        name="n", questions=(Question(id="q", input="q", target="t", claims=claims, evidence=(evidence,)),)
    )


@given(texts)
def test_the_fast_fold_says_what_the_declared_fold_says(text: str) -> None:
    """The fold without offsets, by which pages are sifted, equals the declared one."""
    assert said(text) == fold.fold(text, fold.PRESENTATION).text.strip()


@given(texts, texts, texts)
def test_a_found_span_says_the_wanted_words(before: str, wanted: str, after: str) -> None:
    """Whatever is reported stands there: the span folds to the wanted text under the folds that are named."""
    text = before + wanted + after
    found = Searched(text).find(wanted)
    for match in (found.first, found.inside):
        if match:
            span, folds = text[match.start : match.end], match.folds
            assert fold.fold(span, folds).text.strip() == fold.fold(wanted, folds).text.strip()
    if said(wanted):
        assert found.first or found.inside


@given(sentences, st.data())
def test_typography_never_hides_evidence(sentence: str, data: st.DataObject) -> None:
    """A sentence rewritten with other spaces, soft hyphens, composition and ligatures is found where it stands."""
    swaps = {" ": ["\u00a0", "\n", "  "], "é": ["e\u0301"], "ü": ["u\u0308"]}
    written = "".join(data.draw(st.sampled_from([char, *swaps.get(char, [])])) for char in sentence)
    at = data.draw(st.integers(0, len(written) - 1))
    if not unicodedata.combining(written[at]) and at > 0:
        written = written[:at] + "\u00ad" + written[at:]
    (finding,) = match_evidence(ask(sentence), [page(f"<< {written} >>")])
    assert finding.state == ("exact" if written == sentence else "folded")
    assert (finding.start, finding.end) == (3, 3 + len(written))


@given(sentences, st.data())
def test_a_changed_letter_or_digit_is_always_missing(sentence: str, data: st.DataObject) -> None:
    """Replace, drop or add one letter or digit anywhere, also at the edges: the evidence is missing."""
    places = [i for i, char in enumerate(sentence) if char != " "]
    at = data.draw(st.sampled_from(places))
    other = data.draw(st.sampled_from("klmnop"))
    changed = data.draw(
        st.sampled_from(
            [
                sentence[:at] + other + sentence[at + 1 :],
                sentence[:at] + sentence[at + 1 :],
                sentence[:at] + other + sentence[at:],
                sentence[: at + 1] + other + sentence[at + 1 :],
            ]
        )
    )
    (finding,) = match_evidence(ask(sentence), [page(f"x {changed} y")])
    assert finding.state == "missing"


@given(sentences, st.sampled_from([",", " ", ".", "; ", " - ", "\n"]))
def test_evidence_that_stands_as_whole_words_is_never_missing(sentence: str, mark: str) -> None:
    """Between punctuation or spaces the same words are exact."""
    (finding,) = match_evidence(ask(sentence), [page(f"lead (x){mark if mark != ',' else ', '}{sentence}{mark}(tail)")])
    assert finding.state == "exact"


names = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=12)
claim_forms = st.builds(
    lambda text, must, must_not: {"text": text, "must": must, "must_not": must_not},
    names,
    st.lists(st.lists(names, min_size=1, max_size=3), max_size=2),
    st.lists(names, max_size=2),
)


@st.composite
def benchmarks(draw: st.DrawFn) -> Benchmark:
    """Draw a usable set of questions."""
    questions = []
    for index, name in enumerate(draw(st.lists(names, min_size=1, max_size=5, unique=True))):
        target = draw(names)
        forms: list[dict[str, Any]] = draw(st.lists(claim_forms, max_size=3))
        claims = tuple(
            Claim(
                id=i + 1,
                text=form["text"],
                central=i == 0,
                must=tuple(tuple(literals) for literals in form["must"]),
                must_not=tuple(form["must_not"]),
            )
            for i, form in enumerate(forms)
        )
        questions.append(
            Question(
                id=name,
                input=f"{index} {draw(names)}",
                target=target,
                claims=claims or (Claim(id=1, text=target, central=True),),
                page=draw(st.none() | names),
                topic=draw(st.none() | names),
                evidence=tuple(draw(st.lists(names, max_size=3, unique=True))),
                provenance=draw(st.none() | st.builds(Provenance, author=st.none() | names)),
                unsplit=not claims,
            )
        )
    return Benchmark(name=draw(names), questions=tuple(questions), version=draw(names))


@given(benchmarks())
def test_a_stored_set_reads_back_as_itself(benchmark: Benchmark) -> None:
    """Writing the full form and reading it changes nothing, and the published form keeps the item set."""
    assert parse_benchmark(benchmark.full_form(), name="x", suffix=".json") == benchmark
    published = canon.canonical(benchmark.item_set())
    again = parse_benchmark(published, name="x", suffix=".json")
    assert again.item_set_digest() == benchmark.item_set_digest() == canon.sha256(published)


def read_or_refused(data: bytes, suffix: str) -> int:
    """Return how many questions were read, or how many problems were named."""
    try:
        return len(parse_benchmark(data, name="x", suffix=suffix).questions)
    except InputError as error:
        return len(error.problems)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "input", "target", "claims", "must", "text", "central", "evidence", "samples", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(
    st.binary(max_size=80) | json_values.map(lambda v: json.dumps(v).encode()),
    st.sampled_from([".json", ".jsonl", ".csv"]),
)
def test_any_bytes_are_read_or_refused(data: bytes, suffix: str) -> None:
    """Nothing but `InputError` comes out, whatever the bytes are, and it says at least one thing."""
    assert read_or_refused(data, suffix)


@given(json_values)
def test_any_sample_is_read_or_refused(value: object) -> None:
    """The same for whatever stands where a sample is expected."""
    data = json.dumps({"samples": [value, {"id": "a", "input": "q", "target": "t", "claims": [value]}]}).encode()
    assert read_or_refused(data, ".json")
