"""Versions of frozen sets: MAJOR.MINOR.PATCH, which part a change raises, and why a version cannot be taken. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ragassay.records.question import version_numbers

Part = Literal["major", "minor", "patch"]
"""Which number of a version a change raises."""

DRAFT = "-draft"
"""What the version of an editable copy ends with; no frozen set has such a version."""

_PARTS: tuple[Part, ...] = ("major", "minor", "patch")


def raised(version: str, part: Part) -> str:
    """Return `version` with one number raised and those after it 0; raises `ValueError` where it is no version."""
    read = version_numbers(version)
    if read is None:
        raise ValueError(f"{version!r} is no version of the form MAJOR.MINOR.PATCH")
    at = _PARTS.index(part)
    return ".".join(map(str, [*read[:at], read[at] + 1, *[0] * (2 - at)]))


def version_problem(version: str, taken: Iterable[str], *, own: str | None = None) -> str | None:
    """Return why a set cannot be frozen as `version`, or None.

    `taken` are the frozen versions that are there, `own` is the one that the file gives itself.
    """
    asked = version_numbers(version)
    if asked is None:
        how = "give --version, such as 1.0.0"
        if version.endswith(DRAFT):
            how = "it marks an editable copy; `questions bump` with --with freezes that"
        return f"the version {version[:40]!r} is not MAJOR.MINOR.PATCH: {how}"
    higher = [one for one in taken if (known := version_numbers(one)) is not None and known >= asked]
    if version in higher:
        return f"version {version} is frozen already; `questions bump` makes the next one"
    if higher:
        return f"version {version} is lower than {max(higher, key=_key)}, which is frozen already"
    if own is not None and (given := version_numbers(own)) is not None and given > asked:
        return f"version {version} is lower than {own}, which the file gives itself"
    return None


def _key(version: str) -> tuple[int, int, int]:
    return version_numbers(version) or (0, 0, 0)
