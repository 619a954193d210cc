"""A run as one ZIP file: what ordinary programs write is read, and what is written here ordinary programs read."""

from __future__ import annotations

import io
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ragassay.errors import InputError
from ragassay.manifest.bundle import read_bundle, write_bundle
from ragassay.manifest.files import BESIDE, CONFIG, MAX_BYTES, MAX_TOTAL_BYTES
from ragassay.testing.signed_run import signed_run

RUN = signed_run()


class Pipe(io.RawIOBase):
    """A stream that cannot go back, such as a pipe or a socket."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        """It is written to."""
        return True

    def write(self, data: object) -> int:
        """Keep what is written."""
        taken = bytes(data)  # type: ignore[call-overload]
        self.data += taken
        return len(taken)


def accepted(data: bytes) -> bool:
    """Tell whether the bundle gives exactly the run."""
    read = read_bundle(data)
    return read.problems == () and read.files == RUN


def zipped(stream: object, compression: int) -> None:
    """Write the run with the standard library."""
    with zipfile.ZipFile(stream, "w", compression) as archive:  # type: ignore[call-overload]
        for name, content in RUN.items():
            archive.writestr(name, content)


def test_what_is_written_reads_back() -> None:
    """The files come back as they were, in one fixed order, and writing twice gives the same bytes."""
    data = write_bundle(RUN)
    assert accepted(data)
    assert data == write_bundle(dict(reversed(RUN.items())))
    assert list(read_bundle(data).files) == [name for name in MAX_BYTES if name in RUN]


def test_everything_that_may_stand_beside_a_run_is_carried() -> None:
    """Announcement, proofs and registry are members like the others; a file without bytes too."""
    files = {**RUN, **{name: name.encode() for name in BESIDE}, CONFIG: b""}
    read = read_bundle(write_bundle(files))
    assert (read.files, read.problems) == (files, ())


def test_nothing_is_a_bundle_of_nothing() -> None:
    """A ZIP file without members is read as no files: the verifier then misses them."""
    assert read_bundle(write_bundle({})).files == {}
    assert read_bundle(write_bundle({})).problems == ()


def test_nothing_of_the_machine_stands_in_a_bundle() -> None:
    """Each member is a plain file of mode 0644, dated 1 January 1980, without extra fields or comments."""
    with zipfile.ZipFile(io.BytesIO(write_bundle(RUN))) as archive:
        assert archive.testzip() is None
        for info in archive.infolist():
            assert archive.read(info) == RUN[info.filename]
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            assert stat.S_IFMT(info.external_attr >> 16) == stat.S_IFREG
            assert stat.S_IMODE(info.external_attr >> 16) == 0o644
            assert (info.extra, info.comment, info.flag_bits) == (b"", b"", 0)


def test_only_files_of_a_run_are_bundled() -> None:
    """A private key, a note, or a file over its cap is an input error that names it."""
    with pytest.raises(InputError, match=r"'run\.pem' is no file of a run"):
        write_bundle({**RUN, "run.pem": b"secret"})
    with pytest.raises(InputError, match=r"config\.json has 4194305 bytes; 4194304 are allowed"):
        write_bundle({CONFIG: bytes(MAX_BYTES[CONFIG] + 1)})
    assert sum(MAX_BYTES.values()) > MAX_TOTAL_BYTES


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_of_the_standard_library_is_read(compression: int) -> None:
    """`zipfile` writes what is accepted, to a file or to a stream with the sizes after the data."""
    file, pipe = io.BytesIO(), Pipe()
    zipped(file, compression)
    zipped(pipe, compression)
    assert accepted(file.getvalue())
    assert accepted(bytes(pipe.data))
    assert bytes(pipe.data) != file.getvalue()


def test_a_zip_that_was_added_to_is_read() -> None:
    """Members that were added later stand behind the first ones."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("run.dsse.json", RUN["run.dsse.json"])
    for name in sorted(RUN.keys() - {"run.dsse.json"}):
        with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, RUN[name])
    assert accepted(file.getvalue())


