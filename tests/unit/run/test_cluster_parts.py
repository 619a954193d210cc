"""What a cluster's executor is made of: sealed keys, the gate, what is sent to machines, and what cannot be run."""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cluster_lab import Actor, ClusterLab, FakeCluster
from run_lab import Lab

from ragassay import plugins
from ragassay.errors import InputError, ModelError, PluginError, RagassayError, RunStopped, StackError
from ragassay.records import Secret
from ragassay.run.board_file import Limits, load_board
from ragassay.run.budget import Amount, Need
from ragassay.run.build import INDEXES
from ragassay.run.cluster import indexes
from ragassay.run.cluster.fitness import is_loopback, refuse_local_addresses, refuse_unfit
from ragassay.run.cluster.gate import Gate
from ragassay.run.cluster.gate_line import GateLine, LineLimiter
from ragassay.run.cluster.gate_messages import Figures, encode, read_figures
from ragassay.run.cluster.joined import joined
from ragassay.run.cluster.messages import error_of, fault_of
from ragassay.run.cluster.sealed_keys import Unsealer, sealed_for
from ragassay.run.embeddings import BLOCK
from ragassay.testing.fake_embedder import WordEmbedder

NEED = Need(Amount(10, 100), Amount(50, 500), 40)


@pytest.mark.parametrize("text", ["sk-abc", "", "käse\n\0", "\udc80 half", "x" * 100_000])
def test_keys_are_opened_by_the_worker_that_they_are_sealed_for(text: str) -> None:
    """Any text comes out as it went in, and stands in no readable form on the way."""
    worker = Unsealer()
    sealed = sealed_for(worker.public, {"SOME_KEY": Secret(text)})
    assert worker.opened(sealed)["SOME_KEY"].reveal() == text
    assert b"SOME_KEY" not in sealed


def test_nobody_else_opens_sealed_keys() -> None:
    """Another worker, and one byte that was changed or cut off, end in an error that names no key."""
    worker = Unsealer()
    sealed = sealed_for(worker.public, {"SOME_KEY": Secret("sk-secret")})
    changed = [sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :] for at in (0, 40, len(sealed) - 1)]
    for data in (*changed, sealed[:-1], sealed[:31], b""):
        with pytest.raises(PluginError, match="sealed for another") as caught:
            worker.opened(data)
        assert "sk-secret" not in str(caught.value)
    with pytest.raises(PluginError, match="sealed for another"):
        Unsealer().opened(sealed)


