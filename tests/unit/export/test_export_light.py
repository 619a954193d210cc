"""Exports ask for no more than they need: the base install writes bundles, run files and CSV."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ragassay.testing.signed_run import RUN_ID, signed_run

HEAVY = ("numpy", "scipy", "aiohttp", "jinja2", "pyarrow", "mlflow", "opentelemetry", "ray")
BLOCKED = f"""
import sys
for name in {HEAVY!r}:
    sys.modules[name] = None
from ragassay.cli import main
main()
"""


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BLOCKED, "export", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_base_install_exports(tmp_path: Path) -> None:
    """With everything else unimportable a run is written in every form that needs no extra."""
    folder = tmp_path / ".ragassay" / "runs" / RUN_ID
    folder.mkdir(parents=True)
    for name, data in signed_run().items():
        (folder / name).write_bytes(data)
    for words in (("--help",), ("csv",), ("trec",), ("junit", "--min-score", "1"), ("bundle", RUN_ID)):
        found = _run(tmp_path, *words)
        assert found.returncode == 0, (words, found.stderr)
    written = {path.name for path in tmp_path.iterdir()} - {".ragassay"}
    assert written == {"ragassay.csv", "trec", "junit.xml", f"{RUN_ID}.zip"}


def test_a_missing_extra_is_one_error(tmp_path: Path) -> None:
    """Without pyarrow the error names what to install, and nothing is written."""
    found = _run(tmp_path, "parquet")
    assert (found.returncode, "pip install 'ragassay[export]'" in found.stderr) == (3, True)
    assert list(tmp_path.iterdir()) == []
