"""`ragassay stacks check`: each row's stack works or says why not, and a failing one stops no other."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import pytest
from click.testing import CliRunner, Result
from run_lab import Lab, register, silent

from ragassay import plugins
from ragassay.cli.stacks import command
from ragassay.errors import InputError, PluginError, StackError
from ragassay.plugins.stacks.bm25 import BM25
from ragassay.records import Chunk, Hit
from ragassay.run.board_file import load_board
from ragassay.run.stack_check import RowChecked, StacksChecked, check_stacks


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Make a small board."""
    return Lab(tmp_path)


def check(lab: Lab, **options: Any) -> StacksChecked:
    """Check the lab's board."""
    board = load_board(lab.folder / "board.toml")
    given = {"keys": {}, "weights_cache": lab.folder, "report": silent, **options}
    return check_stacks(board, lab.space, **given)


def last(found: StacksChecked) -> RowChecked:
    """Return the row under test, and see that the control answered."""
    assert found.rows[0].state == "answers"
    return found.rows[-1]


def typed(lab: Lab, *words: str) -> Result:
    """Type `ragassay stacks check` on the lab's board; errors come through as they are raised."""
    args = ["check", str(lab.folder / "board.toml"), *words]
    return CliRunner().invoke(command, args, catch_exceptions=False, standalone_mode=False)


def first_chunk(text: str, k: int, chunks: Sequence[Chunk]) -> list[Hit]:
    """Find the first chunk for every question."""
    return [Hit(chunk=chunks[0].id, score=1.0)]


def test_a_board_that_works(lab: Lab) -> None:
    """Every chunk is indexed, the question finds something, and the control is switched off, not empty."""
    lab.write()
    found = check(lab)
    row = last(found)
    assert (row.state, row.kind, row.problem, row.step) == ("answers", "bm25", None, None)
    assert row.indexed == found.chunks > 0
    assert not row.counted
    assert row.retrieval is not None
    assert row.retrieval.state == "ok"
    assert row.describe is not None
    assert row.describe["kind"] == "bm25"
    assert found.rows[0].retrieval is not None
    assert found.rows[0].retrieval.state == "off"
    assert found.exit_code == 0


def test_the_oracle_is_asked_about_a_question_that_has_evidence(lab: Lab) -> None:
    """Its row delivers that evidence; where a run would leave the row out, so does the check, with the reason."""
    lab.write(stack='{ kind = "oracle" }')
    row = last(check(lab))
    assert row.retrieval is not None
    assert len(row.retrieval.delivered) == 1
    lab.samples[0]["evidence"] = "This stands nowhere."
    lab.write(stack='{ kind = "oracle" }')
    found = check(lab)
    assert last(found).state == "left out"
    assert last(found).problem == "1 of 10 questions have no evidence in the corpus"
    assert found.question == "q-001"
    assert found.exit_code == 0


