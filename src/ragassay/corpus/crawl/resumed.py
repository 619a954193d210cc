"""What a crawl that was cut short had settled: read from its journal, checked against the bytes on the disk."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from ragassay import canon
from ragassay.corpus.crawl.journal import Begun, Discovered, Journal, Left, Settled, Took
from ragassay.corpus.crawl.robots import KEPT_S, RobotsFile
from ragassay.corpus.crawl.settings import CrawlSettings
from ragassay.errors import InputError
from ragassay.records import to_json


class Resumed(msgspec.Struct, kw_only=True):
    """What need not be asked for again; all empty for a crawl that begins."""

    began: int
    robots: RobotsFile | None = None
    discovered: Discovered | None = None
    settled: dict[str, Settled] = msgspec.field(default_factory=dict)


def resume(journal: Journal, settings: CrawlSettings, files: Path) -> Resumed:
    """Return what was settled, and begin the journal where it is empty.

    A page whose bytes are not on the disk is not settled, and where links are followed nothing that came after it is:
    each line holds only the links that were news. Raises `InputError` where the crawl that was cut short was
    asked for with other settings.
    """
    now = int(time.time())
    if not journal.lines:
        journal.write(Begun(settings=settings, at=now))
        return Resumed(began=now)
    first = journal.lines[0]
    if not isinstance(first, Begun):
        raise InputError(f"{files.parent} is damaged; begin anew with --restart")
    if first.settings != settings:
        raise InputError(
            "a crawl of this site was cut short that was asked for with other settings; give the same, or begin anew "
            "with --restart",
            _differences(first.settings, settings),
        )
    found = Resumed(began=first.at)
    for line in journal.lines[1:]:
        if isinstance(line, RobotsFile):
            found.robots = line if 0 <= now - line.at < KEPT_S else None
        elif isinstance(line, Discovered):
            found.discovered = line
        elif isinstance(line, Took):
            if _is_there(line, files):
                found.settled[line.page.url] = line
            elif found.discovered is not None and found.discovered.used == "links":
                break  # what it alone named is found again only from here on
        elif isinstance(line, Left):
            found.settled[line.left.url] = line
    journal.lines = ()
    return found


def _is_there(line: Took, files: Path) -> bool:
    try:
        return canon.sha256((files / line.page.id).read_bytes()) == line.page.sha256
    except OSError:
        return False


def _differences(before: CrawlSettings, now: CrawlSettings) -> list[str]:
    old, new = to_json(before), to_json(now)
    return [f"{name}: {old[name]!r} then, {new[name]!r} now" for name in old if old[name] != new[name]]
