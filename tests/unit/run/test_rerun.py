"""A deterministic run comes out again; what does not, or cannot be executed, is told by field, question and digest."""

from __future__ import annotations

import json
import shutil
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from run_lab import Lab, Scripted, register

from ragassay import canon, plugins
from ragassay.errors import StackError
from ragassay.manifest import MANIFEST, decode_run, read_run
from ragassay.records import JSON, Chunk, Config, Hit, Message, Reexecution, Reply, to_json
from ragassay.run.prepared import Options
from ragassay.run.reexecutions import keep
from ragassay.run.rerun import rerun
from ragassay.run.rerun_parts import MAX_PARTS
from ragassay.run.rerun_rows import Rerun
from ragassay.testing.signed_run import OpenedRun, resigned

HYBRID = '{ kind = "hybrid", of = [ { kind = "bm25" }, { kind = "bm25", k1 = 0.9, method = "bm25+" } ] }'


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Six questions on six pages."""
    return Lab(tmp_path, questions=6)


def _run(lab: Lab, row: str = "row", k: int = 1, options: Options | None = None, **board: str) -> dict[str, bytes]:
    lab.write(**board)
    return read_run(lab.space.runs / lab.run(options)[row, k].run_id).files


def _again(lab: Lab, files: Mapping[str, bytes]) -> Rerun:
    return rerun(files, workspace=lab.space.root)


@pytest.mark.parametrize(
    ("stack", "row"),
    [
        ('{ kind = "bm25" }', "top_k = 2"),
        ('{ kind = "bm25", k1 = 0.9, b = 0.4, stopwords = ["the"] }', 'top_k = 3\nthreshold = "0.4"'),
        (HYBRID, "top_k = 2"),
        ('{ kind = "hybrid", depth = 3, of = [ ' + HYBRID + ', { kind = "bm25", b = 0.1 } ] }', "top_k = 2"),
        ('{ kind = "oracle" }', ""),
    ],
    ids=["bm25", "bm25 with parameters and a threshold", "hybrid", "hybrid in hybrid", "oracle"],
)
def test_a_deterministic_row_comes_out_equal(lab: Lab, stack: str, row: str) -> None:
    """Content digest, counts and score are the signed ones for every stack that is deterministic, and its control."""
    lab.write(stack=stack, row=row)
    for (name, _), end in lab.run().items():
        files = read_run(lab.space.runs / end.run_id).files
        signed = decode_run(files).predicate
        done = _again(lab, files)
        assert (done.outcome, done.why, done.differences) == ("equal", None, ()), name
        assert (done.content, done.score, done.counts) == (signed.content.sha256, signed.score, signed.counts)
        assert (done.rows, done.differing) == (6, 0)


@pytest.mark.parametrize(
    "chunker",
    [
        '{ kind = "heading", max_tokens = 20, overlap = 5 }',
        '{ kind = "sentences", sentences = 2 }',
        '{ kind = "tokens", max_tokens = 9, overlap = 2 }',
    ],
)
def test_documents_are_split_by_the_recorded_chunker(lab: Lab, chunker: str) -> None:
    """Without a workspace the documents themselves are enough, whatever chunker the run was made with."""
    lab.write()
    board = lab.folder / "board.toml"
    text = board.read_text(encoding="utf-8").replace('path = "docs"\n', f'path = "docs"\nchunker = {chunker}\n')
    board.write_text(text, encoding="utf-8")
    files = read_run(lab.space.runs / lab.run()["row", 1].run_id).files
    done = rerun(files, corpus=lab.folder / "docs")
    assert (done.outcome, done.problems) == ("equal", ())


@pytest.mark.parametrize("place", [".ragassay/corpus", ".ragassay/corpus/*"])
def test_a_stored_corpus_may_be_named(lab: Lab, place: str) -> None:
    """A stored corpus and a folder of them are taken as `corpus`."""
    files = _run(lab)
    assert rerun(files, corpus=next(lab.folder.glob(place))).outcome == "equal"


def test_an_edited_answer_is_named(lab: Lab) -> None:
    """A run whose publisher edited one answer and its verdict before signing is different, in that row and member."""

    def edit(run: OpenedRun) -> None:
        run.outputs[2]["answer"] = "It weighs 1002 grams, as everybody knows."

    done = _again(lab, resigned(_run(lab), edit))
    assert done.outcome == "different"
    assert [(one.id, one.members) for one in done.differences] == [("q-002", ("answer",))]
    assert done.why == "1 of 6 rows came out different"


def test_an_edited_score_is_named_with_both_scores(lab: Lab) -> None:
    """A verdict turned round shows the signed score and the one that came out."""

    def edit(run: OpenedRun) -> None:
        run.outputs[4]["claims"][0] |= {"verdict": "OMITS", "quote": ""}
        run.outputs[4]["score"] = 0

    (one,) = _again(lab, resigned(_run(lab), edit)).differences
    assert (one.id, one.members, one.score_signed, one.score_now) == ("q-004", ("claims", "score"), 0, 100)


def test_only_the_first_of_many_differences_are_named(tmp_path: Path) -> None:
    """Of 25 rows that differ 20 are named and all are counted."""

    def edit(run: OpenedRun) -> None:
        for row in run.outputs:
            row["answer"] += " Indeed."

    lab = Lab(tmp_path, questions=25)
    done = _again(lab, resigned(_run(lab), edit))
    assert (done.differing, len(done.differences)) == (25, 20)


def test_a_filled_row_is_executed_like_any_other(lab: Lab) -> None:
    """The source of a filled row is taken from the run, its content is not: an honest fill is equal, another is not."""

    def fill(run: OpenedRun) -> None:
        run.outputs[1]["fill"] = {"run": "a" * 32, "pass": 2}
        run.predicate["counts"]["filled"] = 1

    def fill_otherwise(run: OpenedRun) -> None:
        fill(run)
        run.outputs[1]["answer"] = "It weighs 1001 grams"

    files = _run(lab)
    done = _again(lab, resigned(files, fill))
    assert (done.outcome, done.filled) == ("equal", 1)
    assert _again(lab, resigned(files, fill_otherwise)).outcome == "different"


def test_a_withheld_text_is_compared_by_its_digest(lab: Lab) -> None:
    """A chunk without text is equal when its digest is, and different when it is not."""

    def withhold(run: OpenedRun) -> None:
        run.outputs[0]["chunks"][0]["text"] = None

    def forge(run: OpenedRun) -> None:
        withhold(run)
        run.outputs[0]["chunks"][0]["sha256"] = canon.sha256(b"another text")

    files = _run(lab)
    done = _again(lab, resigned(files, withhold))
    assert (done.outcome, done.withheld) == ("equal", 1)
    (one,) = _again(lab, resigned(files, forge)).differences
    assert one.members == ("chunks",)


def test_a_failure_that_does_not_come_again_is_told_as_such(lab: Lab) -> None:
    """A question whose retrieval failed in the run and works now makes it different, and the reason says so."""

    def fail(run: OpenedRun) -> None:
        failure = {"kind": "stack", "message": "the stack of row 'row' did not answer within 60 s"}
        gone: JSON = {"status": "retrieval_failed", "retrieval": "failed", "chunks": [], "answer": None, "claims": []}
        run.outputs[3] |= {**gone, "verdict": None, "judge": None, "score": None, "failure": failure}

    done = _again(lab, resigned(_run(lab), fail))
    assert done.outcome == "different"
    assert "1 of them had failed in the run and did not fail now" in (done.why or "")
    assert "did not answer within 60 s" in (done.differences[0].failed_signed or "")


class _Declared(Scripted):
    """A scripted stack that says that it is deterministic."""

    deterministic: ClassVar[bool] = True


def _declare(monkeypatch: pytest.MonkeyPatch, search_as: Callable[[str, int, Sequence[Chunk]], list[Hit]]) -> str:
    entry = register(monkeypatch, search_as)
    stack = type("Stack", (_Declared,), {"search_as": staticmethod(search_as)})
    sys.modules["scripted_stack"].Stack = stack  # type: ignore[attr-defined]
    return entry


def test_a_failure_of_the_re_execution_says_nothing_against_the_run(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only questions differ that fail now and did not in the run, it was not possible to execute it again."""
    entry = _declare(monkeypatch, lambda text, k, chunks: [Hit(chunk=chunks[0].id, score=1.0)])
    files = _run(lab, stack=entry)
    assert _again(lab, files).outcome == "equal"

    def broken(text: str, k: int, chunks: Sequence[Chunk]) -> list[Hit]:
        raise StackError("the index is gone")

    _declare(monkeypatch, broken)
    done = _again(lab, files)
    assert done.outcome == "not possible"
    assert "failed on 6 of 6 questions (q-000: retrieval_failed: stack: the index is gone)" in (done.why or "")


