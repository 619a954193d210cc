"""Badges and the feed: static, escaped, of public boards alone."""

from __future__ import annotations

import pages_factory as rich
import pytest
import site_factory as make
from lxml import etree

from ragassay.site import LoadedRun, build_board, load_runs, site_files
from ragassay.site.badge import badge
from ragassay.site.feed import MOST

ATOM = "{http://www.w3.org/2005/Atom}"
HOSTILE = "<script>alert(1)</script>\x1b\u202e\" onload='x'"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[LoadedRun]:
    """All runs of the rich board."""
    return rich.rich(tmp_path_factory.mktemp("badges"))


def test_each_ranked_row_of_a_public_board_has_a_badge(runs: list[LoadedRun]) -> None:
    """Name, score with interval, and that it was verified; control, oracle, void and earlier rows have none."""
    files = rich.public_site(runs)
    found = {path: etree.fromstring(data) for path, data in files.items() if path.startswith("badges/")}
    assert len(found) == 3
    titles = sorted(str(tree.get("aria-label")) for tree in found.values())
    assert [title.partition(":")[0] for title in titles] == ["bm25", "dense", "hybrid"]
    assert all(title.endswith(", verified") and "[." in title for title in titles)
    links = rich.parsed(files["rows/bm25.html"]).xpath("//a[@download]/@href")
    assert "../badges/bm25.svg" in links


def test_a_preview_has_neither_badges_nor_a_feed(runs: list[LoadedRun]) -> None:
    """What is not published cannot be shown elsewhere as if it were."""
    files = site_files(build_board(runs, now=rich.NOW), runs)
    assert not [path for path in files if path.startswith("badges/") or path == "feed.xml"]


def test_a_hostile_name_stays_text_in_a_badge() -> None:
    """No element, attribute or steering character comes from a row's name."""
    tree = etree.fromstring(badge((HOSTILE, ".500", "verified")))
    assert {etree.QName(element).localname for element in tree.iter()} == {"svg", "title", "rect", "text"}
    assert not [name for element in tree.iter() for name in element.attrib if str(name).startswith("on")]
    text = etree.tostring(tree, encoding="unicode")
    assert not set(text) & set("\x1b\u202e")
    assert "[U+202E]" in text


def test_the_feed_lists_publications_and_withdrawals(runs: list[LoadedRun]) -> None:
    """Newest first, each with readers and what is withheld; ids of a run never change; a withdrawal has no link."""
    gone = next(run for run in runs if run.document and run.document.predicate.row.name == "oracle")
    rest = [run for run in runs if run.id != gone.id]
    tree = etree.fromstring(rich.public_site(rest, rich.withdrawn(gone))["feed.xml"])
    entries = tree.findall(f"{ATOM}entry")
    board = rich.public_board(rest)
    assert len(entries) == 1 + sum(run.published is not None for t in board.tables for r in t.rows for run in r.runs)
    first = entries[0]
    assert gone.document is not None
    assert first.findtext(f"{ATOM}title") == f"oracle, pass {gone.document.predicate.pass_.k}: withdrawn"
    assert first.find(f"{ATOM}link") is None
    assert first.findtext(f"{ATOM}id") == f"urn:uuid:{_dashed(gone.id)}"
    assert "Read and signed for by Ada and Ben; 0 texts withheld or shortened" in str(
        entries[1].findtext(f"{ATOM}summary")
    )
    assert entries[1].find(f"{ATOM}link") is not None
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert len(set(ids)) == len(ids)
    assert str(tree.findtext(f"{ATOM}updated")).endswith("Z")


def _dashed(run: str) -> str:
    return "-".join((run[:8], run[8:12], run[12:16], run[16:20], run[20:]))


def test_the_feed_is_bounded(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds the newest entries up to its cap."""
    assert MOST == 100
    monkeypatch.setattr("ragassay.site.feed.MOST", 4)
    folder = tmp_path_factory.mktemp("bounded")
    make.write_row(folder, f"a {HOSTILE}", "bm25", make.benchmark(2), make.losing_first(1), passes=6)
    runs = load_runs(folder, now=rich.NOW)
    tree = etree.fromstring(rich.public_site(runs)["feed.xml"])
    entries = tree.findall(f"{ATOM}entry")
    assert len(entries) == 4
    assert "<script>" in str(entries[0].findtext(f"{ATOM}title"))
    assert not set(etree.tostring(tree, encoding="unicode")) & set("\x1b\u202e")
