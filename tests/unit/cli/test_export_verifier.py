"""`ragassay export verifier`: writes the page, prints its digest, replaces nothing unasked, needs no extra."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ragassay.cli.export import command
from ragassay.errors import InputError
from ragassay.site.verifier_page import verifier, verifier_page


def test_it_writes_the_page_and_says_its_digest(tmp_path: Path) -> None:
    """The file is the page of this version; what is printed is what `sha256sum` prints of it."""
    out = tmp_path / "page.html"
    result = CliRunner().invoke(command, ["verifier", "--out", str(out)])
    assert result.exit_code == 0
    assert out.read_bytes() == verifier_page()
    assert hashlib.sha256(out.read_bytes()).hexdigest() in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_the_digest_alone_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--digest` prints the line of `sha256sum verify.html` and the script's hash as the page shows it."""
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(command, ["verifier", "--digest"])
    first, second = result.output.splitlines()
    assert first == f"{hashlib.sha256(verifier_page()).hexdigest()}  verify.html"
    assert second == f"script {verifier().script_hash}"
    assert list(tmp_path.iterdir()) == []
    found = json.loads(CliRunner().invoke(command, ["verifier", "--digest", "--json"]).output)
    assert found == {
        "path": None,
        "bytes": len(verifier_page()),
        "sha256": first.split()[0],
        "script": verifier().script_hash,
    }


def test_a_file_that_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    """Without --force an old page stays as it is; with it the new one is there."""
    out = tmp_path / "verify.html"
    out.write_text("mine", encoding="utf-8")
    result = CliRunner().invoke(command, ["verifier", "--out", str(out)])
    assert isinstance(result.exception, InputError)
    assert out.read_text(encoding="utf-8") == "mine"
    assert CliRunner().invoke(command, ["verifier", "--out", str(out), "--force"]).exit_code == 0
    assert out.read_bytes() == verifier_page()


def test_a_folder_is_no_place_for_the_page(tmp_path: Path) -> None:
    """A folder as --out is refused in words."""
    result = CliRunner().invoke(command, ["verifier", "--out", str(tmp_path), "--force"])
    assert isinstance(result.exception, InputError)
    assert "is a folder" in result.exception.message


def test_the_page_needs_the_base_install_only() -> None:
    """Building it loads nothing of the extra `run`."""
    heavy = {"numpy", "scipy", "aiohttp", "jinja2", "markupsafe", "lxml", "onnxruntime"}
    code = (
        "import sys; from ragassay.site.verifier_page import verifier_page; verifier_page(); "
        f"print(*sorted({heavy!r} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []
