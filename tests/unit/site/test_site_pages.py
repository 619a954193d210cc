"""The static site: every link resolves, nothing comes from elsewhere, what was signed can be downloaded."""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import site_factory as make
from lxml import html

from ragassay import canon
from ragassay.errors import InputError
from ragassay.manifest.bundle import read_bundle
from ragassay.site import build_board, decode_board, load_runs, site_files, write_preview, write_site
from ragassay.site.record import PREVIEW
from ragassay.site.script import script
from ragassay.site.verifier_page import verifier
from ragassay.verify import Unpinned, verify

NOW = make.START + 9_999


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The site of a board with two tables."""
    workspace = tmp_path_factory.mktemp("pages")
    make.small_board(workspace, make.benchmark(12), at=make.START + 5000)
    other = {"kind": "llm", "id": "judge-2", "describe": {}}
    make.write_row(workspace, "bm25", "bm25", make.benchmark(12), make.losing(make.every(3)), judge=other)
    runs = load_runs(workspace, now=NOW)
    return site_files(build_board(runs, now=NOW), runs)


def parsed(data: bytes) -> Any:
    """Return a page as a tree."""
    return html.document_fromstring(data.decode("utf-8"))


def pages(files: dict[str, bytes]) -> Iterator[tuple[str, Any]]:
    """Yield every page as a tree."""
    for path, data in files.items():
        if path.endswith(".html"):
            yield path, parsed(data)


def test_every_link_resolves_inside_the_site(files: dict[str, bytes]) -> None:
    """Each href is relative, names a file of the site, and its fragment an element of that page."""
    ids = {path: set(page.xpath("//@id")) for path, page in pages(files)}
    for path, page in pages(files):
        for href in page.xpath("//@href"):
            parts = urlsplit(href)
            assert not parts.scheme
            assert not parts.netloc
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(parts.path)))
            target = path if not parts.path else target
            assert target in files, (path, href)
            if parts.fragment:
                assert parts.fragment in ids[target], (path, href)


def test_no_page_loads_anything(files: dict[str, bytes]) -> None:
    """No script, image, frame, style sheet or font comes from anywhere, and the policy allows only our own style."""
    for path, page in pages(files):
        assert not page.xpath("//img|//iframe|//link|//object|//embed|//form|//@src|//@style|//@onload"), path
        (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
        (style,) = page.xpath("//style/text()")
        digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
        assert policy.startswith("default-src 'none';")
        assert f"style-src 'sha256-{digest}'" in policy
        assert "url(" not in style
        assert "@import" not in style


def test_no_script_runs_but_our_own(files: dict[str, bytes]) -> None:
    """Run pages and verify.html hold the verifier, board and questions their filters; each page's policy names it."""
    for path, page in pages(files):
        scripts = page.xpath("//script[not(@type)]/text()")
        (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
        if path == "verify.html" or path.startswith("runs/"):
            assert scripts == [verifier().script]
            assert policy == verifier().policy
        elif path == "index.html" or "questions/" in path:
            own = script("board" if path == "index.html" else "question")
            assert scripts == [str(own.text)]
            assert f"script-src '{own.hash}';" in policy
        else:
            assert not page.xpath("//script")
            assert "script-src" not in policy


def test_a_run_page_holds_the_bundle_that_lies_beside_it(files: dict[str, bytes]) -> None:
    """The base64 in the page is the bundle that can be downloaded, and the bundle holds the run's five files."""
    for path, page in pages(files):
        if path.startswith("runs/"):
            folder = path.removesuffix(".html")
            (held,) = page.xpath("//script[@type='application/octet-stream+base64']/text()")
            assert base64.b64decode(held) == files[f"{folder}.zip"]
            read = read_bundle(files[f"{folder}.zip"])
            assert read.problems == ()
            assert {f"{folder}/{name}": data for name, data in read.files.items()} == {
                name: data for name, data in files.items() if name.startswith(f"{folder}/")
            }


def test_every_page_says_that_it_is_a_preview(files: dict[str, bytes]) -> None:
    """'local preview, not published' stands visibly on each page and in its title; verify.html is nobody's board."""
    for path, page in pages(files):
        if path == "verify.html":
            continue
        assert PREVIEW in page.xpath("string(//header)"), path
        assert PREVIEW in page.xpath("string(//title)"), path


def test_there_is_a_page_for_each_run_question_and_pair(files: dict[str, bytes]) -> None:
    """18 runs; 12 questions in each of two tables; 10 pairs of the five rows of the main one, and their index."""
    names = [path for path in files if path.endswith(".html")]
    assert sum(name.startswith("runs/") for name in names) == 18
    assert sum("questions/" in name for name in names) == 24
    assert sum(name.startswith("compare/") for name in names) == 11
    assert sum(name.startswith("rows/") for name in names) == 5


def test_downloads_are_the_signed_bytes(files: dict[str, bytes]) -> None:
    """Each run's files verify as downloaded; the item set hashes to the digest that the board prints."""
    board = decode_board(files["board.json"])
    assert board.main is not None
    run = board.main.rows[0].runs[0].id
    bundle = {path.rpartition("/")[2]: data for path, data in files.items() if path.startswith(f"runs/{run}/")}
    assert len(bundle) == 5
    assert verify(bundle, policy=Unpinned(), now=NOW).ok()
    assert canon.sha256(files["benchmarks/acme-docs/1.0.0.json"]) == board.main.benchmark.item_set


def test_a_run_page_shows_every_question_verdict_quote_and_chunk(files: dict[str, bytes]) -> None:
    """Each question has its answer with the quote marked, its claims, and its chunks with the evidence marked."""
    board = decode_board(files["board.json"])
    assert board.main is not None
    bm25 = next(row for row in board.main.rows if row.name == "bm25")
    page = parsed(files[f"runs/{bm25.runs[0].id}.html"])
    articles = page.xpath("//article")
    assert len(articles) == 12
    assert all(article.xpath(".//blockquote[@class='answer']") for article in articles)
    first = articles[0]
    assert first.xpath("string(.//mark[@class='hedges' or @class='supports'])").startswith("According to the do")
    assert [m.text for m in first.xpath(".//mark[@class='evidence']")] == ["option-1 is set to 7"]
    assert "SUPPORTS" in first.text_content() or "HEDGES" in first.text_content()
    assert len(first.xpath(".//div[@class='chunk']")) == 5
    assert make.SIGNER.kid in page.xpath("string(//*[@class='fingerprint'])")


def test_a_question_page_names_the_cause_for_each_row(files: dict[str, bytes]) -> None:
    """Rows stand side by side, each with its score and the stage at which its answer was lost."""
    page = parsed(files["questions/q-006.html"])
    said = {a.xpath("string(h3)"): a.xpath("string(.//*[contains(@class,'cause')])") for a in page.xpath("//article")}
    assert said == {
        "oracle": "correct",
        "hybrid": "correct",
        "bm25": "not retrieved",
        "dense": "contradicted",
        "no-retrieval": "not retrieved",
    }


def test_control_and_oracle_are_lines_on_the_shared_axis(files: dict[str, bytes]) -> None:
    """Every drawn row has both lines, the band of the first row, and a text twin."""
    page = parsed(files["index.html"])
    tracks = page.xpath("(//table[contains(@class,'board')])[1]//svg")
    assert len(tracks) == 5
    for track in tracks:
        assert track.get("aria-label")
        assert len(track.xpath(".//*[contains(@class,'lines')]")) == 2
        assert len(track.xpath(".//*[@class='band']")) == 1


def test_the_other_table_says_why_it_is_apart(files: dict[str, bytes]) -> None:
    """The second judge's rows stand under a heading that forbids the comparison."""
    page = parsed(files["index.html"])
    assert "Apart: another judge (judge-2)" in page.xpath("//h2/text()")


def test_pages_weigh_little_without_their_data(files: dict[str, bytes]) -> None:
    """The style that every page carries is under 20 KB, the board of 12 questions under 300 KB."""
    assert len(files["index.html"]) < 300_000
    page = parsed(files["index.html"])
    assert len(page.xpath("string(//style)")) < 20_000


def test_an_existing_site_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """A second board leaves no page of the first behind and no temporary folder beside it."""
    make.write_row(tmp_path / "one", "a", "bm25", make.benchmark(4), make.losing(make.every(3)))
    make.write_row(tmp_path / "two", "b", "bm25", make.benchmark(4, name="other"), make.losing(make.every(3)))
    site = tmp_path / "site"
    write_preview(tmp_path / "one", site, now=NOW)
    before = {path.name for path in (site / "runs").iterdir() if path.is_dir()}
    board = write_preview(tmp_path / "two", site, now=NOW)
    after = {path.name for path in (site / "runs").iterdir() if path.is_dir()}
    assert len(after) == 3
    assert not before & after
    assert decode_board((site / "board.json").read_bytes()) == board
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "site", "two"]


