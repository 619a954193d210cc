"""Tantivy's index in the workspace's cache: built once, found again, never half of one, and refused where altered."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("tantivy", reason="pip install 'ragassay[tantivy]'")

from ragassay.errors import StackError
from ragassay.plugins.stacks.kept_folder import ABOUT
from ragassay.plugins.stacks.tantivy import Tantivy
from ragassay.plugins.stacks.tantivy.search import TantivyIndex
from ragassay.records import Chunk
from ragassay.run.build import StackBuilder
from ragassay.testing.stack_contract import corpus, ignore_progress

TEXTS = [f"word{at} river fox number{at % 7}" for at in range(60)]
QUESTIONS = ("word7 river", "number3", "word59 fox")


def build(cache: Path, texts: list[str] | None = None, progress: Any = ignore_progress, **params: Any) -> TantivyIndex:
    """Return the stack over a cache."""
    return Tantivy(**params).build(corpus(texts or TEXTS), {"cache": cache}, progress)


def told(index: TantivyIndex) -> tuple[str, bool, tuple[str, ...]]:
    """Return its name, whether it was reused, and what else lies there."""
    assert index.stored is not None
    return index.stored.name, index.stored.reused, index.stored.others


def test_an_index_is_found_again(tmp_path: Path) -> None:
    """The second build writes nothing and finds what the first one found; closing keeps it."""
    first = build(tmp_path / "deep" / "cache")
    name, reused, others = told(first)
    assert (reused, others) == (False, ())
    lists = [first.search(question, 10) for question in QUESTIONS]
    first.close()
    kept = tmp_path / "deep" / "cache" / name
    before = {one.name: one.stat().st_mtime_ns for one in kept.iterdir()}
    again = build(tmp_path / "deep" / "cache")
    assert told(again) == (name, True, ())
    assert [again.search(question, 10) for question in QUESTIONS] == lists
    assert {one.name: one.stat().st_mtime_ns for one in kept.iterdir() if one.name in before} == before
    again.close()


@pytest.mark.parametrize(
    "other", [{"texts": TEXTS[:-1]}, {"texts": TEXTS[::-1]}, {"stemmer": "english"}, {"longest_word": 40}]
)
def test_another_corpus_or_setting_has_an_index_of_its_own(tmp_path: Path, other: dict[str, Any]) -> None:
    """Under another name, and each names the other."""
    first, second = build(tmp_path), build(tmp_path, **other)
    assert not told(second)[1]
    assert told(second)[2] == (told(first)[0],)
    first.close()
    second.close()


def test_a_chunk_of_another_name_has_an_index_of_its_own(tmp_path: Path) -> None:
    """The same texts under other ids are another corpus."""
    one = build(tmp_path)
    renamed = [msgspec.structs.replace(chunk, id=f"x{chunk.id}") for chunk in corpus(TEXTS)]
    other = Tantivy().build(renamed, {"cache": tmp_path}, ignore_progress)
    assert told(one)[0] != told(other)[0]
    assert other.search("word7", 1)[0].chunk.startswith("xpage-7.md")


def test_where_an_index_lies_is_not_recorded(tmp_path: Path) -> None:
    """A description is the same with a cache and without."""
    kept, passing = build(tmp_path), Tantivy().build(corpus(TEXTS), {}, ignore_progress)
    assert kept.describe() == passing.describe()
    assert passing.stored is None
    assert kept.search("word7 river", 9) == passing.search("word7 river", 9)
    passing.close()


def test_the_runner_gives_the_workspaces_cache(tmp_path: Path) -> None:
    """The index lies in the folder of its kind."""
    builder = StackBuilder(
        corpus(TEXTS), evidence={}, cache=tmp_path, weights_cache=tmp_path, report=lambda _: ignore_progress
    )
    builder.build({"kind": "tantivy"}, "row 'words'").close()
    (kept,) = (tmp_path / "indexes" / "tantivy").glob("ragassay_*")
    assert (kept / ABOUT).is_file()


def test_a_build_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    """Not even what was written of it."""

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(tmp_path, progress=stop)
    assert [one.name for one in tmp_path.iterdir() if not one.name.endswith(".lock")] == []


KILLED = """
import os, signal, sys
from pathlib import Path
from ragassay.plugins.stacks.tantivy import Tantivy
from ragassay.testing.stack_contract import corpus

def die(done, total):
    if done >= int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

Tantivy().build(corpus([f"word{at} river" for at in range(20_001)]), {"cache": Path(sys.argv[1])}, die)
"""


@pytest.mark.parametrize("after", [10_000, 20_001])
def test_what_a_killed_build_left_is_never_searched(tmp_path: Path, after: int) -> None:
    """Kill -9 in the middle and before the index is moved: the next build is a whole one, and what was left is gone."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(after)], check=False)
    assert done.returncode == -signal.SIGKILL
    left = [one.name for one in tmp_path.iterdir()]
    assert any(name.endswith(".building") for name in left)
    assert not any(name.startswith("ragassay_") for name in left)
    index = build(tmp_path, [f"word{at} river" for at in range(20_001)])
    assert told(index)[1:] == (False, ())
    assert index.count() == 20_001
    assert index.search("word20000", 5)[0].chunk == "page-20000.md#0"
    assert not list(tmp_path.glob(".*.building"))
    index.close()


