"""A tar archive is read in memory under caps; what is damaged or dangerous is refused by name."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import pytest

from ragassay.corpus import Limits, read_corpus
from ragassay.errors import InputError
from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.records import Corpus


def member(name: str, data: bytes = b"# x", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    """Return one member."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


def pack(
    path: Path, members: Iterable[tuple[tarfile.TarInfo, bytes]], mode: Literal["w", "w:gz", "w:bz2", "w:xz"] = "w"
) -> Path:
    """Write an archive of the members and return its path."""
    with tarfile.open(path, mode) as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    return path


def read(path: Path, limits: Limits | None = None) -> Corpus:
    """Read an archive with the default chunker."""
    return read_corpus(path, HeadingChunker(), limits=limits or Limits())


@pytest.mark.parametrize(
    ("name", "mode"),
    [("d.tar", "w"), ("d.tar.gz", "w:gz"), ("d.tgz", "w:gz"), ("d.tar.bz2", "w:bz2"), ("d.tar.xz", "w:xz")],
)
def test_each_compression_gives_the_same_pages(
    tmp_path: Path, name: str, mode: Literal["w", "w:gz", "w:bz2", "w:xz"]
) -> None:
    """Member order and compression change nothing; the archive's digest is recorded."""
    members = [member("docs/b.md", b"# B"), member("docs/a/c.html", b"<p>c"), member("docs/a.txt", b"a")]
    corpus = read(pack(tmp_path / name, members, mode))
    assert [page.id for page in corpus.pages] == ["a.txt", "a/c.html", "b.md"]
    assert corpus.source["root"] == "docs"
    assert len(corpus.source["sha256"]) == 64
    assert corpus.digest() == read(pack(tmp_path / "again.tar", members[::-1])).digest()


