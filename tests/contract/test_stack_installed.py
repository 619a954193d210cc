"""The packages of the how-to page, installed with pip into an environment of their own: listed, checked and run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from how_to_page import environment, install, packages, uninstall

PACKAGES = packages()
KINDS = {"acme-search": "shared-words", "acme-vectors": "sqlite-vectors"}
BOARD = """
name = "installed"
passes = 1
[corpus]
path = "docs"
[benchmark]
file = "questions.json"
[answer]
kind = "reader"
[judge]
kind = "literal"
[[rows]]
name = "no-retrieval"
stack = { kind = "none" }
[[rows]]
name = "shared-words"
stack = { kind = "shared-words", min_words = 2 }
"""


class Installed:
    """An environment with both packages, and the folders that they were installed from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = environment(folder / "env")
        for name, files in PACKAGES.items():
            (folder / name).mkdir()
            for file, text in files.items():
                (folder / name / file).write_text(text, "utf-8")
            install(self.python, folder / name)

    def run(self, *words: str, folder: Path | None = None) -> str:
        """Run a module in the environment and return what it prints; a failure is an error."""
        done = subprocess.run(
            [str(self.python), "-m", *words], cwd=folder or self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def listed(self) -> dict[str, Any]:
        """Return what `ragassay stacks list` says, by kind."""
        return {one["kind"]: one for one in json.loads(self.run("ragassay", "stacks", "list", "--json"))}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Install both packages once."""
    return Installed(tmp_path_factory.mktemp("installed"))


def test_the_page_gives_two_whole_packages() -> None:
    """Each a module, a test and a `pyproject.toml`."""
    assert {name: sorted(files) for name, files in PACKAGES.items()} == {
        "acme-search": ["acme_search.py", "pyproject.toml", "test_acme_search.py"],
        "acme-vectors": ["acme_vectors.py", "pyproject.toml", "test_acme_vectors.py"],
    }


@pytest.mark.parametrize("name", PACKAGES)
def test_a_stack_takes_under_a_hundred_lines_and_its_test_under_ten(name: str) -> None:
    """Counted with every blank line and comment."""
    for file, text in PACKAGES[name].items():
        if file.endswith(".py"):
            assert text.count("\n") < (10 if file.startswith("test_") else 100), file


def test_an_installed_package_is_listed_and_described(installed: Installed) -> None:
    """With its name and version, and nothing missing; its parameters are those of its class."""
    listed = installed.listed()
    for package, kind in KINDS.items():
        assert (listed[kind]["package"], listed[kind]["missing"]) == (f"{package} 1", [])
    told = installed.run("ragassay", "stacks", "describe", "sqlite-vectors")
    assert 'metric  default "cosine"; one of cosine, dot' in told


@pytest.mark.parametrize("name", PACKAGES)
def test_an_installed_package_passes_its_test(installed: Installed, name: str) -> None:
    """The page's own test file, with the number of tests that the page gives."""
    told = installed.run("pytest", "-q", "-p", "no:cacheprovider", ".", folder=installed.folder / name)
    assert "19 passed" in told


def test_a_board_runs_an_installed_stack(installed: Installed) -> None:
    """`stacks check` builds it and asks it, `index` builds it ahead, and its row can be run."""
    (installed.folder / "docs").mkdir()
    (installed.folder / "docs" / "part.md").write_text("# Part\n\nThe part weighs 1000 grams.\n", "utf-8")
    claim = {"text": "It weighs 1000 grams.", "central": True, "must": [["1000"]]}
    sample = {
        "id": "q",
        "page": "part.md",
        "input": "How many grams is the weight of the part?",
        "target": "1000 grams.",
    }
    sample |= {"evidence": "The part weighs 1000 grams.", "claims": [claim]}  # type: ignore[dict-item]
    (installed.folder / "questions.json").write_text(json.dumps({"name": "one", "samples": [sample]}), "utf-8")
    (installed.folder / "board.toml").write_text(BOARD, "utf-8")
    assert "2 of 2 answer" in installed.run("ragassay", "stacks", "check")
    assert "2 of 2 ready" in installed.run("ragassay", "index")
    installed.run("ragassay", "keys", "init")
    assert "shared-words" in installed.run("ragassay", "run")


def test_an_uninstalled_package_is_gone(tmp_path: Path) -> None:
    """A kind is there as long as its package is."""
    folder = tmp_path / "acme-search"
    folder.mkdir()
    for file, text in PACKAGES["acme-search"].items():
        (folder / file).write_text(text, "utf-8")
    python = environment(tmp_path / "env")
    install(python, folder)
    listing = [str(python), "-m", "ragassay", "stacks", "list"]
    assert "shared-words" in subprocess.run(listing, capture_output=True, text=True, check=True).stdout
    uninstall(python, "acme-search")
    assert "shared-words" not in subprocess.run(listing, capture_output=True, text=True, check=True).stdout
