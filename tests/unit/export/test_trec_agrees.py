"""What ir_measures computes on an exported run is what a board says of it, whatever was delivered."""

from __future__ import annotations

from math import log2
from pathlib import Path
from urllib.parse import unquote

import pytest
from export_lab import Search, retrieved, source_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragassay.export.trec import TrecRun, write_trec
from ragassay.export.trec_lines import NOT_DELIVERED, escaped, falling
from ragassay.manifest import RunFiles
from ragassay.manifest.redaction import Withholding
from ragassay.site.evidence import reach
from ragassay.testing.redacted_run import Redacting, redact

ir_measures = pytest.importorskip("ir_measures")

HOLDS, FOLDED, OTHER = "port 80 is open", "port  80\nis\u00a0open", "port 81 is open"
SEARCHES = (
    Search(delivered=(("a", OTHER, "2"), ("b", HOLDS, "1"), ("c", "x", "0.5"))),
    Search(delivered=(("z", OTHER, "1"), ("b", FOLDED, "1"), ("a", HOLDS, "1"))),  # ties in the order of no id
    Search(delivered=(("a", HOLDS, "0.3"), ("b", HOLDS, "0.2"), ("c", f"{HOLDS} now", "0.1"))),  # repeated, and again
    Search(delivered=(("a", OTHER, "3"),)),  # absent
    Search(delivered=()),  # the search returned nothing
    Search(failed=True),
    Search(evidence=(), delivered=(("a", HOLDS, "3"),)),  # nobody knows
    Search(evidence=()),
    Search(id="q 5%\u00a0x", delivered=(("a b", OTHER, "3"), ("a%20b", HOLDS, "-2"))),
    Search(delivered=(("a", OTHER, "0.1000000001"), ("b", HOLDS, "0.1"))),  # one float of 32 bits
    Search(delivered=tuple((f"d{n}", OTHER if n < 4 else HOLDS, "0") for n in range(5))),
)


def _export(folder: Path, *searches: Search, top_k: int = 5) -> TrecRun:
    (run,) = write_trec(source_of(retrieved(searches, top_k=top_k)), folder)
    return run


def _measured(folder: Path, run: TrecRun) -> tuple[float, float, float]:
    """Return reach@k, MRR and nDCG@k as ir_measures computes them from the files."""
    assert run.measures is not None
    k = run.measures.k
    success, rr, ndcg = ir_measures.Success @ k, ir_measures.RR, ir_measures.nDCG @ k
    found = ir_measures.calc_aggregate(
        [success, rr, ndcg],
        list(ir_measures.read_trec_qrels(str(folder / run.files[1]))),
        list(ir_measures.read_trec_run(str(folder / run.files[0]))),
    )
    return found[success], found[rr], found[ndcg]


def _check(folder: Path, run: TrecRun) -> None:
    assert run.measures is not None
    wanted = (run.measures.reach, run.measures.mrr, run.measures.ndcg)
    assert _measured(folder, run) == pytest.approx(wanted, abs=1e-9, rel=0)


def test_every_kind_of_delivery_agrees(tmp_path: Path) -> None:
    """Ties, repeated, folded and absent evidence, empty and failed searches: reach, MRR and nDCG agree to 1e-9."""
    run = _export(tmp_path, *SEARCHES)
    _check(tmp_path, run)
    assert run.measures is not None
    assert run.measures.questions == run.in_qrels == 8
    assert run.measures.mrr == pytest.approx((1 / 2 + 1 / 2 + 1 + 0 + 0 + 1 / 2 + 1 / 2 + 1 / 5) / 8)
    assert run.measures.ndcg == pytest.approx((4 / log2(3) + 1 + 1 / log2(6)) / 8)
    counts = (run.questions, run.in_run, run.returned_nothing, run.retrieval_failed, run.without_evidence)
    assert counts == (11, 8, 2, 1, 2)


