"""From a bare site to signed runs over a frozen set: crawl, lint, freeze, fairness, run; then the site changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from site_server import Site

THINGS = {"anvil": 41, "beam": 52, "crane": 63, "drill": 74, "easel": 85, "forge": 96}
BOARD = """
name = "Acme handbook"
passes = 1

[corpus]
crawl = "{url}/handbook/"

[benchmark]
file = "{file}"

[answer]
kind = "reader"

[judge]
kind = "literal"

[[rows]]
name = "no-retrieval"
stack = {{ kind = "none" }}

[[rows]]
name = "oracle"
stack = {{ kind = "oracle" }}

[[rows]]
name = "bm25"
stack = {{ kind = "bm25" }}
exposure = "none"
"""


def ragassay(folder: Path, *arguments: str, code: int = 0) -> str:
    """Run a verb in `folder` and return what it printed on either side."""
    result = subprocess.run(
        [sys.executable, "-m", "ragassay", *arguments],
        cwd=folder,
        env={**os.environ, "RAGASSAY_PASSPHRASE": "only-for-this-test"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def sentence(thing: str, weight: int) -> str:
    """Return what the handbook says of one thing."""
    return f"The {thing} of the Acme workshop weighs {weight} kilograms when it is delivered."


def publish(site: Site, thing: str, weight: int) -> None:
    """Put up the handbook's page about one thing."""
    text = f"{sentence(thing, weight)} It stands in the hall and is cleaned by the one who used it last."
    site.page(f"/handbook/{thing}.html", text)


@pytest.fixture
def site() -> Iterator[Site]:
    """A handbook of six pages with a sitemap."""
    with Site() as served:
        for thing, weight in THINGS.items():
            publish(served, thing, weight)
        served.sitemap("/sitemap.xml", [f"/handbook/{thing}.html" for thing in THINGS])
        yield served


def question(number: int, thing: str, weight: int) -> dict[str, Any]:
    """Return a question as its author writes it down."""
    return {
        "id": f"q-{number:03}",
        "page": f"{thing}.html",
        "topic": "weights",
        "input": f"How many kilograms does the {thing} of the Acme workshop weigh on delivery?",
        "target": f"{weight} kilograms.",
        "evidence": [sentence(thing, weight)],
        "claims": [{"text": f"It weighs {weight} kilograms.", "central": True, "must": [[str(weight)]]}],
        "provenance": {"author": "A. Writer", "created": "2026-11-30", "derivedFromSystem": False},
    }


@pytest.fixture
def folder(site: Site, tmp_path: Path) -> Path:
    """A folder with a board over the site, an unfrozen question file and a key."""
    samples = [question(number, *thing) for number, thing in enumerate(THINGS.items(), start=1)]
    written = {"name": "acme-handbook", "version": "0", "samples": samples}
    (tmp_path / "questions.json").write_text(json.dumps(written), encoding="utf-8")
    (tmp_path / "board.toml").write_text(BOARD.format(url=site.url, file="questions.json"), encoding="utf-8")
    ragassay(tmp_path, "keys", "init")
    return tmp_path


def crawl(folder: Path) -> dict[str, Any]:
    """Crawl the board's site and return what is said of it."""
    said = ragassay(folder, "corpus", "crawl", "board.toml", "--allow-private", "--rate", "0", "--json")
    found: dict[str, Any] = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    return found


def configs(folder: Path) -> dict[str, Any]:
    """Return the signed configuration of each row's run."""
    read = [json.loads(path.read_bytes()) for path in (folder / ".ragassay" / "runs").glob("*/config.json")]
    return {config["row"]: config["circumstance"] for config in read}


def test_from_a_bare_site_to_runs_over_a_frozen_set(site: Site, folder: Path) -> None:
    """Each step finds what the one before it left, and the run carries fairness and the frozen set's manifest."""
    assert "corpus crawl" in ragassay(folder, "questions", "lint", "board.toml", code=2)
    assert crawl(folder)["counts"]["pages"] == len(THINGS)
    ragassay(folder, "questions", "lint", "board.toml")
    ragassay(folder, "questions", "freeze", "board.toml", "--version", "1.0.0")
    assert (folder / "acme-handbook-1.0.0.items.dsse.json").is_file()
    frozen = BOARD.format(url=site.url, file="acme-handbook-1.0.0.json")
    (folder / "board.toml").write_text(frozen, encoding="utf-8")
    ragassay(folder, "verify", "acme-handbook-1.0.0.items.dsse.json")
    ragassay(folder, "questions", "fairness", "board.toml")

    board = ragassay(folder, "run", "board.toml")
    assert "unreviewed: 6 of 6 questions" in board
    signed = configs(folder)
    fair = signed["bm25"]["fairness"]
    assert (fair["folded"], fair["absent"], fair["unknowable"], fair["ownTexts"]) == ([], [], [], False)
    assert signed["no-retrieval"]["fairness"] is None
    assert len({circumstance["itemManifest"] for circumstance in signed.values()} - {None}) == 1
    ragassay(folder, "verify", ".ragassay/runs")


def test_a_changed_site_is_noticed_before_anything_is_asked(site: Site, folder: Path) -> None:
    """A page that says another number rots its question: the difference names it, and the run refuses (case 19)."""
    crawl(folder)
    ragassay(folder, "corpus", "build", "board.toml")
    before = next((folder / ".ragassay" / "corpus").iterdir())
    publish(site, "drill", 75)
    crawl(folder)
    crawled = next((folder / ".ragassay" / "crawl").glob("*/crawl.json")).parent
    said = ragassay(folder, "corpus", "diff", str(before), str(crawled), "--questions", "questions.json", code=1)
    assert "q-004" in said
    refused = ragassay(folder, "run", "board.toml", code=2)
    assert "q-004" in refused
    assert "--allow-missing-evidence" in refused
    assert "q-004" in ragassay(folder, "questions", "fairness", "board.toml", code=1)
    board = ragassay(folder, "run", "board.toml", "--allow-missing-evidence")
    assert "searches another corpus" in board
    assert configs(folder)["bm25"]["fairness"]["absent"] == ["q-004"]


def test_a_frozen_file_that_was_altered_is_refused(site: Site, folder: Path) -> None:
    """Neither a run nor a check takes a frozen set whose bytes are not the signed ones."""
    crawl(folder)
    ragassay(folder, "questions", "freeze", "board.toml", "--version", "1.0.0")
    (folder / "board.toml").write_text(BOARD.format(url=site.url, file="acme-handbook-1.0.0.json"), encoding="utf-8")
    frozen = folder / "acme-handbook-1.0.0.json"
    frozen.chmod(0o644)
    frozen.write_bytes(frozen.read_bytes().replace(b"41 kilograms.", b"42 kilograms."))
    assert "bump" in ragassay(folder, "run", "board.toml", code=2)
    ragassay(folder, "verify", "acme-handbook-1.0.0.items.dsse.json", code=1)
