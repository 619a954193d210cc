"""Reading a run folder under caps."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.manifest import is_run_folder, read_run
from ragassay.manifest.files import MAX_BYTES, MAX_MEMBERS
from ragassay.testing.signed_run import signed_run


def _write(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def _codes(folder: Path) -> list[str]:
    return [problem.code for problem in read_run(folder).problems]


def test_a_run_folder_reads_back(tmp_path: Path) -> None:
    """The five files come back as they were written."""
    folder = _write(tmp_path / "run", signed_run())
    read = read_run(folder)
    assert read.files == signed_run()
    assert read.problems == ()


def test_any_file_of_a_run_makes_a_run_folder(tmp_path: Path) -> None:
    """A run whose manifest was taken away is still a run and not an empty folder."""
    assert not is_run_folder(tmp_path)
    (tmp_path / "outputs.jsonl").write_bytes(b"")
    assert is_run_folder(tmp_path)
    assert not is_run_folder(tmp_path / "absent")


def test_links_and_folders_inside_are_not_followed(tmp_path: Path) -> None:
    """A link is BUNDLE_LINK even where its target is right; a folder or a pipe is BUNDLE_NAME."""
    files = signed_run()
    outside = tmp_path / "outside"
    outside.write_bytes(files.pop("config.json"))
    folder = _write(tmp_path / "run", files)
    (folder / "config.json").symlink_to(outside)
    (folder / "loop").symlink_to("loop")
    (folder / "sub").mkdir()
    os.mkfifo(folder / "pipe")
    assert sorted(_codes(folder)) == ["BUNDLE_LINK", "BUNDLE_LINK", "BUNDLE_NAME", "BUNDLE_NAME"]
    assert "config.json" not in read_run(folder).files


def test_a_file_over_its_cap_is_not_read(tmp_path: Path) -> None:
    """A sparse giant costs nothing and is BUNDLE_TOO_LARGE."""
    folder = _write(tmp_path / "run", signed_run())
    with (folder / "config.json").open("wb") as file:
        file.truncate(MAX_BYTES["config.json"] + 1)
    assert _codes(folder) == ["BUNDLE_TOO_LARGE"]


def test_too_many_members_are_not_read(tmp_path: Path) -> None:
    """Above the cap nothing is read at all."""
    folder = _write(tmp_path / "run", {f"f{i}": b"" for i in range(MAX_MEMBERS + 1)})
    assert _codes(folder) == ["BUNDLE_TOO_LARGE"]
    assert read_run(folder).files == {}


def test_an_unknown_name_is_kept_without_its_bytes(tmp_path: Path) -> None:
    """The verifier refuses the name; nobody needs what is inside."""
    folder = _write(tmp_path / "run", {**signed_run(), "notes.txt": b"x" * 100})
    assert read_run(folder).files["notes.txt"] == b""


def test_a_folder_that_is_none_is_an_input_error(tmp_path: Path) -> None:
    """A path that cannot be listed is the caller's mistake."""
    with pytest.raises(InputError, match="cannot be read"):
        read_run(tmp_path / "absent")
