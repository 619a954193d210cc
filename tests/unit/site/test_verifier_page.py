"""The page of the browser verifier as bytes: what is inlined, what its policy allows, what a run's page holds."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
import site_factory as make
from lxml import html

from ragassay import site
from ragassay.manifest.bundle import read_bundle
from ragassay.manifest.files import BESIDE, MAX_BYTES
from ragassay.site import build_board, load_runs, run_bundle, site_files, verifier_page
from ragassay.site.safe import STEERING
from ragassay.site.verifier_data import shapes, verifier_data
from ragassay.testing.signed_run import signed_run
from ragassay.verify import CODES

SCRIPTS = Path(site.__file__).parent / "verifier"
NOW = make.START + 9_999


def parsed(data: bytes) -> Any:
    """Return a page as a tree."""
    return html.document_fromstring(data.decode("utf-8"))


def test_every_part_of_the_script_is_inlined_once() -> None:
    """The fixed order names exactly the files that are there, and the page holds each in that order."""
    assert sorted(verifier_page.SCRIPTS) == sorted(path.stem for path in SCRIPTS.glob("*.js"))
    script = verifier_page.verifier().script
    places = [script.index((SCRIPTS / f"{name}.js").read_text(encoding="utf-8")) for name in verifier_page.SCRIPTS]
    assert places == sorted(places)


def test_the_policy_allows_one_script_and_one_style() -> None:
    """The hashes of the policy are those of the two elements of the page, and nothing else may load or connect."""
    page = parsed(verifier_page.verifier_page())
    [policy] = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    [script], [style] = page.xpath("//script/text()"), page.xpath("//style/text()")
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{hashes[0]}'; style-src 'sha256-{hashes[1]}'; connect-src 'none'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert f"sha256-{hashes[0]}" in page.xpath("string(//footer)")


def test_the_page_needs_nothing_and_is_small() -> None:
    """No address, no handler, no inline style; less than 300 KB in all; no mark of the template is left."""
    data = verifier_page.verifier_page()
    page = parsed(data)
    assert len(data) < 300_000
    assert not page.xpath("//@src | //@href[not(starts-with(., '#'))] | //@style | //link | //img | //iframe | //form")
    assert not [name for element in page.iter() for name in element.attrib if name.startswith("on")]
    assert not re.search(r"%[a-z-]+%|<!-- [a-z]+ -->", data.decode("utf-8"))
    assert "url(" not in page.xpath("string(//style)")
    assert "@import" not in page.xpath("string(//style)")


def test_every_input_has_a_label() -> None:
    """Each control of the page is named by a label or by its own words."""
    page = parsed(verifier_page.verifier_page())
    labelled = set(page.xpath("//label/@for"))
    assert set(page.xpath("//input/@id")) == labelled
    assert all(button.text_content().strip() for button in page.xpath("//button"))


def test_what_would_end_the_script_is_refused() -> None:
    """A part that holds the end of a script element, in any case, never becomes a page."""
    for bad in ("</script>", "</SCRIPT ", "<!--"):
        with pytest.raises(ValueError, match="ends a script element"):
            verifier_page.script_text([f"const a = '{bad}';"])
    assert "<" not in verifier_page.escaped('{"a":"</script>"}')


def test_the_shared_data_are_those_of_the_verifier_in_python() -> None:
    """Codes, caps and the rule of what is written out come from one place."""
    data = verifier_data()
    assert {code: reason["plain"] for code, reason in data["codes"].items()} == {c: r.plain for c, r in CODES.items()}
    assert data["limits"]["files"] == MAX_BYTES
    assert data["limits"]["beside"] == BESIDE
    assert data["steering"] == STEERING.pattern
    assert len(data["weakKeys"]) == 14


def test_shapes_say_type_and_default_of_each_member() -> None:
    """A required member has no default, an optional one has, and records inside records are named."""
    found = shapes()
    assert found["RunPredicate"]["pass"] == {"type": {"record": "PassRef"}}
    assert found["RunPredicate"]["score"] == {"type": {"either": [{"record": "Score"}, "null"]}}
    assert found["OutputRow"]["failure"]["default"] is None
    assert found["OutputRow"]["chunks"] == {"type": {"array": {"record": "OutputChunk"}}}
    assert found["Measure"]["stack"] == {"type": {"map": "any"}}
    assert "CONTRADICTS" in found["ClaimVerdict"]["verdict"]["type"]["enum"]


def test_a_run_becomes_a_bundle_and_its_base64() -> None:
    """What stands in the page is the file beside it, and holds the run's files unchanged."""
    files = signed_run()
    bundle = run_bundle.run_bundle(files)
    assert bundle.data is not None
    assert bundle.text is not None
    assert base64.b64decode(bundle.text) == bundle.data
    assert read_bundle(bundle.data).files == files


def test_files_that_no_bundle_takes_give_none() -> None:
    """A run that cannot be bundled has neither file nor base64."""
    assert run_bundle.run_bundle({"notes.txt": b"x"}) == run_bundle.RunBundle(data=None, text=None)


@pytest.mark.parametrize(("limit", "words"), [(100, "too large to stand in this page"), (-1, "too large for a bundle")])
def test_a_large_run_is_not_embedded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, words: str) -> None:
    """Its page says so, links the download and verify.html, holds no script and keeps the tighter policy."""
    make.write_row(tmp_path, "bm25", "bm25", make.benchmark(4), make.losing_first(1), passes=1)
    if limit < 0:
        monkeypatch.setattr("ragassay.site.page_run.run_bundle", lambda _: run_bundle.RunBundle(data=None, text=None))
    monkeypatch.setattr(run_bundle, "MAX_EMBEDDED_BYTES", limit)
    runs = load_runs(tmp_path, now=NOW)
    files = site_files(build_board(runs, now=NOW), runs)
    [path] = [name for name in files if name.startswith("runs/") and name.endswith(".html")]
    page = parsed(files[path])
    assert words in page.text_content()
    assert not page.xpath("//script")
    assert "script-src" not in page.xpath("string(//meta[@http-equiv='Content-Security-Policy']/@content)")
    links = set(page.xpath("//a/@href"))
    assert "../verify.html" in links
    zips = {link for link in links if link.endswith(".zip")}
    assert zips == ({f"{path.split('/')[1].removesuffix('.html')}.zip"} if limit > 0 else set())


def test_verify_html_is_the_same_beside_every_board(tmp_path: Path) -> None:
    """Nothing of a board stands in it, so that its SHA-256 can be compared."""
    make.write_row(tmp_path, "bm25", "bm25", make.benchmark(4), make.losing_first(1), passes=1)
    runs = load_runs(tmp_path, now=NOW)
    assert site_files(build_board(runs, now=NOW), runs)["verify.html"] == verifier_page.verifier_page()