def test_a_folder_of_someone_elses_is_never_replaced(tmp_path: Path) -> None:
    """A folder that holds other files is refused and stays as it is."""
    make.write_row(tmp_path / "work", "a", "bm25", make.benchmark(4), make.losing(make.every(3)))
    site = tmp_path / "site"
    site.mkdir()
    (site / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(InputError, match="no site of ours"):
        write_preview(tmp_path / "work", site, now=NOW)
    assert (site / "thesis.txt").read_text(encoding="utf-8") == "years of work"


def test_a_build_that_fails_leaves_the_old_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When writing stops half-way the old site stands untouched and nothing half-written remains."""
    make.write_row(tmp_path / "work", "a", "bm25", make.benchmark(4), make.losing(make.every(3)))
    site = tmp_path / "site"
    write_preview(tmp_path / "work", site, now=NOW)
    old = (site / "index.html").read_bytes()
    written = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        if self.name == "outputs.jsonl":
            raise OSError(28, "No space left on device")
        return written(self, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="No space left"):
        write_preview(tmp_path / "work", site, now=NOW + 1)
    monkeypatch.undo()
    assert (site / "index.html").read_bytes() == old
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site", "work"]


def test_nine_runs_of_sixty_questions_are_built_quickly(tmp_path: Path) -> None:
    """Loading, verifying, estimating and writing 15 runs of 60 questions takes well under five seconds of work."""
    make.small_board(tmp_path / "work")
    start = time.process_time()
    board = write_preview(tmp_path / "work", tmp_path / "site", now=NOW)
    assert time.process_time() - start < 5
    assert board.main is not None
    assert len(board.main.rows) == 5


def test_the_same_runs_give_the_same_site(tmp_path: Path) -> None:
    """Everything after the last model call is a function of stored bytes: two builds are equal byte for byte."""
    make.small_board(tmp_path, make.benchmark(8))
    runs = load_runs(tmp_path, now=NOW)
    board = build_board(runs, now=NOW)
    assert site_files(board, runs) == site_files(board, runs)


def test_write_site_writes_what_site_files_says(tmp_path: Path) -> None:
    """The folder holds exactly the files of the site."""
    make.write_row(tmp_path / "work", "a", "bm25", make.benchmark(4), make.losing(make.every(3)))
    runs = load_runs(tmp_path / "work", now=NOW)
    board = build_board(runs, now=NOW)
    write_site(board, runs, tmp_path / "site")
    found = {p.relative_to(tmp_path / "site").as_posix() for p in (tmp_path / "site").rglob("*") if p.is_file()}
    assert found == set(site_files(board, runs))
    assert json.loads((tmp_path / "site" / "board.json").read_bytes())["scope"] == "local"


def test_a_site_of_another_version_is_replaced(tmp_path: Path) -> None:
    """A board.json that says our schema marks the site as ours, even where this version cannot read all of it."""
    make.write_row(tmp_path / "work", "bm25", "bm25", make.benchmark(3), make.losing_first(1), passes=1)
    site = tmp_path / "site"
    site.mkdir()
    (site / "board.json").write_bytes(b'{"schema":"ragassay.board/9","more":[1,2,3]}')
    write_preview(tmp_path / "work", site, now=NOW)
    assert (site / "index.html").is_file()
    for other in (b'{"schema":"somebody.board/1"}', b"[]", b"no json", b'{"schema":1}'):
        (site / "board.json").write_bytes(other)
        with pytest.raises(InputError, match="no site of ours"):
            write_preview(tmp_path / "work", site, now=NOW)
