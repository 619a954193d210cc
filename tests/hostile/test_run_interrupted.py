"""Runs that are killed, crowded off their disk or run against each other: nothing lost, nothing half or twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

UNIT = Path(__file__).resolve().parent.parent / "unit" / "run"
sys.path.insert(0, str(UNIT))

from run_lab import Lab, register  # noqa: E402

from ragassay.errors import InputError, StackError  # noqa: E402
from ragassay.manifest import decode_run, read_run  # noqa: E402
from ragassay.records import Hit  # noqa: E402
from ragassay.run import board_run, plan, workspace  # noqa: E402
from ragassay.run.held import held_passes  # noqa: E402
from ragassay.run.prepared import Options  # noqa: E402
from ragassay.testing import chat_replies  # noqa: E402
from ragassay.testing.chat_server import ChatServer  # noqa: E402

RAGASSAY = [sys.executable, "-m", "ragassay"]


class Killed(BaseException):
    """Stands for a SIGKILL: no handler of ours may catch it."""


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Six questions on six pages."""
    return Lab(tmp_path, 6)


def _ks(lab: Lab, row: str) -> list[int]:
    runs = [decode_run(read_run(folder).files).predicate for folder in lab.space.runs.iterdir()]
    return sorted(run.pass_.k for run in runs if run.row.name == row)


@pytest.mark.parametrize("stored", [1, 2, 3, 4, 5])
def test_a_kill_while_passes_are_planned_loses_none(lab: Lab, monkeypatch: pytest.MonkeyPatch, stored: int) -> None:
    """However many of six plans were on disk, the next run ends with three passes for each row."""
    lab.write(head="passes = 3")
    real = plan.store
    done: list[plan.PassPlan] = []

    def store(space: workspace.Workspace, one: plan.PassPlan) -> None:
        if len(done) == stored:
            raise Killed
        done.append(one)
        real(space, one)

    with monkeypatch.context() as patch:
        patch.setattr(plan, "store", store)
        with pytest.raises(Killed):
            lab.run()
    ended = lab.run()
    assert all(end.held is None for end in ended.values())
    assert (_ks(lab, "row"), _ks(lab, "no-retrieval")) == ([1, 2, 3], [1, 2, 3])


@pytest.mark.parametrize("point", ["before", "half", "renamed"])
def test_a_kill_while_a_run_is_sealed_leaves_no_half_run(lab: Lab, monkeypatch: pytest.MonkeyPatch, point: str) -> None:
    """Between journal and run folder nothing is asked again, and the run appears whole or not at all."""

    def write_folder(folder: Path, files: dict[str, bytes]) -> None:
        if point == "half":
            half = folder.with_name(f".{folder.name}.0000")
            half.mkdir(parents=True)
            (half / "outputs.jsonl").write_bytes(files["outputs.jsonl"][:10])
        if point == "renamed":
            workspace.write_folder(folder, files)
        raise Killed

    server = ChatServer(chat_replies.counter())
    with monkeypatch.context() as patch:
        patch.setattr(board_run, "write_folder", write_folder)
        with pytest.raises(Killed):
            lab.with_server(server)
    assert server.calls == 12
    before = sorted(lab.space.passes.glob("*/*/journal.jsonl"))
    texts = [path.read_bytes() for path in before]
    ended = lab.run()
    assert all(end.held is None for end in ended.values())
    assert server.calls == 12
    assert [path.read_bytes() for path in before] == texts
    runs = [path for path in lab.space.runs.iterdir() if not path.name.startswith(".")]
    assert len(runs) == 2
    assert all(decode_run(read_run(path).files).predicate.counts.scored == 6 for path in runs)


def test_a_full_run_after_a_subset_asks_every_row(lab: Lab) -> None:
    """Passes of a subset never stand for passes of the whole set, begun or ended."""
    lab.write()
    lab.run(Options(subset=2))
    first = lab.run(Options(rows=("row",)))
    assert list(first) == [("row", 1)]
    lab.status.stop = True
    second = lab.run()
    assert set(second) == {("no-retrieval", 1), ("row", 1)}
    assert all(end.held is None for end in second.values())


