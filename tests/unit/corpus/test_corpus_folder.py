"""A folder is read completely: every file is a page, left out with its reason, or a problem; the counts add up."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from ragassay.corpus import Limits, read_corpus
from ragassay.errors import InputError, PluginError
from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.plugins.chunkers.tokens import TokenChunker
from ragassay.records import JSON, Chunk, Corpus, Page


def write(root: Path, files: dict[str, bytes]) -> Path:
    """Write files below `root` and return it."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def read(root: Path, limits: Limits | None = None) -> Corpus:
    """Read a folder with the default chunker."""
    return read_corpus(root, HeadingChunker(), limits=limits or Limits())


def left_out(corpus: Corpus) -> dict[str, str]:
    """Return what was left out, by path."""
    return {one["path"]: one["reason"] for one in corpus.source["leftOut"]}


def test_every_file_is_a_page_or_listed(tmp_path: Path) -> None:
    """Pages are in id order; what is left out has a reason; seen = pages + left out."""
    root = write(
        tmp_path,
        {
            "b.md": b"# B",
            "a/z.html": b"<p>z",
            "a.txt": b"a",
            "Z.RST": b"Z\n=\n",
            "x.htm": b"<p>x",
            "logo.png": b"\x89PNG",
            "README": b"text",
            ".hidden.md": b"# no",
            ".git/config.md": b"# no",
            "sub/.cache/x.md": b"# no",
        },
    )
    corpus = read(root)
    assert [page.id for page in corpus.pages] == ["Z.RST", "a.txt", "a/z.html", "b.md", "x.htm"]
    assert left_out(corpus) == {
        ".git": "hidden",
        ".hidden.md": "hidden",
        "README": "has no suffix",
        "logo.png": ".png is not a documentation format",
        "sub/.cache": "hidden",
    }
    assert corpus.source["seen"] == len(corpus.pages) + len(corpus.source["leftOut"])


def test_what_was_changed_is_recorded_by_page(tmp_path: Path) -> None:
    """Mark, line ends, front matter, charset and empty pages are all listed, and the pages kept."""
    root = write(
        tmp_path,
        {
            "bom.md": b"\xef\xbb\xbf# A",
            "crlf.md": b"# A\r\nb\r\n",
            "empty.md": b"",
            "blank.html": b"<html><body> </body></html>",
            "front.md": b"---\na: 1\n---\n# A",
            "latin.html": b"<meta charset=latin-1><p>caf\xe9",
        },
    )
    corpus = read(root)
    source = corpus.source
    assert source["byteOrderMarkDropped"] == ["bom.md"]
    assert source["lineEndsNormalised"] == ["crlf.md"]
    assert source["emptyPages"] == ["blank.html", "empty.md"]
    assert source["frontMatterDropped"] == ["front.md"]
    assert source["otherCharsets"] == {"latin.html": "cp1252"}
    assert source["pages"] == source["seen"] == len(corpus.pages) == 6
    assert {chunk.page for chunk in corpus.chunks} == {"bom.md", "crlf.md", "front.md", "latin.html"}


def test_all_problems_of_all_files_are_listed_at_once(tmp_path: Path) -> None:
    """One error names every file that cannot be read, with its offset or size."""
    root = write(tmp_path, {"a.md": b"caf\xe9", "b.md": b"x" * 101, "c.txt": b"a\0b", "good.md": b"# fine"})
    with pytest.raises(InputError) as caught:
        read(root, Limits(page_bytes=100))
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["a.md", "b.md", "c.txt"]
    assert "offset 3" in caught.value.problems[0]
    assert "101 bytes are more than the 100 allowed" in caught.value.problems[1]


def test_page_of_50_mb_is_refused_without_reading_it(tmp_path: Path) -> None:
    """A page above 16 MiB is refused by its size."""
    with (tmp_path / "big.md").open("wb") as file:
        file.truncate(50_000_000)
    with pytest.raises(InputError, match=r"big\.md: 50,000,000 bytes are more than the 16,777,216 allowed"):
        read(tmp_path)


def test_links_are_followed_to_files_inside_alone(tmp_path: Path) -> None:
    """A link out of the folder, to a folder, to nothing or to a hidden file is left out with its reason."""
    outside = write(tmp_path / "outside", {"secret.md": b"# secret"})
    root = write(tmp_path / "docs", {"real.md": b"# real", "sub/x.md": b"# x", ".h.md": b"# h"})
    (root / "inside.md").symlink_to("real.md")
    (root / "out.md").symlink_to(outside / "secret.md")
    (root / "up.md").symlink_to("../outside/secret.md")
    (root / "loop").symlink_to(".")
    (root / "self.md").symlink_to("self.md")
    (root / "gone.md").symlink_to("nowhere.md")
    (root / "hid.md").symlink_to(".h.md")
    (root / "outdir").symlink_to(outside)
    corpus = read(root)
    assert [page.id for page in corpus.pages] == ["inside.md", "real.md", "sub/x.md"]
    assert left_out(corpus) == {
        ".h.md": "hidden",
        "gone.md": "broken link",
        "hid.md": "link to a hidden file",
        "loop": "link to a folder",
        "out.md": "link out of the folder",
        "outdir": "link out of the folder",
        "self.md": "broken link",
        "up.md": "link out of the folder",
    }


def test_fifo_is_left_out_and_not_opened(tmp_path: Path) -> None:
    """A named pipe would block forever; it is no regular file."""
    write(tmp_path, {"a.md": b"# a"})
    os.mkfifo(tmp_path / "pipe.md")
    assert left_out(read(tmp_path)) == {"pipe.md": "no regular file"}