def test_python_from_the_command_line_is_read(tmp_path: Path) -> None:
    """`python -m zipfile -c` on the files of a run folder."""
    folder = _folder(tmp_path)
    command = [sys.executable, "-m", "zipfile", "-c", "../run.zip", *RUN]
    subprocess.run(command, cwd=folder, check=True)
    assert accepted((tmp_path / "run.zip").read_bytes())


@pytest.mark.skipif(shutil.which("zip") is None, reason="needs Info-ZIP's zip")
@pytest.mark.parametrize("options", [[], ["-X"], ["-0"], ["-9"], ["-1"], ["-D"]])
def test_a_zip_of_info_zip_is_read(tmp_path: Path, options: list[str]) -> None:
    """`zip` writes times and owners into extra fields; they are passed over."""
    subprocess.run(["zip", "-q", *options, "../run.zip", *RUN], cwd=_folder(tmp_path), check=True)
    assert accepted((tmp_path / "run.zip").read_bytes())


@pytest.mark.skipif(shutil.which("zip") is None, reason="needs Info-ZIP's zip")
def test_a_zip_through_a_pipe_is_read(tmp_path: Path) -> None:
    """`zip - files | …` cannot go back and writes descriptors, as archivers with a graphical face do."""
    done = subprocess.run(["zip", "-q", "-", *RUN], cwd=_folder(tmp_path), check=True, stdout=subprocess.PIPE)
    assert accepted(done.stdout)


@pytest.mark.skipif(shutil.which("zip") is None, reason="needs Info-ZIP's zip")
@pytest.mark.parametrize(("options", "code"), [(["-r"], "BUNDLE_NAME"), (["-rD"], "BUNDLE_NAME")])
def test_a_zip_of_the_folder_is_told_what_to_do(tmp_path: Path, options: list[str], code: str) -> None:
    """One common folder is one sentence and not one problem per member."""
    _folder(tmp_path)
    subprocess.run(["zip", "-q", *options, "run.zip", "run"], cwd=tmp_path, check=True)
    read = read_bundle((tmp_path / "run.zip").read_bytes())
    assert [problem.code for problem in read.problems] == [code]
    assert "zip the files themselves, or use `ragassay export bundle`" in str(read.problems[0])


@pytest.mark.skipif(shutil.which("zip") is None, reason="needs Info-ZIP's zip")
@pytest.mark.parametrize(
    ("options", "code"), [(["-P", "x"], "BUNDLE_DAMAGED"), (["-y"], "BUNDLE_LINK"), (["-z"], "BUNDLE_DAMAGED")]
)
def test_a_zip_that_holds_more_than_files_is_refused(tmp_path: Path, options: list[str], code: str) -> None:
    """A password, a symbolic link kept as one, and a comment are refused with their codes."""
    folder = _folder(tmp_path)
    (folder / "config.json").rename(tmp_path / "elsewhere")
    (folder / "config.json").symlink_to(tmp_path / "elsewhere")
    subprocess.run(["zip", "-q", *options, "../run.zip", *RUN], cwd=folder, check=True, input=b"a comment\n")
    assert {p.code for p in read_bundle((tmp_path / "run.zip").read_bytes()).problems} == {code}


@pytest.mark.skipif(shutil.which("unzip") is None, reason="needs Info-ZIP's unzip")
def test_info_zip_finds_nothing_wrong_with_ours(tmp_path: Path) -> None:
    """`unzip -t` tests what is written here without a warning."""
    (tmp_path / "run.zip").write_bytes(write_bundle(RUN))
    done = subprocess.run(["unzip", "-tq", "run.zip"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("No errors detected")
    assert done.stderr == ""


def test_an_unknown_name_is_kept_without_its_bytes() -> None:
    """As in a folder, the verifier refuses it by its name, and its bytes are not inflated."""
    file = io.BytesIO()
    zipped(file, zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("notes.txt", b"x" * 1000)
        archive.writestr("größe.txt", b"x")
        archive.writestr("\ufeffrun.dsse.json", b"x")
    read = read_bundle(file.getvalue())
    assert read.problems == ()
    assert read.files == {**RUN, "notes.txt": b"", "größe.txt": b"", "\ufeffrun.dsse.json": b""}


def _folder(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    for name, content in RUN.items():
        (folder / name).write_bytes(content)
    return folder
