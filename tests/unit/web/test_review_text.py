"""What is on the screen of a reader: every character once, whatever is marked in it, and nothing that steers."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent))
import review_lab as lab

from ragassay.manifest.files import BENCHMARK, OUTPUTS, TELEMETRY
from ragassay.publish.reading import Unit, units
from ragassay.records.publication import Finding, Place
from ragassay.site.runs import load_runs
from ragassay.site.safe import visible
from ragassay.web.review_pages import form_of, page_json, pages_of, segments
from ragassay.web.review_text import Block, Span, blocks_of, fixed_place, touches, where

HOSTILE = "a\x00b\x1b[2J\u202ec\u200bd\ud800e<script>alert(1)</script>"
SPANS = st.lists(
    st.builds(
        Span,
        st.integers(0, 40),
        st.integers(0, 60),
        st.sampled_from(["quote", "evidence", "finding"]),
        st.sampled_from(["1 supports", "2 omits", "f"]),
    )
)


@given(text=st.text(max_size=40), spans=SPANS)
@settings(max_examples=200, deadline=None)
def test_the_pieces_joined_are_the_text(text: str, spans: list[Span]) -> None:
    """Whatever is marked, overlapping or beyond the end, no character is lost or shown twice."""
    pieces = segments(text, spans)
    assert "".join(piece["t"] for piece in pieces) == visible(text)


@given(text=st.text(min_size=1, max_size=40), spans=SPANS)
@settings(max_examples=200, deadline=None)
def test_every_character_of_a_mark_is_marked(text: str, spans: list[Span]) -> None:
    """A mark hides no other: each character lies in exactly the findings whose spans hold it."""
    at = 0
    for piece in segments(visible(text), spans):
        for place in range(at, at + len(piece["t"])):
            wanted = {span.ref for span in spans if span.mark == "finding" and span.start <= place < span.end}
            assert set(piece.get("findings", ())) == wanted
        at += len(piece["t"])


@given(lengths=st.lists(st.integers(0, 30), min_size=1, max_size=8), size=st.integers(1, 25))
@settings(max_examples=200, deadline=None)
def test_pages_hold_every_character_once(lengths: list[int], size: int) -> None:
    """In order, none twice, and no page longer than allowed."""
    blocks = [Block(part="chunk", label=str(n), text=chr(97 + n) * length) for n, length in enumerate(lengths)]
    pages = pages_of(blocks, size)
    whole = ["".join(piece["t"] for piece in one["segments"]) for page in pages for one in page_json(page)]
    assert "".join(whole) == "".join(block.text or "" for block in blocks)
    assert all(sum(one.end - one.start for one in page) <= size for page in pages)
    assert {one.block.label for page in pages for one in page} == {block.label for block in blocks}


def test_what_steers_is_written_out() -> None:
    """NUL, ESC, a reordering mark and half a character are shown as such, markup as it is."""
    (piece,) = segments(HOSTILE, [])
    assert piece == {"t": "a[U+0000]b[U+001B][2J[U+202E]c[U+200B]d[U+D800]e<script>alert(1)</script>"}


def _unit(workspace: Path, text: str = "Option 2 is 14. Write to eve@private.example.") -> Unit:
    lab.write(workspace, questions=2, passes=1, rows=("bm25",), text=lambda row, n, k: text)
    return units(load_runs(workspace))[1]


def _finding(unit: Unit, *places: tuple[str, str, int, int], item: str | None = "q-002") -> Finding:
    found = tuple(Place(file=f, run=unit.stands[0].run, item=item, field=m, start=a, end=b) for f, m, a, b in places)
    return Finding(id="f1", kind="email", detector="d", text="x", before="", after="", places=found)


def test_the_whole_of_an_output_is_shown(tmp_path: Path) -> None:
    """Question, reference, evidence, answer, claim with verdict, quote and reason, and every delivered text."""
    unit = _unit(tmp_path)
    blocks = blocks_of(unit, ())
    assert [block.part for block in blocks] == [
        "question", "reference", "evidence", "answer", "claim", "quote", "reason", *["chunk"] * 5
    ]  # fmt: skip
    texts = {block.text for block in blocks}
    assert {unit.output.question, unit.output.answer, *(chunk.text for chunk in unit.output.chunks)} <= texts
    assert blocks[4].verdict == "SUPPORTS"
    assert [span.mark for span in blocks[8].spans] == ["evidence"]


def test_findings_are_marked_where_they_stand(tmp_path: Path) -> None:
    """In the answer, in a chunk, and in the question's reference as the benchmark holds it; elsewhere nothing is."""
    unit = _unit(tmp_path)
    finding = _finding(
        unit,
        (OUTPUTS, "answer", 25, 44),
        (OUTPUTS, "chunks/1/text", 0, 3),
        (BENCHMARK, "samples/1/target", 0, 2),
        (TELEMETRY, "telemetry/judgeReplies/0/text", 5, 9),
    )
    marked = {
        (block.part, block.label.partition(":")[0], span.start, span.end)
        for block in blocks_of(unit, [finding])
        for span in block.spans
        if span.mark == "finding"
    }
    assert marked == {("answer", "Answer", 25, 44), ("chunk", "Chunk 1", 0, 3), ("reference", "Reference", 0, 2)}
    assert [where(place) for place in touches(finding, unit)] == [
        "answer", "chunk 1", "question q-002, reference", "judge's reply 1"
    ]  # fmt: skip