def test_names_that_cannot_be_ids_are_problems(tmp_path: Path) -> None:
    """A name that is not UTF-8 or holds a control character is named escaped, not skipped."""
    write(tmp_path, {"ok.md": b"# ok", "line\nbreak.md": b"# x"})
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_bytes(b"# x")
    with pytest.raises(InputError) as caught:
        read(tmp_path)
    assert sorted(caught.value.problems) == [
        "caf\\udce9.md: its name is not UTF-8; rename it",
        "line\\nbreak.md: its name holds a control character; rename it",
    ]


def test_ids_are_composed(tmp_path: Path) -> None:
    """A file system that decomposes letters gives the same ids; two spellings of one name are a problem."""
    decomposed = unicodedata.normalize("NFD", "é.md")
    write(tmp_path, {decomposed: b"# x"})
    assert [page.id for page in read(tmp_path).pages] == ["é.md"]
    write(tmp_path, {"é.md": b"# y"})
    with pytest.raises(InputError, match="two files have this name"):
        read(tmp_path)


def test_totals_are_capped(tmp_path: Path) -> None:
    """Too many files or bytes are refused."""
    write(tmp_path, {"a.md": b"12345", "b.md": b"12345"})
    with pytest.raises(InputError, match="more than the 9 bytes allowed in total"):
        read(tmp_path, Limits(total_bytes=9))
    with pytest.raises(InputError, match="more than the 1 files allowed"):
        read(tmp_path, Limits(entries=1))


def test_a_folder_without_pages_says_what_it_holds(tmp_path: Path) -> None:
    """No page is an error that lists what was left out."""
    write(tmp_path, {"a.pdf": b"%PDF"})
    with pytest.raises(InputError, match="holds no page") as caught:
        read(tmp_path)
    assert caught.value.problems == ("a.pdf: .pdf is read only with `pdf = true` under [corpus], or --pdf",)


def test_missing_and_wrong_sources_are_named(tmp_path: Path) -> None:
    """A source that does not exist or is no documentation is an error that says what would be."""
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "none")
    with pytest.raises(InputError, match=r"no page; pages end in \.md"):
        read(write(tmp_path, {"a.png": b"PNG"}) / "a.png")
    with pytest.raises(InputError, match="read only with `pdf = true`"):
        read(write(tmp_path, {"a.pdf": b"%PDF"}) / "a.pdf")


def test_one_page_is_a_source(tmp_path: Path) -> None:
    """A single file makes a corpus of one page."""
    corpus = read(write(tmp_path, {"guide.md": b"# G"}) / "guide.md")
    assert [page.id for page in corpus.pages] == ["guide.md"]
    assert corpus.source["kind"] == "file"


def test_unreadable_folder_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be listed is not skipped."""
    write(tmp_path, {"a.md": b"# a", "sub/b.md": b"# b"})
    real = os.scandir

    def refusing(path: Path) -> object:
        if Path(path).name == "sub":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr("ragassay.corpus.read.os.scandir", refusing)
    with pytest.raises(InputError, match="sub/: cannot be listed: Permission denied"):
        read(tmp_path)


def test_order_and_times_of_files_change_nothing(tmp_path: Path) -> None:
    """Files written in another order, with other times and modes, give the same corpus."""
    files = {f"{name}.md": f"# {name}\n\ntext".encode() for name in "badce"}
    first, second = write(tmp_path / "1" / "docs", files), write(tmp_path / "2" / "docs", dict(reversed(files.items())))
    for number, path in enumerate(second.iterdir()):
        os.utime(path, (number, number))
        path.chmod(0o600)
    assert read(first) == read(second)
    assert read(first).digest() == read(second).digest()


def test_progress_counts_every_page(tmp_path: Path) -> None:
    """Progress goes from 1 to the number of pages."""
    write(tmp_path, {f"{n}.md": b"# x" for n in range(4)})
    seen: list[tuple[int, int]] = []
    read_corpus(tmp_path, HeadingChunker(), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


class _Broken(TokenChunker):
    """Breaks one promise, named by `how`."""

    def __init__(self, how: str) -> None:
        super().__init__(max_tokens=2, overlap=0)
        self.how = how

    def split(self, page: Page) -> list[Chunk]:
        """Return chunks of which one is wrong."""
        import msgspec

        chunks = list(super().split(page))
        match self.how:
            case "gap":
                del chunks[1]
            case "end":
                del chunks[-1]
            case "nothing":
                chunks = []
            case "text":
                chunks[1] = msgspec.structs.replace(chunks[1], text="other")
            case "id":
                chunks[1] = msgspec.structs.replace(chunks[1], id=chunks[0].id)
            case "page":
                chunks[1] = msgspec.structs.replace(chunks[1], page="other.md")
        return chunks

    def describe(self) -> JSON:
        """Return a description, fractional when that is what is broken."""
        return {"kind": "broken", "share": 0.5 if self.how == "fraction" else "0.5"}


@pytest.mark.parametrize("how", ["gap", "end", "nothing", "text", "id", "page", "fraction"])
def test_a_chunker_that_breaks_its_promise_is_refused(tmp_path: Path, how: str) -> None:
    """Chunks with a gap, another text, a wrong page or a repeated id never reach a corpus."""
    write(tmp_path, {"a.md": b"one two three four five six"})
    with pytest.raises(PluginError, match="chunker"):
        read_corpus(tmp_path, _Broken(how))
