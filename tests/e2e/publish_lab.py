"""A board of one's own in a folder of documents, run by the command line, to be published by it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from ragassay.publish.decisions import DecisionFile
from ragassay.publish.detect import detectors
from ragassay.publish.reading import reading_of, touching
from ragassay.publish.scan import scan
from ragassay.publish.signoffs import ReviewFile
from ragassay.publish.texts import public_texts
from ragassay.site import load_runs

RAGASSAY = [sys.executable, "-m", "ragassay"]
MAIL = "jane.roe@acme-mail.org"
WITNESS = "witness.example/1"


def ragassay(folder: Path, *arguments: str, code: int = 0) -> str:
    """Run one command in a folder and return all that it printed; its exit code has to be `code`."""
    result = subprocess.run([*RAGASSAY, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def ragassay_json(folder: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    """Run one command with --json and return what it printed."""
    result = subprocess.run([*RAGASSAY, *arguments, "--json"], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def write_job(folder: Path) -> Path:
    """Write a board of control, oracle and BM25 over three pages, as `ragassay init` makes it.

    Each page holds the address of a person.
    """
    docs = folder / "docs"
    docs.mkdir(parents=True)
    samples = []
    for page, value in {"install": "12 MB", "verify": "1.5 kg", "quota": "30 requests"}.items():
        evidence = f"The {page} step takes {value}."
        (docs / f"{page}.md").write_text(f"# {page}\n\nFirst words. {evidence} Ask {MAIL} why.\n", encoding="utf-8")
        claim = {"text": f"It is {value}.", "central": True, "must": [[value]]}
        asked = f"What does the {page} step take, in figures?"
        samples.append(
            {"id": page, "page": f"{page}.md", "input": asked, "target": value, "evidence": evidence, "claims": [claim]}
        )
    (folder / "questions.json").write_text(json.dumps({"samples": samples}), encoding="utf-8")
    ragassay(folder, "init")
    board = folder / "board.toml"
    text = board.read_text(encoding="utf-8")
    board.write_text(text[: text.index('name = "dense"')].rstrip().removesuffix("[[rows]]"), encoding="utf-8")
    return folder


def cosigned(folder: Path) -> str:
    """Let a witness on this machine cosign the log, and return its key."""
    if not (folder / "witness" / "witness.pem").exists():
        ragassay(folder, "keys", "init", "--kind", "witness", "--dir", "witness")
    said = ragassay(folder, "log", "cosign", ".ragassay/log", "--name", WITNESS, "--dir", "witness")
    return said.split("witness  ")[1].strip()


def sign_off(workspace: Path, reader: str = "Ann") -> None:
    """Read and sign off every run as the review page does."""
    runs, file = load_runs(workspace), ReviewFile(workspace)
    found = scan([text for run in runs for text in public_texts(run)], detectors())
    decisions = DecisionFile(workspace).decisions()
    for run in runs:
        reading = reading_of(run)
        if reading is None:
            continue
        for unit in dict.fromkeys(reading.units):
            file.mark(reader, unit)
        file.sign(reading, reader, touching(run.id, found.findings, decisions))


def finding_of(folder: Path, text: str = MAIL) -> str:
    """Return the id of the finding with these words that is to be decided."""
    found = ragassay_json(folder, "publish", "--check", code=1)["undecided"]
    (identity,) = [one["id"] for one in found if one["text"] == text]
    return str(identity)
