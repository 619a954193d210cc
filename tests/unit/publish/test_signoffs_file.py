"""Who read what and signed what: nothing is lost, nothing holds that is no longer so."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "site"))
import site_factory as make

from ragassay.errors import InputError
from ragassay.publish.reached import PagesFile
from ragassay.publish.reading import Reading, reading_of
from ragassay.publish.signoffs import NotComplete, ReviewFile, unread
from ragassay.records.publication import Decision, Reached, Seen, SignOff
from ragassay.site.loaded import LoadedRun
from ragassay.site.runs import load_runs

BENCH = make.benchmark(4)
DECIDED = (Decision(finding="f", kind="email", action="redact", reason="", by="ann", at=1),)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace of one run of four questions."""
    make.write_row(tmp_path, "bm25", "bm25", BENCH, make.losing_first(1), passes=1)
    return tmp_path


@pytest.fixture
def run(workspace: Path) -> LoadedRun:
    """The run."""
    return load_runs(workspace)[0]


def reading(run: LoadedRun) -> Reading:
    """Return the reading of a verified run."""
    found = reading_of(run)
    assert found is not None
    return found


def read_all(review: ReviewFile, run: LoadedRun, reader: str = "ann") -> None:
    """Mark every unit of a run."""
    for unit in reading(run).units:
        review.mark(reader, unit)


def test_reading_is_kept_per_reader_in_order(tmp_path: Path) -> None:
    """Each reader has marks of their own, a mark twice is one line, and one that was taken back is not there."""
    review = ReviewFile(tmp_path)
    for unit in ("u1", "u2", "u1", "u3"):
        review.mark("ann", unit)
    review.mark("ben", "u9")
    review.unmark("ann", "u2")
    review.unmark("ann", "never")
    assert ReviewFile(tmp_path).seen("ann") == ["u1", "u3"]
    assert review.seen("ben") == ["u9"]
    assert review.seen("eve") == []
    assert len((tmp_path / "review" / "seen.jsonl").read_bytes().splitlines()) == 5
    review.mark("ann", "u2")
    assert review.seen("ann") == ["u1", "u3", "u2"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 41, "a\u202eb", "a\x00b", "a\u200bb", "\ud800"])
def test_a_name_that_cannot_be_seen_is_refused(tmp_path: Path, name: str) -> None:
    """Nothing is written under it."""
    review = ReviewFile(tmp_path)
    with pytest.raises(InputError, match="reader"):
        review.mark(name, "u")
    assert list(tmp_path.iterdir()) == []


def test_a_torn_last_line_is_not_there_and_is_cut_off(tmp_path: Path) -> None:
    """What a kill leaves of a line is no line; the next one begins where it began."""
    review = ReviewFile(tmp_path)
    review.mark("ann", "u1")
    path = tmp_path / "review" / "seen.jsonl"
    path.write_bytes(path.read_bytes() + b'{"reader":"ann","unit":"u2"')
    assert review.seen("ann") == ["u1"]
    review.mark("ann", "u3")
    assert review.seen("ann") == ["u1", "u3"]
    assert b"u2" not in path.read_bytes()


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b"\xff", b'{"reader":"ann","unit":"u","at":1,"more":2}', b"NaN"])
def test_a_line_that_is_none_is_named(tmp_path: Path, line: bytes) -> None:
    """Whole lines that cannot be read stop everything: none is passed over, none is added."""
    review = ReviewFile(tmp_path)
    review.mark("ann", "u1")
    path = tmp_path / "review" / "seen.jsonl"
    path.write_bytes(path.read_bytes() + line + b"\n")
    before = path.read_bytes()
    with pytest.raises(InputError, match="line 2"):
        review.seen("ann")
    with pytest.raises(InputError, match="line 2"):
        review.mark("ann", "u2")
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["", " ann", "ann  b", "a\u200bnn", "a\u202enn", "e\u0301", "x" * 41])
@pytest.mark.parametrize("file", ["seen.jsonl", "signoffs.jsonl", "pages.jsonl"])
def test_a_line_of_somebody_whom_no_page_names_is_named(tmp_path: Path, name: str, file: str) -> None:
    """A name that was written by hand, spelt as no reader's can be, would look like another's in print."""
    lines = {
        "seen.jsonl": Seen(reader=name, unit="u", at=1),
        "signoffs.jsonl": SignOff(run="r", manifest="m", reader=name, at=1, items=0, shown="s", decisions="d"),
        "pages.jsonl": Reached(reader=name, unit="u", page=0, form="f", at=1),
    }
    (tmp_path / "review").mkdir()
    (tmp_path / "review" / file).write_bytes(msgspec.json.encode(lines[file]) + b"\n")
    reads: dict[str, Callable[[], object]] = {
        "seen.jsonl": lambda: ReviewFile(tmp_path).seen("ann"),
        "signoffs.jsonl": ReviewFile(tmp_path).sign_offs,
        "pages.jsonl": lambda: PagesFile(tmp_path).reached("ann", "u"),
    }
    with pytest.raises(InputError, match="line 1"):
        reads[file]()