def test_folder_and_archive_of_it_have_the_same_digest(tmp_path: Path) -> None:
    """The one folder that holds every page is not part of an id."""
    (tmp_path / "docs" / "sub").mkdir(parents=True)
    (tmp_path / "docs" / "sub" / "a.md").write_bytes(b"# A")
    (tmp_path / "docs" / "b.md").write_bytes(b"# B")
    with tarfile.open(tmp_path / "d.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "docs", "docs")
    assert read(tmp_path / "docs").digest() == read(tmp_path / "d.tar.gz").digest()


def test_ids_are_paths_when_there_is_no_single_folder(tmp_path: Path) -> None:
    """Pages of two folders keep both names; `./` is no part of an id."""
    corpus = read(pack(tmp_path / "d.tar", [member("./a/x.md"), member("b/x.md")]))
    assert [page.id for page in corpus.pages] == ["a/x.md", "b/x.md"]
    assert corpus.source["root"] == ""


def test_members_that_are_no_pages_are_listed(tmp_path: Path) -> None:
    """Links, devices, pipes, hidden files and other formats are left out with a reason; the counts add up."""
    members = [
        member("d", type=tarfile.DIRTYPE, data=b""),
        member("d/a.md"),
        member("d/link.md", b"", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        member("d/hard.md", b"", type=tarfile.LNKTYPE, linkname="d/a.md"),
        member("d/device.md", b"", type=tarfile.CHRTYPE),
        member("d/pipe.md", b"", type=tarfile.FIFOTYPE),
        member("d/._a.md"),
        member("d/.git/x.md"),
        member("d/x.css"),
    ]
    corpus = read(pack(tmp_path / "d.tar", members))
    assert {one["path"]: one["reason"] for one in corpus.source["leftOut"]} == {
        "d/link.md": "link",
        "d/hard.md": "link",
        "d/device.md": "no regular file",
        "d/pipe.md": "no regular file",
        "d/._a.md": "hidden",
        "d/.git/x.md": "hidden",
        "d/x.css": ".css is not a documentation format",
    }
    assert corpus.source["seen"] == 8 == len(corpus.pages) + len(corpus.source["leftOut"])


@pytest.mark.parametrize("name", ["/etc/x.md", "../x.md", "a/../../x.md", "a/.."])
def test_names_that_leave_the_archive_are_refused(tmp_path: Path, name: str) -> None:
    """An absolute name or a `..` makes the archive unusable, even though nothing is unpacked."""
    with pytest.raises(InputError, match=r"an absolute name or a `\.\.`"):
        read(pack(tmp_path / "d.tar", [member("ok.md"), member(name)]))


def test_caps_are_named(tmp_path: Path) -> None:
    """Member count, member size and total size each have a cap; every large member is listed."""
    path = pack(tmp_path / "d.tar.xz", [member("a.md", b"x" * 600), member("b.md", b"y" * 700)], "w:xz")
    with pytest.raises(InputError) as caught:
        read(path, Limits(page_bytes=500))
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["a.md", "b.md"]
    with pytest.raises(InputError, match="more than the 1 members allowed"):
        read(path, Limits(entries=1))
    with pytest.raises(InputError, match="inflates to more than the 1,000 bytes allowed"):
        read(path, Limits(total_bytes=1000))


def test_a_bomb_stops_at_the_cap(tmp_path: Path) -> None:
    """A member that is left out counts too: 200 MB of zeros in a few kilobytes are not inflated to the end."""
    path = pack(tmp_path / "d.tar.xz", [member("zeros.bin", bytes(20_000_000)), member("a.md")], "w:xz")
    assert path.stat().st_size < 20_000
    with pytest.raises(InputError, match="inflates to more than"):
        read(path, Limits(total_bytes=1_000_000))


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_every_truncation_is_noticed(tmp_path: Path, mode: Literal["w", "w:gz", "w:bz2", "w:xz"]) -> None:
    """Cut anywhere before its end mark, an archive is refused: no page is silently missing."""
    path = pack(tmp_path / "d.tar", [member(f"{n}.md", b"x" * 700) for n in range(4)], mode)
    data = path.read_bytes()
    needed = 4 * (512 + 1024) + 512 if mode == "w" else len(data) - 1
    for size in sorted({*range(0, needed, 97), *range(0, needed, 512), needed - 1}):
        path.write_bytes(data[:size])
        with pytest.raises(InputError):
            read(path)


def test_archives_one_after_the_other_are_refused(tmp_path: Path) -> None:
    """What stands after the end mark would be silently missing."""
    first = pack(tmp_path / "1.tar", [member("a.md")]).read_bytes()
    second = pack(tmp_path / "2.tar", [member("b.md")]).read_bytes()
    (tmp_path / "d.tar").write_bytes(first + second)
    with pytest.raises(InputError, match="more data after its end-of-archive mark"):
        read(tmp_path / "d.tar")


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_every_damaged_byte_is_noticed(tmp_path: Path, mode: Literal["w:gz", "w:bz2", "w:xz"]) -> None:
    """A changed byte of a compressed archive gives an error or the same pages, never others."""
    path = pack(tmp_path / "d.tar", [member("a.md", b"# A\n\ntext"), member("b.md", b"# B")], mode)
    data = path.read_bytes()
    digest = read(path).digest()
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        try:
            changed = read(path)
        except InputError:
            continue
        assert changed.digest() == digest


def test_damaged_header_is_noticed(tmp_path: Path) -> None:
    """A wrong header checksum between members does not end the archive early."""
    path = pack(tmp_path / "d.tar", [member("a.md"), member("b.md"), member("c.md")])
    data = bytearray(path.read_bytes())
    data[1024] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError):
        read(path)


def test_a_name_that_stands_twice_is_refused(tmp_path: Path) -> None:
    """Which of the two is meant cannot be known."""
    with pytest.raises(InputError, match=r"a\.md: this name stands twice"):
        read(pack(tmp_path / "d.tar", [member("a.md", b"1"), member("./a.md", b"2")]))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("d.tar.zst", b"\x28\xb5\x2f\xfd" + bytes(20), "Zstandard"),
        ("d.tar", b"PK\x03\x04" + bytes(600), "ZIP"),
        ("d.tar", b"no archive at all" * 100, "cannot be read as a tar archive"),
        ("d.tar", b"", "cannot be read as a tar archive"),
        ("d.tar.gz", b"\x1f\x8bgarbage", "cannot be read as a tar archive"),
    ],
)
def test_other_formats_are_named(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    """What is no tar archive says so."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message):
        read(tmp_path / name)


def test_name_that_is_not_utf8_is_a_problem(tmp_path: Path) -> None:
    """A Latin-1 member name is named escaped."""
    with tarfile.open(tmp_path / "d.tar", "w", format=tarfile.GNU_FORMAT, encoding="latin-1") as tar:
        for info, data in [member("café.md"), member("ok.md")]:
            tar.addfile(info, io.BytesIO(data))
    with pytest.raises(InputError, match=r"caf\\udce9\.md: its name is not UTF-8"):
        read(tmp_path / "d.tar")