def test_a_judge_that_cannot_have_said_it_is_a_difference(lab: Lab) -> None:
    """A scorer under which the named judge gives no verdict at all is different and not a hindrance."""
    done = _again(lab, _reconfigured(_run(lab), _set("scorer", value="factual-consistency/1")))
    assert (done.outcome, done.differing) == ("different", 6)
    assert "judge_failed" in (done.differences[0].failed_now or "")


def test_the_same_failure_again_is_equal(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack that cannot search one question by its nature fails on it again, and the row is equal."""

    def picky(text: str, k: int, chunks: Sequence[Chunk]) -> list[Hit]:
        if "part 2" in text:
            raise StackError("no search for twos")
        return [Hit(chunk=chunks[0].id, score=1.0)]

    files = _run(lab, stack=_declare(monkeypatch, picky), options=Options(seal=True))
    done = _again(lab, files)
    assert done.outcome == "equal"
    assert done.counts is not None
    assert done.counts.retrieval_failed == 1


def test_a_stack_that_only_says_that_it_is_deterministic_is_found_out(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stack that returns something else each time and declares the contrary comes out different."""
    calls: list[str] = []

    def drifting(text: str, k: int, chunks: Sequence[Chunk]) -> list[Hit]:
        calls.append(text)
        return [Hit(chunk=chunks[len(calls) % len(chunks)].id, score=1.0)]

    files = _run(lab, stack=_declare(monkeypatch, drifting))
    calls.append("one more")
    assert _again(lab, files).outcome == "different"


def test_who_declares_nothing_is_not_deterministic(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack, also inside another one, that does not declare it is named, and nothing is executed."""
    asked: list[str] = []

    def search(text: str, k: int, chunks: Sequence[Chunk]) -> list[Hit]:
        asked.append(text)
        return [Hit(chunk=chunks[0].id, score=1.0)]

    entry = register(monkeypatch, search)
    files = _run(lab, stack=f'{{ kind = "hybrid", of = [ {{ kind = "bm25" }}, {entry} ] }}')
    asked.clear()
    done = _again(lab, files)
    assert (done.outcome, asked) == ("not possible", [])
    assert done.why == "the stack 'scripted' does not declare that it is deterministic"


def test_a_stack_that_owns_its_corpus_is_not_executed_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """What such a stack's corpus holds is not signed, so a declaration is not enough."""
    hit = Hit(chunk="own", score=1.0, text="The part 1 weighs 1001 grams.")
    entry = register(monkeypatch, lambda text, k, chunks: [hit], owns_corpus=True)
    sys.modules["scripted_stack"].Stack.deterministic = True
    done = _again(lab, _run(lab, stack=entry))
    assert done.outcome == "not possible"
    assert "owns its corpus" in (done.why or "")


def _reconfigured(files: Mapping[str, bytes], change: Callable[[Any], None]) -> dict[str, bytes]:
    """Return the run signed again after a change of its configuration, the manifest made to follow."""

    def edit(run: OpenedRun) -> None:
        change(run.config["measure"])
        config = msgspec.convert(run.config, Config)
        run.predicate["row"]["key"] = config.row_key()
        run.predicate["judge"]["digest"]["sha256"] = canon.digest(config.measure.judge)

    return resigned(files, edit)


def _set(*path: str, value: object) -> Callable[[Any], None]:
    def change(measure: Any) -> None:
        for name in path[:-1]:
            measure = measure[name]
        measure[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_set("stack", "describe", "bm25s", value="0.0.1"), "measure.stack.describe.bm25s was '0.0.1' and is now"),
        (_set("answer", "describe", "parameters", "cue_bonus", value="7"), "parameters.cue_bonus was '7' and is now"),
        (_set("answer", "template", "digest", value="0" * 64), "measure.answer.template.digest was '000"),
        (_set("judge", "id", value="literal/2"), "measure.judge.id was 'literal/2' and is now 'literal/1'"),
        (_set("stack", "kind", value="none"), "measure.stack.kind was 'none' and is now 'bm25'"),
        (_set("corpus", "chunks", value=5), "measure.corpus.chunks was 5 and is now 6"),
        (_set("answer", "template", value="chunks-as-system/1"), "says no measure.answer.template"),
        (_set("answer", "template", "name", value="other/1"), "there is no message template 'other/1'"),
        (_set("answer", "kind", value="openai"), "the answering model 'openai' does not declare"),
        (_set("answer", "describe", "params", value={"t": "1"}), "the reader takes no parameters"),
        (_set("judge", "kind", value="llm"), "the judge 'llm' asks a language model"),
        (_set("judge", "describe", "strength", value="9"), "judge 'literal' does not take these parameters"),
        (_set("stack", "entry", value={"kind": "acme"}), "there is no stack 'acme'"),
        (_set("stack", "entry", value={"kind": ["bm25"]}), "says no measure.stack.entry.kind"),
        (_set("stack", "entry", value="bm25"), "says no measure.stack.entry"),
        (_set("stack", "entry", value={"kind": "bm25", "k1": "-3"}), "the parameters of 'bm25' cannot be used"),
        (_set("stack", "entry", value={"kind": "bm25", "self": "x"}), "bm25"),
        (_set("stack", "entry", value={"kind": "hybrid", "of": []}), "hybrid"),
        (_set("stack", "entry", value={"kind": "hybrid", "of": [{"kind": "oracle"}] * 2}), "cannot stand inside"),
        (_set("stack", "entry", value={"kind": "hybrid", "of": [{"kind": "bm25"}] * 400}), f"more than {MAX_PARTS}"),
        (_set("stack", "entry", value={"kind": "bm25", "extra": {"kind": "bm25"}}), "part named 'extra'"),
        (_set("stack", "entry", value={"kind": "dense"}), "the stack 'dense' does not declare"),
        (_set("corpus", "digest", value=None), "says no measure.corpus.digest"),
        (_set("corpus", "digest", value="f" * 64), "the corpus " + "f" * 64 + " is not there"),
    ],
)
def test_what_is_not_as_signed_is_named_and_not_compared(lab: Lab, change: Callable[[Any], None], said: str) -> None:
    """Whatever a signed configuration says that cannot be built again here is told field by field, never compared."""
    done = _again(lab, _reconfigured(_run(lab), change))
    assert done.outcome == "not possible"
    assert said in "\n".join((done.why or "", *done.problems))
    assert done.content is None