def test_a_finding_of_another_question_or_run_is_not_of_this_unit(tmp_path: Path) -> None:
    """Only what stands at this question in a run of the unit touches it."""
    unit = _unit(tmp_path)
    other = _finding(unit, (OUTPUTS, "answer", 0, 1), item="q-001")
    outside = _finding(unit, ("config.json", "row", 0, 1), item=None)
    elsewhere = msgspec.structs.replace(
        other, places=(msgspec.structs.replace(other.places[0], run="another", item="q-002"),)
    )
    for finding in (other, outside, elsewhere):
        assert touches(finding, unit) == []
        assert all(span.mark != "finding" for block in blocks_of(unit, [finding]) for span in block.spans)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (("outputs.jsonl", "claims/3/reason"), "claim 3"),
        (("outputs.jsonl", "failure/message"), "failure"),
        (("outputs.jsonl", "judge"), "judge"),
        (("telemetry.jsonl", "telemetry/model"), "telemetry, telemetry/model"),
        (("judgements/literal-1/verdicts.jsonl", "claims/1/quote"), "judgement, literal-1/verdicts.jsonl"),
        (("config.json", "measure/answer/id"), "config.json, measure/answer/id"),
        (("benchmark.json", "samples/3/evidence/0"), "question q, evidence 1"),
        (("benchmark.json", "samples/3/claims/1/text"), "question q, claim 2"),
        (("benchmark.json", "samples/3/input"), "question q"),
        (("benchmark.json", "samples/3/provenance/tool"), "question q, provenance/tool"),
        (("benchmark.json", "corpus/name"), "benchmark.json, corpus/name"),
        (("benchmark.foreign", ""), "benchmark.foreign"),
        (("outputs.jsonl", "x\x1b[2J\ny"), "x[U+001B][2J y"),
    ],
)
def test_places_are_said_in_words(place: tuple[str, str], words: str) -> None:
    """Each file and member has words, and names that steer a display are written out."""
    assert where(Place(file=place[0], run="r", item="q", field=place[1], start=0, end=1)) == words


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (("benchmark.json", "q", "samples/3/evidence/0"), "the question file (question q, evidence 1)"),
        (("benchmark.json", None, "samples/3/target"), "the question file (question number 4, reference)"),
        (("benchmark.json", None, "name"), "the question file (name)"),
        (("config.json", None, "row"), "the configuration (row)"),
        (("outputs.jsonl", "q", "claims/3/text"), "claim 3 of question q"),
        (("board.toml", None, "name"), "board.toml, name"),
    ],
)
def test_where_nothing_can_be_replaced_is_said(place: tuple[str, str | None, str], words: str) -> None:
    """In which file that a run is made from, of which question, and which text of it."""
    file, item, field = place
    assert fixed_place(Place(file=file, run="r", item=item, field=field, start=0, end=1)) == words


def test_the_form_tells_what_was_shown(tmp_path: Path) -> None:
    """Other texts, another page or another unit have another form; what is found in them changes nothing."""
    unit = _unit(tmp_path)
    pages = pages_of(blocks_of(unit, ()), 120)
    assert len(pages) > 2
    forms = {form_of(unit.key, page, pages) for page in range(len(pages))}
    assert len(forms) == len(pages)
    found = pages_of(blocks_of(unit, [_finding(unit, (OUTPUTS, "answer", 0, 3))]), 120)
    assert {form_of(unit.key, page, found) for page in range(len(found))} == forms
    assert form_of("other", 0, pages) not in forms
    changed = msgspec.structs.replace(unit, question=msgspec.structs.replace(unit.question, target="15."))
    assert form_of(unit.key, 0, pages_of(blocks_of(changed, ()), 120)) not in forms
