"""A run full of markup, template code, escape sequences and addresses: text on the page and in the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lxml import html
from rich.cells import cell_len

from ragassay import canon
from ragassay.records import Benchmark, Claim, Delivered, Retrieval
from ragassay.site import build_board, decode_board, encode_board, load_runs, render_text, site_files
from ragassay.site.pairtext import find_pair, render_pair
from ragassay.site.script import script
from ragassay.site.verifier_page import verifier

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit" / "site"))
import site_factory as make

NOW = make.START + 9_999
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)></title></style><svg onload=alert(3)>"
TEMPLATE = "{{ 7*7 }}{% raw %}{{ config }}"
STEERING = "\x1b[2J\x1b]0;owned\x07\u202egnirts\u2066\u200b\x9b31m"
ADDRESS = "javascript:alert(4)"
ELEMENTS = """
html head meta title style body a header span main h1 h2 h3 p div table caption thead tbody tr th td b code svg rect
path circle line text desc ul li ol pre details summary article blockquote mark sup sub dl dt dd nav footer figure
figcaption br s
"""
"""What our templates write; everything else came from a run."""
VERIFIER_ELEMENTS = "script noscript input button label strong dl dt dd"
"""What stands, beside that, on the pages that can verify a run."""
HOSTILE = f"{MARKUP} {TEMPLATE} {STEERING} \" ' onmouseover=alert(5) {ADDRESS}"


def parsed(data: bytes) -> Any:
    """Return a page as a tree."""
    return html.document_fromstring(data.decode("utf-8"))


def _workspace(folder: Path) -> Path:
    """Write two rows in which every free text of a run is hostile."""
    questions = tuple(
        make.question(
            n,
            id=f"{n}{HOSTILE}",
            input=f"{n} {HOSTILE}",
            target=HOSTILE,
            page=ADDRESS,
            topic=MARKUP,
            claims=(Claim(id=1, text=HOSTILE, central=True, must=((HOSTILE,),)),),
            evidence=(f"{n} {MARKUP}",),
        )
        for n in range(1, 8)
    )
    bench = Benchmark(name=HOSTILE, version="../../1.0", questions=questions)
    for name in (f"one {HOSTILE}", f"two {HOSTILE}"):
        settings = make.config(
            name,
            f"bm25{MARKUP}",
            bench,
            answer={"kind": "openai", "id": HOSTILE, "describe": {"note": HOSTILE}},
            judge={"kind": "llm", "id": HOSTILE, "describe": {}},
            circumstance_passes=1,
        )
        outcomes = []
        for n, question in enumerate(questions, 1):
            text = f"{HOSTILE} {n} {MARKUP} tail"
            grade = "omits" if n == 7 and name.startswith("two") else ("supports" if n % 2 else "contradicts")
            done = make.outcome(question, grade, text=f"{HOSTILE} answer")
            chunk = Delivered(
                rank=1,
                chunk=f"{ADDRESS}#{n}",
                sha256=canon.sha256(text.encode()),
                text=text,
                score="1",
                page=ADDRESS,
                start=0,
                end=len(text),
            )
            found = Retrieval(state="ok", delivered=(chunk,), latency_ms=1)
            outcomes.append(msgspec.structs.replace(done, retrieval=found))
        make.write_run(folder / "runs", settings, bench, outcomes)
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The site of the hostile runs."""
    runs = load_runs(_workspace(tmp_path_factory.mktemp("hostile")), now=NOW)
    assert [run.refused for run in runs] == [None, None]
    return site_files(build_board(runs, now=NOW), runs)


def test_no_element_or_attribute_comes_from_a_run(site: dict[str, bytes]) -> None:
    """CASES 24: pages hold only the elements and attributes that templates write, and every address is relative."""
    for path, data in site.items():
        if not path.endswith(".html"):
            continue
        page = parsed(data)
        checks = path == "verify.html" or path.startswith("runs/")
        allowed = set(ELEMENTS.split()) | (set(VERIFIER_ELEMENTS.split()) if checks else set())
        name = "board" if path == "index.html" else "question" if "questions/" in path else None
        own = [verifier().script] if checks else [str(script(name).text)] if name else []
        assert page.xpath("//script[not(@type)]/text()") == own
        allowed |= {"script"} if own else set()
        for element in page.iter():
            # The parser reads <title> inside an <svg> as an SVG title, which is ours.
            assert element.tag in allowed, (path, element.tag)
            assert not [name for name in element.attrib if name.startswith("on") or name in ("src", "style")], path
            href = element.get("href", "")
            assert ":" not in href, (path, href)
            assert not href.startswith("/"), (path, href)


def test_the_text_is_shown_as_it_is(site: dict[str, bytes]) -> None:
    """The markup, the template code and the address can be read on the page, letter by letter."""
    page = parsed(site["index.html"])
    runs = [data for path, data in site.items() if path.startswith("runs/") and path.endswith(".html")]
    said = parsed(runs[0]).text_content()
    for needle in (MARKUP, TEMPLATE, ADDRESS):
        assert needle in said
    assert MARKUP in page.text_content()


def test_steering_characters_are_written_out_on_pages(site: dict[str, bytes]) -> None:
    """No ESC, C1 or bidirectional control reaches a page; each is shown as its code point."""
    for path, data in site.items():
        if path.endswith(".html"):
            text = data.decode("utf-8")
            assert not set(text) & set("\x1b\x07\x9b\u202e\u2066\u200b"), path
    joined = site["index.html"].decode("utf-8")
    assert "[U+202E]" in joined
    assert "[U+001B]" in joined


