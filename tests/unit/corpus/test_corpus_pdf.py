"""PDF files are pages where they are asked for: their text page by page, what has none listed, faults named."""

from __future__ import annotations

import json
import sys
import tarfile
import zlib
from pathlib import Path

import pytest
from click.testing import CliRunner

from pdf_file import pdf_file
from ragassay.cli import root
from ragassay.cli.corpus import command
from ragassay.corpus import Limits, load_corpus, read_corpus, reads_pdf, store_corpus
from ragassay.errors import InputError, PluginError
from ragassay.plugins.chunkers.heading import HeadingChunker
from ragassay.records import Corpus

MANUAL = pdf_file(["First page\nof (the) manual.", "", "Third page: exit code 3."], title="The  manual")


def read(source: Path, *, pdf: bool = True, limits: Limits | None = None) -> Corpus:
    """Read a source, PDF files included."""
    return read_corpus(source, HeadingChunker(), pdf=pdf, limits=limits or Limits())


def folder(path: Path, **files: bytes) -> Path:
    """Write files, `__` in a name for the dot."""
    path.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (path / name.replace("__", ".")).write_bytes(data)
    return path


def test_the_text_stands_page_by_page(tmp_path: Path) -> None:
    """Lines keep their breaks, pages have a blank line between them, the title is the document's."""
    corpus = read(folder(tmp_path, m__pdf=MANUAL))
    page = corpus.pages[0]
    assert (page.id, page.format, page.title) == ("m.pdf", "pdf", "The manual")
    assert page.text == "First page\nof (the) manual.\n\nThird page: exit code 3."
    assert load_corpus(store_corpus(corpus, tmp_path / "corpora")) == corpus


def test_the_extractor_is_another_only_where_a_pdf_is(tmp_path: Path) -> None:
    """Asking for PDF files changes no digest of a corpus without any."""
    plain = folder(tmp_path / "plain", a__md=b"# A")
    assert read(plain) == read(plain, pdf=False)
    mixed = read(folder(tmp_path / "mixed", a__md=b"# A", m__pdf=MANUAL))
    assert (read(plain).extractor, mixed.extractor) == ("blocks/2", "blocks/2+pdfium/1")
    assert (reads_pdf(read(plain).extractor), reads_pdf(mixed.extractor)) == (False, True)


def test_without_asking_they_are_left_out_with_a_hint(tmp_path: Path) -> None:
    """A PDF file is listed with the key that would read it."""
    corpus = read(folder(tmp_path, a__md=b"# A", m__pdf=MANUAL), pdf=False)
    assert corpus.source["leftOut"] == [
        {"path": "m.pdf", "reason": ".pdf is read only with `pdf = true` under [corpus], or --pdf"}
    ]


def test_archives_and_single_files(tmp_path: Path) -> None:
    """A PDF in an archive, or given alone, is read in the same way."""
    source = folder(tmp_path / "docs", m__pdf=MANUAL)
    with tarfile.open(tmp_path / "docs.tar", "w") as tar:
        tar.add(source, "docs")
    assert read(tmp_path / "docs.tar").digest() == read(source).digest() == read(source / "m.pdf").digest()


def test_pictures_without_text_are_listed_as_empty(tmp_path: Path) -> None:
    """A PDF of pictures is a page without text and without chunks, and is named."""
    corpus = read(folder(tmp_path, a__md=b"# A", scan__pdf=pdf_file(["", ""])))
    assert corpus.source["emptyPages"] == ["scan.pdf"]
    assert {chunk.page for chunk in corpus.chunks} == {"a.md"}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (pdf_file(["secret"], encrypted=True), "it is encrypted"),
        (MANUAL[:200], "it is damaged, or no PDF"),
        (b"", "it is damaged, or no PDF"),
        (b"<html>", "it is damaged, or no PDF"),
        (MANUAL.replace(b"/Count 3", b"/Count 9"), "its page 4 cannot be read"),
    ],
)
def test_faults_are_errors_with_the_files_name(tmp_path: Path, data: bytes, said: str) -> None:
    """An encrypted or damaged file is refused by name, together with all others."""
    source = folder(tmp_path, a__pdf=data, b__md=b"\xff")
    with pytest.raises(InputError) as caught:
        read(source)
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["a.pdf", "b.md"]
    assert f"a.pdf: {said}" in caught.value.problems[0]


