"""The shape of the project: documents in step with code, small modules, a light start, one error tree."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import msgspec
import pytest

from ragassay import errors, plugins, records
from ragassay.cli import VERBS, module_of

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "ragassay"
DOCS = ROOT / "docs"
MODULES = sorted(SOURCE.rglob("*.py"))
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "ARCHITECTURE.md"])
LONGEST_MODULE = 400
LONGEST_FUNCTION = 60


def _id(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_each_verb_has_its_page_and_its_file() -> None:
    """Every verb of the command line has one file and one reference page, and no page lacks its verb."""
    assert {path.stem for path in (DOCS / "reference" / "verbs").glob("*.md")} == set(VERBS)
    assert [verb for verb in VERBS if not (SOURCE / "cli" / f"{module_of(verb)}.py").exists()] == []


@pytest.mark.parametrize("verb", VERBS)
def test_each_option_stands_on_the_page_of_its_verb(verb: str) -> None:
    """Every option of a verb and of its sub-verbs is named on its page, or on the sub-verb's own page below it."""
    import click

    command: click.Command = importlib.import_module(f"ragassay.cli.{module_of(verb)}").command
    commands = list(command.commands.values()) if isinstance(command, click.Group) else [command]
    pages = DOCS / "reference" / "verbs"
    for one in commands:
        own = pages / verb / f"{one.name}.md"
        page = (own if own.is_file() else pages / f"{verb}.md").read_text(encoding="utf-8")
        options = {max(parameter.opts, key=len) for parameter in one.params if isinstance(parameter, click.Option)}
        assert [option for option in sorted(options) if option not in page] == []


def test_each_page_of_a_sub_verb_has_its_sub_verb() -> None:
    """A page under a verb's folder is named for one of its sub-verbs, and the verb's page links to it."""
    import click

    pages = DOCS / "reference" / "verbs"
    for own in sorted(pages.glob("*/*.md")):
        verb = own.parent.name
        command = importlib.import_module(f"ragassay.cli.{module_of(verb)}").command
        assert isinstance(command, click.Group)
        assert own.stem in command.commands, own
        assert f"]({verb}/{own.name})" in (pages / f"{verb}.md").read_text(encoding="utf-8"), own


@pytest.mark.parametrize("seam", plugins.BUILT_IN)
def test_each_plugin_has_its_page(seam: str) -> None:
    """Every built-in plugin has one reference page, and no page lacks its plugin."""
    pages = {path.stem for path in (DOCS / "reference" / seam).glob("*.md")}
    known = set(plugins.BUILT_IN[seam])  # type: ignore[index]
    assert pages == known | ({"llm"} if seam == "judges" else set())


@pytest.mark.parametrize("seam", plugins.BUILT_IN)
def test_each_built_in_plugin_is_where_the_registry_says(seam: str) -> None:
    """Each registered module exists, a file or a folder, and defines the registered class."""
    for target in plugins.BUILT_IN[seam].values():  # type: ignore[index]
        module, _, name = target.partition(":")
        place = SOURCE.parent / module.replace(".", "/")
        path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


@pytest.mark.parametrize("name", records.__all__)
def test_each_field_of_a_record_is_described(name: str) -> None:
    """Every field of every record stands, by its JSON name, on a page about records."""
    record = getattr(records, name)
    if not (inspect.isclass(record) and issubclass(record, records.Record)):
        assert name in {"JSON", "MISSING", "SCORED", "Secret", "to_json"} or not inspect.isclass(record)
        return
    pages = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference" / "records").glob("*.md"))
    fields = [field.encode_name for field in msgspec.structs.fields(record)]
    assert [field for field in fields if f"`{field}`" not in pages and f'"{field}"' not in pages] == []


