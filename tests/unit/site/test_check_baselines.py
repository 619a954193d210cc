"""What `ragassay check --vs` takes for a baseline, and what it refuses to compare with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import check_lab as lab
import msgspec
import pytest
import site_factory as make
from check_lab import first, run

from ragassay.cli.board import command as board_command
from ragassay.cli.export import command as export_command
from ragassay.errors import InputError
from ragassay.records import Benchmark
from ragassay.site.file import decode_board, encode_board

BENCH = make.benchmark(60)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A board whose first twelve questions are lost, and an earlier one that answered all but two, with its site."""
    folder = tmp_path_factory.mktemp("boards")
    now = lab.write_board(folder / "now", BENCH, first(12))
    before = lab.write_board(folder / "before", BENCH, first(2), at=make.START)
    board_command.main([str(before)], standalone_mode=False)
    return now, before


def other_board(folder: Path, bench: Benchmark, grades: make.Grades, **changes: Any) -> Path:
    """Write another board from before, with its board.json."""
    other = lab.write_board(folder / "other", bench, grades, at=make.START, **changes)
    board_command.main([str(other), "--no-site"], standalone_mode=False)
    return other


def dropped(*arguments: str | Path) -> dict[str, Any]:
    """Return the JSON of a check that has to find the drop of a sixth."""
    result = run(*arguments, "--json")
    found: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == 1
    assert found["rows"][0]["drop"]["difference"] == "-0.166667"
    assert len(found["rows"][0]["worse"]) == 10
    return found


@pytest.mark.parametrize("given", ["", "board.toml", ".ragassay", ".ragassay/runs", "site"])
def test_runs_in_every_place(folders: tuple[Path, Path], given: str) -> None:
    """A board, its file, its workspace, its runs and its site give the same verified baseline."""
    found = dropped(folders[0], "--vs", folders[1] / given)
    assert found["baseline"]["kind"] == "runs"
    assert len(found["baseline"]["runs"]) == 3
    assert found["baseline"]["signers"] == [make.SIGNER.kid]
    assert found["rows"][0]["worse"][0]["passesBefore"] == [100, 100, 100]


def test_bundles_in_a_folder(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """Bundles that are committed to a repository are a signed baseline; one that was altered is refused."""
    kept = tmp_path / "baseline"
    kept.mkdir()
    for path in (folders[1] / ".ragassay" / "runs").iterdir():
        arguments = ["bundle", str(path), "--out", str(kept / f"{path.name}.zip")]
        export_command.main(arguments, standalone_mode=False)
    assert dropped(folders[0], "--vs", kept)["baseline"]["kind"] == "runs"
    one = sorted(kept.iterdir())[0]
    one.write_bytes(one.read_bytes()[:-40])
    with pytest.raises(InputError, match="not every run of it could be verified"):
        run(folders[0], "--vs", kept)


def test_a_board_json(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """A board.json that is committed to a repository does, alone or in a folder; it is said that nobody signed it."""
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "board.json").write_bytes((folders[1] / "board.json").read_bytes())
    for given in (kept, kept / "board.json"):
        found = dropped(folders[0], "--vs", given)
        assert found["baseline"]["kind"] == "board.json"
        assert found["rows"][0]["worse"][0]["passesBefore"] is None
        assert any("not signed" in warning for warning in found["warnings"])
        assert not any("the judge's prompt" in warning for warning in found["warnings"])


def test_the_same_numbers_either_way(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """Means that do not end, in thirds of passes, come out of a board.json as they were."""
    wobbling = other_board(tmp_path, BENCH, make.losing(lambda n: n < 5))
    found = [json.loads(run(folders[0], "--vs", wobbling / one, "--json").stdout) for one in ("", "board.json")]
    drops = [{**one["rows"][0]["drop"], "seed": None} for one in found]
    assert drops[0] == drops[1]
    assert drops[0]["before"] not in ("0.933333", "1.000000")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"judge": {"kind": "llm", "id": "judge-2", "describe": {}}}, "another judge"),
        ({"judge": {"kind": "llm", "id": "judge-1", "describe": {"prompt": "stricter"}}}, "another judge"),
        ({"answer": {"kind": "openai", "id": "acme-7b", "template": {}, "describe": {"t": "1"}}}, "another answering"),
    ],
)
def test_what_is_not_of_like_with_like_is_refused(
    tmp_path: Path, folders: tuple[Path, Path], changes: Any, why: str
) -> None:
    """Another judge, also by its prompt alone, or another model: refused, with the reason.

    A board.json that holds no row which was measured alike cannot tell a judge's prompt, and says so.
    """
    other = other_board(tmp_path, BENCH, first(2), control=None, **changes)
    with pytest.raises(InputError, match=why):
        run(folders[0], "--vs", other)
    if changes.get("judge", {}).get("id") == "judge-1":
        (other / "kept.json").write_bytes((other / "board.json").read_bytes())
        assert "may have been others" in " ".join(run(folders[0], "--vs", other / "kept.json").output.split())
    else:
        with pytest.raises(InputError, match=why):
            run(folders[0], "--vs", other / "board.json")