@pytest.mark.parametrize(
    "error",
    [
        InputError("wrong", ["a", "b"]),
        RunStopped("the key is refused"),
        PluginError("down", retryable=True),
        StackError("hangs"),
        ModelError("429", kind="rate_limited", retryable=True, retry_after_s=1.5),
    ],
)
def test_errors_travel_as_their_own_kind(error: RagassayError) -> None:
    """Kind, message, problems and what a retry depends on come back; none of it is a pickled object."""
    back = error_of(fault_of(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert {key: value for key, value in vars(back).items() if key != "args"} == vars(error)


def test_an_error_of_ours_stays_an_error_of_ours() -> None:
    """What nobody raised on purpose ends with the exit code for a fault of the program, named by its kind."""
    back = error_of(fault_of(ZeroDivisionError("oops")), "worker 1")
    assert back.exit_code == 4
    assert str(back) == "worker 1: ZeroDivisionError: oops"


def _with_gate(work: Callable[[Gate, Callable[[str], GateLine]], Awaitable[None]]) -> None:
    async def run() -> None:
        gate = Gate()

        def line(worker: str) -> GateLine:
            return GateLine(lambda number, data: gate.tell(worker, number, data), lambda: gate.wait(worker))

        await work(gate, line)

    asyncio.run(run())


def test_slots_of_a_lost_worker_come_back_and_its_calls_count() -> None:
    """What it had under way is counted by its estimate, what it waited for is forgotten, and others start."""

    async def work(gate: Gate, line: Callable[[str], GateLine]) -> None:
        await gate.begin(encode(Figures(max_microusd=10_000)))
        one, two = (LineLimiter(line(name), "model m", Limits(concurrency=2), counted=True) for name in ("1", "2"))
        for _ in range(2):
            await one.acquire(NEED)
        waiting = asyncio.ensure_future(one.acquire(NEED))
        other = asyncio.ensure_future(two.acquire(NEED))
        await asyncio.sleep(0.02)
        assert not waiting.done()
        assert not other.done()
        await gate.forget("1")
        await asyncio.wait_for(other, 5)
        figures = read_figures(await gate.figures())
        assert figures.spent == Amount(20, 200)
        assert figures.estimated_calls == 2
        waiting.cancel()
        with pytest.raises(ModelError, match="given up"):
            await gate.tell("1", 99, encode([]))

    _with_gate(work)


def test_a_call_that_is_cancelled_holds_no_slot() -> None:
    """Neither one that still waits nor one whose grant was on its way."""

    async def work(gate: Gate, line: Callable[[str], GateLine]) -> None:
        limiter = LineLimiter(line("1"), "model m", Limits(concurrency=1), counted=False)
        first = asyncio.ensure_future(limiter.acquire(None))
        await asyncio.sleep(0)
        first.cancel()  # before its grant is back
        held = await asyncio.wait_for(limiter.acquire(None), 5)
        waits = asyncio.ensure_future(limiter.acquire(None))
        await asyncio.sleep(0.02)
        waits.cancel()
        limiter.succeeded(held)
        limiter.release(None)
        again = await asyncio.wait_for(limiter.acquire(None), 5)
        assert (first.cancelled(), waits.cancelled()) == (True, True)
        assert again == held, "no episode of refusals lies between the two"

    _with_gate(work)


def test_what_is_said_is_taken_in_its_order() -> None:
    """Messages that overtake each other on the way are applied as they were numbered."""

    async def work(gate: Gate, _line: Callable[[str], GateLine]) -> None:
        held: list[tuple[int, bytes]] = []

        async def tell(number: int, data: bytes) -> bytes:
            held.append((number, data))
            return encode([])

        async def wait() -> bytes:
            await asyncio.sleep(60)
            return encode([])

        line = GateLine(tell, wait)
        limiter = LineLimiter(line, "model m", Limits(concurrency=1), counted=False)
        asking = asyncio.ensure_future(limiter.acquire(None))
        await asyncio.sleep(0.01)
        limiter.release(None)
        await asyncio.sleep(0.01)
        again = asyncio.ensure_future(limiter.acquire(None))
        await asyncio.sleep(0.01)
        for number, data in reversed(held):
            await gate.tell("1", number, data)
        assert json.loads(json.dumps(read_figures(await gate.figures()).limiters["model m"].slots)) == 1
        for task in (asking, again):
            task.cancel()

    _with_gate(work)


def test_without_the_gate_no_call_starts() -> None:
    """Where the limiter is gone calls that wait and calls to come fail, and the error says what to do."""

    async def work(_gate: Gate, _line: Callable[[str], GateLine]) -> None:
        async def gone(*_: Any) -> bytes:
            raise ConnectionError("gone")

        limiter = LineLimiter(GateLine(gone, gone), "model m", Limits(concurrency=1), counted=False)
        for _ in range(2):
            with pytest.raises(PluginError, match="the limiter of the cluster is gone"):
                await asyncio.wait_for(limiter.acquire(None), 5)

    _with_gate(work)


def test_a_spent_budget_refuses_with_the_budgets_own_words() -> None:
    """The gate's refusal travels as the error that one process raises."""

    async def work(gate: Gate, line: Callable[[str], GateLine]) -> None:
        await gate.begin(encode(Figures(max_microusd=50)))
        limiter = LineLimiter(line("1"), "model m", Limits(concurrency=2), counted=True)
        with pytest.raises(InputError, match="raise \\[budget\\] max_usd and run again"):
            await limiter.acquire(NEED)

    _with_gate(work)


def test_what_is_sent_of_a_board_holds_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all that goes to the store or to an actor only the sealed message was made from a key."""
    lab = ClusterLab(tmp_path, 5)
    lab.write(answer='kind = "reader"')
    sent: list[bytes] = []
    put, call = FakeCluster.put, Actor.call

    def noting_put(self: FakeCluster, value: Any) -> Any:
        sent.append(pickle.dumps(value))
        return put(self, value)

    def noting_call(self: Actor, name: str, given: tuple[Any, ...]) -> Any:
        sent.append(pickle.dumps([one for one in given if isinstance(one, (bytes, str, int, list, tuple, dict))]))
        return call(self, name, given)

    monkeypatch.setattr(FakeCluster, "put", noting_put)
    monkeypatch.setattr(Actor, "call", noting_call)
    asyncio.run(lab.run_async(keys={"SOME_KEY": Secret("sk-never-shown")}))
    assert len(sent) > 10
    assert not any(b"sk-never-shown" in one or b"SOME_KEY" in one for one in sent)


def test_a_corpus_is_embedded_once_whoever_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that is killed while it embeds leaves its block to others; the rows are those of one process."""
    monkeypatch.setitem(plugins.BUILT_IN["embedders"], "words", "ragassay.testing.fake_embedder:WordEmbedder")
    lab = ClusterLab(tmp_path, 4 * BLOCK)
    lab.write(stack='{ kind = "dense", embedder = { kind = "words" } }')
    asked: list[int] = []
    embed = WordEmbedder.embed

    def counting(self: WordEmbedder, texts: Any, kind: Any) -> Any:
        if kind == "document":
            asked.append(len(texts))
        return embed(self, texts, kind)

    def mortal(name: str, actor: Actor) -> None:
        async def before(method: str) -> None:
            if method == "embed" and name == "2":
                actor.kill()
                await asyncio.sleep(1)

        actor.before = before

    monkeypatch.setattr(WordEmbedder, "embed", counting)
    lab.set_up = lambda cluster: setattr(cluster, "prepare", mortal)
    ended = lab.run()
    assert sum(asked) == 4 * BLOCK
    assert any("was lost before it asked anything" in note for note in lab.status.notes)
    lab.local = True
    (lab.space.cache / "embeddings").rename(tmp_path / "there")
    again = lab.run()
    assert sum(asked) == 8 * BLOCK
    assert [lab.outputs(ended[key]).keys() for key in ended] == [lab.outputs(again[key]).keys() for key in again]
    for key in ended:
        there, here = lab.outputs(ended[key]), lab.outputs(again[key])
        assert {q: row.answer for q, row in there.items()} == {q: row.answer for q, row in here.items()}


def test_pieces_of_an_index_arrive_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files larger than a piece, empty ones and those beside the index; it is in place with the last piece alone."""
    monkeypatch.setattr(indexes, "PIECE_BYTES", 10)
    here, there = tmp_path / "here", tmp_path / "there"
    folder = here / INDEXES / "tantivy" / "ragassay_0"
    folder.mkdir(parents=True)
    (folder / "a").write_bytes(bytes(range(25)))
    (folder / "b").write_bytes(b"")
    (folder.parent / "recall-1.json").write_bytes(b"{}")
    assert indexes.lacking_indexes(there, ["tantivy/ragassay_0"]) == ["tantivy/ragassay_0"]
    pieces = indexes.pieces_of(here, "tantivy/ragassay_0")
    own = [piece for piece in pieces if "/" in piece.folder]
    for _ in range(2):  # a second try begins anew
        for piece in pieces[:-1]:
            indexes.keep_piece(there, piece, indexes.read_piece(here, piece), first=piece == own[0])
    assert indexes.lacking_indexes(there, ["tantivy/ragassay_0"])
    indexes.keep_piece(there, pieces[-1], indexes.read_piece(here, pieces[-1]), first=False)
    assert not indexes.lacking_indexes(there, ["tantivy/ragassay_0"])
    files = {p.relative_to(here): p.read_bytes() for p in here.rglob("*") if p.is_file()}
    assert files == {p.relative_to(there): p.read_bytes() for p in there.rglob("*") if p.is_file()}


class _Holding:
    """A stack over others, as far as looking for indexes is concerned."""

    def __init__(self, *inside: Any, stored: Any = None) -> None:
        self._inside = list(inside)
        self.stored = stored

    def search(self, text: str, k: int) -> list[Any]:
        """Find nothing."""
        return []

    def describe(self) -> dict[str, Any]:
        """Say nothing."""
        return {}

    def close(self) -> None:
        """Hold nothing."""


class _Stored:
    name = "ragassay_1"


def test_indexes_of_stacks_inside_stacks_are_found(tmp_path: Path) -> None:
    """Only those that a row's stacks search, by their kind's folder."""
    for name in ("tantivy/ragassay_1", "tantivy/ragassay_2", "usearch/ragassay_3"):
        (tmp_path / INDEXES / name).mkdir(parents=True)
    built = _Holding(_Holding(), _Holding(_Holding(stored=_Stored())))
    assert indexes.indexes_of(tmp_path, [built]) == ["tantivy/ragassay_1"]
    assert indexes.indexes_of(tmp_path / "absent", [built]) == []


def test_a_board_that_lies_on_one_machine_is_refused_with_every_reason(tmp_path: Path) -> None:
    """Folders, code and models beside the board are named by row and parameter, all at once."""
    lab = Lab(tmp_path, 3)
    lab.write(
        stack='{ kind = "hybrid", of = [ { kind = "bm25" }, { kind = "dense", embedder = { kind = "fastembed", '
        'path = "model" } }, { kind = "lancedb", path = "lance" } ] }',
        answer='kind = "llamacpp"\npath = "model.gguf"',
    )
    board = load_board(tmp_path / "board.toml")
    for kind in ("fastembed", "lancedb"):
        pytest.importorskip(kind)
    with pytest.raises(InputError, match="cannot be run on a cluster") as caught:
        refuse_unfit(board, board.rows)
    assert [problem.split(" lies")[0] for problem in caught.value.problems] == [
        "row 'row'.of[1].embedder: path = 'model'",
        "row 'row'.of[2]: path = 'lance'",
        f"answer: path = {str(tmp_path / 'model.gguf')!r}",
    ]


def test_code_beside_the_board_is_refused(tmp_path: Path) -> None:
    """A retriever by its import path lies in the board's folder."""
    pytest.importorskip("langchain_core")
    lab = Lab(tmp_path, 3)
    lab.write(stack='{ kind = "langchain", retriever = "mine:make" }')
    board = load_board(tmp_path / "board.toml")
    with pytest.raises(InputError, match="retriever = 'mine:make' lies on this machine alone"):
        refuse_unfit(board, board.rows)


def test_addresses_that_each_machine_takes_for_itself_are_named(tmp_path: Path) -> None:
    """The answering model's, the judge's and those inside stacks."""
    lab = Lab(tmp_path, 3)
    lab.write(
        stack='{ kind = "qdrant", url = "http://localhost:6333" }',
        answer='kind = "openai"\nid = "m"\nbase_url = "http://127.0.0.1:8000/v1"',
        judge='kind = "llm"\nmodel = { kind = "openai", id = "m", base_url = "https://judge.example/v1" }',
    )
    board = load_board(tmp_path / "board.toml")
    with pytest.raises(InputError, match="takes for itself") as caught:
        refuse_local_addresses(board, board.rows)
    assert caught.value.problems == (
        "answer is http://127.0.0.1:8000/v1",
        "row 'row'.url is http://localhost:6333",
    )


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://[::1]:8000", True),
        ("http://a.localhost/", True),
        ("localhost:9200", True),
        ("https://api.example/v1", False),
        ("10.0.0.1", False),
        (None, False),
        (7, False),
        ("", False),
    ],
)
def test_an_address_of_ones_own_is_told(address: object, own: bool) -> None:
    """By name and by number."""
    assert is_loopback(address) is own


