"""Fairness from the command line: looked up before a run, signed with it, printed by the board."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

RAGASSAY = [sys.executable, "-m", "ragassay"]
FACTS = {"install": ("installs", "12 MB"), "verify": ("weighs", "1.5 kg"), "quota": ("allows", "30 requests")}


def _ragassay(folder: Path, *arguments: str, code: int = 0) -> str:
    result = subprocess.run([*RAGASSAY, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    return " ".join((result.stdout + result.stderr).split())


class _Service(BaseHTTPRequestHandler):
    """A retriever with a corpus of its own, in which two of the three facts stand."""

    def do_GET(self) -> None:
        """Say what it is."""
        self._reply({"name": "ours", "version": "1"})

    def do_POST(self) -> None:
        """Return the passage of the page that the question names."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = [name for name in ("install", "verify") if name in asked["question"]]
        hits = [{"id": name, "text": _sentence(name), "score": 1.0} for name in found]
        self._reply({"hits": hits})

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _reply(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _sentence(page: str) -> str:
    verb, value = FACTS[page]
    return f"The {page} step {verb} {value}."


@pytest.fixture
def service() -> Iterator[str]:
    """A service on this machine; its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Service)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/search"
    server.shutdown()
    server.server_close()
    thread.join()


def _job(folder: Path, url: str) -> None:
    docs = folder / "docs"
    docs.mkdir()
    samples = []
    for page, (_, value) in FACTS.items():
        (docs / f"{page}.md").write_text(f"# {page}\n\nSome words first. {_sentence(page)}\n", encoding="utf-8")
        claim = {"text": f"It is {value}.", "central": True, "must": [[value]]}
        question = f"What does the {page} step have, in figures?"
        samples.append({"id": page, "input": question, "target": value, "evidence": _sentence(page), "claims": [claim]})
    (folder / "questions.json").write_text(json.dumps({"name": "facts", "samples": samples}), encoding="utf-8")
    (folder / "board.toml").write_text(
        'name = "Facts"\npasses = 1\n[corpus]\npath = "docs"\n[benchmark]\nfile = "questions.json"\n'
        '[answer]\nkind = "reader"\n[judge]\nkind = "literal"\n'
        '[[rows]]\nname = "no-retrieval"\nstack = { kind = "none" }\n'
        '[[rows]]\nname = "oracle"\nstack = { kind = "oracle" }\n'
        '[[rows]]\nname = "bm25"\nstack = { kind = "bm25" }\nexposure = "none"\n'
        f'[[rows]]\nname = "ours"\nstack = {{ kind = "http", url = "{url}" }}\n',
        encoding="utf-8",
    )
    _ragassay(folder, "keys", "init")


def _recorded(folder: Path) -> dict[str, Any]:
    """Return what the newest run of each row records of fairness."""
    runs = sorted((folder / ".ragassay" / "runs").iterdir(), key=lambda run: run.stat().st_mtime_ns)
    configs = [json.loads((run / "config.json").read_bytes()) for run in runs]
    return {config["row"]: config["circumstance"]["fairness"] for config in configs}


def _rows(folder: Path) -> dict[str, Any]:
    """Return the rows of the main table that stand."""
    table = json.loads((folder / "board.json").read_bytes())["tables"][0]
    return {row["name"]: row for row in table["rows"] if row["standing"] != "superseded"}


def test_fairness_is_looked_up_signed_and_printed(tmp_path: Path, service: str) -> None:
    """A row over the board's corpus, one with its own, and the same board after a page has lost its evidence."""
    _job(tmp_path, service)
    assert "no evidence is absent from the texts of 1 row; of 1 row it cannot be known" in _ragassay(
        tmp_path, "questions", "fairness"
    )
    printed = _ragassay(tmp_path, "run")
    assert "evidence of the questions: in the texts of bm25; unknowable for ours" in printed
    assert "it was seen in what the row delivered for 2 of 3" in printed
    assert "bm25: declared none" in printed
    nothing = {"folded": [], "absent": [], "unknowable": [], "ownTexts": False, "split": [], "unread": None}
    own = {**nothing, "ownTexts": True}
    assert _recorded(tmp_path) == {"no-retrieval": None, "oracle": None, "bm25": nothing, "ours": own}
    assert "4 of 4 runs verified" in _ragassay(tmp_path, "verify", ".")
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "Evidence of the questions: in the texts of bm25; unknowable for ours." in page

    (tmp_path / "docs" / "quota.md").write_text("# quota\n\nThe quota step allows 40 requests.\n", encoding="utf-8")
    assert "1 of 2 rows lacks evidence of 1 question" in _ragassay(tmp_path, "questions", "fairness", code=1)
    assert "question quota: its evidence is not in the corpus" in _ragassay(tmp_path, "run", code=2)
    printed = _ragassay(tmp_path, "run", "--allow-missing-evidence")
    words = "searches another corpus: evidence of 1 of 3 questions is not in its texts (quota)"
    assert words in printed
    assert _recorded(tmp_path)["bm25"] == {**nothing, "absent": ["quota"]}
    rows = _rows(tmp_path)
    assert (rows["bm25"]["fairness"]["present"], rows["bm25"]["fairness"]["absent"]) == (2, ["quota"])
    assert (rows["ours"]["fairness"]["seen"], rows["ours"]["fairness"]["seenOf"]) == (2, 3)
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert '<span class="badge">searches another corpus</span>' in page
    assert words in page
    assert "A row searches another corpus." in _ragassay(tmp_path, "spec")


@pytest.mark.slow
def test_a_row_that_was_changed_after_its_scores_were_seen(tmp_path: Path, service: str) -> None:
    """Its declaration is contradicted by its own earlier run, on the board and in the specification."""
    _job(tmp_path, service)
    _ragassay(tmp_path, "run", "--row", "bm25")
    board = tmp_path / "board.toml"
    board.write_text(board.read_text(encoding="utf-8").replace('"bm25" }', '"bm25", k1 = 0.9 }'), encoding="utf-8")
    printed = _ragassay(tmp_path, "run", "--row", "bm25")
    assert "(exposure none), but 1 earlier configuration of it was run on these questions" in printed
    assert "A declaration is contradicted." in _ragassay(tmp_path, "spec")