def test_an_open_row_beside_a_subset_hides_no_other(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one row is held open, a row that only has passes of a subset gets its own."""
    down = True

    def search(text: str, k: int, chunks: list[object]) -> list[Hit]:
        if down:
            raise StackError("down")
        return []

    lab.write(stack=register(monkeypatch, search))
    lab.run(Options(subset=2, rows=("no-retrieval",)))
    assert lab.run(Options(rows=("row",)))["row", 1].held
    both = lab.run()
    assert both["no-retrieval", 1].held is None
    assert both["row", 1].held


def test_rows_whose_names_share_a_folder_are_told_apart(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """`a/b` and `a b` have one folder of passes; an open pass of the one never counts for the other."""
    scripted = register(monkeypatch, lambda text, k, chunks: 1 / 0)
    lab.write(stack='{ kind = "bm25" }')
    path = lab.folder / "board.toml"
    text = path.read_text(encoding="utf-8").replace('name = "row"', 'name = "a b"')
    path.write_text(text + f'[[rows]]\nname = "a/b"\nstack = {scripted}\n', encoding="utf-8")
    assert lab.run(Options(rows=("a/b",)))["a/b", 1].held
    ended = lab.run()
    assert ended["a b", 1].held is None
    assert ended["a/b", 1].held
    assert set(held_passes(lab.space)) == {"a/b"}


def test_a_renamed_question_set_is_named_and_not_passed_over(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A begun pass of another benchmark stands in the way, and the message says in which field."""
    lab.write(stack=register(monkeypatch, lambda text, k, chunks: 1 / 0))
    assert lab.run()["row", 1].held
    questions = lab.folder / "questions.json"
    questions.write_text(questions.read_text(encoding="utf-8").replace('"parts"', '"pieces"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"measure\.benchmark\.id was 'parts' and is now 'pieces'"):
        lab.run()


def test_a_renamed_row_leaves_its_open_pass_named(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """An open pass whose row left the board is told by row and pass, and the row of the new name gets its own."""
    lab.write(stack=register(monkeypatch, lambda text, k, chunks: 1 / 0))
    assert lab.run()["row", 1].held
    lab.write()
    path = lab.folder / "board.toml"
    path.write_text(path.read_text(encoding="utf-8").replace('"row"', '"other"'), encoding="utf-8")
    ended = lab.run()
    assert ended["other", 1].held is None
    (line,) = plan.orphans(lab.space, {"no-retrieval", "other"})
    assert line.startswith("row 'row' is no longer on the board; its pass 1 stays open in ")


def test_passes_begun_in_one_second_are_told_apart(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill while a second set is planned, in the second in which the first was, loses none of the second set."""
    monkeypatch.setattr("ragassay.run.plan.time.time", lambda: 1_800_000_000.0)
    monkeypatch.setattr("ragassay.run.passes.time.time_ns", lambda: 1_800_000_000 * 10**9)
    lab.write(head="passes = 3")
    lab.run()
    real = plan.store
    done: list[plan.PassPlan] = []

    def store(space: workspace.Workspace, one: plan.PassPlan) -> None:
        if done:
            raise Killed
        done.append(one)
        real(space, one)

    with monkeypatch.context() as patch:
        patch.setattr(plan, "store", store)
        with pytest.raises(Killed):
            lab.run()
    lab.run()
    assert _ks(lab, done[0].row) == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"event":"failed","at":1,"q":"q-000"}', "the event 'failed' lacks 'status'"),
        (b'{"event":"answered","at":1,"q":"q-000"}', "the event 'answered' lacks 'answer'"),
        (b'{"event":"scored","at":1,"q":"q-000"}', "is no journal record"),
        (b"\x00\xff\xfe", "is no journal record"),
        (b"", "is no journal record"),
        (b"[" * 100_000, "is no journal record"),
    ],
    ids=["failed without why", "answer without text", "unknown event", "binary", "empty", "deep"],
)
def test_an_edited_journal_is_refused_by_line(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, line: bytes, said: str
) -> None:
    """A whole line that is no record stops the run with its place, and the board says that the pass is open."""
    lab.write(stack=register(monkeypatch, lambda text, k, chunks: 1 / 0))
    lab.run()
    (journal,) = lab.space.passes.glob("row/*/journal.jsonl")
    journal.write_bytes(line + b"\n" + journal.read_bytes())
    with pytest.raises(InputError, match="line 1") as caught:
        lab.run()
    assert said in str(caught.value)
    assert "cannot be read" in held_passes(lab.space)["row"]


def test_a_clock_set_back_makes_no_negative_time(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that the journal dates after those of a later process give a window that still begins before it ends."""
    down = True

    def search(text: str, k: int, chunks: list[object]) -> list[Hit]:
        if down and "part 3 " in text:
            raise StackError("down")
        return []

    lab.write(stack=register(monkeypatch, search))
    assert lab.run()["row", 1].held
    (journal,) = lab.space.passes.glob("row/*/journal.jsonl")
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    for entry in lines:
        entry["at"] += 10**9
    journal.write_text("".join(json.dumps(entry) + "\n" for entry in lines), encoding="utf-8")
    down = False
    end = lab.run()["row", 1]
    assert end.held is None
    window = decode_run(read_run(lab.space.runs / end.run_id).files).predicate.window
    assert window is not None
    assert window.start <= window.end
    times = [row.retrieval_ms for row in lab.telemetry(end).values()]
    assert all(time is None or time >= 0 for time in times)


@pytest.mark.parametrize("function", ["write_bytes", "write_folder"])
def test_a_full_disk_is_named_and_leaves_nothing_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    """A write that meets a full disk is an `InputError` with the path, and the old state stays."""

    def full(_file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    target = tmp_path / "there" / "x"
    with pytest.raises(InputError, match="No space left on device") as caught:
        getattr(workspace, function)(target, b"data" if function == "write_bytes" else {"a": b"data"})
    assert str(target) in str(caught.value)
    assert not list(target.parent.iterdir())


def test_a_stack_that_hangs_hurts_its_row_alone(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a stack that never comes back the other rows are signed in full, and the run itself ends."""
    gate = threading.Event()

    def hang(text: str, k: int, chunks: list[object]) -> list[Hit]:
        gate.wait(60)
        return []

    monkeypatch.setattr("ragassay.run.passes.STACK_ATTEMPTS", 1)
    lab.write(stack=register(monkeypatch, hang), row="timeout_s = 1")
    path = lab.folder / "board.toml"
    healthy = '[[rows]]\nname = "healthy"\nstack = { kind = "bm25" }\n'
    path.write_text(path.read_text(encoding="utf-8") + healthy, encoding="utf-8")
    began = time.monotonic()
    ended = lab.run()
    assert time.monotonic() - began < 20
    gate.set()
    assert ended["healthy", 1].held is None
    assert ended["healthy", 1].missing == {}
    assert ended["row", 1].missing == {"retrieval_failed": 6}


@pytest.mark.parametrize("words", ["\ud800 half a pair", "x" * 1_000_000, "\x1b[31m\x00"])
def test_any_words_of_a_failing_stack_can_be_recorded(lab: Lab, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    """What a stack says when it fails is journaled and sealed, cut to 2,000 characters, whatever characters it has."""

    def search(text: str, k: int, chunks: list[object]) -> list[Hit]:
        raise ValueError(words)

    lab.write(stack=register(monkeypatch, search))
    end = lab.run(Options(seal=True))["row", 1]
    rows = lab.outputs(end)
    assert {row.status for row in rows.values()} == {"retrieval_failed"}
    assert {row.score for row in rows.values()} == {None}
    assert all(row.failure is not None and 0 < len(row.failure.message) <= 2000 for row in rows.values())


def _written(lab: Lab) -> None:
    subprocess.run([*RAGASSAY, "keys", "init"], cwd=lab.folder, check=True, capture_output=True)


def _serve(latency_ms: int, log: Path) -> tuple[subprocess.Popen[str], str]:
    command = [*(sys.executable, "-m", "ragassay.testing.chat_server"), "--latency-ms", str(latency_ms)]
    process = subprocess.Popen([*command, "--log", str(log)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def _wait(log: Path, calls: int) -> None:
    deadline = time.monotonic() + 30
    while (not log.exists() or log.read_text(encoding="utf-8").count("\n") < calls) and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("signals", "code"), [([signal.SIGTERM], 3), ([signal.SIGINT, signal.SIGINT], 130), ([signal.SIGTERM] * 2, 130)]
)
def test_signals_stop_without_a_traceback(lab: Lab, signals: list[signal.Signals], code: int) -> None:
    """SIGTERM ends like Ctrl-C, after the calls under way; a second signal ends at once; both say how to go on."""
    _written(lab)
    log = lab.folder / "calls.log"
    server, address = _serve(1500 if len(signals) == 1 else 30_000, log)
    try:
        answer = f'kind = "openai"\nid = "m"\nbase_url = "{address}"\nlimits = {{ concurrency = 2 }}'
        lab.write(answer=answer)
        process = subprocess.Popen([*RAGASSAY, "run"], cwd=lab.folder, stderr=subprocess.PIPE, text=True)
        _wait(log, 2)
        for at, number in enumerate(signals):
            time.sleep(1.0 if at else 0)  # two that come before the first is looked at are one
            process.send_signal(number)
        _, said = process.communicate(timeout=30)
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=10)
    assert process.returncode == code, said
    assert "Traceback" not in said
    assert "run the same command again to continue" in said


def test_two_runs_begun_at_once_never_ask_twice(lab: Lab) -> None:
    """Of two processes on a fresh workspace one may be refused; no row ever gets passes from both."""
    _written(lab)
    lab.write(head="passes = 3")
    both = [
        subprocess.Popen([*RAGASSAY, "run"], cwd=lab.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=60)[1] for process in both]
    assert all(process.returncode in (0, 2) for process in both), said
    assert "Traceback" not in "".join(said)
    plans = list(lab.space.passes.glob("*/*/plan.json"))
    assert len(plans) in (6, 12)  # 12 where one had ended before the other planned
    subprocess.run([*RAGASSAY, "run"], cwd=lab.folder, check=True, capture_output=True)
    assert all(sorted(set(_ks(lab, row))) == [1, 2, 3] for row in ("row", "no-retrieval"))
