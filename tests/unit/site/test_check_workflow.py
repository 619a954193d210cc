"""The ready workflow file: least permissions, pinned actions, and commands that can be typed and that work."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml  # type: ignore[import-untyped]

from ragassay.cli import VERBS, module_of

WORKFLOW = Path(__file__).resolve().parents[3] / "examples" / "ci" / "ragassay.yml"
TEXT = WORKFLOW.read_text(encoding="utf-8")
PARSED: dict[Any, Any] = yaml.safe_load(TEXT)
STEPS: list[dict[str, Any]] = PARSED["jobs"]["board"]["steps"]
SCRIPTS = {step["name"]: step["run"] for step in STEPS if "run" in step}
PAGE = "# Options of the Acme CLI\n\n" + "\n\n".join(
    f"The option option-{n} is set to {n * 7} unless somebody changes it." for n in range(1, 9)
)
BOARD = """
name = "Acme docs"
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
name = "bm25"
stack = { kind = "bm25" }
"""


def commands() -> list[list[str]]:
    """Return every command of ragassay in the workflow, in words."""
    lines = "\n".join(SCRIPTS.values()).replace("\\\n", " ").splitlines()
    typed = [re.split(r" (?:>|\|\|) ", line.strip())[0] for line in lines if line.strip().startswith("ragassay ")]
    return [shlex.split(line) for line in typed]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_each_command_can_be_typed(words: list[str]) -> None:
    """Verb, sub-verb and every option exist, and the whole line is one that click can parse."""
    assert words[1] in VERBS
    command: click.Command = importlib.import_module(f"ragassay.cli.{module_of(words[1])}").command
    rest = words[2:]
    if isinstance(command, click.Group):
        command, rest = command.commands[rest[0]], rest[1:]
    known = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in rest if word.startswith("--")} <= known
    command.make_context(words[1], rest, resilient_parsing=True)


def test_the_verbs_that_matter_are_there() -> None:
    """Questions are checked, the board is run and checked, and its runs are kept as bundles."""
    assert [" ".join(words[1:3]) for words in commands()] == [
        "questions check",
        "keys init",
        "run board.toml",
        "run board.toml",
        "check board.toml",
        "export bundle",
    ]


def test_permissions_are_the_least() -> None:
    """The workflow may read the repository, no job asks for more, and no token stays in the checkout."""
    assert PARSED["permissions"] == {"contents": "read"}
    assert all("permissions" not in job for job in PARSED["jobs"].values())
    checkout = next(step for step in STEPS if step.get("uses", "").startswith("actions/checkout@"))
    assert checkout["with"]["persist-credentials"] is False
    assert set(PARSED[True]) == {"pull_request", "push"}  # YAML 1.1 reads the key `on` as true


def test_actions_are_pinned_by_commit() -> None:
    """Each action is one of GitHub's own, at a whole commit with its version beside it."""
    used = re.findall(r"^ *- uses: (.*)$", TEXT, flags=re.MULTILINE)
    assert len(used) == sum("uses" in step for step in STEPS) == 4
    assert [one for one in used if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one)] == []


def test_secrets_reach_one_step_by_name_and_no_script() -> None:
    """No script holds an expression, which could be injected into; secrets stand in the environment of one step."""
    assert [name for name, script in SCRIPTS.items() if "${{" in script] == []
    holding = [step.get("name") for step in STEPS if "secrets." in str(step)]
    assert holding == ["Run"]
    assert TEXT.count("secrets.") == len(next(s for s in STEPS if s.get("name") == "Run")["env"])


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a board of eight questions."""
    import site_factory as make

    folder = tmp_path_factory.mktemp("repository")
    (folder / "docs").mkdir()
    (folder / "docs" / "options.md").write_text(PAGE, encoding="utf-8")
    (folder / "board.toml").write_text(BOARD, encoding="utf-8")
    questions = make.benchmark(8, evidence=(), page=None)
    (folder / "questions.json").write_bytes(questions.full_form())
    (folder / "bin").mkdir()
    ragassay = folder / "bin" / "ragassay"
    ragassay.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ragassay "$@"\n', encoding="utf-8")
    ragassay.chmod(0o755)
    return folder


@pytest.mark.slow
def test_the_scripts_work(repository: Path) -> None:
    """As a job runs them, with `bash -e`: the check needs a baseline, holds with one, and fails for begun passes."""
    environment = {
        **os.environ,
        "PATH": f"{repository / 'bin'}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(repository / "summary.md"),
    }

    def script(name: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text or SCRIPTS[name]],
            cwd=repository,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    assert (done := script("Run")).returncode == 0, done.stderr
    assert script("Bundles").returncode == 0
    assert len(list((repository / "bundles").glob("*.zip"))) == 2
    absent = script("Check")
    assert absent.returncode == 2
    assert "baseline/board.json does not exist" in absent.stderr
    (repository / "baseline").mkdir()
    (repository / "board.json").rename(repository / "baseline" / "board.json")
    assert script("Run").returncode == 0
    done = script("Check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the check holds for bm25" in done.stdout
    assert "::notice title=ragassay check::" in done.stdout
    assert (repository / "summary.md").read_text(encoding="utf-8").startswith("### Acme docs")
    assert b"<testsuites " in (repository / "check.xml").read_bytes()
    assert script("", "ragassay run board.toml --announce").returncode == 0
    begun = script("Check")
    assert begun.returncode == 1
    assert "pass 1 of 1 is not signed: 0 of 8 questions judged" in " ".join(begun.stdout.split())
    assert "! the control: pass 1 of 1 is not signed" in begun.stdout