def test_a_line_too_many_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is full stays one that can be read."""
    review = ReviewFile(tmp_path)
    review.mark("ann", "u1")
    path = tmp_path / "review" / "seen.jsonl"
    monkeypatch.setattr("ragassay.manifest.append_only.MAX_BYTES", len(path.read_bytes()) + 10)
    with pytest.raises(InputError, match="would have more than"):
        review.mark("ann", "u2")
    assert review.seen("ann") == ["u1"]


def test_pages_stand_until_they_are_taken_back(tmp_path: Path) -> None:
    """For this reader and unit, in the form that was shown last; each is written once."""
    pages = PagesFile(tmp_path)
    for page, form in ((1, "f"), (1, "f"), (0, "g"), (1, "h")):
        pages.mark("ann", "u", page, form)
    pages.mark("ben", "u", 5, "f")
    assert pages.reached("ann", "u") == {0: "g", 1: "h"}
    assert len((tmp_path / "review" / "pages.jsonl").read_bytes().splitlines()) == 4
    PagesFile(tmp_path).unmark("ann", "u")
    pages.unmark("ann", "u")
    assert (pages.reached("ann", "u"), pages.reached("ben", "u")) == ({}, {5: "f"})
    assert len((tmp_path / "review" / "pages.jsonl").read_bytes().splitlines()) == 6


def test_two_processes_and_many_threads_lose_nothing(tmp_path: Path) -> None:
    """Every mark of two processes of eight threads each stands afterwards, each once."""
    code = (
        "import sys, threading; from pathlib import Path; from ragassay.publish.signoffs import ReviewFile\n"
        "def work(n):\n"
        "    for k in range(10): ReviewFile(Path(sys.argv[1])).mark('ann', f'{n % 4}-{k}')\n"
        "all = [threading.Thread(target=work, args=(n,)) for n in range(8)]\n"
        "[t.start() for t in all]; [t.join() for t in all]"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    lines = (tmp_path / "review" / "seen.jsonl").read_bytes().splitlines()
    assert sorted(msgspec.json.decode(line, type=Seen).unit for line in lines) == sorted(
        f"{n}-{k}" for n in range(4) for k in range(10)
    )


def test_what_was_not_read_cannot_be_signed(workspace: Path, run: LoadedRun) -> None:
    """While one unit is unread nothing is stored, and it is named."""
    review = ReviewFile(workspace)
    units = reading(run).units
    for unit in units[:-1]:
        review.mark("ann", unit)
    review.mark("ben", units[-1])
    with pytest.raises(NotComplete) as refused:
        review.sign(reading(run), "ann", DECIDED)
    assert refused.value.unread == (units[-1],)
    assert review.sign_offs() == []


def test_a_sign_off_holds_while_everything_is_as_it_was_signed(workspace: Path, run: LoadedRun) -> None:
    """It names manifest, rows and decisions, and holds for these."""
    review = ReviewFile(workspace)
    read_all(review, run)
    line = review.sign(reading(run), "ann", DECIDED, at=5)
    assert (line.run, line.items, line.reader, line.at) == (run.id, 4, "ann", 5)
    assert line.manifest == reading(run).manifest
    assert ReviewFile(workspace).sign_offs_that_hold(run, DECIDED) == (line,)


def test_it_holds_no_longer_when_a_decision_changed(workspace: Path, run: LoadedRun) -> None:
    """Another action, another reason, one decision more or fewer: each asks for a new sign-off."""
    review = ReviewFile(workspace)
    read_all(review, run)
    review.sign(reading(run), "ann", DECIDED)
    change = msgspec.structs.replace
    for now in (
        (),
        (change(DECIDED[0], action="allow"),),
        (change(DECIDED[0], reason="because"),),
        (*DECIDED, change(DECIDED[0], finding="g")),
    ):
        assert review.sign_offs_that_hold(run, now) == ()
    assert review.sign_offs_that_hold(run, (change(DECIDED[0], by="ben", at=99),)) != ()


def test_it_holds_no_longer_for_other_bytes(workspace: Path, run: LoadedRun) -> None:
    """A run of the same id with another manifest or other rows is another run, and a refused one has none."""
    review = ReviewFile(workspace)
    read_all(review, run)
    review.sign(reading(run), "ann", ())
    other = {**run.files, "run.dsse.json": run.files["run.dsse.json"] + b" "}
    assert review.sign_offs_that_hold(msgspec.structs.replace(run, files=other), ()) == ()
    assert review.sign_offs_that_hold(msgspec.structs.replace(run, document=None, refused="X"), ()) == ()
    assert run.document is not None
    rows = msgspec.structs.replace(run.document, outputs=run.document.outputs[::-1])
    assert review.sign_offs_that_hold(msgspec.structs.replace(run, document=rows), ()) == ()


def test_it_holds_no_longer_when_the_reading_is_taken_back(workspace: Path, run: LoadedRun) -> None:
    """Whoever takes back a unit takes back what rests on it; that of another reader stands."""
    review = ReviewFile(workspace)
    for reader in ("ann", "ben"):
        read_all(review, run, reader)
        review.sign(reading(run), reader, ())
    review.unmark("ann", reading(run).units[0])
    assert [line.reader for line in review.sign_offs_that_hold(run, ())] == ["ben"]


def test_the_last_line_of_a_reader_counts(workspace: Path, run: LoadedRun) -> None:
    """Signed again under other decisions, the later one holds and the earlier one does not."""
    review = ReviewFile(workspace)
    read_all(review, run)
    review.sign(reading(run), "ann", ())
    later = review.sign(reading(run), "ann", DECIDED)
    assert review.sign_offs_that_hold(run, DECIDED) == (later,)
    assert review.sign_offs_that_hold(run, ()) == ()


def test_several_runs_are_signed_together_or_not_at_all(workspace: Path, run: LoadedRun) -> None:
    """One unread run of two keeps both unsigned."""
    make.write_row(workspace, "dense", "dense", BENCH, make.losing_first(2), passes=1)
    runs = load_runs(workspace)
    review = ReviewFile(workspace)
    read_all(review, run)
    with pytest.raises(NotComplete):
        review.sign_all([(reading(one), ()) for one in runs], "ann")
    assert review.sign_offs() == []
    for one in runs:
        read_all(review, one)
    assert len(review.sign_all([(reading(one), ()) for one in runs], "ann")) == 2


def test_the_place_outlives_the_program(tmp_path: Path) -> None:
    """Each reader has one; a file that cannot be read is no place and no error."""
    review = ReviewFile(tmp_path)
    assert review.place("ann") is None
    review.keep_place("ann", "u7")
    review.keep_place("ben", "u1")
    review.keep_place("ann", "u8")
    assert ReviewFile(tmp_path).place("ann") == "u8"
    for path in (tmp_path / "review" / "places").iterdir():
        path.write_bytes(b"\x00")
    assert review.place("ann") is None


def test_unread_names_each_unit_once(run: LoadedRun) -> None:
    """In the rows' order, without those that were seen."""
    units = reading(run).units
    twice = msgspec.structs.replace(reading(run), units=(*units, units[0]))
    assert unread(twice, units[1:3]) == [units[0], units[3]]


def test_threads_sign_one_after_another(workspace: Path, run: LoadedRun) -> None:
    """Sign-offs of several readers at once all stand."""
    review = ReviewFile(workspace)
    names = [f"r{n}" for n in range(6)]
    for name in names:
        read_all(review, run, name)
    threads = [threading.Thread(target=review.sign, args=(reading(run), name, ())) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(line.reader for line in review.sign_offs_that_hold(run, ())) == names
