"""Which addresses a crawl takes before it asks for them, and the reason for each that it does not. Pure."""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from collections.abc import Callable
from urllib.parse import urlsplit

from ragassay.corpus.crawl.folder import Reason
from ragassay.corpus.crawl.settings import CrawlSettings

MAX_ADDRESSES = 200_000
"""So many addresses are seen at most; how many came after them is counted."""
MAX_CHARS = 32 * 1024 * 1024
"""So many characters have all addresses that are seen."""
MOST_HOPS = 5
MOST_QUERIES = 200
MOST_REPEATS = 3
LONGEST = 2_000
_NO_PAGES = re.compile(
    r"(7z|avi|bmp|bz2|deb|dmg|docx?|eot|epub|exe|gif|gz|ico|iso|jar|jpe?g|m4a|mov|mp3|mp4|mpe?g|msi|og[agv]|otf|png"
    r"|pptx?|rar|rpm|svg|tar|tgz|tiff?|ttf|war|wav|web[mp]|whl|woff2?|xlsx?|xz|zip|zst)\Z"
)
"""Suffixes of files that are no documentation wherever they stand: not asked for."""
Judged = tuple[Reason, str]


class Prefix:
    """The addresses at a prefix and below it; all are in normal form already."""

    def __init__(self, prefix: str) -> None:
        self._whole = prefix.rstrip("/")
        self._below = (f"{self._whole}/", f"{self._whole}?")

    def holds(self, url: str) -> bool:
        """Return whether an address is the prefix, or lies below it."""
        return url == self._whole or url.startswith(self._below)


class Scope:
    """Judges addresses one after the other; how many differ only in their query is remembered."""

    def __init__(self, settings: CrawlSettings, prefix: str, allows: Callable[[str], bool]) -> None:
        self._settings = settings
        self._prefix = Prefix(prefix)
        self._allows = allows
        self._queries: Counter[str] = Counter()

    def judge(self, url: str, depth: int, hops: int) -> Judged | None:
        """Return why a new address is not asked for, None where it is."""
        if judged := self.refusal(url):
            return judged
        if hops > MOST_HOPS:
            return "redirect", f"more than {MOST_HOPS} in a row"
        if depth > self._settings.depth:
            return "too deep", f"more than {self._settings.depth} links from the start"
        return self._trap(url)

    def refusal(self, url: str) -> Judged | None:
        """Return why an address is not asked for however it was come by."""
        if not self._prefix.holds(url):
            return "outside", "not within the prefix"
        if judged := self._excluded(url):
            return judged
        return None if self._allows(url) else ("robots", "robots.txt disallows it")

    def _excluded(self, url: str) -> Judged | None:
        parts = urlsplit(url)
        name = parts.path + (f"?{parts.query}" if parts.query else "")
        include, exclude = self._settings.include, self._settings.exclude
        if include and not any(fnmatch.fnmatchcase(name, glob) for glob in include):
            return "excluded", "no --include fits it"
        fits = next((glob for glob in exclude if fnmatch.fnmatchcase(name, glob)), None)
        if fits is not None:
            return "excluded", f"--exclude {fits}"
        suffix = parts.path.rpartition("/")[2].rpartition(".")[2].lower()
        if _NO_PAGES.match(suffix) or (suffix == "pdf" and not self._settings.pdf):
            more = " (--pdf takes PDF pages)" if suffix == "pdf" else ""
            return "content type", f"not asked for: a .{suffix} is no page{more}"
        return None

    def _trap(self, url: str) -> Judged | None:
        if len(url) > LONGEST:
            return "trap", f"longer than {LONGEST:,} characters"
        path, _, query = url.partition("?")
        most = Counter(segment for segment in path.split("/")[3:] if segment).most_common(1)
        if most and most[0][1] > MOST_REPEATS:
            return "trap", f"the segment {most[0][0]!r} stands {most[0][1]} times in its path"
        if query:
            self._queries[path] += 1
            if self._queries[path] > MOST_QUERIES:
                return "trap", f"more than {MOST_QUERIES} addresses differ only in their query"
        return None