def test_a_plug_in_of_a_missing_extra_names_the_extra(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack whose package is not installed is not possible, and the reason says what to install."""
    files = _run(lab)
    monkeypatch.setitem(plugins.BUILT_IN["stacks"], "bm25", "absent_package.stacks:BM25")
    done = _again(lab, files)
    assert done.outcome == "not possible"
    assert "pip install 'ragassay[run]'" in (done.why or "")


def test_a_corpus_that_is_not_there_is_named_by_digest_and_place(lab: Lab, tmp_path: Path) -> None:
    """An absent, a changed and a damaged corpus are each told with the digest that is wanted."""
    files = _run(lab)
    wanted = str(decode_run(files).config.measure.corpus["digest"])  # type: ignore[union-attr]
    nowhere = rerun(files)
    assert (nowhere.outcome, wanted in (nowhere.why or ""), "--corpus" in (nowhere.why or "")) == (
        "not possible",
        True,
        True,
    )
    page = lab.folder / "docs" / "page-003.md"
    page.write_text(page.read_text(encoding="utf-8").replace("1003", "1004"), encoding="utf-8")
    changed = rerun(files, corpus=lab.folder / "docs")
    assert changed.outcome == "not possible"
    assert f"the run was made over {wanted}" in (changed.why or "")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no page" in (rerun(files, corpus=empty).why or "")
    assert "does not exist" in (rerun(files, corpus=tmp_path / "absent").why or "")
    chunks = next(lab.space.corpora.iterdir()) / "chunks.jsonl"
    chunks.write_bytes(chunks.read_bytes().replace(b"1003", b"1004"))
    damaged = _again(lab, files)
    assert (damaged.outcome, wanted in (damaged.why or "")) == ("not possible", True)
    shutil.rmtree(lab.space.corpora)
    assert str(lab.space.corpora / wanted) in (_again(lab, files).why or "")


def test_bytes_that_are_no_run_are_not_possible(lab: Lab) -> None:
    """Whatever the files are, the result is an outcome and never an exception."""
    files = _run(lab)
    for broken in (
        {},
        {MANIFEST: b"{}"},
        {**files, MANIFEST: b"\xff"},
        {n: d for n, d in files.items() if n != "config.json"},
    ):
        assert rerun(broken, workspace=lab.space.root).outcome == "not possible"


class _Echo:
    """An outside answering model that is deterministic and takes a parameter."""

    deterministic: ClassVar[bool] = True

    def __init__(self, *, params: Mapping[str, Any] | None = None) -> None:
        self._params = {"end": ".", **(params or {})}

    async def complete(self, messages: Sequence[Message], params: Mapping[str, Any]) -> Reply:
        """Return the first context, or the question, and the parameter."""
        return Reply(text=messages[0].content + self._params["end"], finish_reason="stop")

    def describe(self) -> JSON:
        """Return kind, id and the parameters."""
        return {"kind": "echo", "id": "echo/1", "params": self._params}

    async def close(self) -> None:
        """Hold nothing."""


def test_an_outside_model_that_declares_it_is_executed_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of another package takes part by declaring it and by recording its parameters under `params`."""
    module = types.ModuleType("acme_echo")
    module.Echo = _Echo  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "acme_echo", module)
    monkeypatch.setitem(plugins.BUILT_IN["models"], "echo", "acme_echo:Echo")
    files = _run(lab, answer='kind = "echo"\nparams = { end = "!" }')
    assert decode_run(files).outputs[0].answer is not None
    assert str(decode_run(files).outputs[0].answer).endswith("!")
    assert _again(lab, files).outcome == "equal"