def test_no_file_leaves_the_site(site: dict[str, bytes]) -> None:
    """Names built from hostile ids stay inside, are distinct without regard to case, and hold no odd character."""
    for path in site:
        assert not path.startswith(("/", "."))
        assert all(part not in ("", ".", "..") for part in path.split("/"))
        assert path.replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum()
    assert len({path.lower() for path in site}) == len(site)


def test_the_evidence_is_still_marked(site: dict[str, bytes]) -> None:
    """Marking works on the original text: the hostile evidence string is marked, whole."""
    runs = [data for path, data in site.items() if path.startswith("runs/") and path.endswith(".html")]
    page = parsed(runs[0])
    assert next(mark.text_content() for mark in page.xpath("//mark[@class='evidence']")) == f"1 {MARKUP}"


def test_the_terminal_gets_no_control_character(tmp_path: Path) -> None:
    """Board and comparison print no character below space but line feeds, and no bidirectional control."""
    board = build_board(load_runs(_workspace(tmp_path), now=NOW), now=NOW)
    assert board.main is not None
    names = [row.name for row in board.main.rows]
    text = render_text(board) + render_pair(*find_pair(board, names[0], names[1]))
    assert not {char for char in text if ord(char) < 32 and char != "\n"}
    assert not set(text) & set("\x7f\x9b\u202e\u2066\u200b")


def test_a_damaged_folder_of_any_kind_is_named_and_the_others_are_drawn(tmp_path: Path) -> None:
    """Names that are no text, links, pipes, stray files, missing files: each run is refused, none ends the board."""
    bench = make.small_board(tmp_path, make.benchmark(12))
    ids = make.write_row(tmp_path, "broken", "bm25", bench, make.losing_first(1), passes=5)
    runs = tmp_path / "runs"
    (runs / ids[0] / "outputs.jsonl").unlink()
    (runs / ids[1] / "run.dsse.json").write_bytes(b"\xff\x00")
    (runs / ids[2] / "link").symlink_to("/etc/passwd")
    os.mkfifo(runs / ids[3] / os.fsdecode(b"pipe\xff"))
    (runs / ids[4] / "config.json").write_bytes(b"[" * 100_000)
    (runs / "empty").mkdir()
    (runs / os.fsdecode(b"bad\xff")).mkdir()
    (runs / "stray").write_text("no folder")
    found = load_runs(tmp_path, now=NOW)
    board = build_board(found, now=NOW)
    assert {run.id for run in board.refused} == {*ids, "empty", "bad\\udcff"}
    assert board.sentence.endswith("; 7 runs could not be verified and are left out.")
    assert decode_board(encode_board(board)) == board
    assert site_files(board, found)["index.html"]


def test_a_folder_that_cannot_be_read_is_one_refused_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run whose folder denies its listing is refused by itself."""
    make.write_row(tmp_path, "bm25", "bm25", make.benchmark(12), make.losing_first(1), passes=2)
    first = sorted((tmp_path / "runs").iterdir())[0]
    listing = Path.iterdir

    def denied(path: Path) -> Iterator[Path]:
        if path == first:
            raise PermissionError(13, "Permission denied")
        return listing(path)

    monkeypatch.setattr(Path, "iterdir", denied)
    board = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    assert [(run.id, run.codes) for run in board.refused] == [(first.name, ("BUNDLE_DAMAGED",))]


def test_a_configuration_without_ids_or_kinds_is_drawn(tmp_path: Path) -> None:
    """A verified run may name its judge by kind alone, or its model by id alone."""
    bench = make.benchmark(12)
    for name, judge, answer in (("a", {"kind": "llm"}, {"kind": "k"}), ("b", {"id": "j"}, {"id": "x", "get": "y"})):
        make.write_row(tmp_path, name, "bm25", bench, make.losing_first(1), passes=1, judge=judge, answer=answer)
    found = load_runs(tmp_path, now=NOW)
    assert [run.refused for run in found] == [None, None]
    board = build_board(found, now=NOW)
    pages = site_files(board, found)
    assert len([name for name in pages if name.startswith("runs/") and name.endswith(".html")]) == 2
    assert {table.judge_kind for table in board.tables} == {"llm", "unknown"}


def test_very_long_and_wide_names_fit_the_terminal(tmp_path: Path) -> None:
    """Names of hundreds of wide characters are cut in the table and wrapped in sentences, by cells."""
    names = ("x" * 400, "日" * 200, STEERING, " ")
    for at, name in enumerate(names):
        make.write_row(tmp_path, name, "bm25", make.benchmark(12), make.losing_first(at), passes=1)
    board = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    assert max(cell_len(line) for line in render_text(board, 80).splitlines()) <= 80
    assert board.main is not None
    for pair in board.main.pairs:
        assert max(cell_len(line) for line in render_pair(board.main, pair, 80).splitlines()) <= 80


def test_a_note_that_names_a_row_steers_nothing(tmp_path: Path) -> None:
    """The sentence on deterministic rows holds their names; a comparison in the terminal writes them out."""
    kinds: dict[str, Any] = {
        "answer": {"kind": "reader", "id": "reader/1", "describe": {}},
        "judge": {"kind": "literal", "id": "literal/1", "describe": {}},
    }
    for at, name in enumerate((f"one {STEERING}", f"two {STEERING}")):
        make.write_row(tmp_path, name, "bm25", make.benchmark(12), make.losing_first(at), **kinds)
    board = build_board(load_runs(tmp_path, now=NOW), now=NOW)
    assert board.main is not None
    text = render_pair(board.main, board.main.pairs[0], 100)
    assert "deterministic: identical passes" in text
    assert not set(text) & {"\x1b", "\u202e", "\u2066", "\u200b", "\x07", "\x9b"}
