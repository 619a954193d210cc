"""What the plugins of a seam declare and need, read from their source: nothing of theirs is imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from importlib.util import find_spec

import msgspec

from ragassay.plugins import BUILT_IN, extra_of
from ragassay.plugins.source import UNKNOWN, constant, packages
from ragassay.seams import Seam

BASE = frozenset({"click", "cryptography", "msgspec", "rfc8785", "rich"})
"""What every installation holds."""


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """One kind: where it comes from, what its class says, and what it needs."""

    kind: str
    package: str | None
    """Name and version of the outside package that brings it; None for a built-in one."""
    target: str
    """`module:attribute`."""
    owns_corpus: bool | None
    """None where the source does not tell: only an import would."""
    deterministic: bool | None
    wire_form_only: bool | str | None
    """True for a stack that was only tested against a stand-in that speaks its wire form; a name: where that parameter
    is given."""
    extras: tuple[str, ...]
    """The extras of ragassay that a built-in one needs; an outside package brings what it needs itself."""
    missing: tuple[str, ...]
    """The packages, by the name that is imported, that are not installed here; where any is, it cannot be imported."""
    page: str | None
    """Its reference page: a path in the project, or the address that the outside package names."""


def declared(seam: Seam) -> Iterator[Declared]:
    """Yield every kind of a seam, sorted by name; a built-in one goes before an outside one of the same name."""
    outside = {point.name: point for point in reversed(list(entry_points(group=f"ragassay.{seam}")))}
    for kind in sorted({*BUILT_IN[seam], *outside}):
        if kind in BUILT_IN[seam]:
            yield _read(kind, BUILT_IN[seam][kind], None, f"docs/reference/{seam}/{kind}.md")
        else:
            point = outside[kind]
            package = f"{point.dist.name} {point.dist.version}" if point.dist else "an unnamed package"
            urls = point.dist.metadata.get_all("Project-URL") if point.dist else None
            yield _read(kind, point.value, package, _page(urls or []))


def _read(kind: str, target: str, package: str | None, page: str | None) -> Declared:
    module, _, name = target.partition(" ")[0].partition(":")
    needed = sorted(packages(module) - BASE - {"ragassay"} - sys.stdlib_module_names)
    if find_spec(module.partition(".")[0]) is None:
        needed.append(module.partition(".")[0])
    return Declared(
        kind=kind,
        package=package,
        target=target,
        owns_corpus=_flag(constant(module, name, "owns_corpus"), declared_by_all=True),
        deterministic=_flag(constant(module, name, "deterministic"), declared_by_all=False),
        wire_form_only=_flag_or_name(constant(module, name, "wire_form_only")),
        extras=() if package else tuple(sorted({extra_of(one, kind) for one in needed})),
        missing=tuple(one for one in needed if not _there(one)),
        page=page,
    )


def _flag(value: object, *, declared_by_all: bool) -> bool | None:
    """Return a flag; one that is absent is false, unless every class must declare it."""
    if isinstance(value, bool):
        return value
    return None if value is UNKNOWN or declared_by_all else False


def _flag_or_name(value: object) -> bool | str | None:
    return value if isinstance(value, str) else _flag(value, declared_by_all=False)


def _there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def _page(urls: list[str]) -> str | None:
    """Return the address under `Documentation`, else `Homepage`, of lines such as `Homepage, https://…`."""
    named = {label.strip().lower(): address.strip() for label, _, address in (url.partition(",") for url in urls)}
    return named.get("documentation") or named.get("homepage") or None
