"""What a plugin declares is read from its source: nothing is imported, what it does not tell is not said."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragassay import plugins
from ragassay.errors import PluginError
from ragassay.plugins import source
from ragassay.plugins.declared import Declared, declared
from ragassay.plugins.parameters_of import parameters_of
from ragassay.records import Secret

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "acme-search"
version = "1.2"
[project.urls]
Homepage = "https://acme.example/"
Documentation = "https://acme.example/search"
[project.entry-points."ragassay.stacks"]
acme-words = "acme_search.words:Words"
acme-lost = "acme_search.lost:Lost"
acme-made = "acme_search.words:Made"
acme-gone = "acme_gone:Gone"
bm25 = "acme_search.words:Words"
[tool.hatch.build.targets.wheel]
packages = ["acme_search"]
"""

BASE = """
class Base:
    owns_corpus = True
    deterministic = True
"""

WORDS = """
from __future__ import annotations
from typing import TYPE_CHECKING
from acme_search.base import Base
from ragassay.records import Secret
if TYPE_CHECKING:
    import never_asked_for

class Words(Base):
    \"\"\"Ranks by shared words.

    More of it.
    \"\"\"
    default_parts = {}
    def __init__(self, min_words: int = 1, *, index: str, key: Secret | None = None, **unknown):
        self.given = (min_words, index)

Made = type("Made", (Base,), {})
"""

LOST = """
import json

class Lost:
    owns_corpus = False
    def build(self, chunks, parts, progress):
        import not_installed_anywhere.at_all
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build an outside package as a wheel and install it into a folder of its own."""
    folder = tmp_path_factory.mktemp("acme")
    package = folder / "acme_search"
    package.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    files = {"__init__": "raise RuntimeError('imported')\n", "base": BASE, "words": WORDS, "lost": LOST}
    for name, text in files.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    build = "from hatchling.build import build_wheel; print(build_wheel('.'))"
    made = subprocess.run([sys.executable, "-c", build], cwd=folder, capture_output=True, text=True, check=True)
    installed = folder / "site"
    zipfile.ZipFile(folder / made.stdout.split()[-1]).extractall(installed)
    return installed


@pytest.fixture
def kinds(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Declared]]:
    """List the stacks with the outside package installed, whose import would raise."""
    monkeypatch.syspath_prepend(str(site))
    source.tree_of.cache_clear()
    yield {one.kind: one for one in declared("stacks")}
    source.tree_of.cache_clear()


def test_an_outside_plugin_is_read_without_being_imported(kinds: dict[str, Declared]) -> None:
    """Its package, what its base class declares and its page are told, although importing it would raise."""
    words = kinds["acme-words"]
    assert (words.package, words.page) == ("acme-search 1.2", "https://acme.example/search")
    assert (words.owns_corpus, words.deterministic) == (True, True)
    assert (words.extras, words.missing) == ((), ())
    assert "acme_search" not in sys.modules


def test_an_outside_plugin_that_raises_when_it_is_imported(kinds: dict[str, Declared]) -> None:
    """Is the plugin's failure, not a bug of ours."""
    with pytest.raises(PluginError, match="'acme-words' cannot be imported: it raised RuntimeError: imported"):
        plugins.load("stacks", "acme-words")


def test_what_is_missing_is_named(kinds: dict[str, Declared]) -> None:
    """A package that a function of the plugin imports, and a module that is not there at all, are named."""
    assert kinds["acme-lost"].missing == ("not_installed_anywhere",)
    assert kinds["acme-lost"].deterministic is False
    assert kinds["acme-gone"].missing == ("acme_gone",)


def test_what_the_source_does_not_tell_is_not_said(kinds: dict[str, Declared]) -> None:
    """A class that is made by a call, and one whose module is gone, are neither yes nor no."""
    for kind in ("acme-made", "acme-gone"):
        assert (kinds[kind].owns_corpus, kinds[kind].deterministic) == (None, None)


def test_an_outside_plugin_does_not_take_the_place_of_a_built_in_one(kinds: dict[str, Declared]) -> None:
    """`bm25` is what loading it would give."""
    assert kinds["bm25"].package is None
    assert kinds["bm25"].target == plugins.BUILT_IN["stacks"]["bm25"]


def test_the_list_has_every_kind_that_can_be_named(kinds: dict[str, Declared]) -> None:
    """In the same order as everywhere else."""
    assert list(kinds) == plugins.names("stacks")


@pytest.mark.parametrize("kind", plugins.BUILT_IN["stacks"])
def test_the_source_says_what_the_class_says(kind: str) -> None:
    """For every built-in stack that can be imported here, the two agree, and none is of unknown make."""
    about = next(one for one in declared("stacks") if one.kind == kind)
    if about.missing:
        with pytest.raises(PluginError, match="pip install"):
            plugins.load("stacks", kind)
        return
    plugin = plugins.load("stacks", kind)
    assert about.owns_corpus == plugin.owns_corpus
    assert about.deterministic == getattr(plugin, "deterministic", False)
    assert about.page == f"docs/reference/stacks/{kind}.md"


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package behind it, a built-in stack says which package and which extra."""
    monkeypatch.setattr("ragassay.plugins.declared._there", lambda package: package != "bm25s")
    about = {one.kind: one for one in declared("stacks")}
    assert (about["bm25"].missing, about["bm25"].extras) == (("bm25s",), ("run",))
    assert (about["none"].missing, about["none"].extras) == ((), ())


def test_listing_loads_nothing_heavy() -> None:
    """No library of any stack is loaded by listing them all on the command line."""
    code = (
        "import sys; from ragassay.cli import root; root.main(['stacks', 'list', '--json'], standalone_mode=False); "
        "print(*[m for m in sys.modules if m.startswith('ragassay.plugins.stacks.') "
        "or m in ('numpy', 'bm25s', 'aiohttp', 'qdrant_edge', 'lxml')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    listed, loaded = done.stdout.split("\n")[:2]
    assert {one["kind"] for one in json.loads(listed)} >= set(plugins.BUILT_IN["stacks"])
    assert loaded == ""


def test_parameters_of_a_signature() -> None:
    """Names, defaults and what is required come from the constructor; a secret is not the board's to give."""

    class Secretive:
        def __init__(self, size: int = 3, *, index: str, key: Secret | None = None, **unknown: Any) -> None: ...

    found = {one.name: one for one in parameters_of(Secretive)}
    assert list(found) == ["size", "index"]
    assert (found["size"].default, found["size"].required, found["size"].allowed) == (3, False, "int")
    assert (found["index"].default, found["index"].required) == (None, True)


def test_parameters_that_a_class_reads() -> None:
    """Defaults and ranges are those of the class itself."""
    found = {one.name: one for one in parameters_of(plugins.load("stacks", "bm25"))}
    assert set(found) == {"k1", "b", "delta", "method", "stopwords"}
    assert (found["b"].default, found["b"].allowed) == ("0.75", "a number from 0 to 1")
    assert not any(one.required for one in found.values())


def test_a_class_that_raises_whatever_it_is_given() -> None:
    """It has no parameters to tell, and the listing goes on."""

    class Broken:
        def __init__(self, **params: Any) -> None:
            raise OSError("no disk")

    assert parameters_of(Broken) == []
