"""`ragassay index`: every row's index is built ahead, a failing row stops no other, and what is stale is said."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import pytest
from click.testing import CliRunner, Result
from run_lab import Lab, register, silent

from ragassay import plugins
from ragassay.cli.index import command
from ragassay.errors import InputError, StackError
from ragassay.plugins.stacks.bm25 import BM25
from ragassay.plugins.stacks.vector_index import Stored
from ragassay.records import JSON, Chunk
from ragassay.run.board_file import load_board
from ragassay.run.index import BoardIndexed, RowIndexed, index_board
from ragassay.run.index_stale import Stale, prune, stale
from ragassay.seams import Progress
from ragassay.testing import fake_embedder

WORDS = '{ kind = "counting" }'
OTHER = '{ kind = "counting", dimension = 8 }'


class Counting(fake_embedder.WordEmbedder):
    """The fake embedder, which counts the chunks that all of its kind were asked for."""

    asked: ClassVar[list[int]] = []
    fails_after: ClassVar[int | None] = None

    def embed(self, texts: Sequence[str], kind: Any) -> Any:
        """Count, and stop where a test says so."""
        if kind == "document":
            if self.fails_after is not None and sum(self.asked) + len(texts) > self.fails_after:
                raise KeyboardInterrupt
            self.asked.append(len(texts))
        return super().embed(texts, kind)


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Make a small board, and an embedder that counts."""
    monkeypatch.setattr(Counting, "asked", [])
    monkeypatch.setattr(Counting, "fails_after", None)
    monkeypatch.setattr(fake_embedder, "Counting", Counting, raising=False)
    monkeypatch.setitem(plugins.BUILT_IN["embedders"], "counting", "ragassay.testing.fake_embedder:Counting")
    return Lab(tmp_path)


def write(lab: Lab, rows: Mapping[str, str]) -> None:
    """Write a board with a control and these rows."""
    lab.write()
    path = lab.folder / "board.toml"
    head = path.read_text("utf-8").partition('[[rows]]\nname = "row"')[0]
    tables = [f'[[rows]]\nname = "{name}"\nstack = {stack}\n' for name, stack in rows.items()]
    path.write_text(head + "".join(tables), "utf-8")


def index(lab: Lab, **options: Any) -> BoardIndexed:
    """Index the lab's board."""
    given = {"keys": {}, "weights_cache": lab.folder, "report": silent, **options}
    return index_board(load_board(lab.folder / "board.toml"), lab.space, **given)


def look(lab: Lab) -> tuple[BoardIndexed, Stale]:
    """Look at what is there, without building."""
    found = index(lab, build=False)
    return found, stale_of(lab, found)


def stale_of(lab: Lab, found: BoardIndexed, *, whole: bool = True) -> Stale:
    """Return what is stale."""
    return stale(load_board(lab.folder / "board.toml"), lab.space, found, weights_cache=lab.folder, whole=whole)


def typed(lab: Lab, *words: str) -> Result:
    """Type `ragassay index` on the lab's board; errors come through as they are raised."""
    args = [str(lab.folder / "board.toml"), *words]
    return CliRunner().invoke(command, args, catch_exceptions=False, standalone_mode=False)


def dense(embedder: str = WORDS) -> str:
    """Return a row's stack."""
    return f'{{ kind = "dense", embedder = {embedder} }}'


def by_name(found: BoardIndexed) -> dict[str, RowIndexed]:
    """Return the rows by name."""
    return {one.row: one for one in found.rows}