def test_what_came_out_is_kept_as_a_whole(lab: Lab) -> None:
    """The record names the run's bytes and the outcome; a later one replaces it, an impossible one does not."""
    files = _run(lab)
    run_id = decode_run(files).predicate.run_id
    done = _again(lab, files)
    path = keep(done, run_id, files, lab.space.root)
    assert path == lab.space.root / "reexecutions" / f"{run_id}.json"
    data = path.read_bytes()
    record = msgspec.json.decode(data, type=Reexecution)
    assert data == canon.canonical(to_json(record)) + b"\n"
    assert (record.run, record.manifest, record.outcome) == (run_id, canon.sha256(files[MANIFEST]), "equal")
    assert keep(rerun(files), run_id, files, lab.space.root) is None
    assert path.read_bytes() == data
    assert [one.name for one in path.parent.iterdir()] == [f"{run_id}.json"]


def test_nothing_but_the_record_is_written(lab: Lab) -> None:
    """Executing again leaves the workspace as it was: no pass, no run, no journal, no embedding."""
    files = _run(lab)
    before = {path: path.read_bytes() for path in lab.space.root.rglob("*") if path.is_file()}
    assert _again(lab, files).outcome == "equal"
    assert {path: path.read_bytes() for path in lab.space.root.rglob("*") if path.is_file()} == before


def test_the_result_is_json(lab: Lab) -> None:
    """What `--json` prints of a re-execution is plain JSON under the documented names."""
    said = json.loads(json.dumps(to_json(_again(lab, _run(lab)))))
    assert said["outcome"] == "equal"
    assert {"madeWith", "harness", "tookMs", "differences", "content", "score", "counts"} <= said.keys()
