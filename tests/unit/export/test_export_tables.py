"""Items as CSV and Parquet: nothing missing becomes 0, nothing is executed, and every text comes back."""

from __future__ import annotations

import csv
import errno
import io
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from export_lab import Search, retrieved, source_of
from hypothesis import given
from hypothesis import strategies as st

from ragassay.cli.export import command
from ragassay.errors import InputError, VerifyError
from ragassay.export import parquet
from ragassay.export.csv_file import harmless, quoted, write_csv
from ragassay.export.out import new_file, new_folder
from ragassay.export.table import COLUMNS
from ragassay.export.trec import write_trec
from ragassay.manifest.redaction import Withholding
from ragassay.testing.redacted_run import Redacting, redact
from ragassay.testing.signed_run import signed_run

DOCS = Path(__file__).resolve().parents[3] / "docs"
NASTY = '=HYPERLINK("http://x.example";"a, b")\r\n\0 @x '


def _rows(*runs: dict[str, bytes], raw: bool = False) -> list[dict[str, str]]:
    file = io.BytesIO()
    write_csv(source_of(*runs), file, raw=raw)
    return list(csv.DictReader(io.StringIO(file.getvalue().decode(), newline="")))


def test_a_missing_score_is_an_empty_field() -> None:
    """A failed item has neither score nor counts, and says why; a wrong one has 0.25."""
    first, failed, wrong = _rows(signed_run(failed=(1,)))
    assert (first["score"], failed["score"], wrong["score"]) == ("1.0", "", "0.25")
    assert (failed["supports"], failed["answer"], failed["status"]) == ("", "", "retrieval_failed")
    assert (failed["failure_kind"], failed["failure_message"]) == ("stack", "the index is down")
    assert json.loads(first["contexts"]) == ["Service 1 listens on port 8001 over TCP."]


@pytest.mark.parametrize("raw", [False, True])
def test_no_cell_begins_like_a_formula_and_every_text_comes_back(raw: bool) -> None:
    """An answer that a spreadsheet would execute gets an apostrophe in front; --raw leaves it as it is."""
    (row,) = _rows(retrieved([Search(answer=NASTY, delivered=(("-1", "=1+1", "-2.5"),))]), raw=raw)
    answer = row["answer"] if raw else row["answer"].removeprefix("'")
    assert raw or row["answer"].startswith("'=")
    assert answer == f"{NASTY}port 8001 over TCP".replace("\0", "␀")
    assert json.loads(row["chunk_scores"]) == [-2.5]


@given(st.text())
def test_any_text_is_one_field_and_comes_back(text: str) -> None:
    """Whatever a text holds, a reader of RFC 4180 gets it back, but for U+0000."""
    (read,) = csv.reader(io.StringIO(f"a,{quoted(harmless(text))},b\r\n", newline=""))
    assert len(read) == 3
    assert read[1].removeprefix("'" if read[1].startswith("'") else "") == text.replace("\0", "␀")
    assert not read[1].lstrip().startswith(("=", "+", "-", "@"))


def test_two_runs_stand_in_one_file_and_a_refused_one_in_none() -> None:
    """Each run has its lines; a changed one is listed, and alone it is an error."""
    changed = {**signed_run(), "outputs.jsonl": b""}
    rows = _rows(changed, retrieved([Search()] * 2, number=1), retrieved([Search()], number=2, row="dense"))
    assert [(row["row"], row["question_id"]) for row in rows] == [
        ("bm25", "q-001"),
        ("bm25", "q-002"),
        ("dense", "q-001"),
    ]
    with pytest.raises(VerifyError):
        _rows(changed)


def test_a_withheld_answer_is_missing_and_named() -> None:
    """It is an empty field, not the words that stand in its place."""
    withhold = (Withholding(id="q-001", field="answer", reason="it names a person"),)
    rows = _rows(dict(redact(Redacting(withhold=withhold)).files))
    assert (rows[0]["answer"], rows[0]["withheld"], rows[0]["redacted"]) == ("", '["answer"]', "true")
    assert rows[0]["score"] == "1.0"


