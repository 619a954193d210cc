"""What may stand on the command line for runs."""

from __future__ import annotations

import io
import os
import sys
import threading
import time
from collections.abc import Iterator
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragassay.cli import sources
from ragassay.cli.sources import open_source
from ragassay.errors import InputError, PluginError
from ragassay.manifest.bundle import write_bundle
from ragassay.testing.signed_run import RUN_ID, signed_run

RUN = signed_run()
OTHER = signed_run(row="dense")


def write(folder: Path, files: dict[str, bytes]) -> Path:
    """Write a run folder."""
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def test_a_run_folder_is_one_run(tmp_path: Path) -> None:
    """It is called by its path and gives its files."""
    folder = write(tmp_path / "a", RUN)
    (source,) = open_source(str(folder))
    assert source.name == str(folder)
    assert (source.files.files, source.files.problems) == (RUN, ())


@pytest.mark.parametrize("inside", ["", "runs", ".ragassay/runs"])
def test_a_folder_of_runs_is_each_of_them(tmp_path: Path, inside: str) -> None:
    """A folder of runs, a workspace and the folder of a board give folders and bundles by name, but no hidden ones."""
    write(tmp_path / inside / "b", RUN)
    write(tmp_path / inside / ".half", {})
    (tmp_path / inside / "a.zip").write_bytes(write_bundle(OTHER))
    (tmp_path / inside / "notes.txt").write_bytes(b"")
    found = open_source(str(tmp_path))
    assert [Path(source.name).name for source in found] == ["a.zip", "b"]
    assert [source.files.files for source in found] == [OTHER, RUN]


def test_folders_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    """So many runs need not be in memory at once, and one that cannot be read does not hide the others."""
    folder = write(tmp_path / "a", RUN)
    (source,) = open_source(str(folder))
    for path in folder.iterdir():
        path.unlink()
    assert source.files.files == {}


def test_bundles_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    """Of a folder of bundles one at a time is in memory."""
    for name in ("a.zip", "b.zip"):
        (tmp_path / name).write_bytes(write_bundle(RUN))
    first, second = open_source(str(tmp_path))
    (tmp_path / "b.zip").write_bytes(write_bundle(OTHER))
    assert (first.files.files, second.files.files) == (RUN, OTHER)


def test_a_folder_of_very_many_folders(tmp_path: Path) -> None:
    """Listing them takes time that grows with their number, and not with its square."""
    for at in range(3000):
        (tmp_path / str(at)).mkdir()
    begun = time.process_time()
    assert len(open_source(str(tmp_path))) == 3000
    assert time.process_time() - begun < 2


def test_a_bundle_is_one_run(tmp_path: Path) -> None:
    """By its name, whatever the case, or by its first bytes; what is wrong with it is among its problems."""
    for name in ("run.zip", "RUN.ZIP", "run"):
        path = tmp_path / name
        path.write_bytes(write_bundle(RUN))
        (source,) = open_source(str(path))
        assert (source.name, source.files.files) == (str(path), RUN)
    (tmp_path / "run.zip").write_bytes(b"no bundle")
    (source,) = open_source(str(tmp_path / "run.zip"))
    assert [problem.code for problem in source.files.problems] == ["BUNDLE_DAMAGED"]


def test_a_giant_bundle_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One byte more than a bundle may have is enough to refuse it."""
    monkeypatch.setattr(sources, "MAX_BUNDLE_BYTES", 1000)
    monkeypatch.setattr("ragassay.manifest.bundle.MAX_BUNDLE_BYTES", 1000)
    with (tmp_path / "run.zip").open("wb") as file:
        file.truncate(1 << 40)
    (source,) = open_source(str(tmp_path / "run.zip"))
    assert [problem.code for problem in source.files.problems] == ["BUNDLE_TOO_LARGE"]


def test_standard_input_is_a_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` reads one."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(write_bundle(RUN))))
    (source,) = open_source("-")
    assert (source.name, source.files.files) == ("standard input", RUN)


def test_what_stands_for_no_run_is_a_wrong_input(tmp_path: Path) -> None:
    """Nothing there, an empty folder, one file of a run, another file, a pipe: each is told what to give."""
    folder = write(tmp_path / "a", RUN)
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_bytes(b"text")
    os.mkfifo(tmp_path / "pipe")
    for path, words in (
        (tmp_path / "absent", "does not exist"),
        (tmp_path / "empty", "holds no run"),
        (folder / "outputs.jsonl", "is one file of a run; give the folder"),
        (tmp_path / "notes.txt", "ragassay export bundle"),
        (tmp_path / "pipe", "neither a folder nor a file"),
    ):
        with pytest.raises(InputError, match=words):
            open_source(str(path))


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server of the files of a folder."""
    monkeypatch.setenv("no_proxy", "*")
    (tmp_path / "run.zip").write_bytes(write_bundle(RUN))
    (tmp_path / "board.html").write_bytes(b"<html>")
    with HTTPServer(("127.0.0.1", 0), lambda *a: Quiet(*a, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_an_address_is_a_bundle(served: str) -> None:
    """The run is called by the address without its query; a page that is no bundle is BUNDLE_DAMAGED."""
    (source,) = open_source(f"{served}/run.zip?signature=secret")
    assert (source.name, source.files.files) == (f"{served}/run.zip", RUN)
    (source,) = open_source(f"{served}/board.html")
    assert [problem.code for problem in source.files.problems] == ["BUNDLE_DAMAGED"]


def test_an_address_that_sends_too_much_is_refused_by_code(served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a bundle may have is the publisher's fault, as in a file."""
    monkeypatch.setattr(sources, "MAX_BUNDLE_BYTES", 1000)
    (source,) = open_source(f"{served}/run.zip")
    assert [problem.code for problem in source.files.problems] == ["BUNDLE_TOO_LARGE"]
    assert source.files.files == {}


def test_an_address_that_does_not_answer_is_an_error(served: str) -> None:
    """What cannot be fetched is no run, and never one without findings."""
    with pytest.raises(PluginError, match="404"):
        open_source(f"{served}/absent.zip")
    with pytest.raises(InputError, match="begins with http"):
        open_source("file:///etc/passwd")


def test_the_runs_of_a_site_are_its_bundles(tmp_path: Path) -> None:
    """Of a site each run is taken once, as the bundle beside its page; the folder is a run by itself."""
    runs = tmp_path / "site" / "runs"
    (runs / RUN_ID).mkdir(parents=True)
    for name, data in signed_run().items():
        (runs / RUN_ID / name).write_bytes(data)
    (runs / f"{RUN_ID}.html").write_text("<!doctype html>")
    (runs / f"{RUN_ID}.zip").write_bytes(write_bundle(signed_run()))
    found = open_source(str(tmp_path / "site"))
    assert [Path(source.name).name for source in found] == [f"{RUN_ID}.zip"]
    assert found[0].files.files == signed_run()
    (alone,) = open_source(str(runs / RUN_ID))
    assert alone.files.files == signed_run()
    assert alone.files.problems == ()