def test_another_rubric_is_refused(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """Scores by another profile are not compared with."""
    settings = make.config("bm25", "bm25", BENCH, scorer=make.PROFILE_1, circumstance_passes=1)
    ended = [make.outcome(question, "supports", answer_kind=None) for question in BENCH.questions]
    make.write_run(tmp_path / "runs", settings, BENCH, ended)
    with pytest.raises(InputError, match="another scorer"):
        run(folders[0], "--vs", tmp_path)


def test_other_questions_are_refused(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """Another version of the set, and another set, are not compared with, from runs as from a board.json."""
    for number, bench in enumerate((make.benchmark(60, version="2.0.0"), make.benchmark(60, name="other"))):
        other = other_board(tmp_path / str(number), bench, first(2))
        for given in (other, other / "board.json"):
            with pytest.raises(InputError, match=r"another (version of the )?question set"):
                run(folders[0], "--vs", given)


def test_other_pages_are_compared_and_said(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """An edited corpus is compared with: the documentation moved, and the report says so."""
    corpus = {"digest": "d" * 64, "pages": 112, "chunks": 711, "chunker": {"kind": "heading"}, "extractor": "1"}
    other = other_board(tmp_path, BENCH, first(2), corpus=corpus)
    for given in (other, other / "board.json"):
        found = dropped(folders[0], "--vs", given)
        assert "corpus.digest" in [one["field"] for one in found["rows"][0]["changed"]]


def test_a_row_that_the_baseline_lacks(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """A new row has nothing to be compared with: said with the rows that there are."""
    make.write_row(tmp_path / ".ragassay", "dense", "dense", BENCH, first(0), at=lab.LATER)
    for given in (folders[1], folders[1] / "board.json"):
        with pytest.raises(InputError, match="has no row 'dense'; its rows are bm25 and no-retrieval"):
            run(tmp_path / ".ragassay", "--row", "dense", "--vs", given)


@pytest.mark.parametrize("kind", ["runs", "board.json"])
def test_a_baseline_without_a_score_somewhere(tmp_path: Path, folders: tuple[Path, Path], kind: str) -> None:
    """A missing answer of the baseline is an error, or taken for right where missing ones are allowed."""
    other = other_board(tmp_path, BENCH, lab.one_is("judge_failed", 50, 1, lost=2))
    given = other if kind == "runs" else other / "board.json"
    with pytest.raises(InputError, match="1 answer of the baseline has no score"):
        run(folders[0], "--vs", given)
    assert dropped(folders[0], "--vs", given, "--allow-missing")["rows"][0]["drop"]["filled"] == 1


def test_a_baseline_without_a_number(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """A row whose every run failed is nothing to compare with."""
    other = other_board(tmp_path, BENCH, first(8, "retrieval_failed"))
    for given in (other, other / "board.json"):
        with pytest.raises(InputError, match="no number to compare with"):
            run(folders[0], "--vs", given)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("nothing.json", b""),
        ("list.json", b"[]"),
        ("other.json", b'{"schema":"acme/1"}'),
        ("later.json", b'{"schema":"ragassay.board/99"}'),
        ("text.md", b"# no board"),
        ("broken.zip", b"PK\x03\x04 and nothing"),
    ],
)
def test_files_that_are_no_baseline(tmp_path: Path, folders: tuple[Path, Path], name: str, data: bytes) -> None:
    """A file that is neither a bundle nor a board.json that can be read is an input error."""
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError):
        run(folders[0], "--vs", path)


def test_places_that_are_no_baseline(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    """A place that is not there, and a folder with nothing in it, are input errors."""
    (tmp_path / "empty").mkdir()
    for name in ("nowhere", "empty"):
        with pytest.raises(InputError, match="--vs"):
            run(folders[0], "--vs", tmp_path / name)


@pytest.mark.parametrize(
    ("mean", "scored"), [("2.000000", 3), ("nan", 3), ("Infinity", 3), ("x", 3), ("0.123456", 1), (None, 3), ("1", 9)]
)
def test_a_board_json_with_a_number_that_cannot_be(
    tmp_path: Path, folders: tuple[Path, Path], mean: str | None, scored: int
) -> None:
    """A cell that is no mean of that many scores is refused, naming the question."""
    board = decode_board((folders[1] / "board.json").read_bytes())
    table = board.tables[0]
    row = next(row for row in table.rows if row.name == "bm25")
    line = table.questions[3]
    cells = tuple(
        msgspec.structs.replace(cell, mean=mean, scored=scored) if cell.row == row.key else cell for cell in line.cells
    )
    questions = tuple(msgspec.structs.replace(one, cells=cells) if one is line else one for one in table.questions)
    path = tmp_path / "changed.json"
    path.write_bytes(
        encode_board(msgspec.structs.replace(board, tables=(msgspec.structs.replace(table, questions=questions),)))
    )
    with pytest.raises(InputError, match=f"question '{line.id}'"):
        run(folders[0], "--vs", path)
