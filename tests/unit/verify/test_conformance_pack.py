"""The conformance pack: its cases are what the tables of honest bundles and attacks give, and its runner works."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ragassay.manifest.bundle import read_bundle
from ragassay.site.verifier_page import verifier_page

PACK = Path(__file__).resolve().parents[3] / "conformance"
NAMES = sorted(path.parent.name for path in (PACK / "cases").glob("*/case.json"))
SAMPLE = NAMES[::40]


def load(name: str) -> ModuleType:
    """Return one of the pack's programs as a module."""
    spec = importlib.util.spec_from_file_location(f"conformance_{name}", PACK / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def case_of(name: str) -> dict[str, Any]:
    """Return what the committed pack asks for in a case."""
    found: dict[str, Any] = json.loads((PACK / "cases" / name / "case.json").read_text(encoding="utf-8"))
    return found


def test_the_committed_cases_are_those_that_this_version_writes() -> None:
    """No case is missing, none is stale: each holds the same files, and asks for what the verifier says now."""
    made = load("make")
    cases = {case.name: made.files_of(case) for case in made.cases()}
    assert sorted(cases) == NAMES
    for name, files in cases.items():
        folder = PACK / "cases" / name
        kept = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        if kept["bundle.zip"] != files["bundle.zip"]:  # another zlib packs the same files otherwise
            assert read_bundle(kept["bundle.zip"]) == read_bundle(files["bundle.zip"]), name
            files["bundle.zip"] = kept["bundle.zip"]
        assert kept == files, name


def test_the_pack_holds_yes_and_no_of_every_kind() -> None:
    """Some bundles are accepted strictly, some plainly only, most are refused; an attack is never accepted strictly."""
    answers = {name: (case["ok"], case["strictOk"]) for name, case in ((name, case_of(name)) for name in NAMES)}
    assert {(True, True), (True, False), (False, False)} == set(answers.values())
    assert [name for name, (_, strict) in answers.items() if strict and name.startswith("attack-")] == []
    assert [name for name, (ok, _) in answers.items() if not ok and name.startswith(("golden-", "honest-"))] == []


def run(*command: str, names: list[str] = SAMPLE) -> subprocess.CompletedProcess[str]:
    """Run the pack's runner over some cases with an adapter."""
    chosen = [word for name in names for word in ("--case", name)]
    whole = [sys.executable, str(PACK / "run.py"), *chosen, "--", *command]
    return subprocess.run(whole, capture_output=True, text=True, check=False)


def test_the_python_verifier_passes_the_runner() -> None:
    """The adapter and the runner speak the pack's protocol."""
    done = run(sys.executable, str(PACK / "adapters" / "python.py"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(SAMPLE)} of {len(SAMPLE)} cases as expected" in done.stdout


def test_a_verifier_that_always_says_yes_fails_the_runner() -> None:
    """An adapter that accepts everything is told case by case where it is wrong."""
    yes = "import json; print(json.dumps({'codes': [], 'ok': True, 'strictOk': True}))"
    done = run(sys.executable, "-c", yes)
    assert done.returncode == 1
    assert "is missing" in done.stdout


@pytest.mark.parametrize("program", ["raise SystemExit(3)", "print('[]')", "print('{')"], ids=["none", "list", "torn"])
def test_a_verifier_without_an_answer_fails_the_runner(program: str) -> None:
    """No answer, or one that is no object, is a failure and never a pass."""
    done = run(sys.executable, "-c", program, names=SAMPLE[:1])
    assert done.returncode == 1
    assert "FAILED" in done.stdout


def javascript(tmp_path: Path, names: list[str]) -> subprocess.CompletedProcess[str]:
    """Run the pack through the script of verify.html in Node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    page = tmp_path / "verify.html"
    page.write_bytes(verifier_page())
    return run(node, str(PACK / "adapters" / "javascript.mjs"), str(page), names=names)


def test_the_verifier_of_the_page_passes_the_runner(tmp_path: Path) -> None:
    """The script that people open gives the same answers."""
    done = javascript(tmp_path, SAMPLE)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_both_verifiers_pass_the_whole_pack(tmp_path: Path) -> None:
    """Every case, in Python and in Node, each in a process of its own."""
    done = run(sys.executable, str(PACK / "adapters" / "python.py"), names=NAMES)
    assert done.returncode == 0, done.stdout + done.stderr
    done = javascript(tmp_path, NAMES)
    assert done.returncode == 0, done.stdout + done.stderr
