"""Where a crawl is built, and how it takes the place of the one before: no kill at any moment loses either.

`<name>.crawling` is built beside `<name>`, and the two change places in one step: `<name>` is always there, and always
whole. What then lies under `<name>.crawling` is the crawl before, known by having no journal, and is removed. Where the
system has no such step, the crawl before waits as `.<name>.before` while the new one is renamed; whoever comes next
finishes or takes back what a kill has left in the middle of that.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from ragassay.corpus.crawl.disk import exchange, sync, writing
from ragassay.corpus.crawl.folder import CRAWL, FILES, LEFT_OUT, PAGES, is_crawl
from ragassay.corpus.crawl.journal import JOURNAL
from ragassay.errors import InputError

BUILDING = ".crawling"
"""What the name of a crawl that is being built ends in."""
_OURS = (CRAWL, PAGES, LEFT_OUT, FILES, JOURNAL)
_HALF_WRITTEN = re.compile(r"\.[0-9a-f]{16}\Z")


class Place:
    """The folders of one crawl; made only while its lock is held."""

    def __init__(self, final: Path) -> None:
        self.final = final
        self.building = final.with_name(f"{final.name}{BUILDING}")
        self._before = before_of(final)

    @property
    def files(self) -> Path:
        """Where the bytes of pages are written."""
        return self.building / FILES

    @property
    def is_complete(self) -> bool:
        """Whether a crawl was built to its end and only waits to be put in place."""
        return is_complete(self.building)

    def refuse_foreign(self) -> None:
        """Raise `InputError` where the folders beside belong to somebody else: they would be removed."""
        for path in (self.building, self._before):
            if os.path.lexists(path) and not _is_ours(path):
                raise InputError(f"{path} stands in the way and is of no crawl; name another folder with --out")

    def recover(self) -> None:
        """Put back, or clear away, what a kill has left in the middle of a swap."""
        with writing(self.final.parent):
            if is_crawl(self._before) and not self.final.exists() and not self.is_complete:
                self._before.rename(self.final)
            if self.final.exists():
                if self._before.exists():
                    shutil.rmtree(self._before)
                (self.final / JOURNAL).unlink(missing_ok=True)
            if self.building.exists() and not (self.building / JOURNAL).exists():
                shutil.rmtree(self.building)  # the crawl before, or what is left of it

    def clear(self) -> None:
        """Remove what was built so far."""
        with writing(self.building):
            if self.building.exists():
                shutil.rmtree(self.building)

    def swap(self) -> None:
        """Put the complete crawl in the place of the one before."""
        with writing(self.final):
            self._bring_to_disk()
            if not self.final.exists():
                self.building.rename(self.final)
            elif not exchange(self.building, self.final):
                self.final.rename(self._before)
                self.building.rename(self.final)
            sync(self.final.parent)
            (self.final / JOURNAL).unlink(missing_ok=True)
            for old in (self.building, self._before):
                if old.exists():
                    shutil.rmtree(old)

    def drop_files(self, keep: set[str]) -> None:
        """Remove the bytes of pages that were not kept in the end, what was half written, and empty folders."""
        with writing(self.files):
            for path in self.building.iterdir():
                if path.is_file() and path.name != JOURNAL:
                    path.unlink()
            self.files.mkdir(parents=True, exist_ok=True)
            for folder, _, names in os.walk(self.files, topdown=False):
                for name in names:
                    path = Path(folder) / name
                    if path.relative_to(self.files).as_posix() not in keep:
                        path.unlink()
                if Path(folder) != self.files and not os.listdir(folder):  # noqa: PTH208 - what os.walk gives
                    Path(folder).rmdir()

    def _bring_to_disk(self) -> None:
        """Let every file of the new crawl reach the disk before the old one goes."""
        for folder, _, names in os.walk(self.building):
            for name in names:
                file = os.open(Path(folder) / name, os.O_RDONLY)
                try:
                    os.fsync(file)
                finally:
                    os.close(file)
            sync(Path(folder))


@contextlib.contextmanager
def held(final: Path) -> Iterator[Place]:
    """Hold the place of a crawl until the block ends.

    Raises `InputError` where another process crawls there, or where something else stands that is no crawl.
    """
    import fcntl  # Windows has no such lock; reading a crawl needs none

    final = _checked(final)
    lock = final.with_name(f".{final.name}.lock")
    with writing(final.parent):
        final.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"{final} is being crawled by another process; wait for it or stop it") from None
        if final.exists() and not is_crawl(final) and not _is_empty(final):
            raise InputError(f"{final} is there already and holds no crawl; name another folder with --out")
        place = Place(final)
        place.refuse_foreign()
        yield place
    finally:
        os.close(file)


def before_of(final: Path) -> Path:
    """Return where the crawl before waits during a swap that takes two steps."""
    return final.with_name(f".{final.name}.before")


def is_complete(building: Path) -> bool:
    """Return whether a folder holds a crawl that was built to its end and was not put in place yet."""
    return (building / CRAWL).is_file() and (building / JOURNAL).is_file()


def _checked(final: Path) -> Path:
    """Return the folder that is meant, links followed; raises `InputError` for one that cannot be replaced."""
    try:
        real = final.resolve() if final.name in ("", "..") or final.is_symlink() else final
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{final} cannot be used ({error}); name another folder with --out") from error
    if not real.name or final.name in ("", ".."):
        raise InputError(f"{final} cannot be replaced as a whole; name a folder of its own with --out")
    if real.name.endswith(BUILDING):
        raise InputError(f"{final}: {BUILDING} marks a crawl that is not finished; name another folder with --out")
    return real


def _is_ours(path: Path) -> bool:
    """Return whether a folder holds nothing but what a crawl writes, also where half of it was removed."""
    if path.is_symlink() or not path.is_dir():
        return False
    return all(one.name in _OURS or _HALF_WRITTEN.match(one.name) for one in path.iterdir())


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())
