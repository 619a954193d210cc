"""A folder, a single file or a tar archive becomes entries in page order, with everything left out listed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ragassay.corpus import archive, crawled, names
from ragassay.corpus.found import Entry, Found, LeftOut, Limits, too_large
from ragassay.errors import InputError

GIVE = "give a folder of documentation or a .tar archive"


def find(source: Path, limits: Limits, *, pdf: bool = False) -> Found:
    """Return what `source` holds; raises `InputError` when it is no folder, page or archive, or is too large."""
    try:
        if source.is_dir():
            return (
                crawled.find(source, limits, pdf=pdf)
                if crawled.is_one(source)
                else _Folder(source, limits, pdf).found()
            )
        if not source.exists():
            raise InputError(f"{source} does not exist; {crawled.advice(source) or GIVE}")
        if names.is_archive(source.name):
            return archive.find(source, limits, pdf=pdf)
        if names.format_of(source.name, pdf=True) is None:
            known = ", ".join(names.FORMATS)
            raise InputError(f"{source} is no folder, no .tar archive and no page; pages end in {known}")
        if reason := names.reason_unread(source.name, pdf=pdf) if names.suffix_of(source.name) == names.PDF else None:
            raise InputError(f"{source}: {reason}")
        entry = Entry(names.page_id(source.name), partial(_bytes, source, limits.page_bytes))
        return Found(origin={"kind": "file", "name": source.name}, entries=[entry], left_out=(), seen=1)
    except OSError as error:
        raise InputError(f"{source} cannot be read: {error.strerror or error}") from error


def _bytes(path: Path, cap: int) -> bytes:
    """Return the bytes of a page; raises `InputError` above `cap`, without reading more than that."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(cap + 1) if size <= cap else b""
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}") from error
    if size > cap or len(data) > cap:
        raise InputError(too_large(max(size, len(data)), cap))
    return data


class _Folder:
    """One walk of a folder: names in code point order, links followed only to files inside the folder."""

    def __init__(self, root: Path, limits: Limits, pdf: bool) -> None:
        self._root = root
        self._real = root.resolve()
        self._limits = limits
        self._pdf = pdf
        self._pages: dict[str, Path] = {}
        self._left: list[LeftOut] = []
        self._problems: list[str] = []
        self._seen = 0
        self._bytes = 0

    def found(self) -> Found:
        for path, relative in self._walk():
            self._take(path, relative)
        return Found(
            origin={"kind": "folder", "name": self._real.name},
            entries=[
                Entry(id_, partial(_bytes, path, self._limits.page_bytes)) for id_, path in sorted(self._pages.items())
            ],
            left_out=tuple(sorted(self._left, key=lambda left: left.path)),
            seen=self._seen,
            problems=tuple(self._problems),
        )

    def _walk(self) -> Iterator[tuple[Path, str]]:
        """Yield each file, and each folder that is not entered; a folder that is entered is not counted."""
        waiting = [(self._root, "")]
        while waiting:
            folder, prefix = waiting.pop()
            try:
                with os.scandir(folder) as listing:
                    children = sorted(listing, key=lambda child: child.name)
            except OSError as error:
                self._seen += 1
                self._problems.append(f"{names.shown(prefix)}: cannot be listed: {error.strerror or error}")
                continue
            for child in children:
                relative = prefix + child.name
                if child.is_dir(follow_symlinks=False) and not child.name.startswith("."):
                    waiting.append((Path(child.path), relative + "/"))
                else:
                    yield Path(child.path), relative

    def _take(self, path: Path, relative: str) -> None:
        self._seen += 1
        if self._seen > self._limits.entries:
            raise InputError(f"{self._root} holds more than the {self._limits.entries:,} files allowed")
        if reason := self._reason(path, relative):
            self._left.append(LeftOut(names.shown(relative), reason))
        elif problem := names.name_problem(relative):
            self._problems.append(f"{names.shown(relative)}: {problem}")
        elif (id_ := names.page_id(relative)) in self._pages:
            self._problems.append(f"{names.shown(relative)}: two files have this name, written differently; rename one")
        else:
            self._pages[id_] = path
            self._count(path.stat().st_size)

    def _reason(self, path: Path, relative: str) -> str | None:
        if path.is_symlink():
            try:
                target = path.resolve(strict=True)
            except (OSError, RuntimeError):
                return "broken link"
            if not target.is_relative_to(self._real):
                return "link out of the folder"
            if target.is_dir():
                return "link to a folder"
            if any(part.startswith(".") for part in target.relative_to(self._real).parts):
                return "link to a hidden file"
        if reason := names.reason_unread(relative, pdf=self._pdf):
            return reason
        return None if stat.S_ISREG(path.stat().st_mode) else "no regular file"

    def _count(self, size: int) -> None:
        self._bytes += size
        if self._bytes > self._limits.total_bytes:
            raise InputError(f"{self._root} holds more than the {self._limits.total_bytes:,} bytes allowed in total")
