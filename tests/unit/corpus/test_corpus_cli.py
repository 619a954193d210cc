"""`ragassay corpus build` prints what it read, what it left out and where it stored it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragassay.cli import counting, root
from ragassay.corpus import load_corpus
from ragassay.errors import InputError


def run(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    """Run the verb and return what it printed."""
    assert root.main(["corpus", "build", *args], standalone_mode=False) == 0
    return capsys.readouterr().out


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two pages and one picture, the current folder beside it."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_bytes(b"# A\r\n\r\ntext\r\n")
    (folder / "empty.md").write_bytes(b"")
    (folder / "x.png").write_bytes(b"png")
    monkeypatch.chdir(tmp_path)
    return folder


def test_folder_is_built_into_the_current_folder(docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pages, chunks, changes, what was left out and the digest are printed."""
    out = run(capsys, "docs")
    stored = next((docs.parent / ".ragassay" / "corpus").iterdir())
    corpus = load_corpus(stored)
    assert out.splitlines() == [
        "pages     2, 1 of them without text (no chunks)",
        "chunks    1 (heading: max_tokens 256, overlap 32, min_tokens 32)",
        "          CRLF or CR line ends written as LF: 1 page",
        "left out  1 of 3",
        "  x.png: .png is not a documentation format",
        f"digest    {corpus.digest()}",
        f"stored in .ragassay/corpus/{corpus.digest()}",
    ]


def test_board_names_path_and_chunker(docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an argument ./board.toml is read; the corpus is stored beside it."""
    chunker = '{ kind = "tokens", max_tokens = 9, overlap = 0 }'
    (docs.parent / "board.toml").write_text(f'[corpus]\npath = "docs/"\nchunker = {chunker}\n')
    assert "chunks    1 (tokens: max_tokens 9, overlap 0)" in run(capsys)
    described = json.loads(run(capsys, str(docs.parent / "board.toml"), "--param", "max_tokens=2", "--json"))
    assert described["chunker"]["max_tokens"] == 2
    assert described["chunks"]["count"] == 2
    assert described["folder"] == str(docs.parent / ".ragassay" / "corpus" / described["digest"])
    assert described["source"]["leftOut"] == [{"path": "x.png", "reason": ".png is not a documentation format"}]


def test_another_chunker_drops_the_boards_parameters(docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--chunker replaces the board's chunker with its parameters; --out names the folder."""
    (docs.parent / "board.toml").write_text('[corpus]\npath = "docs"\nchunker = { kind = "heading", max_tokens = 9 }\n')
    out = run(capsys, "--chunker", "sentences", "--param", "overlap=2", "--out", "elsewhere")
    assert "(sentences: sentences 5, overlap 2, max_tokens 256)" in out
    assert (docs.parent / "elsewhere").is_dir()
    assert not (docs.parent / ".ragassay").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--param", "max_tokens"], "each --param is NAME=VALUE"),
        (["--param", "=3"], "each --param is NAME=VALUE"),
        (["--param", "max_tokens=many"], "max_tokens: must be a whole number, not 'many'"),
        (["--chunker", "semantic"], "there is no chunker 'semantic'; known are: heading, sentences, tokens"),
    ],
)
def test_wrong_options_are_input_errors(docs: Path, args: list[str], message: str) -> None:
    """A wrong parameter or chunker says what would be right."""
    with pytest.raises(InputError) as caught:
        root.main(["corpus", "build", "docs", *args], standalone_mode=False)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ("[corpus\n", "cannot be read as TOML"),
        ("name = 'x'\n", r"has no \[corpus\] table"),
        ("[corpus]\npath = 3\n", r"\[corpus\] needs either `path`"),
        ("[corpus]\npath = 'docs'\ncrawl = 'https://docs.example/'\n", r"\[corpus\] needs either `path`"),
        ("[corpus]\ncrawl = 'docs.example'\n", "corpus.crawl: it is no absolute http or https address"),
        ("[corpus]\ncrawl = 'https://docs.example/'\n", "run `ragassay corpus crawl board.toml`"),
        ("[corpus]\npath = 'docs'\npdf = 1\n", "corpus.pdf must be true or false"),
        ("[corpus]\npath = 'docs'\nchunker = 'heading'\n", "needs a `kind`"),
        (None, "does not exist; name a folder"),
    ],
)
def test_wrong_boards_are_input_errors(docs: Path, board: str | None, message: str) -> None:
    """A board without a usable corpus table says what is missing."""
    if board is not None:
        (docs.parent / "board.toml").write_text(board)
    with pytest.raises(InputError, match=message):
        root.main(["corpus", "build"], standalone_mode=False)


def test_long_lists_are_cut_on_screen_and_whole_in_json(docs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At most 20 files that were left out are printed; the JSON lists all."""
    for number in range(30):
        (docs / f"{number}.png").write_bytes(b"")
    out = run(capsys, "docs")
    assert "left out  31 of 33" in out
    assert "  … and 11 more, all listed in corpus.json" in out
    assert len(json.loads(run(capsys, "docs", "--json"))["source"]["leftOut"]) == 31


def test_progress_is_plain_lines_without_a_terminal(
    docs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Progress goes to stderr as lines; nothing of it is in the output."""
    monkeypatch.setattr(counting, "PLAIN_EVERY_S", 0.0)
    assert root.main(["corpus", "build", "docs"], standalone_mode=False) == 0
    captured = capsys.readouterr()
    assert captured.err.splitlines() == ["  pages: 1/2", "  pages: 2/2"]
    assert "pages:" not in captured.out


def test_progress_is_a_bar_on_a_terminal(
    docs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a terminal a bar is drawn; the report is the same."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert "pages     2" in run(capsys, "docs")