def test_what_died_is_removed_by_the_build_of_another_index_and_what_is_being_built_is_not(tmp_path: Path) -> None:
    """A corpus that changed after the kill leaves no half index behind; one under way in another process stays."""
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), "10000"], check=False)
    (dead,) = tmp_path.glob(".*.building")
    meanwhile: list[bool] = []

    def look(done: int, total: int) -> None:
        meanwhile.append(dead.exists())
        build(tmp_path, TEXTS[:9]).close()
        meanwhile.append(len(list(tmp_path.glob(".*.building"))) == 1)

    build(tmp_path, progress=look).close()
    assert meanwhile == [False, True]
    assert not list(tmp_path.glob(".*.building"))
    assert len(list(tmp_path.glob("ragassay_*"))) == 2


def test_two_builds_at_once_build_one_index(tmp_path: Path) -> None:
    """The second waits for the first, and finds it whole."""
    with ThreadPoolExecutor(4) as threads:
        indexes = list(threads.map(lambda _: build(tmp_path), range(4)))
    assert sorted(told(index)[1] for index in indexes) == [False, True, True, True]
    assert len({told(index)[0] for index in indexes}) == 1
    assert all(index.search("word7 river", 9) == indexes[0].search("word7 river", 9) for index in indexes)


def _flip(kept: Path) -> None:
    path = next(kept.glob("*.idx"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _cut(kept: Path) -> None:
    path = next(kept.glob("*.term"))
    path.write_bytes(path.read_bytes()[:-1])


def _remove(kept: Path) -> None:
    next(kept.glob("*.fast")).unlink()


def _add(kept: Path) -> None:
    (kept / "more.idx").write_bytes(b"")


def _empty(kept: Path) -> None:
    for one in kept.iterdir():
        if one.name != ABOUT:
            one.unlink()


def _meta(kept: Path) -> None:
    path = kept / "meta.json"
    path.write_bytes(path.read_bytes().replace(b'"max_doc":', b'"max_doc": '))


def _of_nothing(kept: Path) -> None:
    about = msgspec.json.decode((kept / ABOUT).read_bytes())
    (kept / ABOUT).write_bytes(msgspec.json.encode({**about, "files": {}}))


@pytest.mark.parametrize("alter", [_flip, _cut, _remove, _add, _empty, _meta, _of_nothing])
def test_an_altered_index_is_refused(tmp_path: Path, alter: Callable[[Path], None]) -> None:
    """It is never searched, the remedy is told, and following it leads to a new one."""
    index = build(tmp_path)
    before = index.search("word7 river", 9)
    index.close()
    kept = tmp_path / told(index)[0]
    alter(kept)
    with pytest.raises(StackError, match="was altered since it was built") as refused:
        build(tmp_path)
    assert f"rm -r {kept}" in str(refused.value)
    assert not refused.value.retryable
    shutil.rmtree(kept)
    again = build(tmp_path)
    assert told(again)[1] is False
    assert again.search("word7 river", 9) == before
    again.close()


@pytest.mark.parametrize("said", [None, b"", b"{}", b"[", b'{"digest":"x","facts":{},"files":{}}', b"null"])
def test_a_folder_of_something_else_is_refused(tmp_path: Path, said: bytes | None) -> None:
    """Under the index's very name: it is left as it is."""
    index = build(tmp_path)
    index.close()
    about = tmp_path / told(index)[0] / ABOUT
    about.unlink()
    if said is not None:
        about.write_bytes(said)
    there = sorted(one.name for one in about.parent.iterdir())
    with pytest.raises(StackError, match=r"holds no index of ragassay's|says that it holds something else"):
        build(tmp_path)
    assert sorted(one.name for one in about.parent.iterdir()) == there


def test_a_link_to_nowhere_in_its_place_is_refused(tmp_path: Path) -> None:
    """It is not written through."""
    index = build(tmp_path)
    index.close()
    kept = tmp_path / told(index)[0]
    shutil.rmtree(kept)
    kept.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StackError, match="holds no index of ragassay's"):
        build(tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_cache_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    """It names the folder."""
    (tmp_path / "cache").write_text("no folder", "utf-8")
    with pytest.raises(StackError, match=r"tantivy could not keep its index in '.*cache'"):
        build(tmp_path / "cache")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_cache_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """It names the folder."""
    tmp_path.chmod(0o500)
    with pytest.raises(StackError, match="tantivy could not keep its index"):
        build(tmp_path / "cache")


def test_no_chunks_leave_no_index(tmp_path: Path) -> None:
    """Nothing is written for them."""
    none: list[Chunk] = []
    index = Tantivy().build(none, {"cache": tmp_path / "cache"}, ignore_progress)
    assert (index.stored, index.count(), index.search("river", 5)) == (None, 0, [])
    assert not (tmp_path / "cache").exists()
