"""Reading a module's source where it lies, without importing it: its classes' constants and what it imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MOST_MODULES = 500
"""How many modules are followed for what one plugin imports."""

UNKNOWN = object()
"""What only an import could tell."""

ABSENT = object()
"""Declared nowhere."""


@cache
def tree_of(module: str) -> ast.Module | None:
    """Return a module's source as a tree; None where it cannot be found or read. No package on the way is imported."""
    top, *rest = module.split(".")
    try:
        spec = find_spec(top)
        for depth, _ in enumerate(rest, 2):
            if spec is None or spec.submodule_search_locations is None:
                return None
            spec = PathFinder.find_spec(".".join([top, *rest][:depth]), list(spec.submodule_search_locations))
        if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
            return None
        return ast.parse(Path(spec.origin).read_bytes())
    except (ImportError, OSError, SyntaxError, ValueError, RecursionError):
        return None


def constant(module: str, name: str, attribute: str, depth: int = 8) -> Any:
    """Return what a class assigns to `attribute` as a plain literal, itself or through its bases.

    `ABSENT` where neither it nor any base assigns it; `UNKNOWN` where the source does not tell.
    """
    tree = tree_of(module)
    if tree is None or depth == 0:
        return UNKNOWN
    found = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    if not found:
        origin = _imported_as(tree, name, module)
        if origin is None:
            return UNKNOWN
        return ABSENT if origin[0] in ("typing", "abc") else constant(*origin, attribute, depth - 1)
    own = _assigned(found[-1], attribute)
    if own is not ABSENT or found[-1].keywords:
        return own if own is not ABSENT else UNKNOWN
    for base in found[-1].bases:
        base = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(base, ast.Name) and base.id in ("object", "Exception"):
            continue
        inherited = constant(module, base.id, attribute, depth - 1) if isinstance(base, ast.Name) else UNKNOWN
        if inherited is not ABSENT:
            return inherited
    return ABSENT


def packages(module: str) -> frozenset[str]:
    """Return the top-level names that importing a module asks for, those that its functions import included.

    Modules of its own package and of ragassay are followed; of those, what functions import is left out.
    """
    followed = {module.partition(".")[0], "ragassay"}
    names: set[str] = set()
    seen: set[str] = set()
    waiting = [module]
    while waiting and len(seen) < MOST_MODULES:
        one = waiting.pop()
        if one in seen or (tree := tree_of(one)) is None:
            continue
        seen.add(one)
        for target in _imports(tree, one, inside=one == module):
            top = target.partition(".")[0]
            if top in followed:
                parts = target.split(".")
                waiting += [".".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
            else:
                names.add(top)
    return frozenset(names)


def _assigned(node: ast.ClassDef, attribute: str) -> Any:
    for statement in node.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if isinstance(statement, ast.Assign | ast.AnnAssign) and any(
            isinstance(target, ast.Name) and target.id == attribute for target in targets
        ):
            try:
                return UNKNOWN if statement.value is None else ast.literal_eval(statement.value)
            except ValueError:
                return UNKNOWN
    return ABSENT


def _imported_as(tree: ast.Module, name: str, module: str) -> tuple[str, str] | None:
    """Return module and name that a name was imported from."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _absolute(node, module), alias.name
    return None


def _imports(tree: ast.Module, module: str, *, inside: bool) -> Iterator[str]:
    """Yield the dotted names that a tree imports, but not for the type checker alone."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = _absolute(node, module)
            yield from (f"{origin}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and _checking(node.test):
            waiting += node.orelse
        elif inside or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += ast.iter_child_nodes(node)


def _checking(test: ast.expr) -> bool:
    named = test.id if isinstance(test, ast.Name) else test.attr if isinstance(test, ast.Attribute) else ""
    return named == "TYPE_CHECKING"


def _absolute(node: ast.ImportFrom, module: str) -> str:
    """Return the module that an import names; one dot stands for the package that `module` is in."""
    if not node.level:
        return node.module or ""
    package = module.split(".")[: -node.level] or module.split(".")[:1]
    return ".".join([*package, *([node.module] if node.module else [])])