@pytest.mark.parametrize(
    ("address", "workers", "said"),
    [
        ("ray://head:10001", None, "the Ray client is not supported"),
        ("http://head:1", None, "give auto, or HOST:PORT"),
        (" ", None, "give auto, or HOST:PORT"),
        (None, 0, "--workers must be at least 1"),
    ],
)
def test_an_address_that_is_none_is_refused_at_once(address: str | None, workers: int | None, said: str) -> None:
    """Before Ray is even imported."""
    with pytest.raises(InputError, match=said), joined(address, workers=workers):
        raise AssertionError("joined")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999999"])
def test_a_cluster_that_is_not_there_is_told_at_once(address: str) -> None:
    """Ray would try for minutes; here one connection decides."""
    with pytest.raises(PluginError, match="there is no Ray cluster at '127"), joined(address):
        raise AssertionError("joined")


def test_ray_after_usearch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """In that order Ray ends the process without a word that a person could act on."""
    monkeypatch.delitem(sys.modules, "ray")
    monkeypatch.setitem(sys.modules, "usearch", sys)
    with pytest.raises(PluginError, match="import ray first"), joined(None):
        raise AssertionError("joined")


def test_an_unknown_embedder_on_a_worker_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that says of itself something else than here leaves no vector in the store."""
    monkeypatch.setitem(plugins.BUILT_IN["embedders"], "words", "ragassay.testing.fake_embedder:WordEmbedder")
    lab = ClusterLab(tmp_path, 3 * BLOCK, workers=1)
    lab.write(stack='{ kind = "dense", embedder = { kind = "words" } }')
    told: list[int] = []
    describe = WordEmbedder.describe

    def changing(self: WordEmbedder) -> Any:
        told.append(1)
        return {**describe(self), "version": "2"} if len(told) > 1 else describe(self)

    monkeypatch.setattr(WordEmbedder, "describe", changing)
    with pytest.raises(InputError, match="is another embedder there"):
        lab.run()
    assert not list((lab.space.cache / "embeddings").glob("*/*.rows"))