FAULTS = {
    "down": (ConnectionError("refused"), "raised ConnectionError: refused", True),
    "its own error": (StackError("no such collection"), "no such collection", False),
    "a bug": (ZeroDivisionError("division"), "raised ZeroDivisionError", False),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_stack_that_fails_when_asked(lab: Lab, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The failure is the row's, with the step; it is never an empty list, and the exit code is 3."""
    error, said, retryable = FAULTS[name]

    def search(*_: object) -> NoReturn:
        raise error

    lab.write(stack=register(monkeypatch, search))
    found = check(lab)
    row = last(found)
    assert (row.state, row.step, row.retryable, row.retrieval) == ("failed", "search", retryable, None)
    assert said in str(row.problem)
    assert row.describe == {"kind": "scripted"}
    assert found.exit_code == 3


BROKEN_PROMISES = {
    "an unknown chunk": lambda text, k, chunks: [Hit(chunk="elsewhere", score=1.0)],
    "too many hits": lambda text, k, chunks: [Hit(chunk=one.id, score=1.0) for one in chunks],
    "a score that is no number": lambda text, k, chunks: [Hit(chunk=chunks[0].id, score=float("nan"))],
    "no list": lambda text, k, chunks: None,
}


@pytest.mark.parametrize("name", BROKEN_PROMISES)
def test_a_stack_that_breaks_its_promise(lab: Lab, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What a run would not take, the check does not take."""
    lab.write(stack=register(monkeypatch, BROKEN_PROMISES[name]))
    row = last(check(lab))
    assert (row.state, row.step) == ("failed", "search")


def test_a_stack_that_hangs(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up after its time, and the check ends."""
    gate = threading.Event()

    def search(*_: object) -> list[Hit]:
        gate.wait(60)
        return []

    lab.write(stack=register(monkeypatch, search))
    began = time.monotonic()
    row = last(check(lab, timeout_s=0.1))
    assert time.monotonic() - began < 20
    gate.set()
    assert (row.state, row.retryable) == ("failed", True)
    assert "did not answer within 0.1 s" in str(row.problem)


def _method(monkeypatch: pytest.MonkeyPatch, name: str, method: Any) -> str:
    entry = register(monkeypatch, first_chunk)
    monkeypatch.setattr(sys.modules["scripted_stack"].Stack, name, method, raising=False)
    return entry


def _raise(*_: object, **__: object) -> NoReturn:
    raise RuntimeError("the disk is full")


@pytest.mark.parametrize("step", ["build", "count", "describe"])
def test_a_stack_that_fails_before_it_is_asked(lab: Lab, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """The step is named, nothing after it is done, and what was built is closed."""
    closed: list[bool] = []
    entry = _method(monkeypatch, step, _raise)
    monkeypatch.setattr(sys.modules["scripted_stack"].Stack, "close", lambda self: closed.append(True))
    lab.write(stack=entry)
    found = check(lab)
    row = last(found)
    assert (row.state, row.step, row.retrieval) == ("failed", step, None)
    assert "the disk is full" in str(row.problem)
    assert closed == ([] if step == "build" else [True])
    assert found.exit_code == 3


def test_a_stack_that_counts(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own count is what is shown, also where it is not the corpus's; a count that is none is a failure."""
    lab.write(stack=_method(monkeypatch, "count", lambda self: 7))
    row = last(check(lab))
    assert (row.indexed, row.counted, row.state) == (7, True, "answers")
    assert "indexed    7, counted by the stack; the corpus has 10 chunks" in typed(lab).output
    for wrong in (-1, True, "7", None):
        lab.write(stack=_method(monkeypatch, "count", lambda self, wrong=wrong: wrong))
        row = last(check(lab))
        assert (row.state, row.step, row.indexed) == ("failed", "count", None)


def test_a_stack_that_cannot_be_closed_has_answered(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is told as a note."""
    lab.write(stack=_method(monkeypatch, "close", _raise))
    row = last(check(lab))
    assert row.state == "answers"
    assert row.notes == ["the stack could not be closed: RuntimeError: the disk is full"]


def test_a_stack_whose_package_is_not_installed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row fails with the remedy; the others are checked."""
    lab.write(stack=register(monkeypatch, first_chunk))

    def load(seam: str, kind: str) -> Any:
        if kind == "scripted":
            raise PluginError("the stack 'scripted' cannot be imported; pip install 'ragassay[run]'")
        return original(seam, kind)  # type: ignore[arg-type]

    original = plugins.load
    monkeypatch.setattr(plugins, "load", load)
    found = check(lab)
    row = last(found)
    assert (row.state, row.step) == ("failed", "import")
    assert "pip install" in str(row.problem)
    assert found.exit_code == 3


def test_a_class_that_does_not_declare_what_every_stack_does(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row fails and says what is lacking."""
    lab.write(stack=register(monkeypatch, first_chunk))
    monkeypatch.setattr(sys.modules["scripted_stack"], "Stack", type("Bare", (), {"owns_corpus": "no"}))
    row = last(check(lab))
    assert (row.state, row.step) == ("failed", "import")
    assert row.problem == "the class of the stack 'scripted' does not declare owns_corpus and default_parts"


def test_input_that_a_stack_refuses_when_it_is_built(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is wrong input of that row, exit code 2; where another row's service failed besides, 3."""

    def build(*_: object) -> NoReturn:
        raise InputError("these chunks are too long")

    monkeypatch.setattr(BM25, "build", build)
    lab.write()
    found = check(lab)
    row = last(found)
    assert (row.state, row.step, found.exit_code) == ("wrong input", "build", 2)
    assert "these chunks are too long" in str(row.problem)
    failing = RowChecked(row="x", kind="y", state="failed")
    assert msgspec.structs.replace(found, rows=[failing, *found.rows]).exit_code == 3


def test_wrong_input_is_told_at_once_before_anything_is_built(lab: Lab) -> None:
    """Unknown row, unknown parameter and a question file that is not there stand in one error."""
    lab.write(stack='{ kind = "bm25", size = 3 }')
    (lab.folder / "questions.json").unlink()
    with pytest.raises(InputError) as caught:
        check(lab, rows=["no-retrieval", "row", "rwo"])
    told = str(caught.value)
    assert "has no row 'rwo'" in told
    assert "unknown parameter 'size'" in told
    assert "questions.json" in told
    assert not lab.space.root.exists()


def test_a_key_that_is_not_set(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is wrong input; a row that does not need it can be checked."""
    monkeypatch.delenv("LAB_KEY", raising=False)
    embedder = '{ kind = "openai", id = "m", base_url = "http://127.0.0.1:9/v1", dimension = 3, key_env = "LAB_KEY" }'
    lab.write(stack=f'{{ kind = "dense", embedder = {embedder} }}')
    with pytest.raises(InputError, match="export LAB_KEY="):
        typed(lab)
    assert typed(lab, "--row", "no-retrieval").return_value == 0


def test_what_is_printed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing row is a block with its problem on one line, whatever it says, and the last line counts."""

    def search(*_: object) -> NoReturn:
        raise StackError("first\nsecond \x1b[2J", retryable=True)

    lab.write(stack=register(monkeypatch, search))
    done = typed(lab)
    assert done.return_value == 3
    assert "row 'row': scripted: failed" in done.output
    assert "at the step 'search': first second [U+001B][2J (asking again may help)" in done.output
    assert done.output.splitlines()[-1] == "1 of 2 answer; 1 failed"


def test_json(lab: Lab) -> None:
    """Holds every row with its retrieval, and what was not reached is null."""
    lab.write()
    done = typed(lab, "--json", "--row", "row")
    told = json.loads(done.stdout)
    assert [row["row"] for row in told["rows"]] == ["row"]
    assert told["rows"][0]["state"] == "answers"
    assert told["rows"][0]["problem"] is None
    assert told["rows"][0]["retrieval"]["delivered"][0]["chunk"].startswith("page-000.md")
    assert told["chunks"] == 10


def test_vectors_are_kept_for_the_run(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second check embeds no chunk: the first left them in the workspace, where a run looks."""
    from ragassay.testing.fake_embedder import WordEmbedder

    asked: list[int] = []

    class Counting(WordEmbedder):
        def embed(self, texts: Sequence[str], kind: Any) -> Any:
            if kind == "document":
                asked.append(len(texts))
            return super().embed(texts, kind)

    monkeypatch.setattr(sys.modules["ragassay.testing.fake_embedder"], "Counting", Counting, raising=False)
    monkeypatch.setitem(
        plugins.BUILT_IN["embedders"],
        "counting",
        "ragassay.testing.fake_embedder:Counting",
    )
    lab.write(stack='{ kind = "dense", embedder = { kind = "counting" } }')
    assert last(check(lab)).state == "answers"
    assert last(check(lab)).state == "answers"
    assert sum(asked) == 10
    assert list(lab.space.cache.glob("embeddings/*/*.rows"))


def test_describe_prints_parameters_and_page() -> None:
    """With the default of each, and where more stands."""
    done = CliRunner().invoke(command, ["describe", "bm25"], catch_exceptions=False, standalone_mode=False)
    assert 'method     default "lucene"; one of lucene, robertson, atire, bm25l, bm25+' in done.output
    assert "docs/reference/stacks/bm25.md" in done.output
    told = json.loads(CliRunner().invoke(command, ["describe", "dense", "--json"]).stdout)
    assert told["parts"] == {"embedder": {"kind": "minilm-l6-v2-int8"}}
    assert told["parameters"] == []
    with pytest.raises(InputError, match="there is no stack 'bm52'; did you mean 'bm25'"):
        CliRunner().invoke(command, ["describe", "bm52"], catch_exceptions=False, standalone_mode=False)
