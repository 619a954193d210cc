"""What an argument names as documentation: itself, or what the [corpus] table of a board says."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

from ragassay.errors import InputError
from ragassay.records import JSON

BUILT_ON = ("answer", "judge", "rows", "panel")
"""Tables of a board that runs; one without any of them is only begun: it says where documentation and questions are."""


class Named(msgspec.Struct, frozen=True):
    """What is read, the chunker's table, the workspace folder, and whether PDF files are pages."""

    source: Path
    chunker: JSON
    workspace: Path
    pdf: bool = False


def is_board(given: Path) -> bool:
    """Return whether an argument is a board by its name."""
    return given.suffix.lower() == ".toml"


def corpus_named(given: Path) -> Named:
    """Return what an argument stands for; of a board nothing but its [corpus] table need be right."""
    if not is_board(given):
        return Named(given, {"kind": "heading"}, Path(".ragassay"))
    table = _tables(given).get("corpus")
    if not isinstance(table, dict):
        raise InputError(f"{given} has no [corpus] table; give it one with `path` or `crawl`")
    workspace = given.parent / ".ragassay"
    source = _source(given, table, workspace)
    entry = table.get("chunker", {"kind": "heading"})
    if not isinstance(entry, dict) or not isinstance(entry.get("kind"), str):
        raise InputError(f"{given}: corpus.chunker needs a `kind`, for example {{ kind = 'heading' }}")
    if not isinstance(pdf := table.get("pdf", False), bool):
        raise InputError(f"{given}: corpus.pdf must be true or false")
    return Named(source, entry, workspace, pdf)


def is_begun(given: Path) -> bool:
    """Return whether a board only says where documentation and questions are, so that nothing else need be right."""
    return begun_tables(given) is not None


def begun_tables(given: Path) -> JSON | None:
    """Return what a board says that is only begun, None for one that is built on."""
    tables = _tables(given)
    return None if any(name in tables for name in BUILT_ON) else tables


def questions_named(given: Path) -> Path:
    """Return the question file that a begun board names."""
    table = _tables(given).get("benchmark")
    value = table.get("file") if isinstance(table, dict) else None
    if not isinstance(value, str) or not value:
        raise InputError(f"{given} names no question file; write `file` into its [benchmark] table, or name the file")
    return given.parent / value


def _tables(given: Path) -> JSON:
    try:
        return tomllib.loads(given.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"{given} does not exist; name a folder of documentation, or run `ragassay init`") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{given} cannot be read as TOML: {error}") from error


def _source(given: Path, table: JSON, workspace: Path) -> Path:
    """Return the documentation that a [corpus] table names, by its path or by the site that was crawled."""
    from ragassay.corpus.crawled import crawl_folder

    named = {key: table[key] for key in ("path", "crawl") if key in table}
    value = next(iter(named.values()), None)
    if len(named) != 1 or not isinstance(value, str) or not value:
        what = "`path`, the folder or archive of the documentation, or `crawl`, the address of its site"
        raise InputError(f"{given}: [corpus] needs either {what}")
    if "path" in named:
        return given.parent / value
    try:
        return crawl_folder(value, workspace)
    except InputError as error:
        raise InputError(f"{given}: corpus.crawl: {error.message}") from error