def files(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_two_rows_that_share_an_embedder_embed_once(lab: Lab) -> None:
    """Also where one of them holds it in a stack inside; a second call embeds nothing at all."""
    inside = f'{{ kind = "hybrid", of = [ {{ kind = "bm25" }}, {dense()} ] }}'
    write(lab, {"one": dense(), "two": inside})
    rows = by_name(index(lab))
    assert sum(Counting.asked) == 10
    assert [vectors.embedded for vectors in rows["one"].vectors] == [10]
    assert [(vectors.embedded, vectors.missing) for vectors in rows["two"].vectors] == [(0, 0)]
    found = index(lab)
    assert sum(Counting.asked) == 10
    assert (found.exit_code, found.built, found.chunks) == (0, True, 10)


def test_it_needs_no_questions(lab: Lab) -> None:
    """An index is built of the corpus: the question file may come later; control and oracle have none."""
    write(lab, {"one": dense(), "oracle": '{ kind = "oracle" }'})
    (lab.folder / "questions.json").unlink()
    rows = by_name(index(lab))
    assert [rows[name].notes for name in ("no-retrieval", "oracle")] == [["it has no index"]] * 2
    assert rows["oracle"].build_ms is None


def test_an_interrupted_call_goes_on_where_it_stopped(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was embedded before Ctrl-C is kept, and how to go on is said."""
    monkeypatch.setattr("ragassay.plugins.stacks.vectors.BLOCK", 3)
    monkeypatch.setattr(Counting, "fails_after", 6)
    write(lab, {"one": dense()})
    args = [str(lab.folder / "board.toml")]
    stopped = CliRunner().invoke(command, args)
    assert stopped.exit_code == 1
    assert "is kept; run the same command again to continue" in stopped.output
    monkeypatch.setattr(Counting, "fails_after", None)
    found, _ = look(lab)
    assert [vectors.missing for vectors in by_name(found)["one"].vectors] == [4]
    row = by_name(index(lab))["one"]
    assert [vectors.embedded for vectors in row.vectors] == [4]
    assert sum(Counting.asked) == 10


def test_a_failing_row_stops_no_other(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its problem is told, and the exit code is that of a failed service."""

    def build(*_: object) -> NoReturn:
        raise StackError("the server is down", retryable=True)

    def refuse(*_: object) -> NoReturn:
        raise InputError("these chunks are too long")

    entry = register(monkeypatch, None)
    monkeypatch.setattr(sys.modules["scripted_stack"].Stack, "build", build)
    monkeypatch.setattr(BM25, "build", refuse)
    write(lab, {"down": entry, "one": dense(), "alone": '{ kind = "bm25" }'})
    found = index(lab)
    rows = by_name(found)
    assert (rows["down"].state, rows["down"].retryable, rows["down"].problem) == ("failed", True, "the server is down")
    assert rows["one"].state == "ready"
    assert rows["alone"].state == "wrong input"
    assert found.exit_code == 3
    assert index(lab, rows=["alone"]).exit_code == 2
    assert "(building again may help)" in typed(lab).output


def test_a_check_writes_nothing(lab: Lab) -> None:
    """It counts what lacks, with code 1, before and after a part of it is there."""
    write(lab, {"one": dense(), "lexical": '{ kind = "bm25" }'})
    before = files(lab.folder)
    found, stale = look(lab)
    rows = by_name(found)
    assert (rows["one"].state, rows["lexical"].state, found.exit_code) == ("incomplete", "ready", 1)
    assert [(vectors.needed, vectors.missing) for vectors in rows["one"].vectors] == [(10, 10)]
    assert (stale.stores, stale.indexes, stale.unknown) == ((), (), ())
    assert files(lab.folder) == before
    assert not lab.space.root.exists()
    index(lab)
    (lab.folder / "docs" / "page-new.md").write_text("# New\n\nA new page.\n", "utf-8")
    (segment,) = lab.space.root.rglob("*.rows")
    kept = files(lab.folder)
    assert [vectors.missing for vectors in by_name(look(lab)[0])["one"].vectors] == [1]
    assert files(lab.folder) == kept
    segment.write_bytes(segment.read_bytes()[:-1])
    assert [vectors.missing for vectors in by_name(look(lab)[0])["one"].vectors] == [11]
    assert segment.exists()


def test_a_store_that_no_row_uses_is_stale_and_can_be_removed(lab: Lab) -> None:
    """It is named with its embedder and its size; pruning leaves what rows use and whatever else lies there."""
    write(lab, {"one": dense(), "two": dense(OTHER)})
    index(lab)
    stores = lab.space.cache / "embeddings"
    (stores / "notes").mkdir()
    write(lab, {"one": dense()})
    found, stale = look(lab)
    (store,) = stale.stores
    assert store.embedder == {"kind": "words", "dimension": 8, "normalised": False}
    assert store.bytes == sum(len(data) for data in files(store.path).values()) > 0
    assert f"stale: {store.path}: words, 0.0 MB in 2 files: no row uses it" in typed(lab, "--check").output
    done = typed(lab, "--prune", "--json")
    assert json.loads(done.stdout)["freed_bytes"] == store.bytes
    assert not store.path.exists()
    assert sorted(path.name for path in stores.iterdir())[-1] == "notes"
    assert by_name(look(lab)[0])["one"].state == "ready"
    assert prune(look(lab)[1]) == 0
    assert found.exit_code == 0


def test_a_store_that_another_board_of_the_folder_uses_is_not_stale(lab: Lab) -> None:
    """Boards of a folder share its workspace; where one cannot be read, nothing is called stale."""
    write(lab, {"two": dense(OTHER)})
    index(lab)
    shutil.copy(lab.folder / "board.toml", lab.folder / "other.toml")
    (lab.folder / "pyproject.toml").write_text("[project]\n", "utf-8")
    write(lab, {"one": dense()})
    assert look(lab)[1].stores == ()
    (lab.folder / "other.toml").write_text("[[rows]]\nname = 3\n", "utf-8")
    stale = look(lab)[1]
    assert stale.stores == ()
    assert stale.unknown[0].startswith("other.toml: ")
    told = typed(lab, "--prune").output
    assert "cannot be told, and nothing is removed: other.toml" in told
    (lab.folder / "other.toml").unlink()
    assert len(look(lab)[1].stores) == 1


def test_a_row_whose_embedder_cannot_be_made_keeps_every_store(lab: Lab) -> None:
    """Which store it would use is not known."""
    write(lab, {"two": dense(OTHER)})
    index(lab)
    broken = dense('{ kind = "counting", size = 3 }')
    write(lab, {"one": broken, "more": broken})
    with pytest.raises(InputError, match=r"row 'one'\.embedder: .* 'size'"):
        index(lab)
    shutil.copy(lab.folder / "board.toml", lab.folder / "other.toml")
    write(lab, {"one": dense()})
    stale = stale_of(lab, index(lab))
    assert stale.stores == ()
    assert len(stale.unknown) == 1
    assert "size" in stale.unknown[0]
    assert stale.unknown[0].endswith("(and 1 more such rows)")


class Served:
    """A stack whose index stays on a server."""

    owns_corpus: ClassVar[bool] = False
    default_parts: ClassVar[Mapping[str, JSON]] = {}
    removal: ClassVar[str] = "curl -X DELETE {url}/{name}"
    others: ClassVar[tuple[str, ...]] = ()

    def __init__(self, name: str, url: str = "http://127.0.0.1:9") -> None:
        self.name = name

    def build(self, chunks: Sequence[Chunk], parts: Mapping[str, Any], progress: Progress) -> Served:
        """Say what is on the server."""
        self.stored = Stored(name=self.name, reused=self.name.endswith("old"), others=self.others)
        return self

    def search(self, text: str, k: int) -> list[Any]:
        """Find nothing."""
        return []

    def describe(self) -> JSON:
        """Say its name."""
        return {"kind": "served"}

    def close(self) -> None:
        """Hold nothing."""


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a board name it, with three indexes on its server."""
    monkeypatch.setattr(Served, "others", ("ragassay_a", "ragassay_b_old", "ragassay_c"))
    monkeypatch.setattr(fake_embedder, "Served", Served, raising=False)
    monkeypatch.setitem(plugins.BUILT_IN["stacks"], "served", "ragassay.testing.fake_embedder:Served")


@pytest.mark.usefixtures("served")
def test_an_index_on_a_server_that_no_row_names_is_told_and_left(lab: Lab) -> None:
    """Also of a stack inside another; what to type is said, and nothing on a server is removed."""
    inside = '{ kind = "window", of = { kind = "served", name = "ragassay_a", url = "http://127.0.0.1:9" } }'
    write(lab, {"one": inside, "two": '{ kind = "served", name = "ragassay_b_old" }'})
    found = index(lab)
    rows = by_name(found)
    assert [(kept.name, kept.reused) for kept in rows["one"].stored] == [("ragassay_a", False)]
    assert [(kept.name, kept.reused) for kept in rows["two"].stored] == [("ragassay_b_old", True)]
    (index_,) = stale_of(lab, found).indexes
    assert (index_.name, index_.removal) == ("ragassay_c", "curl -X DELETE http://127.0.0.1:9/ragassay_c")
    told = typed(lab, "--prune").output
    assert "to remove it, type: curl -X DELETE http://127.0.0.1:9/ragassay_c" in told
    assert "stored    as ragassay_b_old, whole already" in told
    write(lab, {"one": '{ kind = "served", name = "ragassay_a" }'})
    assert (
        "ragassay_c: no row of this board names it, another board may; remove it with the server" in typed(lab).output
    )


@pytest.mark.usefixtures("served")
def test_where_not_every_row_was_built_no_index_is_called_stale(lab: Lab) -> None:
    """The one that is not named may be that of the row that was left out."""
    one, two = ('{ kind = "served", name = "ragassay_' + name + '" }' for name in ("a", "c"))
    write(lab, {"one": one, "two": two})
    found = index(lab, rows=["one"])
    stale = stale_of(lab, found, whole=False)
    assert stale.indexes == ()
    assert stale.notes == ("further indexes on the servers are told only where every row was built",)


def test_wrong_input_is_told_at_once_before_anything_is_built(lab: Lab) -> None:
    """Unknown row and unknown parameter stand in one error; two options that contradict each other are one too."""
    write(lab, {"one": dense(), "two": '{ kind = "bm25", size = 3 }'})
    with pytest.raises(InputError) as caught:
        index(lab, rows=["two", "tow"])
    assert "has no row 'tow'" in str(caught.value)
    assert "unknown parameter 'size'" in str(caught.value)
    assert not lab.space.root.exists()
    with pytest.raises(InputError, match="give one of them"):
        typed(lab, "--check", "--prune")


def test_a_key_is_needed_to_build_and_not_to_look(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check asks nobody."""
    monkeypatch.delenv("LAB_KEY", raising=False)
    embedder = '{ kind = "openai", id = "m", base_url = "http://127.0.0.1:9/v1", dimension = 3, key_env = "LAB_KEY" }'
    write(lab, {"one": dense(embedder)})
    with pytest.raises(InputError, match="export LAB_KEY="):
        typed(lab)
    done = typed(lab, "--check")
    assert done.return_value == 1
    assert "openai (m): 0 of 10 were there, 10 missing" in done.output
    assert done.output.splitlines()[-1] == "1 of 2 ready; 1 incomplete; 10 pages, 10 chunks"


def test_json(lab: Lab) -> None:
    """One object, with every row and what is stale."""
    write(lab, {"one": dense()})
    told = json.loads(typed(lab, "--json", "--row", "one").stdout)
    assert [row["row"] for row in told["rows"]] == ["one"]
    assert told["rows"][0]["vectors"][0]["embedded"] == 10
    assert told["stale"] == {"stores": [], "indexes": [], "unknown": [], "notes": []}
    assert told["freed_bytes"] is None