def test_parquet_holds_what_csv_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same columns and values with types of their own, over several row groups."""
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(parquet, "GROUP_ROWS", 4)
    runs = [signed_run(failed=(1,)), retrieved([Search(delivered=(("a", "port 80 is open", "2"),))] * 7, number=2)]
    with (tmp_path / "x.parquet").open("wb") as file:
        assert parquet.write_parquet(source_of(*runs), file) == 10
    read = pq.ParquetFile(tmp_path / "x.parquet")
    assert read.metadata.num_row_groups == 3
    table = read.read()
    assert table.column_names == [column.name for column in COLUMNS]
    rows = table.to_pylist()
    assert [row["score"] for row in rows[:3]] == [1.0, None, 0.25]
    assert rows[0]["claims"][0]["verdict"] == "SUPPORTS"
    for row, line in zip(rows, _rows(*runs), strict=True):
        assert row["question_id"] == line["question_id"]
        assert row["contexts"] == json.loads(line["contexts"])
    about = json.loads(read.metadata.metadata[b"ragassay"])
    assert len(about["runs"]) == 2
    assert about["leftOut"] == []


def test_every_column_stands_on_the_page() -> None:
    """The page names each column with its meaning."""
    page = (DOCS / "reference/verbs/export/csv.md").read_text(encoding="utf-8")
    for column in COLUMNS:
        assert f"| `{column.name}` | " in page
        assert f"| {column.meaning} |" in page


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    """An error in the middle leaves the folder as it was, and what is there is replaced only when told so."""
    place = tmp_path / "x.csv"
    with pytest.raises(VerifyError), new_file(place, force=False) as file:
        write_csv(source_of({**signed_run(), "outputs.jsonl": b""}), file)
    assert list(tmp_path.iterdir()) == []
    with new_file(place, force=False) as file:
        file.write(b"old")
    with pytest.raises(VerifyError), new_file(place, force=True) as file:
        write_csv(source_of({**signed_run(), "outputs.jsonl": b""}), file)
    assert place.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def _fill(opened: AbstractContextManager[object]) -> None:
    with opened as place:
        if isinstance(place, Path):
            (place / "a").write_bytes(b"x")


@pytest.mark.parametrize("opened", [new_file, new_folder])
def test_a_full_disk_is_one_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Callable[..., AbstractContextManager[object]]
) -> None:
    """Where the bytes do not reach the disk nothing stands at the place, and nothing beside it."""

    def full(_file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        _fill(opened(tmp_path / "out", force=False))
    assert list(tmp_path.iterdir()) == []


def test_only_an_earlier_export_is_replaced(tmp_path: Path) -> None:
    """--force replaces a folder that an export made, and never another."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_bytes(b"mine")
    with pytest.raises(InputError, match="no earlier export"), new_folder(docs, force=True):
        pass
    assert (docs / "a.md").read_bytes() == b"mine"
    out = tmp_path / "trec"
    for count in (1, 2):
        with new_folder(out, force=count == 2) as folder:
            write_trec(source_of(*(retrieved([Search()], number=n) for n in range(1, count + 1))), folder)
        assert len(list(out.glob("*.run"))) == count
    with pytest.raises(InputError, match="--force"), new_folder(out, force=False):
        pass


def test_the_verbs_write_from_a_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each verb exports every run of the workspace; a changed run is named and makes the exit code 1."""
    from click.testing import CliRunner

    monkeypatch.chdir(tmp_path)
    for number, files in enumerate([signed_run(run_id=f"{n:032x}") for n in (1, 2)], 1):
        folder = tmp_path / ".ragassay" / "runs" / f"{number:032x}"
        folder.mkdir(parents=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
    run = CliRunner().invoke
    assert run(command, ["csv"]).output.endswith("2 runs, 6 items\n")
    again = run(command, ["csv"])
    assert again.exception is not None
    assert "is there already" in str(again.exception)
    (folder / "outputs.jsonl").write_bytes(b"\n")
    found = run(command, ["csv", "--force", "--json"])
    assert found.exit_code == 1
    said = json.loads(found.stdout)
    assert (said["runs"], said["items"], [one["refused"] for one in said["leftOut"]]) == (1, 3, [True])
    for words in (["junit", "--min-score", "0.5"], ["trec"], ["csv", "--out", "one.csv", "0" * 31 + "1"]):
        assert run(command, words).exit_code == (0 if "one.csv" in words else 1), words