def test_limits(tmp_path: Path) -> None:
    """Too many pages, and more text than a page may have, are refused; nothing is cut."""
    source = folder(tmp_path, a__pdf=MANUAL)
    with pytest.raises(InputError, match="3 pages are more than the 2 allowed for one PDF"):
        read(source, limits=Limits(pdf_pages=2))
    inflating = folder(tmp_path / "big", a__pdf=pdf_file(["x" * 300] * 20))
    size = (inflating / "a.pdf").stat().st_size
    with pytest.raises(InputError, match="bytes are more than"):
        read(inflating, limits=Limits(page_bytes=size - 1))
    assert len(read(inflating, limits=Limits(page_bytes=size)).pages) == 1


def test_thousands_of_pages_are_refused_before_they_are_read(tmp_path: Path) -> None:
    """The number of pages is looked at first."""
    with pytest.raises(InputError, match="5,001 pages are more than the 5,000"):
        read(folder(tmp_path, a__pdf=pdf_file([""] * 5001)))


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else of a corpus needs it."""
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    source = folder(tmp_path, a__md=b"# A")
    assert read(source).pages
    with pytest.raises(PluginError, match=r"pip install 'ragassay\[pdf\]'"):
        read(folder(tmp_path, m__pdf=MANUAL))


def test_the_verb_and_the_board_ask_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--pdf`, or `pdf = true` of a board."""
    monkeypatch.chdir(tmp_path)
    folder(tmp_path / "docs", a__md=b"# A", m__pdf=MANUAL)
    board = tmp_path / "board.toml"
    for text, options in (("pdf = true", []), ("", ["--pdf"])):
        board.write_text(f'[corpus]\npath = "docs"\n{text}\n')
        result = CliRunner().invoke(command, ["build", "board.toml", *options])
        assert result.output.startswith("pages     2"), result.output
    assert CliRunner().invoke(command, ["build", "docs"]).output.startswith("pages     1")


BOARD = """name = "B"
[corpus]
path = "docs"
pdf = true
[benchmark]
file = "questions.json"
[answer]
kind = "reader"
[judge]
kind = "literal"
[[rows]]
name = "none"
stack = { kind = "none" }
"""


def test_questions_of_a_board_are_looked_up_in_its_pdf_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Evidence across a line break of a PDF file is found by a fold; `--corpus` alone reads none."""
    monkeypatch.chdir(tmp_path)
    folder(tmp_path / "docs", a__md=b"# A", m__pdf=MANUAL)
    (tmp_path / "board.toml").write_text(BOARD)
    sample = {"id": "q", "page": "m.pdf", "input": "What is it?", "target": "x", "evidence": "page of (the) manual."}
    (tmp_path / "questions.json").write_text(json.dumps({"name": "S", "samples": [sample]}))
    root.main(["questions", "check", "board.toml"], standalone_mode=False)
    assert "in 2 pages: 0 exact, 1 folded, 0 missing" in capsys.readouterr().out
    root.main(["questions", "check", "board.toml", "--corpus", "docs"], standalone_mode=False)
    assert "in 1 page: 0 exact, 0 folded, 1 missing" in capsys.readouterr().out


def test_a_pdf_that_takes_the_memory_of_the_machine_is_refused_by_name(tmp_path: Path) -> None:
    """A megabyte that inflates to gigabytes ends the process that reads it, and nothing else; a good file is read."""
    bomb = pdf_file(["x"]).replace(b"stream\n", b"stream\n", 1)
    squeezed = zlib.compressobj(9)
    data = b"".join([*(squeezed.compress(bytes(b" " * (1 << 20))) for _ in range(600)), squeezed.flush()])
    head, _, rest = bomb.partition(b"stream\n")
    start = head.rindex(b"<<")
    bomb = head[:start] + b"<</Filter/FlateDecode/Length %d>>stream\n" % len(data) + data
    bomb += b"\nendstream" + rest.partition(b"endstream")[2]
    source = folder(tmp_path, m__pdf=MANUAL, bomb__pdf=bomb)
    with pytest.raises(InputError) as caught:
        read(source, limits=Limits(pdf_memory=400 * 1024 * 1024))
    assert len(caught.value.problems) == 1
    assert caught.value.problems[0].startswith("bomb.pdf: it takes more than the 419,430,400 bytes of memory allowed")


def test_a_pdf_that_takes_for_ever_is_refused_by_name(tmp_path: Path) -> None:
    """The time for one file is a limit too."""
    with pytest.raises(InputError) as caught:
        read(folder(tmp_path, m__pdf=MANUAL), limits=Limits(pdf_s=0.001))
    assert caught.value.problems == ("m.pdf: it takes more than 0.001 s to read; split it, or leave it out",)


def test_no_module_of_the_folder_one_stands_in_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that reads PDF files imports nothing from the current folder."""
    monkeypatch.chdir(folder(tmp_path, msgspec__py=b"raise SystemExit('run')", m__pdf=MANUAL))
    assert read(Path("m.pdf")).pages[0].title == "The manual"
