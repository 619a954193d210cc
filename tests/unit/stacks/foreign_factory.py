"""Modules of users, written into a folder, and stacks built from them."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from ragassay import plugins
from ragassay.records import Chunk
from ragassay.testing.stack_cases import corpus

TEXTS = ("the fox jumps over the fox", "the river and the fox", "the bank of the river", "nothing of it")


def chunks() -> list[Chunk]:
    """Return four small chunks."""
    return corpus(TEXTS)


def written(folder: Path, name: str, code: str) -> Path:
    """Write a module and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(textwrap.dedent(code), "utf-8")
    return folder


def built(kind: str, folder: Path, path: str, **params: Any) -> Any:
    """Return the built stack of a kind over the small chunks."""
    stack = plugins.load("stacks", kind)(retriever=path, **params)
    return stack.build(chunks(), {"folder": folder}, lambda _done, _total: None)
