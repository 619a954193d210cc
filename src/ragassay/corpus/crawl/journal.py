"""The journal of a crawl under way: a line for each thing that is settled, so a kill loses only what was in flight."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ragassay.corpus.crawl.disk import writing
from ragassay.corpus.crawl.folder import CrawledPage, NotTaken
from ragassay.corpus.crawl.robots import RobotsFile
from ragassay.corpus.crawl.settings import CrawlSettings

JOURNAL = "journal.jsonl"


class Begun(msgspec.Struct, frozen=True, tag="begun", kw_only=True):
    """The first line: what was asked for."""

    settings: CrawlSettings
    at: int


class Discovered(msgspec.Struct, frozen=True, tag="discovered", kw_only=True):
    """Where the addresses come from; `beyond` counts those that are too many to be seen."""

    used: str
    prefix: str
    addresses: tuple[str, ...]
    sources: tuple[str, ...]
    problems: tuple[str, ...]
    beyond: int


class Took(msgspec.Struct, frozen=True, tag="took", kw_only=True):
    """A page whose bytes are on the disk, the addresses it names, and how many more it names than are seen."""

    page: CrawledPage
    links: tuple[str, ...]
    unfollowed: tuple[str, ...]
    beyond: int = 0


class Left(msgspec.Struct, frozen=True, tag="left", kw_only=True):
    """An address that was asked for and is no page; `leads_to` is to be asked for instead, `links` were found on it."""

    left: NotTaken
    leads_to: str | None = None
    links: tuple[str, ...] = ()
    beyond: int = 0


Line = Begun | RobotsFile | Discovered | Took | Left
Settled = Took | Left


class Journal:
    """Appends lines to a file; a line that a kill has torn is cut off."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / JOURNAL
        self._encoder = msgspec.json.Encoder()
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            self.lines: tuple[Line, ...] = tuple(self._read())
        except BaseException:
            self.close()
            raise

    def write(self, line: Line) -> None:
        """Append one line; raises `InputError` where it cannot be written, and leaves no half of it."""
        data = self._encoder.encode(line) + b"\n"
        end = os.fstat(self._file).st_size
        with writing(self._path):
            try:
                written = 0
                while written < len(data):
                    written += os.write(self._file, data[written:])
            except OSError:
                os.ftruncate(self._file, end)
                raise

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _read(self) -> Iterator[Line]:
        decoder = msgspec.json.Decoder(Line)
        data = self._path.read_bytes()
        good = 0
        for line in data.split(b"\n")[:-1]:
            try:
                read: Line = decoder.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                break
            good += len(line) + 1
            yield read
        os.ftruncate(self._file, good)