def test_the_measures_are_those_of_the_board(tmp_path: Path) -> None:
    """The unrounded figures in export.json round to what the board prints of the same run."""
    source = source_of(retrieved(SEARCHES))
    run = next(iter(source))
    board = reach(run._document, 5)
    written = _export(tmp_path, *SEARCHES).measures
    assert board is not None
    assert written is not None
    assert (board.of, board.exact + board.folded) == (written.questions, round(written.reach * written.questions))
    assert float(board.mrr) == pytest.approx(written.mrr, abs=5e-7)
    assert float(board.ndcg) == pytest.approx(written.ndcg, abs=5e-7)


def test_a_small_cut_agrees_too(tmp_path: Path) -> None:
    """With top-k 1 a question counts only at its first rank."""
    run = _export(tmp_path, *(Search(delivered=search.delivered[:1], id=search.id) for search in SEARCHES), top_k=1)
    _check(tmp_path, run)


TEXTS = st.sampled_from((HOLDS, FOLDED, OTHER, "x", f"{HOLDS}!"))
SCORE = st.integers(-3, 3).map(lambda n: f"{n / 2:g}")


@st.composite
def searches(draw: st.DrawFn) -> Search:
    """Draw what one search delivered, its scores best first with many ties."""
    names = draw(st.lists(st.sampled_from("abcdefg"), unique=True, max_size=5))
    scores = sorted((draw(SCORE) for _ in names), key=float, reverse=True)
    return Search(delivered=tuple((name, draw(TEXTS), score) for name, score in zip(names, scores, strict=True)))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(searches(), min_size=1, max_size=6), top_k=st.just(5))
def test_any_delivery_agrees(tmp_path_factory: pytest.TempPathFactory, drawn: list[Search], top_k: int) -> None:
    """Whatever is delivered, with ties and repeated texts, the three measures agree to 1e-9."""
    folder = tmp_path_factory.mktemp("trec")
    _check(folder, _export(folder, *drawn, top_k=top_k))


def test_withheld_text_leaves_the_question_out_of_the_qrels(tmp_path: Path) -> None:
    """Where a delivered text is withheld nobody knows its rank: the question is in the run file and in no qrels."""
    base = retrieved(SEARCHES[:3])
    withhold = (Withholding(id="q-002", field="chunks/1/text", reason="the page is licensed"),)
    public = RunFiles(files=dict(redact(Redacting(run=base, withhold=withhold)).files))
    (run,) = write_trec(source_of(public.files), tmp_path)
    _check(tmp_path, run)
    assert (run.in_run, run.in_qrels, run.text_withheld) == (3, 2, 1)
    assert b"q-002\ttext-withheld\n" in (tmp_path / run.files[3]).read_bytes()


def test_scores_fall_strictly_as_32_bit_floats() -> None:
    """Ties, disorder, zeros and numbers beyond 32 bits keep their order and stay below one another."""
    np = pytest.importorskip("numpy")
    for scores in (
        ["1", "1", "1"],
        ["0", "0", "-0.5"],
        ["1", "2", "3"],
        ["9e50", "9e40", "1"],
        ["0.10000000001", "0.1"],
    ):
        words, lowered = falling(scores) or ([], -1)
        narrow = np.array(words, dtype=np.float32)
        assert (narrow[1:] < narrow[:-1]).all()
        assert lowered >= 1
    assert falling(["3", "2.5", "-1"]) == (["3", "2.5", "-1"], 0)
    assert falling(["-1e39", "-1e39"]) is None
    assert falling([None, "1"]) is None


@given(st.text())
def test_an_escaped_id_is_one_word_and_comes_back(word: str) -> None:
    """Any id becomes one word that neither a split nor a line end cuts, and none is the placeholder."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return
    found = escaped(word)
    assert found.split() == [found]
    assert found.isprintable()
    assert found != NOT_DELIVERED
    assert unquote(found) == word or (word == "" and found == "%")
