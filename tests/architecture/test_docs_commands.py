"""Commands, links and paths in the documents: each command can be typed, each heading and module is there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import click
import pytest

from ragassay.cli import VERBS, module_of

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "ragassay"
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md"])
FENCE = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
GLOBAL = {"--help", "--version", "-h"}


def _id(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def slug(heading: str) -> str:
    """Return the anchor of a heading as GitHub makes it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {slug(heading) for heading in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_each_anchor_that_a_page_links_to_is_a_heading(page: Path) -> None:
    """A link to a part of a page leads to that part."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)", text):
        linked = (page.parent / target).resolve() if target else page
        assert anchor in anchors(linked), f"{target}#{anchor}"


def commands(page: Path) -> list[str]:
    """Return the lines of a page's code blocks that type a command, without prompt, comment and continuation."""
    blocks = "\n".join(FENCE.findall(page.read_text(encoding="utf-8"))).replace("\\\n", " ")
    typed = r"^(?:[\w ]*\$ )?((?:env/bin/|\.venv/bin/)?ragassay [a-z]+(?: .*)?)$"
    return [re.split(r" #| \||;| && | >", line)[0] for line in re.findall(typed, blocks, flags=re.MULTILINE)]


def options(words: list[str]) -> set[str]:
    """Return the options that a command takes; raises `KeyError` for a verb or sub-verb that there is none of."""
    command: click.Command = importlib.import_module(f"ragassay.cli.{module_of(words[1])}").command
    if words[1] not in VERBS:
        raise KeyError(words[1])
    if isinstance(command, click.Group):
        command = command.commands[words[2]]
    return {name for parameter in command.params for name in parameter.opts} | GLOBAL


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_each_command_of_a_page_can_be_typed(page: Path) -> None:
    """Verb, sub-verb and options of every command in a code block exist."""
    for line in commands(page):
        words = line.split()
        given = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", line))
        assert given <= options(words), line


def test_each_module_that_the_architecture_names_is_there() -> None:
    """No file moved away under the one page that says where things lie."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+\.(?:py|js))(?:: \w+)?`", text))
    known = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.[pj][ys]")}
    assert len(named) > 20
    assert [name for name in sorted(named) if not any(f"/{one}".endswith(f"/{name}") for one in known)] == []