@pytest.mark.parametrize("path", PAGES, ids=_id)
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    """Every relative link of a document names a file that exists."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
    assert [target for target in targets if not (path.parent / target).exists()] == []


@pytest.mark.parametrize("path", MODULES, ids=_id)
def test_modules_and_functions_stay_small(path: Path) -> None:
    """No module is longer than 400 lines and no function longer than 60."""
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= LONGEST_MODULE
    long = [
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno > LONGEST_FUNCTION
    ]
    assert long == []


def test_error_tree() -> None:
    """Every error of the library stands under one root, in the branch of who must act, with an exit code."""
    classes = [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, Exception)]
    assert all(issubclass(c, errors.RagassayError) for c in classes)
    codes = {c.__name__: c.exit_code for c in classes if issubclass(c, errors.RagassayError)}
    assert codes == {
        "RagassayError": 4,
        "InputError": 2,
        "RunStopped": 2,
        "PluginError": 3,
        "ModelError": 3,
        "StackError": 3,
        "VerifyError": 1,
    }


@pytest.mark.parametrize("statement", ["import ragassay", "import ragassay.cli", "import ragassay.verify"])
def test_a_light_start(statement: str) -> None:
    """Importing the package, its command line or the verifier loads nothing of the `run` extra."""
    heavy = {"numpy", "scipy", "aiohttp", "jinja2", "lxml", "onnxruntime", "bm25s", "tokenizers"}
    code = f"import sys; {statement}; print(*sorted({heavy!r} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


def test_help_lists_every_verb() -> None:
    """`--help` names every verb without importing any."""
    result = subprocess.run([sys.executable, "-m", "ragassay", "--help"], capture_output=True, text=True, check=True)
    assert [verb for verb in VERBS if verb not in result.stdout] == []


def test_base_install_is_small() -> None:
    """What every user must install is what verification needs, and no more."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[<>=]", dependency)[0] for dependency in project["dependencies"]}
    assert names == {"click", "cryptography", "msgspec", "rfc8785", "rich"}


def test_the_lock_names_hashes_and_no_address() -> None:
    """Every pinned package carries hashes, and no registry address stands in a lock."""
    for lock in (ROOT / "requirements").glob("*.txt"):
        lines = [line for line in lock.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
        text = "\n".join(lines)
        assert not re.search(r"https?://|--(extra-)?index-url|--find-links", text)
        pins = re.findall(r"^[a-z0-9][\w.-]*==\S+ \\\n    --hash", text, flags=re.MULTILINE)
        assert len(pins) == len(re.findall(r"^[a-z0-9][\w.-]*==", text, flags=re.MULTILINE)) > 0


def test_a_wheel_holds_the_bundled_board_and_nothing_of_a_workspace(tmp_path: Path) -> None:
    """A wheel built where the bundled board was run carries its files and its corpus, no key and no run."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "examples" / "bundled", tmp_path / "examples" / "bundled")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    key = tmp_path / "examples" / "bundled" / ".ragassay" / "keys" / "run.pem"
    key.parent.mkdir(parents=True, exist_ok=True)
    key.write_text("secret", encoding="utf-8")
    (tmp_path / "examples" / "bundled" / "board.json").write_text("{}", encoding="utf-8")
    build = "from hatchling.build import build_wheel; print(build_wheel('out'))"
    (tmp_path / "out").mkdir()
    made = subprocess.run([sys.executable, "-c", build], cwd=tmp_path, capture_output=True, text=True, check=True)
    names = zipfile.ZipFile(tmp_path / "out" / made.stdout.split()[-1]).namelist()
    bundled = {name.removeprefix("ragassay/bundled/") for name in names if name.startswith("ragassay/bundled/")}
    assert {name for name in bundled if not name.startswith("corpus/")} == {
        "README.md",
        "board-smollm2.toml",
        "board.toml",
        "maintainers.pub.json",
        "ragassay-docs-1.0.0.items.dsse.json",
        "ragassay-docs-1.0.0.json",
    }
    assert sum(name.endswith(".md") for name in bundled) > 24
    assert not [name for name in names if ".pem" in name or ".ragassay" in name]
    scripts = {path.name for path in (SOURCE / "site" / "verifier").glob("*.js")}
    assert {f"ragassay/site/verifier/{name}" for name in scripts} <= set(names)
    templates = {"verify.html", "verifier_form.html", "verifier.css"}
    assert {f"ragassay/site/templates/{name}" for name in templates} <= set(names)
    app = {path.name for path in (SOURCE / "web").iterdir() if path.suffix in (".css", ".html", ".js", ".svg")}
    assert {"ragassay/judge/conformance.jsonl", *(f"ragassay/web/{name}" for name in app)} <= set(names)


def test_a_library_that_the_system_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin whose package is there and cannot be linked says which library is missing and how to get it."""

    def refuse(name: str) -> None:
        raise ImportError("libgomp.so.1: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(errors.PluginError, match="libgomp1"):
        plugins.load("models", "llamacpp")
